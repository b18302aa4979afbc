"""LOGICAL_CLOCK dispatch: twin of ``paraply.reference_impl.applier.coordinator``."""

from __future__ import annotations

from numba import njit

from paraply.mining.compiled import columns as C
from paraply.mining.compiled.room import Ints
from paraply.vocabulary.kernel_cache import PART


@njit(**PART)
def may_dispatch(p: Ints, replica: Ints, jobs: Ints, one: Ints) -> bool:
    """Return whether the next transaction may start.

    Group starts wait for all, others for numbers up to LC.
    """
    last = replica[C.R_LAST_SN]
    usable = is_usable(last, one)
    last_committed = one[C.L_LC] if usable else 0
    number = one[C.L_SN] if usable else 0
    is_idle = True
    for at in range(replica[C.R_JOBS]):
        if not jobs[at, C.J_DONE]:
            is_idle = False
            break
    if opens_group(p, last, last_committed, number):
        return is_idle
    if is_idle and p[C.P_FAULT] != C.IGNORES_GAPS:
        return True
    return _has_committed_up_to(p, replica, jobs, last_committed)


@njit(**PART)
def is_usable(last: int, one: Ints) -> bool:
    """Return whether a timestamp is consistent with its predecessor."""
    if last == 0:
        return True
    last_committed, number = one[C.L_LC], one[C.L_SN]
    return not (
        (last_committed != 0 and number <= last_committed) or (number != 0 and number <= last)
    )


@njit(**PART)
def opens_group(p: Ints, last: int, last_committed: int, number: int) -> bool:
    """Return whether a transaction waits for all earlier ones."""
    if last == 0 or number == 0 or last_committed == 0:
        return True
    return number > last + 1 and p[C.P_FAULT] != C.IGNORES_GAPS


@njit(**PART)
def _has_committed_up_to(p: Ints, replica: Ints, jobs: Ints, last_committed: int) -> bool:
    fault = p[C.P_FAULT]
    count = replica[C.R_JOBS]
    if fault == C.ONE_PARENT:
        for at in range(count):
            if jobs[at, C.J_SN] == last_committed and not jobs[at, C.J_DONE]:
                return False
        return True
    mark = 0
    for at in range(count):
        if jobs[at, C.J_DONE]:
            mark = max(mark, jobs[at, C.J_SN]) if fault == C.HIGHEST_DONE else jobs[at, C.J_SN]
        elif fault != C.HIGHEST_DONE:
            break
    wanted = last_committed - 1 if fault == C.OFF_BY_ONE else last_committed
    return mark != 0 and wanted <= mark


@njit(**PART)
def queue_job(p: Ints, replica: Ints, jobs: Ints, one: Ints, transaction: int) -> None:
    """Queue a dispatched transaction; group starts empty the queue."""
    last = replica[C.R_LAST_SN]
    usable = is_usable(last, one)
    last_committed = one[C.L_LC] if usable else 0
    number = one[C.L_SN] if usable else 0
    if opens_group(p, last, last_committed, number):
        replica[C.R_JOBS] = 0
    at = replica[C.R_JOBS]
    jobs[at, C.J_TRANSACTION], jobs[at, C.J_SN], jobs[at, C.J_DONE] = transaction, number, 0
    replica[C.R_JOBS] = at + 1
    replica[C.R_LAST_SN] = number


@njit(**PART)
def finish_job(replica: Ints, jobs: Ints, transaction: int) -> None:
    """Mark a transaction as engine committed."""
    for at in range(replica[C.R_JOBS]):
        if jobs[at, C.J_TRANSACTION] == transaction:
            jobs[at, C.J_DONE] = 1
