"""LCPRE: typed paths between concepts, read by a network."""
