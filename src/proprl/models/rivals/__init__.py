"""The methods that the paper compares with, and plain trees."""
