"""Runs: what determines one, what comes out, and how many are done and kept."""
