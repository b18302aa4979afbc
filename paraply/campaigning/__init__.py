"""Plans, runs and reports mining campaigns."""
