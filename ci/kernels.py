"""Compile and store the kernels of `audit` and `verify`: the first large log waits for none."""

from paraply.auditing.loading import sample_log
from paraply.cli import main
from paraply.verifying.pipeline import load_engine

if __name__ == "__main__":
    with sample_log() as log:
        main(["audit", "--engine", "compiled", log])
        load_engine(log)
