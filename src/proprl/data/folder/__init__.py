"""A course as a folder of files: reading and writing it."""
