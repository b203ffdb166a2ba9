"""The audit of a course: what in its labels would mislead a model or flatter its results."""

from __future__ import annotations

from proprl.data.audit.course import audit_course
from proprl.data.audit.finding import Audit, Finding

__all__ = ["Audit", "Finding", "audit_course"]
