"""The training loop, checkpoints, and the bundle a trained model is kept in."""
