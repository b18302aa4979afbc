"""Test the suite itself with generated faulty appliers."""
