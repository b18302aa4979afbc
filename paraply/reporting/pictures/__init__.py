"""SVG pictures of reports."""
