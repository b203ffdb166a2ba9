"""A model's results as one HTML file that people open in a browser or print."""

from proprl.report.page import ReportData, render_report

__all__ = ["ReportData", "render_report"]
