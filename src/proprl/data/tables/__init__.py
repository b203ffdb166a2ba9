"""The tables of a course: read from files or frames, checked, and written."""
