"""Results as tables, texts and pictures."""
