"""Finds the program."""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig
from collections.abc import Iterator

from ._errors import ProgramNotFoundError

_NAME = "curtail.exe" if os.name == "nt" else "curtail"


def find_program() -> str:
    """The path of the program that belongs to this module.

    The places, in order, are the environment variable `CURTAIL_PROGRAM`, the scripts of this installation, and `PATH`.

    Raises:
        ProgramNotFoundError: it is in none of these places.
    """
    looked = []
    for path in _candidates():
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return path
        looked.append(path)
    on_path = shutil.which("curtail")
    if on_path is None:
        raise ProgramNotFoundError(f"no program curtail in {', '.join(looked)} or on PATH; in a clone of the repository, run `pip install .`")
    return on_path


def _candidates() -> Iterator[str]:
    named = os.environ.get("CURTAIL_PROGRAM")
    if named:
        if not os.path.isfile(named) or not os.access(named, os.X_OK):
            raise ProgramNotFoundError(f"CURTAIL_PROGRAM names {named}, which is not an executable file")
        yield named
    # `pip install --target` puts scripts into a folder `bin` next to the package.
    beside = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    yield os.path.join(beside, "bin", _NAME)
    yield os.path.join(sysconfig.get_path("scripts"), _NAME)
    # A program that embeds Python has no interpreter.
    if sys.executable:
        yield os.path.join(os.path.dirname(sys.executable), _NAME)
    user = sysconfig.get_preferred_scheme("user")
    yield os.path.join(sysconfig.get_path("scripts", user), _NAME)
