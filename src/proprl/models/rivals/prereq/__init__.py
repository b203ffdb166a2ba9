"""PREREQ: a topic model of resources that lead to each other, then a Siamese network."""
