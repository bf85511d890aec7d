"""Wheel and sdist: built, complete, and installed where nothing of this tree is seen."""

import json
import os
import re
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

import bnn

ROOT = Path(__file__).parent.parent
pytest.importorskip("hatchling", reason="the package is built by hatchling, which is not installed")


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Paths of the wheel and the sdist."""
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (wheel,), (sdist,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    return wheel, sdist


def test_wheel_holds_the_package_its_data_and_its_licence_and_nothing_else(built):
    names = set(zipfile.ZipFile(built[0]).namelist())
    package = {
        str(path.relative_to(ROOT))
        for ending in ("py", "csv", "css", "js", "typed")
        for path in ROOT.glob(f"bnn/**/*.{ending}")
    }
    assert {name for name in names if name.startswith("bnn/")} == package
    assert "bnn/py.typed" in names
    others = names - package
    assert all(name.startswith(f"bnn_hopfield-{bnn.__version__}.dist-info/") for name in others)
    assert any(name.endswith("licenses/LICENSE") for name in others)


def test_sdist_holds_what_builds_tests_and_explains_the_package(built):
    with tarfile.open(built[1]) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    kept = ["LICENSE", "README.md", "CHANGELOG.md", "CITATION.cff", "pyproject.toml", "constraints.txt", "docs/conf.py"]
    assert set(kept) <= names
    assert {f"tests/{path.name}" for path in ROOT.glob("tests/*.py")} <= names
    assert not [name for name in names if "__pycache__" in name or name.startswith((".venv", "shared"))]


@pytest.fixture(scope="module")
def installed(built, tmp_path_factory):
    """Folder of the programs of a fresh environment that holds the wheel, and sees this one's other packages."""
    folder = tmp_path_factory.mktemp("fresh")
    venv.create(folder, with_pip=False)
    scheme = sysconfig.get_paths("venv", vars={"base": str(folder), "platbase": str(folder)})
    python = str(Path(scheme["scripts"]) / "python")
    install = [sys.executable, "-m", "pip", "--python", python, "install", "-q", "--no-index", "--no-deps"]
    subprocess.run([*install, str(built[0])], check=True, capture_output=True)
    # after the wheel, so that the packages are found but files beside them that lead to this tree are not read
    Path(scheme["purelib"], "outer.pth").write_text(sysconfig.get_path("purelib"))
    return Path(scheme["scripts"])


def run(installed, folder, *words):
    """What a program of the fresh environment prints, run elsewhere without this tree; loops stay uncompiled."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "BNN"))}
    done = subprocess.run(
        [str(installed / words[0]), *words[1:]],
        cwd=folder,
        env=clean | {"NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_installed_program_recalls_learns_and_knows_its_data(installed, tmp_path):
    where = run(installed, tmp_path, "python", "-c", "import bnn; print(bnn.__file__)")
    assert Path(where.strip()).is_relative_to(installed.parent)
    assert run(installed, tmp_path, "bnn", "--version") == f"bnn {bnn.__version__}\n"
    told = json.loads(run(installed, tmp_path, "bnn", "datasets", "--json"))
    assert {one["name"] for one in told["datasets"]} >= set(bnn.datasets.names())
    (answer,) = json.loads(
        run(
            installed,
            tmp_path,
            "bnn",
            "recall",
            "--data",
            "zoo",
            "--row",
            "3",
            "--mask",
            "legs",
            "--rule",
            "odds",
            "--json",
        )
    )["answers"]
    assert answer["recalled"] == answer["true"] == 4


def test_versions_agree():
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert re.search(r"^version: (.*)$", citation, re.MULTILINE)[1] == bnn.__version__
    assert re.search(r'^version = "(.*)"$', project, re.MULTILINE)[1] == bnn.__version__
    assert f"## {bnn.__version__}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
