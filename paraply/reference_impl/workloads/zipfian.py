"""Zipfian keys, as in the YCSB core workloads."""

from __future__ import annotations

from random import Random

THETA_DEFAULT = 0.99
"""YCSB's zipfian constant."""


class Zipfian:
    """Draws rank k, from 0, in proportion to ``1 / (k + 1) ** theta``.

    ``size`` from 1 and ``theta`` in [0, 1), 0 uniform; otherwise ``ValueError``.

    Source: J. Gray et al., "Quickly Generating Billion-Record Synthetic Databases", SIGMOD 1994, as
    in YCSB's ZipfianGenerator.
    """

    def __init__(self, size: int, theta: float = THETA_DEFAULT) -> None:
        if size < 1 or not 0 <= theta < 1:
            raise ValueError(f"size={size}, theta={theta}")
        self.size, self.theta = size, theta
        self.zeta = sum(1 / rank**theta for rank in range(1, size + 1))
        self.alpha = 1 / (1 - theta)
        first_two = 1 + 0.5**theta
        # Two ranks or fewer never reach the tail.
        self.eta = (
            (1 - (2 / size) ** (1 - theta)) / (1 - first_two / self.zeta) if size > 2 else 0.0
        )

    def draw(self, random: Random) -> int:
        """Return a rank in [0, size)."""
        uniform = random.random()
        scaled = uniform * self.zeta
        if scaled < 1 or self.size == 1:
            return 0
        if scaled < 1 + 0.5**self.theta or self.size == 2:
            return 1
        return min(
            self.size - 1, int(self.size * (self.eta * uniform - self.eta + 1) ** self.alpha)
        )
