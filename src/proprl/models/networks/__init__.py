"""Parts of neural networks that ProPRL and the rivals share."""
