"""Films of recalls: what each moment shows."""

import numpy as np
import pytest
from PIL import Image

import bnn
from bnn.errors import DataError

NETWORK = bnn.Network.of(
    [[0, 3, -2], [3, 0, -2], [-2, -2, 0]], bias=[-1.0, -1.0, 0.5], names=["hair", "milk", "feathers"]
)


@pytest.fixture
def discrete():
    return bnn.recall(NETWORK, [[1, 0, 0], [1, 1, 1]], seed=0, record="flips")


@pytest.fixture
def graded():
    return bnn.recall(NETWORK, [[1, 0, 0], [1, 1, 1]], bnn.GradientFlow(gain=2.0), seed=0, record="states")


def moment(film, number):
    """What one moment shows: how black each neuron is, whose rim is thick, where the dot stands, and the title."""
    artists = film._func(number)
    *marks, dot, title = artists
    shades = [round(1.0 - float(mark.get_markerfacecolor()), 6) for mark in marks]
    thick = [mark.get_markeredgewidth() > 2 for mark in marks]
    return shades, thick, (float(dot.get_xdata()[0]), float(dot.get_ydata()[0])), title.get_text()


def moments(film):
    return [moment(film, number) for number in range(film._save_count)]


@pytest.fixture
def film_of(tmp_path):
    """Make a film and save it: one that is never drawn is warned about by matplotlib."""

    def make(*given, **options):
        film = bnn.plots.animation(*given, **options)
        film.save(tmp_path / "film.gif", writer="pillow", dpi=30)
        with Image.open(tmp_path / "film.gif") as saved:
            assert saved.n_frames == film._save_count
        return film

    return make


@pytest.mark.parametrize("row", [0, 1, -1])
def test_a_film_shows_every_flip_and_its_energy(discrete, row, film_of):
    shown = moments(film_of(discrete, row))
    states = discrete.replay(row)
    assert [shades for shades, *_ in shown] == states.tolist()
    assert [thick for _, thick, *_ in shown] == [[False] * 3, *(states[1:] != states[:-1]).tolist()]
    energies = NETWORK.energy(states).tolist()
    assert [place for *_, place, _ in shown] == list(enumerate(energies))
    assert shown[0][3] == "start"
    changed = int(np.flatnonzero(states[1] != states[0])[0])
    word = "on" if states[1, changed] else "off"
    assert shown[1][3] == f"sweep 1, flip 1: {NETWORK.layout.names[changed]} {word}"


def test_a_film_of_graded_neurons_is_grey(graded, film_of):
    shown = moments(film_of(graded, 0, moments=5))
    assert len(shown) == 5
    assert shown[0][0] == pytest.approx(graded.history[0, 0].tolist(), abs=1e-6)
    assert shown[-1][0] == pytest.approx(graded.states[0].tolist(), abs=1e-6)
    assert 0.0 < shown[0][0][1] < 1.0
    assert not any(any(thick) for _, thick, *_ in shown)
    falls = [y for *_, (_, y), _ in shown]
    assert falls == sorted(falls, reverse=True)
    assert shown[0][3] == "time 0.00 tau"


def test_states_from_minus_one_to_one_are_off_and_on(film_of):
    network = bnn.Network.of([[0, 1], [1, 0]], low=-1)
    trace = bnn.recall(network, [[1, -1]], seed=0, record="flips")
    first, *_, last = moments(film_of(trace))
    assert first[0] == [1.0, 0.0]
    assert len(set(last[0])) == 1


def test_a_long_recall_is_shortened(film_of):
    digits = bnn.datasets.load("mnist-100")[:20:10]
    trace = bnn.recall(bnn.learn(digits, "odds"), bnn.corrupt(digits, flip=0.1, seed=0), seed=0, record="flips")
    film = film_of(trace, moments=4, strongest=3)
    assert film._save_count == 4
    assert moment(film, 3)[3].startswith(f"sweep 1, flip {len(trace.replay(0)) - 1}: r")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"moments": 1}, "plots.animation.moments: got 1; give at least two, the start and the end"),
        ({"row": 2}, "plots.animation.row: got 2; the trace has rows 0 to 1"),
        ({"strongest": 0}, "strongest: got 0; ask for at least one"),
    ],
)
def test_what_cannot_be_filmed(discrete, graded, options, message):
    for trace in (discrete, graded):
        with pytest.raises(DataError, match=message):
            bnn.plots.animation(trace, **options)


def test_what_was_not_recorded():
    with pytest.raises(DataError, match=r'the flips were not recorded; call recall\(..., record="flips"\)'):
        bnn.plots.animation(bnn.recall(NETWORK, [[1, 0, 0]], seed=0))
    flow = bnn.recall(NETWORK, [[1, 0, 0]], bnn.GradientFlow(), seed=0)
    with pytest.raises(DataError, match=r'the path was not recorded; call recall\(..., record="states"\)'):
        bnn.plots.animation(flow)
