"""Programs behind `make` and `.ci/run`."""
