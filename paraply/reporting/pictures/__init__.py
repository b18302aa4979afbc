"""Pictures in reports, as SVG."""
