"""The methods, one file each, under one contract."""
