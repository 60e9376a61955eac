"""The pre-commit hooks of a release, which pre-commit installs from the wheel."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
from conftest import ROOT, SITE

CONFIGURATION = """\
repos:
  - repo: {hooks}
    rev: v1
    hooks:
      - id: {hook}
"""


def run(*words: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    identity = {f"GIT_{who}_{what}": "a@example.com" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    # The tests may run in a hook of a commit of this project.
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return subprocess.run(words, cwd=folder, env={**kept, **identity, **environment}, capture_output=True, text=True)


def repository(folder: Path) -> Path:
    for words in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-q", "-m", "all"], ["tag", "v1"]):
        done = run("git", *words, folder=folder)
        assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture
def hooks(tmp_path: Path) -> Path:
    """The repository of the hooks, as made for a release."""
    release = tmp_path / "release"
    release.mkdir()
    render = ROOT / ".github" / "packaging" / "render"
    done = run(str(render), str(release), folder=ROOT, REPOSITORY="https://example.com/curtail")
    assert done.returncode == 0, done.stderr
    with tarfile.open(release / "curtail-pre-commit.tgz") as archive:
        archive.extractall(tmp_path, filter="data")
    return repository(tmp_path / "pre-commit")


def test_the_hooks_need_the_wheel_alone(tmp_path, hooks):
    user = tmp_path / "user"
    user.mkdir()
    shutil.copy(ROOT / "fixtures" / "check" / "broken.jsonl", user / "chat.jsonl")
    repository(user)
    # Other packages that pip needs, such as setuptools, come from the index, which does not have curtail-cli.
    wheels = {"PIP_FIND_LINKS": str(Path(SITE).parent / "wheels"), "PRE_COMMIT_HOME": str(tmp_path / "home")}
    path = os.pathsep.join(part for part in os.environ["PATH"].split(os.pathsep) if not Path(part, "cargo").exists())

    def commit(hook: str) -> subprocess.CompletedProcess[str]:
        text = CONFIGURATION.format(hooks=hooks, hook=hook)
        (user / ".pre-commit-config.yaml").write_text(text)
        return run(sys.executable, "-m", "pre_commit", "run", "--all-files", folder=user, PATH=path, **wheels)

    checked = commit("curtail-check")
    assert checked.returncode == 1 and "chat.jsonl:6" in checked.stdout and "P007" in checked.stdout, checked.stdout + checked.stderr
    fixed = commit("curtail-fix")
    assert fixed.returncode == 1 and "files were modified by this hook" in fixed.stdout, fixed.stdout + fixed.stderr
    again = commit("curtail-check")
    assert again.returncode == 0, again.stdout + again.stderr
