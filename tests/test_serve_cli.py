"""`bnn serve`: what it opens, where, and what it refuses."""

import socket

import pytest
from typer.testing import CliRunner

from bnn import cli
from bnn.errors import BnnError, DataError
from bnn.web import server
from bnn.web.shelf import shelf_of


def run(monkeypatch, *words):
    """What the command would answer with: shelf, host, port, token; or its error."""
    asked = []
    monkeypatch.setattr(server, "serve", lambda *given: asked.append(given))
    done = CliRunner().invoke(cli.app, ["serve", *words])
    if isinstance(done.exception, BnnError):
        raise done.exception
    ((shelf, host, port, token, _),) = asked
    return shelf, host, port, token


def test_it_opens_what_ships_on_loopback(monkeypatch):
    shelf, host, port, token = run(monkeypatch)
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
    shelf, *_ = run(monkeypatch, str(file), "--target", "kind", "--ignore", "id", "--port", "0")
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
    with pytest.raises(BnnError, match=sentence):
        run(monkeypatch, *words)


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
    with pytest.raises(DataError, match=r"needs the extra app; install it with pip install 'bnn-hopfield\[app\]'"):
        run(monkeypatch)
