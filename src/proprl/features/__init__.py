"""Text turned into vectors, and a course turned into evidence."""

from proprl.features.encoders import encode, resolve_encoder
from proprl.features.gather import gather_evidence

__all__ = ["encode", "gather_evidence", "resolve_encoder"]
