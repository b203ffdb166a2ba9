"""How good scores are, and how they become probabilities: functions of arrays."""
