"""docs/python.md: what it shows is what happens."""

import doctest
import re
import shlex
import shutil
import subprocess

import pytest


def test_every_example_of_the_page_works(root, program, tmp_path, monkeypatch):
    for package in ("pandas", "polars", "pyarrow", "distributed"):
        pytest.importorskip(package)
    shutil.copytree(root / "scenarios/ci", tmp_path / "scenarios/ci")
    shutil.copytree(root / "scenarios/operator", tmp_path / "scenarios/operator")
    monkeypatch.chdir(tmp_path)
    page = (root / "docs/python.md").read_text()
    names, commands = {}, 0
    for language, text in re.findall(r"```(\w+)\n(.*?)```", page, re.DOTALL):
        if language == "sh":
            (line,) = text.splitlines()
            word, *arguments = shlex.split(line)
            assert word == "floodway"
            subprocess.run([program, *arguments], check=True, capture_output=True)
            commands += 1
        elif language == "python":
            parsed = doctest.DocTestParser().get_doctest(text, names, "docs/python.md", None, 0)
            runner = doctest.DocTestRunner(verbose=False)
            runner.run(parsed, clear_globs=False)
            names = parsed.globs
            assert runner.failures == 0, "see what is printed above"
    assert commands == 1
