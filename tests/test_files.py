"""Files of arrays with a header: exact, all or nothing, and one sentence for each way to be wrong."""

import json
import os
import re
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from safetensors.numpy import save_file

import bnn
from bnn import files
from bnn.errors import FileError
from bnn.files import exclusively, read_tensors, write_tensors

DTYPES = st.sampled_from([np.int64, np.float64, np.float32, np.int8, np.uint16, np.bool_])
HEADERS = st.dictionaries(st.text(max_size=5), st.none() | st.booleans() | st.integers() | st.text() | st.floats(-9, 9))


@pytest.fixture
def path(tmp_path):
    return tmp_path / "a.safetensors"


@given(hnp.arrays(DTYPES, hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4)), HEADERS)
def test_arrays_and_header_return_bit_for_bit(tmp_path_factory, array, header):
    path = tmp_path_factory.getbasetemp() / "exact.safetensors"
    write_tensors(
        path, {"one": array, "turned": array.T, "reversed": array[::-1] if array.ndim else array}, header, "k"
    )
    arrays, told = read_tensors(path, "k")
    assert told == header
    for name, expected in (("one", array), ("turned", array.T), ("reversed", array[::-1] if array.ndim else array)):
        assert arrays[name].dtype == array.dtype
        assert arrays[name].shape == expected.shape
        assert arrays[name].tobytes() == expected.tobytes()


def test_writing_replaces_and_leaves_nothing_else(path):
    for value in (1, 2):
        write_tensors(str(path), {"x": np.array([value])}, {}, "k")
    assert read_tensors(path, "k")[0]["x"].tolist() == [2]
    assert [p.name for p in path.parent.iterdir()] == [path.name]


def test_a_failed_write_leaves_the_old_file_alone(path):
    write_tensors(path, {"x": np.array([1])}, {}, "k")

    def fail(temporary):
        temporary.write_bytes(b"half")
        raise OSError(28, "No space left on device")

    with pytest.raises(FileError, match=r"a.safetensors: cannot be written: No space left on device\.$"):
        files.write_atomically(path, fail)
    assert read_tensors(path, "k")[0]["x"].tolist() == [1]
    assert [p.name for p in path.parent.iterdir()] == [path.name]


def test_places_that_cannot_be_written(tmp_path):
    with pytest.raises(FileError, match=r"a.safetensors: the folder '.*missing' does not exist; make it first\.$"):
        write_tensors(tmp_path / "missing" / "a.safetensors", {}, {}, "k")
    with pytest.raises(FileError, match=r": is a folder; give the name of a file in it\.$"):
        write_tensors(tmp_path, {}, {}, "k")


def test_places_that_cannot_be_read(tmp_path):
    with pytest.raises(FileError, match=r"b.safetensors: there is no such file\.$"):
        read_tensors(tmp_path / "b.safetensors", "k")
    with pytest.raises(FileError, match=r": is a folder; give the name of a file in it\.$"):
        read_tensors(tmp_path, "k")


def test_files_that_the_system_refuses(monkeypatch, path):
    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied")

    write_tensors(path, {}, {}, "k")
    monkeypatch.setattr(files, "safe_open", refuse)
    with pytest.raises(FileError, match=r"a.safetensors: cannot be read: Permission denied\.$"):
        read_tensors(path, "k")


@given(st.data())
def test_no_damage_passes_for_the_file(tmp_path_factory, data):
    path = tmp_path_factory.getbasetemp() / "damaged.safetensors"
    write_tensors(path, {"x": np.arange(3)}, {"a": 1}, "k")
    whole = path.read_bytes()
    path.write_bytes(whole[: data.draw(st.integers(0, len(whole) - 1))])
    with pytest.raises(
        FileError, match=r"damaged.safetensors: is damaged, cut short, or no safetensors file \(.*\)\.$"
    ):
        read_tensors(path, "k")
    path.write_bytes(data.draw(st.binary(max_size=50)))
    with pytest.raises(FileError, match=r"damaged.safetensors: is "):
        read_tensors(path, "k")


def test_files_of_other_programs_kinds_and_versions(path):
    save_file({"x": np.arange(3)}, path)
    with pytest.raises(
        FileError, match=r"a.safetensors: is a safetensors file of another program, not k written by bnn"
    ):
        read_tensors(path, "k")
    write_tensors(path, {"x": np.arange(3)}, {}, "network")
    with pytest.raises(FileError, match=r"a.safetensors: holds network, not counts; load it as what it is\.$"):
        read_tensors(path, "counts")
    newer = json.dumps({"kind": "k", "version": files.VERSION + 1, "header": {}})
    save_file({"x": np.arange(3)}, path, metadata={"bnn": newer})
    with pytest.raises(
        FileError, match=r"was written by a newer bnn \(format 2, this one reads up to 1\); upgrade bnn\.$"
    ):
        read_tensors(path, "k")


@pytest.mark.parametrize(
    "note", ["{", "[]", "{}", '{"kind": "k", "version": 1}', '{"kind": "k", "version": "x", "header": 3}']
)
def test_a_damaged_header(path, note):
    save_file({"x": np.arange(3)}, path, metadata={"bnn": note})
    with pytest.raises(FileError, match=r"a.safetensors: its bnn header is damaged \(.*\); write the file anew\.$"):
        read_tensors(path, "k")


def test_every_flipped_bit_shows(tmp_path):
    path = tmp_path / "net.safetensors"
    bnn.Network.of([[0, 1.5], [1.5, 0]], names=["a", "b"]).save(path)
    whole = path.read_bytes()
    for bit in range(0, 8 * len(whole), 7):
        damaged = bytearray(whole)
        damaged[bit // 8] ^= 1 << bit % 8
        path.write_bytes(damaged)
        with pytest.raises(FileError):
            bnn.Network.load(path)


def test_a_link_is_written_through_and_permissions_stay(tmp_path):
    target, link = tmp_path / "net.safetensors", tmp_path / "latest.safetensors"
    network = bnn.Network.of([[0, 1], [1, 0]])
    network.save(target)
    assert target.stat().st_mode & 0o777 == 0o666 & ~files._umask()
    target.chmod(0o640)
    link.symlink_to(target)
    bnn.Network.of([[0, 2], [2, 0]]).save(link)
    assert link.is_symlink()
    assert target.stat().st_mode & 0o777 == 0o640
    assert bnn.Network.load(target).weights[0, 1] == 2.0


def test_only_ordinary_files_are_read_and_written(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    network = bnn.Network.of([[0, 1], [1, 0]])
    for action in (network.save, bnn.Network.load):
        with pytest.raises(FileError, match="is no ordinary file; give the name of one"):
            action(pipe)
    with pytest.raises(FileError, match="cannot be written"):
        network.save(tmp_path / ("x" * 300))


FULL = """
import resource, sys
import numpy as np
from bnn.files import write_tensors
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
write_tensors(sys.argv[1], {"x": np.zeros(1_000_000)}, {}, "k")
"""


def test_a_full_disk_leaves_the_old_file_alone(path):
    write_tensors(path, {"x": np.array([1])}, {}, "k")
    done = subprocess.run([sys.executable, "-c", FULL, path], capture_output=True, text=True, check=False)
    assert re.search(r"FileError: .*a\.safetensors: cannot be written: .*File too large", done.stderr)
    assert read_tensors(path, "k")[0]["x"].tolist() == [1]
    assert [p.name for p in path.parent.iterdir()] == [path.name]


HOLDING = """
import sys
from bnn.files import exclusively
with exclusively(sys.argv[1]):
    print("mine", flush=True)
    sys.stdin.read()
"""


def test_two_processes_at_one_file(path):
    command = [sys.executable, "-c", HOLDING, path]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout.readline() == "mine\n"
        with pytest.raises(FileError, match=r"a\.safetensors: another process is changing it and will win; wait for"):
            exclusively(path).__enter__()
        other.kill()  # a lock does not outlive its process
        other.wait()
        with exclusively(path):
            write_tensors(path, {"x": np.array([1])}, {}, "k")
    with pytest.raises(FileError, match=r"the folder '.*missing' does not exist; make it first\."):
        exclusively(path.parent / "missing" / "a.safetensors").__enter__()
