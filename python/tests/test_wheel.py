"""What the wheel installs."""

from __future__ import annotations

import importlib.metadata
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT, SITE

import curtail


def test_the_module_and_the_program_belong_together():
    version = re.search(r'^version = "(.*)"', (ROOT / "Cargo.toml").read_text(), re.M)[1]
    # PyPI writes a release candidate without separators.
    assert importlib.metadata.version("curtail-cli") == version.replace("-rc.", "rc")
    assert Path(curtail.find_program()) == Path(SITE, "bin", "curtail")
    environment = {**os.environ, "PYTHONPATH": SITE}
    said = subprocess.run([sys.executable, "-m", "curtail", "-V"], env=environment, capture_output=True, text=True, check=True)
    assert said.stdout == f"curtail {version}\n"
    # `uvx curtail-cli` runs the program of the package's name.
    said = subprocess.run([Path(SITE, "bin", "curtail-cli"), "-V"], env=environment, capture_output=True, text=True, check=True)
    assert said.stdout == f"curtail {version}\n"
    ended = subprocess.run([sys.executable, "-m", "curtail", "limt"], env=environment, capture_output=True, text=True)
    assert ended.returncode == 2 and "limit" in ended.stderr


def test_the_wheel_has_all_modules_their_types_and_the_licenses_and_no_tests():
    files = {str(file) for file in importlib.metadata.files("curtail-cli")}
    modules = {f"curtail/{path.name}" for path in (ROOT / "python" / "curtail").glob("*.py")}
    assert modules | {"curtail/py.typed"} <= files
    assert any(name.endswith("licenses/LICENSE-MIT") for name in files)
    assert not [name for name in files if "test" in name]


def test_another_program_can_be_named(tmp_path, monkeypatch):
    (tmp_path / "text").write_text("")
    for name in ("none", "text"):
        monkeypatch.setenv("CURTAIL_PROGRAM", str(tmp_path / name))
        with pytest.raises(curtail.ProgramNotFoundError, match="CURTAIL_PROGRAM names"):
            curtail.find_program()
    link = tmp_path / "curtail"
    link.symlink_to(Path(SITE, "bin", "curtail"))
    monkeypatch.setenv("CURTAIL_PROGRAM", str(link))
    assert curtail.find_program() == str(link)


@pytest.mark.parametrize("interpreter", [None, ""])
def test_the_program_is_found_without_an_interpreter(interpreter, tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "executable", interpreter)
    assert curtail.find_program() == str(Path(SITE, "bin", "curtail"))
    # A program in the current folder is another one.
    (tmp_path / "curtail").symlink_to(Path(SITE, "bin", "curtail"))
    monkeypatch.chdir(tmp_path)
    assert "curtail" not in curtail._program._candidates()
