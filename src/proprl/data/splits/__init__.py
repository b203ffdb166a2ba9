"""Labelled pairs, and which of them are learned from."""
