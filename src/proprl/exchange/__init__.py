"""The map for other tools."""
