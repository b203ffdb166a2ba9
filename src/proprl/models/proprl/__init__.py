"""ProPRL, the paper's model: two views of each concept, a gate for each ordered pair."""
