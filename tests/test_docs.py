"""The documentation: every example and every command on its pages is run, and the site is built without a warning."""

import doctest
import re
import shlex
import subprocess
import sys
import zlib
from pathlib import Path

import pytest
from typer.testing import CliRunner

import bnn
from bnn import cli

ROOT = Path(__file__).parent.parent
PAGES = sorted({*(ROOT / "docs").rglob("*.md")} - {ROOT / "docs" / "results.md"})
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
CHECKER, LIKE = doctest.OutputChecker(), doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def examples(text, names):
    """Run the Python examples of a block, in the names of its page."""
    test = doctest.DocTestParser().get_doctest(text, names, "page", None, 0)
    runner = doctest.DocTestRunner(optionflags=LIKE)
    said = []
    runner.run(test, out=said.append, clear_globs=False)
    names.update(test.globs)
    assert not runner.failures, "".join(said)


def command(line):
    """What ``bnn`` prints."""
    program, *words = shlex.split(line)
    assert program == "bnn"
    result = CliRunner().invoke(cli.app, words, prog_name="bnn")
    assert result.exit_code == 0, f"{line}\n{result.output}"
    return result.stdout


def session(text):
    """Run the commands of a console block, and compare what they print; ``cat FILE`` makes the file it shows."""
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        line, _, expected = part.partition("\n")
        if line.startswith("cat "):
            Path(line.removeprefix("cat ")).write_text(expected, encoding="utf-8")
            continue
        printed = command(line)
        assert CHECKER.check_output(expected, printed, LIKE), f"{line}\n{printed}"


def commands(text):
    """Run the lines of a sh block that call ``bnn``; the others are install lines of the README, which CI runs."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for line in filter(None, text.splitlines()):
        if line.startswith("bnn "):
            command(line)
        else:
            assert line in readme


RUNS = {"python": examples, "console": lambda text, _: session(text), "sh": lambda text, _: commands(text)}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT / "docs")))
def test_page_does_what_it_says(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.delenv("BNN_DATA", raising=False)
    names = {}
    for language, text in BLOCK.findall(page.read_text(encoding="utf-8")):
        if language in RUNS:
            RUNS[language](text, names)


def names_of(site):
    """Everything of Python that the site describes, from Sphinx's inventory: zlib below four lines of text."""
    told = zlib.decompress((site / "objects.inv").read_bytes().split(b"\n", 4)[4]).decode()
    return {line.split()[0] for line in told.splitlines() if line.split()[1].startswith("py:")}


def test_site_is_built_without_a_warning_whole_and_asks_no_other_host(tmp_path):
    pytest.importorskip("sphinx", reason="the site is built by Sphinx, which is not installed")
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-E", "-c", "docs", ".", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr

    assert 'href="docs/index.html"' in (tmp_path / "index.html").read_text(encoding="utf-8")

    public = {f"bnn.{name}" for name in bnn.__all__} - {"bnn.datasets", "bnn.metrics", "bnn.plots", "bnn.study"}
    public |= {f"bnn.plots.{name}" for name in bnn.plots.__all__} | {f"bnn.study.{name}" for name in bnn.study.__all__}
    assert public - names_of(tmp_path) == {"bnn.study.capacity"}  # it is there as `bnn.capacity`
    for page in (*PAGES, ROOT / "docs" / "results.md", *(ROOT / "notebooks").glob("*.ipynb")):
        assert (tmp_path / page.relative_to(ROOT)).with_suffix(".html").exists()

    loaded = re.compile(r"""<(?:script|img|iframe|link|source)[^>]*\s(?:src|href)=["']?(?:https?:)?//[^"'> ]*""")
    for page in tmp_path.rglob("*.html"):
        assert loaded.findall(page.read_text(encoding="utf-8")) == [], page.name
    for sheet in tmp_path.rglob("*.css"):
        assert not re.search(r"url\(\s*[\"']?(?:https?:)?//", sheet.read_text(encoding="utf-8")), sheet.name
