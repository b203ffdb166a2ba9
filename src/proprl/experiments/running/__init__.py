"""Runs: what determines one, how it is done, and how many are done and kept."""
