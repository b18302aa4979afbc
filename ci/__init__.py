"""What `make` and `.ci/run` call; imported by nothing else."""
