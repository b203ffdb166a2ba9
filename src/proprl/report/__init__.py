"""A model's results as one HTML file that people open in a browser or print."""
