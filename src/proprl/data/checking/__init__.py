"""Finding everything that is wrong with the tables of a course."""
