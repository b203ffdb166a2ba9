"""The version of proprl."""

__version__ = "0.1.0"
