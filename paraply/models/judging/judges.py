"""Two solvers and an independent kernel."""

from __future__ import annotations

import time

from paraply.models.judging.certificates.store import Store
from paraply.models.judging.solver import SOLVERS, Answer, Judgment
from paraply.models.kernel.check import check
from paraply.models.language.system import Obligation

STORE = Store()


def judge_kernel(obligation: Obligation, *, timeout_s: float = 10.0, seed: int = 0) -> Judgment:
    """Check an obligation's stored certificate without a solver.

    The kernel is deterministic and ignores ``timeout_s`` and ``seed``.
    """
    started = time.process_time()
    certificate = STORE.certificate(obligation)
    if certificate is None:
        is_proved, reason = False, "no certificate is kept for it: make certificates"
    else:
        finding = check(obligation, certificate)
        is_proved, reason = finding.is_proved, finding.reason
    return Judgment(
        obligation=obligation,
        solver="kernel",
        answer=Answer.PROVED if is_proved else Answer.UNDECIDED,
        seconds=time.process_time() - started,
        reason=reason,
    )


JUDGES = {**SOLVERS, "kernel": judge_kernel}
