"""Compile and store the kernels of `audit`, `verify` and `mine --fast`: the first use waits not."""

from paraply.auditing.loading import sample_log
from paraply.cli import main
from paraply.counterexamples.hunt import oracles_of
from paraply.mining.compiled.oracle import CompiledOracles
from paraply.mining.compiled.twins import twin_of
from paraply.mining.systems import systems_of
from paraply.properties.registry import property_named
from paraply.properties.shrinking import UNCHANGED, Simplifications
from paraply.verifying.pipeline import load_engine

WITHOUT_VIEWS = {"joins": "0", "departures": "0"}

if __name__ == "__main__":
    with sample_log() as log:
        main(["audit", "--engine", "compiled", log])
        load_engine(log)
    for name, options in (("applier:logical_clock", {}), ("composed:wl8440", WITHOUT_VIEWS)):
        (system,) = systems_of([name], [], options)
        twin = twin_of(system)
        assert twin is not None
        twin.run_many(twin.settings, 0, 1)
        twin.run_fast(twin.settings, seed=0)
        prop = twin.judged[0]
        faster = CompiledOracles(system, prop)
        oracle = oracles_of(system.runner, property_named(prop), faster)(system.workload)
        oracle.drawn(0, 1)
        oracle.edited((), [UNCHANGED])
        oracle.edited((), Simplifications((), 0))
        oracle.enumerated(1)
