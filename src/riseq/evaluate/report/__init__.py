"""The report: the paper's tables and figures from saved predictions, as HTML, Markdown and JSON."""
