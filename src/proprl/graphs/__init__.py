"""Pure functions on sparse matrices: what learners' moves and shared resources say of concepts."""
