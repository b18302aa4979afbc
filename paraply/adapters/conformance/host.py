"""Run a Python class (``FILE:CLASS`` or ``MODULE:CLASS``) as an applier."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from pathlib import Path

from paraply.adapters.conformance.rules.applier import serve
from paraply.adapters.conformance.rules.rule import Rule
from paraply.adapters.conformance.rules.trackers import TrackingRule, serve_tracker
from paraply.vocabulary.errors import ParaplyError, register

NO_SUCH_CLASS = register(
    "P633",
    "the applier cannot be loaded: {reason}",
    "write FILE.py:CLASS, and let the class derive from paraply.Applier, or from paraply.Tracker",
)


def host_command(name: str) -> list[str]:
    """Return a class' command; P633 if missing."""
    load_rule(name)
    # -P: nothing in the current folder takes the place of a module of Python or of paraply.
    return [sys.executable, "-P", "-m", "paraply.adapters.conformance.host", name]


def load_rule(name: str) -> type[Rule | TrackingRule]:
    """Return the class; P633 if missing or unsuitable."""
    place, colon, class_name = name.rpartition(":")
    if not colon:
        raise ParaplyError(NO_SUCH_CLASS, where=name, reason="there is no ':' in it")
    is_file = place.endswith(".py")
    before = sys.path[:]
    # As Python itself does for a program: its own folder, here also the current one, comes first.
    sys.path[:0] = [*([os.path.dirname(os.path.realpath(place))] * is_file), os.getcwd()]
    try:
        if is_file:
            spec = importlib.util.spec_from_file_location(f"_applier_{Path(place).stem}", place)
            assert spec is not None
            assert spec.loader is not None
            module = importlib.util.module_from_spec(spec)
            sys.modules[spec.name] = module
            spec.loader.exec_module(module)
        else:
            module = importlib.import_module(place)
    except (OSError, ImportError, SyntaxError) as error:
        raise ParaplyError(NO_SUCH_CLASS, where=place, reason=str(error)) from None
    except Exception as error:  # Loading the user's module may raise anything.
        reason = f"{type(error).__name__}: {error}"
        raise ParaplyError(NO_SUCH_CLASS, where=place, reason=reason) from None
    finally:
        sys.path[:] = before
    found = getattr(module, class_name, None)
    if not (isinstance(found, type) and issubclass(found, Rule | TrackingRule)):
        reason = f"there is no class {class_name} in it that derives from Applier or Tracker"
        raise ParaplyError(NO_SUCH_CLASS, where=place, reason=reason)
    return found


def main(name: str) -> None:
    """Serve the protocol until input ends."""
    rule = load_rule(name)
    # The user's module may import more modules later.
    place = name.rpartition(":")[0]
    sys.path[:0] = [os.path.dirname(os.path.realpath(place)), os.getcwd()]
    if issubclass(rule, Rule):
        serve(rule)
    else:
        serve_tracker(rule, sys.stdout)


if __name__ == "__main__":
    main(sys.argv[1])
