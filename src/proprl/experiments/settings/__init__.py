"""Settings, search spaces, published numbers and lines to reach, as data."""
