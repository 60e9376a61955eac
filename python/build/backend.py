"""The build backend of the package: maturin, which builds the module, with the program beside it in the scripts of the wheel."""

import os
import shlex
import sys

import maturin
from maturin import *  # noqa: F403
from program import build_program


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    words = shlex.split(os.environ.get("MATURIN_PEP517_ARGS", ""))
    valued = [word for flag in ("--profile", "--config") if flag in words for word in words[words.index(flag) :][:2]]
    build_program([*valued, *(word for word in words if word in ("--locked", "--offline", "--quiet"))])
    return maturin.build_wheel(wheel_directory, config_settings, metadata_directory)


if __name__ == "__main__":
    # `backend.py FOLDER` writes the wheel to a folder without building in an environment of its own.
    print(build_wheel(sys.argv[1]))
