"""How a command ends: every error told in one sentence, with the exit code that belongs to it."""

from __future__ import annotations

import contextlib
import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, cast

import typer
from typer.core import TyperGroup

from bnn.app.arguments import spoken
from bnn.errors import BnnError

IMPOSSIBLE, INTERRUPTED, NOBODY_READS = 2, 130, 1
# typer brings a click of its own or uses the installed one, by version; both are reached this way
UsageError = cast(type[Exception], typer.BadParameter.__bases__[0])


class Commands(TyperGroup):
    """A group of commands without stack dumps: exit code 2 where what was asked cannot be, 130 after Ctrl-C."""

    def invoke(self, ctx: Any) -> Any:
        """Run one command; Ctrl-C anywhere in it is told before typer ends the program without a word."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise typer.Exit(fail("interrupted.", INTERRUPTED)) from None

    def main(self, args: Sequence[str] | None = None, *others: Any, **options: Any) -> Any:
        """Run one command, or show the help where none is named, and exit."""
        words = list(sys.argv[1:] if args is None else args) or ["--help"]
        sys.stdout = sys.stdout or Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - closed by the shell
        for stream in (sys.stdout, sys.stderr):  # a terminal that lacks a letter shows a question mark for it
            if hasattr(stream, "reconfigure"):
                stream.reconfigure(errors="replace")
        try:
            code = super().main(words, *others, **{**options, "standalone_mode": False})
            sys.stdout.flush()
        except BnnError as error:
            code = fail(str(error))
        except UsageError as error:
            code = fail(_usage(error))
        except BrokenPipeError:
            code = NOBODY_READS
            _leave_output()
        except OSError as error:
            code = fail(f"{error.filename or 'output'}: {error.strerror or error}.")
            _leave_output()
        except MemoryError:
            code = fail("there is not enough memory for this; take fewer --patterns or a smaller table.")
        except (KeyboardInterrupt, typer.Abort):
            code = fail("interrupted.", INTERRUPTED)
        sys.exit(code if isinstance(code, int) else 0)


def fail(sentence: str, code: int = IMPOSSIBLE) -> int:
    """Say on standard error why a command ended; returns the exit code."""
    typer.secho(f"bnn: {spoken(sentence)}", err=True, fg=None if os.environ.get("NO_COLOR") else "red")
    return code


@contextlib.contextmanager
def telling_warnings() -> Iterator[None]:
    """Say each warning of a piece of work once, in one sentence, on standard error, however often it came."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        yield
    for sentence in dict.fromkeys(" ".join(str(warning.message).split()) for warning in caught):
        typer.secho(f"bnn: {spoken(sentence)}", err=True, fg=None if os.environ.get("NO_COLOR") else "yellow")


def _usage(error: Any) -> str:
    """What was wrong with the words of the command line, with the nearest right one."""
    near = getattr(error, "possibilities", None)
    text = f"{error.message.rstrip('.')}; did you mean {near[0]}?" if near else error.format_message()
    return " ".join(text.split())


def _leave_output() -> None:
    """Write no more: what is still buffered would fail again when Python ends."""
    with contextlib.suppress(OSError):  # under test there is no file behind the stream
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
