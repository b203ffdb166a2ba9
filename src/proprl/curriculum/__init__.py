"""Labels and scores turned into an acyclic graph, paths and explanations."""
