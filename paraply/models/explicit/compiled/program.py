"""A state space as rows of instructions, which a kernel runs for each state.

The Python expressions of the readable search are translated one by one. Compiling them instead
would take longer than most searches.
"""

from __future__ import annotations

import ast
from functools import lru_cache

from paraply.models.explicit.expressions import TRUE, Expression, Known
from paraply.models.explicit.layout import WORD
from paraply.models.explicit.search import StateSpace, Step

UNLESS, IF, JUMP, BEGIN, PUT, SET, EMIT, REFUSE, STOP = range(9)
"""The first number of a row, and what follows.

``UNLESS``, ``IF``, ``JUMP``: word, mask and value of a test, or of none; then jump.
``BEGIN``: number of a step; the state after it is made of its words.
``PUT``: operand, greatest sum, and the place to which the sum is added.
``SET``: operand, 0, and the word that becomes the sum.
``EMIT``, ``REFUSE``, ``STOP``: a state after a step; a state that is wrong; the end.
"""
LESS, AT_MOST, SAME = 10, 12, 14
"""Two operands, of the second the negative constant in the first: jump if the comparison is false.

One more: jump if it is true.
"""
TARGET = 7
"""The last number of a row: the row to jump to."""
ALL = (1 << WORD) - 1
_WIDTH_MAX = 40

Operand = tuple[int, int, int]
"""Place of a bit, mask, and what to add.

Bits are counted over words: those of the state, of the state after a step, and of other values.
"""


class TooWideError(Exception):
    """A number does not fit the instructions."""


class Program:
    """The instructions.

    Attributes:
        words: words of a state.
        kept: by step, the bits that stay.
        added: by step, the bits that become 1.
        others: words for values that need a choice.
        statements: by name, the first row, which refuses states where the statement is false.
    """

    def __init__(self, space: StateSpace) -> None:
        self.words = max(1, -(-space.layout.width // WORD))
        self.rows: list[list[int]] = []
        self.kept: list[list[int]] = []
        self.added: list[list[int]] = []
        self.others = 0
        self._labels: list[int] = []
        if any(place.width > _WIDTH_MAX for place in space.layout.fields.values()):
            raise TooWideError
        for here, steps in space.cases:
            after = self._label()
            self._jump(here, after, when=False)
            for step in steps:
                self._step(step, space.inside)
            self._row(STOP)
            self._mark(after)
        self._row(STOP)
        self.statements = {
            name: self._statement(read) for name, read in space.stated.items() if read != TRUE
        }
        for row in self.rows:
            row[TARGET] = self._labels[row[TARGET]] if row[TARGET] >= 0 else 0
        for row in reversed(self.rows):
            # A test that made the jump makes the same one where it comes again.
            while row[TARGET] and (again := self.rows[row[TARGET]])[:TARGET] == row[:TARGET]:
                row[TARGET] = again[TARGET]

    def _statement(self, read: Expression) -> int:
        first, broken = len(self.rows), self._label()
        self._jump(read, broken, when=False)
        self._row(STOP)
        self._mark(broken)
        self._row(REFUSE)
        return first

    def _step(self, step: Step, inside: Expression) -> None:
        after = self._label()
        self._jump(step.guard, after, when=False)
        if step.outside:
            self._row(REFUSE)
        self._row(BEGIN, len(self.kept))
        self.kept.append(self.in_words(step.keep))
        self.added.append(self.in_words(step.value))
        for place, value in step.moved:
            if place.is_truth:
                skip = self._label()
                self._jump(value, skip, when=False)
                self._put(place.offset, (0, 0, 1), 0, 1)
                self._mark(skip)
            else:
                self._put(place.offset, self._value(value), place.low, place.high)
        self._jump(inside, after, when=False, name="t")
        self._row(EMIT)
        self._mark(after)

    def _put(self, offset: int, operand: Operand, low: int, high: int) -> None:
        place, mask, more = operand
        target = self.words * WORD + offset
        self._row(PUT, place, mask, more - low, high - low, target)

    def in_words(self, number: int) -> list[int]:
        """Return a packed state as words."""
        return [number >> WORD * word & ALL for word in range(self.words)]

    def _label(self) -> int:
        self._labels.append(-1)
        return len(self._labels) - 1

    def _mark(self, label: int) -> None:
        self._labels[label] = len(self.rows)

    def _row(self, *numbers: int, target: int = -1) -> None:
        self.rows.append([*numbers, *[0] * (TARGET - len(numbers)), target])

    def _word(self, name: str) -> int:
        return {"s": 0, "t": self.words}[name] * WORD

    def _jump(self, read: Expression, target: int, *, when: bool, name: str = "s") -> None:
        if isinstance(read, Known):
            if bool(read.value) == when:
                self._row(JUMP, target=target)
            return
        self._branch(_parsed(read.text), target, when, name)

    def _value(self, read: Expression) -> Operand:
        if isinstance(read, Known):
            return 0, 0, _checked(read.value)
        return self._operand(_parsed(read.text), "s")

    def _branch(self, node: ast.expr, target: int, when: bool, name: str) -> None:
        """Jump to ``target`` if the truth of ``node`` is ``when``."""
        match node:
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                self._branch(operand, target, not when, name)
            case ast.BoolOp(op=ast.And(), values=values):
                if when:
                    skip = self._label()
                    for one in values[:-1]:
                        self._branch(one, skip, False, name)
                    self._branch(values[-1], target, True, name)
                    self._mark(skip)
                else:
                    for one in values:
                        self._branch(one, target, False, name)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                otherwise, end = self._label(), self._label()
                self._branch(test, otherwise, False, name)
                self._branch(body, target, when, name)
                self._row(JUMP, target=end)
                self._mark(otherwise)
                self._branch(orelse, target, when, name)
                self._mark(end)
            case ast.Constant(value=bool() | int() as value):
                if bool(value) == when:
                    self._row(JUMP, target=target)
            case ast.Compare(left=left, ops=[operator], comparators=[right]):
                self._comparison(left, operator, right, target, when, name)
            case _:
                self._compare(SAME, self._operand(node, name), (0, 0, 0), target, not when)

    def _comparison(
        self, left: ast.expr, operator: ast.cmpop, right: ast.expr,
        target: int, when: bool, name: str,
    ) -> None:  # fmt: skip
        if isinstance(operator, ast.NotEq):
            operator, when = ast.Eq(), not when
        match left, right:
            case ast.BinOp(
                left=ast.Name(), op=ast.BitAnd(), right=ast.Constant(value=int(mask))
            ), ast.Constant(value=int(wanted)) if isinstance(operator, ast.Eq):
                self._masked(mask, wanted, target, when, name)
                return
        code = {ast.Lt: LESS, ast.LtE: AT_MOST, ast.Eq: SAME}[type(operator)]
        self._compare(code, self._operand(left, name), self._operand(right, name), target, when)

    def _compare(self, code: int, left: Operand, right: Operand, target: int, when: bool) -> None:
        (a, a_mask, a_more), (b, b_mask, b_more) = left, right
        self._row(code + when, a, a_mask, b, b_mask, a_more - b_more, target=target)

    def _masked(self, mask: int, wanted: int, target: int, when: bool, name: str) -> None:
        first = self._word(name) // WORD
        split = enumerate(zip(self.in_words(mask), self.in_words(wanted), strict=True), first)
        parts = [(word, bits, value) for word, (bits, value) in split if bits]
        if not when:
            for part in parts:
                self._row(UNLESS, *part, target=target)
            return
        skip = self._label()
        for part in parts[:-1]:
            self._row(UNLESS, *part, target=skip)
        self._row(IF, *parts[-1], target=target)
        self._mark(skip)

    def _operand(self, node: ast.expr, name: str) -> Operand:
        match node:
            case ast.Constant(value=int(value)):
                return 0, 0, _checked(value)
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(value))):
                return 0, 0, _checked(-value)
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                place, mask, more = self._operand(left, name)
                (_, _, further) = self._operand(right, name)
                return place, mask, _checked(more + further)
            case ast.BinOp(
                left=ast.BinOp(op=ast.RShift(), right=ast.Constant(value=int(offset))),
                op=ast.BitAnd(),
                right=ast.Constant(value=int(ones)),
            ):
                return self._word(name) + offset, ones, 0
            case ast.BinOp(left=ast.Name(), op=ast.BitAnd(), right=ast.Constant(value=int(ones))):
                return self._word(name), ones, 0
        return self._chosen(node, name)

    def _chosen(self, node: ast.expr, name: str) -> Operand:
        """Return a new word with the value of a choice, or with a truth."""
        word = 2 * self.words + self.others
        self.others += 1
        self._choose(node, word, name)
        return word * WORD, ALL, 0

    def _choose(self, node: ast.expr, word: int, name: str) -> None:
        match node:
            case ast.IfExp(test=test, body=body, orelse=orelse):
                pass
            case ast.BoolOp() | ast.Compare() | ast.UnaryOp(op=ast.Not()):
                test, body, orelse = node, ast.Constant(1), ast.Constant(0)
            case _:
                self._row(SET, *self._operand(node, name), 0, word)
                return
        otherwise, end = self._label(), self._label()
        self._branch(test, otherwise, False, name)
        self._choose(body, word, name)
        self._row(JUMP, target=end)
        self._mark(otherwise)
        self._choose(orelse, word, name)
        self._mark(end)


@lru_cache(maxsize=10_000)
def _parsed(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def _checked(number: int) -> int:
    if abs(number) >> _WIDTH_MAX:
        raise TooWideError
    return number
