"""The methods, under one contract."""
