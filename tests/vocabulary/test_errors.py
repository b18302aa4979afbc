"""The error registry: stable codes, and a message that says where, what and how to mend it."""

from __future__ import annotations

import pytest

from paraply.vocabulary.errors import MALFORMED_GTID_SET, ParaplyError, register, registered_errors


def test_error_says_code_place_and_reason_and_keeps_its_remedy():
    error = ParaplyError(MALFORMED_GTID_SET, where="x.cnf:7", text="a", reason="no colon")
    assert str(error) == "P001 x.cnf:7: 'a' is not a GTID set: no colon"
    assert error.remedy.startswith("write it as uuid:1-5")


def test_code_is_registered_once():
    with pytest.raises(ValueError, match="P001 is registered twice"):
        register("P001", "", "")


def test_registered_errors_are_ordered_and_have_a_remedy():
    codes = [error.code for error in registered_errors()]
    assert codes == sorted(set(codes))
    assert all(error.remedy for error in registered_errors())
