"""The package as a whole."""

import doctest
import importlib
import inspect
import pkgutil
import re
import subprocess
import sys

import pytest

import floodway

MODULES = [
    importlib.import_module(f"floodway.{module.name}")
    for module in pkgutil.iter_modules(floodway.__path__)
]


def test_the_version_is_that_of_the_workspace(root):
    found = re.search(r'^version = "(.*)"', (root / "Cargo.toml").read_text(), re.MULTILINE)
    assert floodway.__version__ == found.group(1)


@pytest.mark.parametrize("module", [floodway, *MODULES], ids=lambda module: module.__name__)
def test_examples(module):
    assert doctest.testmod(module).failed == 0


def test_everything_public_is_documented():
    for name in floodway.__all__:
        thing = getattr(floodway, name)
        if name == "__version__":
            continue
        assert thing.__doc__, name
        if inspect.isclass(thing) and not issubclass(thing, Exception):
            for field, value in vars(thing).items():
                if not field.startswith("_") and (callable(value) or isinstance(value, property)):
                    assert inspect.getdoc(value), f"{name}.{field}"


def test_the_stubs_name_what_is_there(root):
    stubs = (root / "python/floodway/_floodway.pyi").read_text()
    from floodway import _floodway

    for name, thing in vars(_floodway).items():
        if name.startswith("__") and name != "__version__":
            continue
        assert re.search(rf"(class|def) {name}\b|^{name}:", stubs, re.MULTILINE), name
        for field in vars(thing) if inspect.isclass(thing) else ():
            if not field.startswith("__") or field.startswith("__arrow"):
                assert f"def {field}(" in stubs, f"{name}.{field}"


RUFF = ["python", "docs/notebooks"]


@pytest.mark.parametrize(
    "command",
    [
        ["mypy", "python/floodway"],
        ["mypy.stubtest", "floodway._floodway", "--ignore-disjoint-bases"],
        ["ruff", "check", *RUFF],
        ["ruff", "format", "--check", *RUFF],
    ],
    ids=["mypy", "stubtest", "ruff-check", "ruff-format"],
)
def test_style(root, command):
    pytest.importorskip(command[0].split(".")[0])
    done = subprocess.run(
        [sys.executable, "-m", *command], cwd=root, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
