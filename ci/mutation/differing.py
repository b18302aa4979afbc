"""Random inputs of judges: does a mutant answer any of them differently?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module

from paraply.exploring.generated.runs import Reached
from paraply.mutating.patches import CodeKey, key_of

CASES = "tests.properties.random_inputs"
"""The module with the cases: builders of tests."""

Answer = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Input:
    """A random input, its answer by unchanged code, and the functions that this called."""

    name: str
    answer: Callable[[], Answer]
    expected: Answer
    reached: frozenset[CodeKey]

    def answered(self) -> Answer:
        """Return the answer of the code that is loaded now."""
        return _answered(self.answer)


def _answered(answer: Callable[[], Answer]) -> Answer:
    try:
        return answer()
    except Exception as error:
        return (f"raises {type(error).__name__}",)


def inputs(under: str, seed: int) -> list[Input]:
    """Return random inputs with their answers; ``under`` limits the reached functions."""
    found = []
    for name, answer in import_module(CASES).cases(seed):
        with Reached(under) as reached:
            expected = _answered(answer)
        keys = frozenset(key_of(one) for one in reached.codes if under in one.co_filename)
        found.append(Input(name, answer, expected, keys))
    return found
