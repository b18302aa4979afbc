"""A failure in a child process of paraply."""

from __future__ import annotations


class ChildFailure(Exception):  # noqa: N818 - it stands for an exception of any kind
    """An exception of a child process, or its end by a signal.

    ``kind`` is the exception's type, ``story`` its traceback.
    """

    def __init__(
        self, kind: str, text: str, story: str, *, is_of_the_machine: bool = False
    ) -> None:
        super().__init__(text)
        self.kind = kind
        self.story = story
        self.is_of_the_machine = is_of_the_machine
