"""What is known about an ordered pair, as named columns; which pairs have no label."""
