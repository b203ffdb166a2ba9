"""A model's results as one HTML file that people open in a browser or print."""

from proprl.report.page import EdgeList, Map, ReportData, render_report

__all__ = ["EdgeList", "Map", "ReportData", "render_report"]
