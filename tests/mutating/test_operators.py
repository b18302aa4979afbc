"""Mutations are distinct programs."""

import ast

from paraply.mutating.operators import mutations

SOURCE = '''"""Module."""
class A:
    """Class."""

    def f(self, x: tuple[int, str]) -> bool:
        """Function."""
        assert x
        if x[0] <= 1 and x[1] == "a":
            return True
        return None not in x


class B:
    def g(self):
        return 1
'''


def test_mutations_are_distinct_programs_that_compile():
    found = list(mutations(SOURCE, frozenset({"A"})))
    texts = [ast.unparse(one.tree) for one in found]
    assert len(set(texts)) == len(texts) > 12
    for one in found:
        compile(one.tree, "mutant", "exec")
        assert one.place == "A.f"
    changes = {one.what for one in found}
    assert "`x[0] <= 1` → `x[0] < 1`" in changes
    assert "`None not in x` → `None in x`" in changes
    assert not any("assert" in text or "tuple" in text for text in changes)
