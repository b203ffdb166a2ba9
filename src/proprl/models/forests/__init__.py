"""Decision trees whose leaves add up: kept as checked arrays, and summed."""
