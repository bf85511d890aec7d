"""The project's own promises: style, types, direction of imports, README, lazy names."""

import doctest
import importlib
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import bnn

ROOT = Path(__file__).parent.parent


@pytest.mark.parametrize(
    "command",
    [
        ["ruff", "check", "."],
        ["ruff", "format", "--check", "."],
        ["mypy"],
        ["codespell", "bnn", "docs", "experiments", "README.md"],
        ["importlinter.cli"],
    ],
    ids=lambda command: " ".join(command[:2]),
)
def test_static_checks_pass(command):
    if command == ["importlinter.cli"]:
        run = [sys.executable, "-c", "from importlinter.cli import lint_imports_command; lint_imports_command()"]
    else:
        name = {"codespell": "codespell_lib"}.get(command[0], command[0])
        run = [sys.executable, "-m", name, *command[1:]]
    done = subprocess.run(run, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_readme_example_prints_what_it_says():
    result = doctest.testfile(str(ROOT / "README.md"), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert result.attempted > 10
    assert result.failed == 0


def test_readme_is_short():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 120


@pytest.mark.parametrize("name", [name for name in bnn.__all__ if name not in ("datasets", "plots")])
def test_public_name_is_documented(name):
    thing = getattr(bnn, name)
    if inspect.isclass(thing) or inspect.isfunction(thing):
        assert thing.__doc__
        assert not thing.__doc__.startswith(f"{name}(")  # what dataclasses write by themselves


def test_public_names_are_found_by_attribute_and_dir():
    assert sorted(bnn.__all__) == dir(bnn)
    with pytest.raises(AttributeError, match="no attribute 'reccall'"):
        bnn.reccall  # noqa: B018


def test_no_module_has_a_public_functions_name():
    functions = {name for name in bnn.__all__ if inspect.isfunction(getattr(bnn, name))}
    for name in functions:
        with pytest.raises(ModuleNotFoundError):
            importlib.import_module(f"bnn.{name}")


def test_import_loads_nothing_heavy():
    heavy = ("torch", "numba", "sklearn", "matplotlib", "pandas", "pyarrow", "dask")
    code = f"import sys, bnn; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_counting_never_loads_torch():
    code = (
        "import sys, bnn; bnn.Counts.of(bnn.datasets.load('zoo')); "
        "print([name for name in ('torch', 'matplotlib', 'dask') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
