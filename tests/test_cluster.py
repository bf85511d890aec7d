"""A cluster of two processes counts, learns and answers as one process does: to the last bit, whatever dies."""

import os
import signal
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from types import SimpleNamespace

import dask
import dask.array
import dask.dataframe
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from distributed import Client, KilledWorker, LocalCluster
from typer.testing import CliRunner

import bnn
from bnn import cli, cluster
from bnn.classify.class_counts import ClassCounts
from bnn.counts import Counts
from bnn.errors import BnnWarning, ClusterError, DamageWarning, DataError, FileError, SchemaError, UnseenValueWarning
from bnn.kernels import threads
from bnn.partitions import total

ROWS = 600


@pytest.fixture(scope="module")
def client():
    with (
        dask.config.set({"distributed.worker.daemon": True, "distributed.logging.distributed": "critical"}),
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50) as machines,
        Client(machines) as here,
    ):
        yield here


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "colour": pd.Series(rng.choice(["red", "green", None], ROWS), dtype="string"),
            "legs": rng.choice([0.0, 2.0, 4.0, np.nan], ROWS),
            "size": rng.normal(size=ROWS).round(2),
            "grade": pd.Categorical(rng.choice(["low", "high"], ROWS), categories=["low", "middle", "high"]),
            "weight": rng.integers(0, 3, ROWS) * rng.random(ROWS),
            "class": rng.choice(["x", "y", "z"], ROWS),
        }
    )


@pytest.fixture(scope="module")
def table(client, frame):
    assert client is not None
    return dask.dataframe.from_pandas(frame, npartitions=5)


@pytest.fixture(scope="module")
def files(frame, tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    for i, rows in enumerate(np.array_split(np.arange(ROWS), 3)):
        whole = pa.Table.from_pandas(frame.iloc[rows], preserve_index=False)
        pq.write_table(whole, folder / f"{i}.parquet", row_group_size=70)
    return folder / "*.parquet"


@pytest.fixture
def in_turn():
    """Partitions one after the other, in this process: not all is a matter of the cluster."""
    with dask.config.set(scheduler="synchronous"):
        yield


def records(frame, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BnnWarning)
        return bnn.Records.from_table(frame, **options)


def same_classifier(one, other):
    assert one.counts_ == other.counts_
    assert one.classes_.tolist() == other.classes_.tolist()
    assert one.classes_.dtype == other.classes_.dtype
    assert one.n_features_in_ == other.n_features_in_
    assert getattr(one, "feature_names_in_", np.array([])).tolist() == (
        getattr(other, "feature_names_in_", np.array([])).tolist()
    )
    for ours, theirs in zip(one.codebook_.columns, other.codebook_.columns, strict=True):
        assert ours.attribute == theirs.attribute
        assert ours.width == theirs.width
        assert (ours.bounds is None) == (theirs.bounds is None)
        assert ours.bounds is None or np.array_equal(ours.bounds, theirs.bounds)


# --- Counts -----------------------------------------------------------------------------------------------------------


def test_counts_of_a_frame(table, frame):
    plain = frame.drop(columns="weight")
    assert Counts.of(table.drop(columns="weight")) == Counts.of(records(plain))
    weighted = Counts.of(table, weight="weight")
    assert weighted.scale == 2**20
    assert weighted == Counts.of(records(plain, weights=frame["weight"]))


@pytest.mark.parametrize("coding", ["values", "on"])
def test_counts_of_an_array(client, coding):
    bits = np.random.default_rng(0).integers(0, 2, (100, 6))
    assert client is not None
    found = Counts.of(dask.array.from_array(bits, chunks=(30, 4)), coding)
    assert found == Counts.of(bnn.Records.from_table(bits), coding)
    assert found.complete  # margins came as the broadcasts they are


def test_counts_and_schema_of_files(client, files, frame):
    here, there = bnn.Source.of(files), bnn.Source.of(files, scheduler=client)
    by_address = bnn.Source.of(files, scheduler=client.scheduler.address)
    assert len(there.fragments) > 8  # so that sums are summed
    for intervals in (None, 4):
        schema = bnn.find_schema(there, "class", intervals)
        assert schema == bnn.find_schema(here, "class", intervals)
        assert schema == records(frame, target="class", intervals=intervals).schema
    assert Counts.of(there, schema=schema) == Counts.of(here, schema=schema)
    assert Counts.of(there, weight="weight") == Counts.of(
        records(frame.drop(columns="weight"), weights=frame["weight"])
    )
    assert ClassCounts.of(by_address, schema=schema) == ClassCounts.of(here, schema=schema)


@pytest.mark.usefixtures("in_turn")
def test_schema_of_a_frame(table, frame):
    found = bnn.find_schema(table, "class", 4, ignore=["weight"])
    assert found == records(frame.drop(columns="weight"), target="class", intervals=4).schema
    assert found["grade"].values == ("low", "middle", "high")


@pytest.mark.usefixtures("in_turn")
def test_empty_partitions_count_nothing():
    bits = dask.array.from_array(np.eye(4, dtype=int), chunks=2)
    kept = bits[(bits.sum(axis=1) > 0) & (dask.array.arange(4, chunks=2) > 1)]
    assert Counts.of(kept) == Counts.of(bnn.Records.from_table(np.eye(4, dtype=int)[2:]))


@pytest.mark.usefixtures("in_turn")
def test_values_the_schema_lacks_are_counted_over_all_parts(table, frame):
    schema = bnn.Records.from_table({"colour": ["red"]}).schema
    lacking = int((frame["colour"] == "green").sum())
    with pytest.warns(UnseenValueWarning, match=rf"'colour' {lacking} \(such as"):
        found = Counts.of(table[["colour"]], schema=schema)
    with pytest.warns(UnseenValueWarning):
        assert found == Counts.of(bnn.Records.from_table(frame[["colour"]], schema=schema))


def test_damage_is_told_and_missing_files_are_no_damage(client, files, tmp_path):
    whole = sorted(files.parent.iterdir())
    data = bytearray(whole[0].read_bytes())
    data[200:260] = bytes(60)
    (tmp_path / "a.parquet").write_bytes(data)
    source = bnn.Source.of(tmp_path / "a.parquet", whole[1], scheduler=client)
    schema = bnn.find_schema(bnn.Source.of(files), "class")
    with pytest.warns(DamageWarning, match=r"damaged rows were left out: .*a\.parquet"):
        found = ClassCounts.of(source, schema=schema)
    with pytest.warns(DamageWarning):
        assert found == ClassCounts.of(bnn.Source.of(tmp_path / "a.parquet", whole[1]), schema=schema)
    (tmp_path / "a.parquet").unlink()
    with pytest.raises(FileError, match=r"a worker does not find .*a\.parquet"):
        ClassCounts.of(source, schema=schema)


# --- Classifiers ------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("in_turn")
@pytest.mark.parametrize("discretize", ["mdl", {"size": [-0.5, 0.5]}])
def test_fit_of_a_frame(table, frame, discretize):
    found = bnn.NaiveBayesClassifier(discretize=discretize).fit(table.drop(columns="weight"), "class")
    expected = bnn.NaiveBayesClassifier(discretize=discretize)
    same_classifier(found, expected.fit(frame.drop(columns=["weight", "class"]), frame["class"]))


def test_fit_and_answers_of_a_cluster(table, frame):
    rows, plain = table.drop(columns="weight"), frame.drop(columns=["weight", "class"])
    found, expected = bnn.NaiveBayesClassifier(), bnn.NaiveBayesClassifier().fit(plain, frame["class"])
    same_classifier(found.fit(rows, "class"), expected)
    assert np.array_equal(found.predict(rows.drop(columns="class")).compute(), expected.predict(plain))


@pytest.mark.usefixtures("in_turn")
def test_fit_with_weights_and_columns_beside(table, frame):
    ways = {"size": [-0.5, 0.5]}
    X = frame.drop(columns=["weight", "class"])
    expected = bnn.NaiveBayesClassifier(discretize=ways).fit(X, frame["class"], frame["weight"])
    attributes = table.drop(columns=["weight", "class"])
    for rows, y, weight in ((table, "class", "weight"), (attributes, table["class"], table["weight"])):
        same_classifier(bnn.NaiveBayesClassifier(discretize=ways).fit(rows, y, weight), expected)


@pytest.mark.usefixtures("in_turn")
def test_fit_of_an_array_and_more_of_it():
    rng = np.random.default_rng(1)
    X, y = rng.integers(0, 4, (200, 5)).astype(float), rng.integers(0, 3, 200)
    X[:100][X[:100] == 3], y[:100] = np.nan, y[:100] % 2
    parts = [
        (dask.array.from_array(X[half], chunks=(30, 3)), dask.array.from_array(y[half], chunks=30)) for half in HALVES
    ]
    found, expected = bnn.NaiveBayesClassifier().partial_fit(*parts[0]), bnn.NaiveBayesClassifier()
    same_classifier(found, expected.partial_fit(X[HALVES[0]], y[HALVES[0]]))
    for classifier, (rows, labels) in ((found, parts[1]), (expected, (X[HALVES[1]], y[HALVES[1]]))):
        with pytest.warns(BnnWarning, match=r"new classes \[2\]"):
            classifier.partial_fit(rows, labels)
    same_classifier(found, expected)


HALVES = slice(0, 100), slice(100, 200)


@pytest.mark.usefixtures("in_turn")
def test_partial_fit_of_a_frame_keeps_bounds_and_named_classes(table, frame):
    rows, more = table.drop(columns="weight"), frame.drop(columns="weight")
    found, expected = bnn.NaiveBayesClassifier(), bnn.NaiveBayesClassifier()
    classes = ["w", "x", "y", "z"]
    for _ in range(2):
        found.partial_fit(rows, "class", classes=classes)
        expected.partial_fit(more.drop(columns="class"), more["class"], classes=classes)
    same_classifier(found, expected)
    with pytest.raises(DataError, match="class 'v' is none of"):
        found.partial_fit(rows.assign(**{"class": "v"}), "class")
    same_classifier(found, expected)


@pytest.mark.usefixtures("in_turn")
def test_answers_are_lazy_and_the_same(table, frame):
    attributes = ["colour", "legs", "size", "grade"]
    classifier = bnn.NaiveBayesClassifier().fit(frame[attributes], frame["class"])
    rows, plain = table[attributes], frame[attributes]
    for method in ("predict", "predict_proba", "predict_log2_proba", "predict_log_proba", "decision_function"):
        found, expected = getattr(classifier, method)(rows), getattr(classifier, method)(plain)
        assert isinstance(found, dask.array.Array)
        assert found.ndim == expected.ndim
        found = found.compute()
        assert found.dtype == expected.dtype
        assert np.array_equal(found, expected)
    numbers = dask.array.from_array(frame[["legs", "size"]].to_numpy(), chunks=(100, 1))
    classifier = bnn.TreeBayesClassifier().fit(numbers.compute(), frame["class"])
    assert classifier.predict(numbers).shape == (ROWS,)
    assert np.array_equal(classifier.predict_proba(numbers).compute(), classifier.predict_proba(numbers.compute()))


def test_command_line_learns_on_a_cluster(client, files, tmp_path, monkeypatch):
    monkeypatch.chdir(files.parent)  # whose name workers must be told
    address = client.scheduler.address
    for out, words in (("one", []), ("cluster", ["--scheduler", address])):
        done = CliRunner().invoke(cli.app, ["fit", "*.parquet", *words, "--out", str(tmp_path / f"{out}.safetensors")])
        assert done.exit_code == 0, done.output
    one, there = (bnn.load_classifier(tmp_path / f"{out}.safetensors") for out in ("one", "cluster"))
    same_classifier(there, one)


# --- Recall -----------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("in_turn")
def test_recall_of_patterns_and_tables():
    digits = bnn.datasets.load("mnist-100")[::10]
    network = bnn.learn(digits, "odds")
    cues = bnn.corrupt(digits, flip=0.1, seed=0).patterns
    lazily = bnn.recall_states(network, dask.array.from_array(cues, chunks=(4, 300)), seed=0, check="raise")
    assert np.array_equal(lazily.compute(), bnn.recall(network, cues, seed=0).states)
    zoo = bnn.datasets.load("zoo")
    network = bnn.learn(zoo, "probability")
    table = bnn.corrupt(zoo, mask=0.5, seed=0).to_table().to_pandas()
    lazily = bnn.recall_states(
        network, dask.dataframe.from_pandas(table, npartitions=3), bnn.WinnerTakeAll(), seed=0, clamp="known"
    )
    cues = bnn.Records.from_table(table, schema=zoo.schema)
    expected = bnn.recall(network, cues, bnn.WinnerTakeAll(), seed=0, clamp="known")
    assert np.array_equal(lazily.compute(), expected.states)


@pytest.mark.parametrize(
    ("cues", "options", "told"),
    [
        (np.eye(8), {}, "give a dask array"),
        (dask.array.eye(8), {"dynamics": bnn.Glauber()}, "noise of Glauber"),
        (dask.array.eye(8), {"input": np.eye(8)}, r"recall_states.input: got one row a cue"),
    ],
)
def test_recalls_that_need_all_rows_are_refused(cues, options, told):
    network = bnn.learn(bnn.Records.from_patterns(np.eye(8)), "hopfield")
    with pytest.raises(DataError, match=told):
        bnn.recall_states(network, cues, seed=0, **options)


# --- The cluster itself -----------------------------------------------------------------------------------------------


def counted_when_told(folder, schema, chunks):
    """Class counts of a fragment, once told to go on; until then a mark tells that a process is at it."""
    from bnn.streaming import part_of

    (folder / f"{os.getpid()}").touch()
    while not (folder / "go").exists():
        time.sleep(0.02)
    return sum(ClassCounts.of(part_of(chunk, schema).records) for chunk in chunks)


def test_a_killed_worker_changes_nothing(client, files, tmp_path):
    schema = bnn.find_schema(bnn.Source.of(files), "class")
    source, work = bnn.Source.of(files, scheduler=client), partial(counted_when_told, tmp_path, schema)
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(total, work, source, sum)
        while len(begun := list(tmp_path.iterdir())) < 2:
            time.sleep(0.02)
        os.kill(int(begun[0].name), signal.SIGKILL)
        (tmp_path / "go").touch()
        assert running.result() == ClassCounts.of(bnn.Source.of(files), schema=schema)


class Deadly:
    """A client whose workers all die."""

    def compute(self, task):  # noqa: ARG002 - the client's
        return self

    def result(self):
        raise KilledWorker("task", SimpleNamespace(address="tcp://10.0.0.7:1"), 3)


def test_parts_that_end_every_worker_are_told():
    with pytest.raises(ClusterError, match=r"ended 4 workers, the last at tcp://10.0.0.7:1; give workers more memory"):
        cluster.total(len, [((),)], sum, Deadly())


def test_tasks_use_one_thread_each(client):
    assert cluster.total(lambda _: threads.count(), [(1,), (2,)], list, client) == [1, 1]
    with threads.threads(3), threads.undivided():
        assert threads.count() == 1
    assert threads.count() >= 1


@pytest.mark.parametrize("number", [1, 2, 8, 9, 65])
def test_merges_keep_the_order(number):
    parts = [(i,) for i in range(number)]
    assert cluster.total(lambda i: [i], parts, lambda found: [x for one in found for x in one]) == list(range(number))


def test_dask_is_not_imported_until_it_is_needed(monkeypatch):
    assert not cluster.divided(np.eye(2))
    assert not cluster.divided(pd.DataFrame())
    assert cluster.divided(dask.array.eye(2))
    monkeypatch.setitem(__import__("sys").modules, "distributed", None)
    with pytest.raises(ClusterError, match=r"distributed is not installed; install it by pip install"):
        cluster.total(len, [((),)], sum)


def test_a_scheduler_that_is_not_there_or_has_no_workers(files, monkeypatch):
    monkeypatch.setattr(cluster, "PATIENCE", 0.3)
    with pytest.raises(ClusterError, match=r"no scheduler answers at 'tcp://127.0.0.1:9'"):
        Counts.of(bnn.Source.of(files, scheduler="tcp://127.0.0.1:9"))
    with (
        LocalCluster(n_workers=0, dashboard_address=":0", silence_logs=50) as machines,
        pytest.raises(ClusterError, match=r"has no workers; start some by dask worker tcp"),
    ):
        Counts.of(bnn.Source.of(files, scheduler=machines.scheduler_address))


@pytest.mark.parametrize(
    ("fit", "told"),
    [
        (lambda t: bnn.NaiveBayesClassifier().fit(t, "clas"), r"fit.y|there is no 'clas'"),
        (lambda t: bnn.NaiveBayesClassifier().fit(t, np.zeros(3)), "give the name of a column, or a column of dask"),
        (lambda t: bnn.NaiveBayesClassifier().fit(t, "class", "weight"), "bounds of column 'size' cannot be found"),
        (lambda t: Counts.of(t[["colour", "legs"]], weight="colour"), "weights are numbers"),
        (lambda t: Counts.of(t.rename(columns={"legs": "size"})), "'size' names two columns"),
        (lambda t: Counts.of([t.compute()], weight="w"), "Counts.of.weight: got 'w' of records"),
        (lambda t: Counts.of(t["legs"].to_dask_array()), "needs the shape"),
        (lambda t: bnn.find_schema(t, ignore=["colours"]), "did you mean 'colour'"),
    ],
)
@pytest.mark.usefixtures("in_turn")
def test_what_cannot_be_counted_is_told(table, fit, told):
    with pytest.raises((DataError, SchemaError), match=told):
        fit(table)
