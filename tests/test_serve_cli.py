"""`bnn serve`: what it opens, where, and what it refuses."""

import re
import socket

import pytest
from typer.testing import CliRunner

from bnn import cli
from bnn.errors import DataError
from bnn.web import server
from bnn.web.shelf import shelf_of


def run(monkeypatch, *words):
    """What the command answers with: shelf, host, port and token; and what it says on standard error."""
    asked = []
    monkeypatch.setattr(server, "serve", lambda *given: asked.append(given))
    done = CliRunner().invoke(cli.app, ["serve", *words])
    assert done.exit_code == (0 if asked else 2)
    return asked[0][:4] if asked else (), done.stderr


def opened(monkeypatch, *words):
    """What a command that must succeed answers with."""
    given, said = run(monkeypatch, *words)
    assert said == ""
    return given


def test_it_opens_what_ships_on_loopback(monkeypatch):
    shelf, host, port, token = opened(monkeypatch)
    assert (shelf.memories[0], shelf.subjects[0], host, port, token) == (
        "mnist-100",
        "lymphography",
        "127.0.0.1",
        8080,
        None,
    )


def test_it_opens_a_table(monkeypatch, tmp_path):
    file = tmp_path / "mine.csv"
    file.write_text("id,a,kind\n1,x,p\n2,y,q\n3,x,p\n", encoding="utf-8")
    shelf, *_ = opened(monkeypatch, str(file), "--target", "kind", "--ignore", "id", "--port", "0")
    subject = shelf.subject("mine")
    assert subject.classifier.codebook_.schema.names == ("a",)
    assert subject.target == "kind"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["nothing"], "did you mean|there is no"),
        (["nothing.csv"], "does not exist"),
        (["nothing.safetensors"], "there is no such file"),
        (["lymphography", "--target", "klass"], "--target: there is no 'klass'; did you mean 'class'"),
        (["--token", "short"], "--token: got 5 letters; take at least 8"),
    ],
)
def test_what_cannot_be_opened_is_told(monkeypatch, words, sentence):
    given, said = run(monkeypatch, *words)
    assert given == ()
    assert re.search(sentence, said)


@pytest.mark.parametrize("host", ["0.0.0.0", "192.168.1.5", "laboratory.example", "::"])
def test_other_hosts_need_a_token(host):
    with pytest.raises(DataError, match=f"--host: {host} can be reached by others; give a --token"):
        server.serve(shelf_of(), host, 0, None, print)


def test_a_port_that_is_taken_is_told():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(DataError, match=f"--port: 127.0.0.1 port {port} cannot be opened"):
            server.serve(shelf_of(), "127.0.0.1", port, None, print)


def test_without_the_extra_it_says_what_to_install(monkeypatch):
    monkeypatch.setattr("bnn.web.options.find_spec", lambda _: None)
    _, said = run(monkeypatch)
    assert said == "bnn: bnn serve: needs the extra app; install it with pip install 'bnn-hopfield[app]'.\n"
