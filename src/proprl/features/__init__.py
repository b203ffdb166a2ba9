"""Text turned into vectors, and a course turned into evidence."""
