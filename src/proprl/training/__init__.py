"""The training loop, the objective, checkpoints, and the bundle a trained model is kept in."""
