"""The recall room without a page: settings in an address, memories, courses, and what a visitor can do."""

from urllib.parse import parse_qsl

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bnn
from bnn.errors import DataError
from bnn.web.course import MOST, Course, course_of, dynamics_named
from bnn.web.memory import Memory, from_digits, network_of, to_digits
from bnn.web.recall_session import SHOWS, RecallSession
from bnn.web.settings import BLANK, MOST_LEARNED, Settings

PATTERNS = np.random.default_rng(0).random((4, 60)) < 0.4
MEMORY = Memory.of(PATTERNS, ("a", "b", "c", "d"), (6, 10))


def session(**settings):
    return RecallSession(lambda _: MEMORY, Settings(**{"noise": 0.1, "rules": ("odds",), **settings}))


def recalled(**settings):
    begun = session(**settings)
    begun.show(begun.recalled())
    return begun


SETTINGS = st.fixed_dictionaries(
    {
        "data": st.sampled_from(["mnist-100", "my own & others"]),
        "pattern": st.integers(-1, 9),
        "noise": st.floats(0.0, 1.0),
        "seed": st.integers(0, 2**32 - 1),
        "rules": st.lists(st.sampled_from(sorted(bnn.RULES)), min_size=1, max_size=2).map(tuple),
        "dynamics": st.sampled_from(sorted(bnn.DYNAMICS)),
        "cut": st.floats(0.0, 1.0),
        "edits": st.sampled_from(["", "00ff"]),
        "learned": st.lists(st.sampled_from(["0f", "a0"]), max_size=3).map(tuple),
        "forgotten": st.lists(st.integers(0, 9), max_size=3).map(tuple),
    }
)


@given(SETTINGS)
def test_an_address_says_all_settings(chosen):
    settings = Settings(**chosen)
    assert Settings.of(dict(parse_qsl(settings.query()))) == settings


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ({"noise": "2"}, "noise: got 2; give a share"),
        ({"noise": "nan"}, "noise: got nan; give a share"),
        ({"cut": "-1"}, "cut: got -1; give a share"),
        ({"seed": "-1"}, "seed: got -1; give a whole number"),
        ({"seed": "one"}, "seed: got 'one'; give a number"),
        ({"rules": ""}, "rules: got 0; name one"),
        ({"rules": "oods"}, "rules: there is no 'oods'; did you mean 'odds'"),
        ({"dynamics": "asynchron"}, "dynamics: there is no 'asynchron'; did you mean 'asynchronous'"),
        ({"forgotten": "1,x"}, "forgotten: got '1,x'; give a number"),
        ({"learned": ",".join(["00"] * (MOST_LEARNED + 1))}, "learned: got 21 patterns; at most 20"),
    ],
)
def test_an_address_that_cannot_be_is_told(query, sentence):
    with pytest.raises(DataError, match=sentence):
        Settings.of(query)


def test_what_an_address_says_beside_settings_is_passed_over():
    assert Settings.of({"token": "x", "noise": "0.2"}) == Settings(noise=0.2)


@given(st.lists(st.booleans(), min_size=1, max_size=40))
def test_cells_come_back_from_their_digits(cells):
    cells = np.array(cells)
    np.testing.assert_array_equal(from_digits(to_digits(cells), len(cells), "edits"), cells)


@pytest.mark.parametrize("digits", ["0", "zz", "0000"])
def test_digits_of_other_cells_are_told(digits):
    with pytest.raises(DataError, match=r"edits: got '.*'; give 2 hexadecimal digits"):
        from_digits(digits, 8, "edits")


def test_a_memory_that_learned_and_forgot_is_one_that_never_knew():
    extra = ~PATTERNS[0]
    there_and_back = MEMORY.learn(extra, "e").forget(1).forget(4)
    fresh = Memory.of(PATTERNS[[0, 2, 3]], ("a", "c", "d"), (6, 10))
    assert (there_and_back.names, there_and_back.numbers) == (fresh.names, (0, 2, 3))
    assert there_and_back.counts == fresh.counts
    for rule in ("odds", "hopfield", "storkey"):
        ours, theirs = (network_of(memory, rule, 0.0, 0) for memory in (there_and_back, fresh))
        np.testing.assert_array_equal(ours.weights, theirs.weights)


def test_the_last_pattern_is_not_forgotten():
    with pytest.raises(DataError, match="forgotten: this is the last pattern"):
        Memory.of(PATTERNS[:1], ("a",)).forget(0)
    with pytest.raises(DataError, match="pattern: there is no number 7; stored are 0, 1, 2, 3"):
        MEMORY.forget(7)


@pytest.mark.parametrize(("neurons", "shape"), [(1, (1, 1)), (9, (3, 3)), (10, (3, 4)), (7, (3, 3)), (12, (3, 4))])
def test_patterns_without_a_shape_are_shown_in_about_a_square(neurons, shape):
    assert Memory.of(np.ones((1, neurons), np.bool_), ("a",)).shape == shape


@pytest.mark.parametrize("number", range(4))
def test_nearest_is_that_of_the_trace(number):
    cue = bnn.corrupt(PATTERNS[[number]], flip=0.3, seed=number)
    trace = bnn.recall(network_of(MEMORY, "hopfield", 0.0, 0), cue, seed=0)
    match = trace.match(PATTERNS)
    place, overlap = MEMORY.nearest((trace.states[0] == 1).astype(np.float32))
    assert (place, overlap) == (match.nearest[0], pytest.approx(match.overlap[0]))


def test_a_course_replays_every_flip():
    cue = bnn.corrupt(PATTERNS[[2]], flip=0.3, seed=1)[0]
    course = course_of("hopfield", network_of(MEMORY, "hopfield", 0.0, 0), cue, bnn.Asynchronous(), 3)
    expected = (course.trace.replay(0) + 1) / 2
    assert len(course) == course.trace.flips[0] + 1 > 5
    np.testing.assert_array_equal(course.on, expected)
    np.testing.assert_array_equal(course.falling[1:], course.trace.flip_log.energy)
    assert (np.diff(course.falling) < 0).all()
    assert course.verdict == "Settled: no neuron wants to change. The energy never rose."


def test_a_long_course_is_thinned_and_still_ends_where_it_ends():
    network = bnn.Network.of(np.zeros((2 * MOST, 2 * MOST)), bias=np.ones(2 * MOST))
    course = course_of("by hand", network, np.zeros(2 * MOST, np.bool_), bnn.Asynchronous(), 0)
    assert len(course) == MOST
    np.testing.assert_array_equal(course.on[-1], 1.0)
    assert course.falling[-1] == -2 * MOST
    assert (course.on.sum(axis=1) == -course.falling).all()  # each moment's state is the one its energy belongs to


@pytest.mark.parametrize("name", ["synchronous", "winner-take-all", "k-winners", "glauber", "flow"])
def test_each_dynamics_has_a_course(name):
    cue = bnn.corrupt(PATTERNS[[2]], flip=0.1, seed=1)[0]
    course = course_of("odds", network_of(MEMORY, "odds", 0.0, 0), cue, dynamics_named(name), 0)
    assert course.moments[0] == "start"
    assert len(course.on) == len(course.falling) == len(course.moments)
    assert course.on.min() >= 0.0
    assert course.on.max() <= 1.0
    assert course.what == course.trace.lyapunov_name
    np.testing.assert_allclose(course.on[-1], course.trace.final[0], atol=1e-6)


def test_what_a_rule_cannot_do_is_told():
    with pytest.raises(DataError, match="Attention"):
        session(dynamics="attention").recalled()
    with pytest.raises(DataError, match="cut: the rule modern keeps patterns and has no connections"):
        session(rules=("modern",), cut=0.5).recalled()


def test_a_rise_is_told_with_its_reason():
    network = bnn.Network.of([[0, 4], [-4, 0]], bias=[-1, 1])
    course = course_of("by hand", network, np.array([False, True]), bnn.Asynchronous(), 0)
    assert "rose by up to" in course.verdict
    assert "as it may" in course.verdict


def test_the_cue_is_the_pattern_edited_and_then_noisy():
    begun = session(pattern=1, noise=0.2, seed=5)
    np.testing.assert_array_equal(begun.cue, bnn.corrupt(PATTERNS[[1]], flip=0.2, seed=5)[0])
    before = begun.cue
    begun.paint([0, 3], None)
    np.testing.assert_array_equal(np.flatnonzero(begun.cue != before), [0, 3])
    begun.paint([0, 1, 2, 3], True)
    assert begun.cue[:4].all()
    begun.paint([0, 1, 2, 3], False)
    assert not begun.cue[:4].any()
    begun.change(pattern=1)
    np.testing.assert_array_equal(begun.cue, before)


def test_painting_outside_is_told():
    with pytest.raises(DataError, match="cells: got 60; there are cells 0 to 59"):
        session().paint([3, 60], True)
    with pytest.raises(DataError, match="cells: got -1"):
        session().paint([-1], None)


def test_drawing_replaces_the_cue():
    begun = session(pattern=2, noise=0.3)
    begun.draw(PATTERNS[3])
    np.testing.assert_array_equal(begun.cue, PATTERNS[3])
    assert begun.settings.pattern == BLANK


def test_what_was_drawn_is_learned_and_recalled():
    begun = session(pattern=BLANK, noise=0.0)
    drawn = np.arange(60) % 3 == 0
    begun.draw(drawn)
    begun.learn()
    assert begun.memory.names[-1] == "learned 1"
    begun.change(noise=0.1)
    begun.show(begun.recalled())
    begun.seek(begun.last)
    np.testing.assert_array_equal(begun.on(0) == 1, drawn)


def test_forgetting_the_pattern_shown_shows_another():
    begun = session(pattern=2)
    begun.forget(2)
    assert begun.settings.pattern == 0
    assert begun.memory.numbers == (0, 1, 3)
    begun.change(pattern=3)
    begun.forget(0)
    assert begun.settings.pattern == 3


def test_a_link_shows_the_same_again():
    begun = session(pattern=1, noise=0.15, seed=9, rules=("odds", "hopfield"), cut=0.3)
    begun.paint([5, 6, 7], None)
    begun.learn()
    begun.forget(0)
    again = RecallSession(lambda _: MEMORY, Settings.of(dict(parse_qsl(begun.settings.query()))))
    np.testing.assert_array_equal(again.cue, begun.cue)
    for ours, theirs in zip(begun.recalled(), again.recalled(), strict=True):
        np.testing.assert_array_equal(ours.on, theirs.on)
        np.testing.assert_array_equal(ours.falling, theirs.falling)


def test_settings_that_cannot_be_change_nothing():
    begun = session()
    before, memory = begun.settings, begun.memory
    for wrong in ({"noise": 2.0}, {"pattern": 9}, {"forgotten": (9,)}, {"edits": "00"}, {"learned": ("zz",)}):
        with pytest.raises(DataError):
            begun.change(**wrong)
    assert begun.settings is before
    assert begun.memory is memory


def test_steps_go_to_the_ends_and_no_further():
    begun = recalled(pattern=1, noise=0.2)
    last = begun.last
    assert last > 2
    begun.back()
    assert begun.position == 0
    begun.step()
    assert begun.position == 1
    begun.seek(1000)
    begun.step()
    assert begun.position == last


def test_playing_goes_on_to_the_end_and_begins_again():
    begun = recalled(pattern=1, noise=0.2)
    begun.tick()
    assert begun.position == 0
    begun.play()
    ticks = 0
    while begun.playing:
        begun.tick()
        ticks += 1
    assert begun.position == begun.last
    assert ticks <= SHOWS
    begun.play()
    assert (begun.position, begun.playing) == (0, True)
    begun.pause()
    begun.tick()
    assert begun.position == 0


def test_who_looks_at_the_end_sees_the_end_of_what_is_recalled_next():
    begun = recalled(pattern=1, noise=0.2)
    begun.seek(begun.last)
    begun.change(seed=1, noise=0.3)
    begun.show(begun.recalled())
    assert begun.position == begun.last > 0
    begun.back()
    begun.show(begun.recalled())
    assert begun.position == 0


def test_nothing_recalled_plays_nothing():
    begun = session()
    begun.play()
    assert (begun.last, begun.playing) == (0, False)


def test_the_shorter_of_two_courses_rests_at_its_end():
    begun = recalled(pattern=1, noise=0.2, rules=("odds", "hebb"))
    lengths = [len(course) for course in begun.courses]
    assert lengths[0] != lengths[1]
    begun.seek(begun.last)
    assert [begun.moment(number) for number in range(2)] == [length - 1 for length in lengths]
    for number, course in enumerate(begun.courses):
        assert isinstance(course, Course)
        np.testing.assert_array_equal(begun.on(number), course.on[-1])


def test_cut_connections_are_those_of_the_seed():
    whole, cut, again, other = (
        network_of(MEMORY, "hopfield", share, seed).weights for share, seed in ((0.0, 0), (0.5, 1), (0.5, 1), (0.5, 2))
    )
    pairs = 60 * 59 // 2
    assert int((whole != cut).sum()) <= 2 * round(0.5 * pairs)
    assert (cut == again).all()
    assert (cut != other).any()
