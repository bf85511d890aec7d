import subprocess
import sys

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression
from test_naive import quietly

import bnn
from bnn import BayesHead, NaiveBayesClassifier
from bnn.classify.class_counts import ClassCounts
from bnn.classify.gains import GAINS
from bnn.classify.head import delta_rule, one_hot
from bnn.errors import DataError

TUMOR = bnn.datasets.load("primary-tumor")  # 22 classes, missing values
X, Y = [["red", "big"], ["red", "small"], ["blue", "small"], ["blue", None]], ["apple", "apple", "plum", "apple"]


@pytest.mark.parametrize("estimate", sorted(set(GAINS) - {"relative"}))
def test_it_starts_as_the_classifier(estimate):
    classifier = NaiveBayesClassifier(estimate).fit(TUMOR)
    answers = BayesHead.of(classifier)(one_hot(classifier, TUMOR)).detach().numpy()
    assert np.allclose(answers, classifier.predict_log_proba(TUMOR), rtol=0, atol=1e-9)


def test_single_precision_is_near():
    classifier = NaiveBayesClassifier().fit(TUMOR)
    head = BayesHead.of(classifier, dtype=torch.float32)
    answers = head(one_hot(classifier, TUMOR))
    assert answers.dtype == torch.float32
    assert np.allclose(answers.detach().numpy(), classifier.predict_log_proba(TUMOR), rtol=0, atol=5e-5)


def test_counts_alone_are_enough():
    counts = ClassCounts.of(TUMOR)
    classifier = NaiveBayesClassifier("neutral", m=3.0).fit(TUMOR)
    head = BayesHead.of(counts, "neutral", m=3.0)
    totals = dict(zip(counts.target.values, counts.totals.tolist(), strict=True))
    assert head.weight.shape == (len(totals), len(counts.joint))
    order = [counts.target.values.index(c) for c in classifier.classes_]
    assert np.allclose(head.weight.detach()[order], classifier.gains_.T * np.log(2), rtol=0, atol=1e-12)


def test_other_priors_measurements_and_values_never_seen():
    rng = np.random.default_rng(0)
    table = np.column_stack([rng.normal(size=60), rng.integers(0, 3, 60)])
    classifier = NaiveBayesClassifier(priors=[0.9, 0.1]).fit(table, rng.integers(0, 2, 60))
    table[:5, 0], table[3:9, 1] = np.nan, 7
    blocks = quietly(one_hot, classifier, table)
    assert (blocks[3:5] == 0).all()
    expected = quietly(classifier.predict_log_proba, table)
    assert np.allclose(BayesHead.of(classifier)(blocks).detach().numpy(), expected, rtol=0, atol=1e-12)


def test_soft_blocks_are_expected_information():
    classifier = NaiveBayesClassifier().fit(X, Y)  # values: blue, red; big, small
    head = BayesHead.of(classifier)
    soft = torch.tensor([[0.25, 0.75, 0.0, 0.0]], dtype=torch.float64)
    scores = classifier.log2_prior_ + 0.25 * classifier.gains_[0] + 0.75 * classifier.gains_[1]
    expected = (scores - np.logaddexp2.reduce(scores)) * np.log(2)
    assert np.allclose(head(soft).detach().numpy(), expected, rtol=0, atol=1e-12)
    blocks = [soft[:, :2].float(), soft[:, 2:].float()]
    assert torch.equal(head(blocks), head(soft))
    assert torch.equal(head(soft[0]), head(soft)[0])


def test_it_trains_inside_a_model_and_through_it():
    classifier = NaiveBayesClassifier().fit(X, Y)
    generator = torch.Generator().manual_seed(0)
    below = torch.nn.Linear(3, 4)
    with torch.no_grad():
        below.weight.copy_(torch.randn(4, 3, generator=generator))
    head = BayesHead.of(classifier)
    inputs, target = torch.randn(32, 3, generator=generator), torch.arange(32) % 2

    def loss():
        colour, size = below(inputs).split(2, dim=1)
        return torch.nn.functional.nll_loss(head([colour.softmax(1), size.softmax(1)]), target)

    before = float(loss().detach())
    optimizer = torch.optim.SGD([*below.parameters(), *head.parameters()], lr=0.5)
    for _ in range(50):
        optimizer.zero_grad()
        loss().backward()
        optimizer.step()
    assert float(loss().detach()) < before - 0.01
    assert float(below.weight.grad.abs().sum()) > 0


def test_trained_on_it_is_logistic_regression():
    classifier = NaiveBayesClassifier().fit(bnn.datasets.load("house-votes-84"))
    records = bnn.datasets.load("house-votes-84")
    blocks, target = one_hot(classifier, records), records.codes[:, -1].astype(np.int64)
    head, ridge = BayesHead.of(classifier), 0.01
    optimizer = torch.optim.LBFGS(head.parameters(), max_iter=500, line_search_fn="strong_wolfe", tolerance_grad=1e-9)

    def closure():
        optimizer.zero_grad()
        loss = torch.nn.functional.nll_loss(head(blocks), torch.from_numpy(target), reduction="sum")
        loss = loss + 0.5 * ridge * (head.weight**2).sum()
        loss.backward()
        return loss

    optimizer.step(closure)
    # two rows of weights that share the penalty: their difference has twice the ridge's strength to itself
    outside = LogisticRegression(C=2 / ridge, tol=1e-10, max_iter=10_000).fit(blocks.numpy(), target)
    assert np.allclose(head(blocks).detach().exp().numpy(), outside.predict_proba(blocks.numpy()), atol=1e-3)


def test_state_dict_makes_a_round_trip(tmp_path):
    head = BayesHead.of(NaiveBayesClassifier().fit(TUMOR))
    torch.save(head.state_dict(), tmp_path / "head.pt")
    other = BayesHead(head.sizes, len(head.bias))
    uniform = other(torch.zeros(1, sum(head.sizes)))
    assert torch.allclose(uniform.exp(), torch.full_like(uniform, 1 / len(head.bias)))
    other.load_state_dict(torch.load(tmp_path / "head.pt", weights_only=True))
    assert torch.equal(other.weight, head.weight)
    assert torch.equal(other.bias, head.bias)
    assert repr(other) == "BayesHead(attributes=17, values=37, classes=21)"


COMPILE = """
import torch
from bnn import BayesHead, NaiveBayesClassifier
from bnn.classify.head import one_hot

X = [["red", "big"], ["red", "small"], ["blue", None]]
classifier = NaiveBayesClassifier().fit(X, ["apple", "plum", "apple"])
head, blocks = BayesHead.of(classifier), one_hot(classifier, X)
compiled = torch.compile(head, backend="aot_eager", fullgraph=True)
grads = []
for model in (compiled, head):
    head.zero_grad()
    answer = model(blocks)
    answer[:, 0].sum().backward()
    grads.append((answer.detach(), head.weight.grad.clone(), head.bias.grad.clone()))
for one, other in zip(*grads, strict=True):
    assert torch.allclose(one, other, rtol=0, atol=1e-12)
print("compiled")
"""


def test_it_compiles_to_one_graph():
    # In a process of its own, where no decorator checks shapes; "aot_eager" captures forward and backward as
    # "inductor" does, without a minute of compiling C++
    done = subprocess.run([sys.executable, "-c", COMPILE], capture_output=True, text=True, check=False)
    assert done.stdout.strip().endswith("compiled"), done.stderr


def test_the_delta_rule_repeats_the_rows_it_gets_wrong():
    rows, labels = [["a"], ["a"], ["b"]], [0, 0, 1]
    classifier = NaiveBayesClassifier(m=50).fit(rows, labels)
    right = delta_rule(classifier, rows, labels)
    assert right.tolist() == pytest.approx([2 / 3, 1])
    assert classifier.counts_.rows == 4
    assert classifier.counts_ == NaiveBayesClassifier(m=50).fit([*rows, ["b"]], [*labels, 1]).counts_
    assert delta_rule(classifier, rows, labels).tolist() == [1.0]


def test_the_delta_rule_stops_where_no_line_divides_the_rows():
    rows = [[0, 0], [0, 1], [1, 0], [1, 1]]
    right = delta_rule(NaiveBayesClassifier().fit(rows, [0, 1, 1, 0]), rows, [0, 1, 1, 0], rounds=7)
    assert len(right) == 8
    assert right.max() < 1


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: BayesHead.of(NaiveBayesClassifier("relative").fit(X, Y)), "gain of 'x0 = red' for class 1 is -inf"),
        (lambda: BayesHead.of(NaiveBayesClassifier(priors=[1, 0]).fit(X, Y)), "class 1 has a prior of 0"),
        (lambda: BayesHead.of(NaiveBayesClassifier(fuzzy="both").fit([[0.1], [0.2]], [0, 1])), "fuzzy='both'"),
        (lambda: BayesHead.of(NaiveBayesClassifier()), "got NaiveBayesClassifier; give a fitted"),
        (lambda: BayesHead.of("counts"), "got str; give a fitted"),
        (lambda: BayesHead.of(ClassCounts.of(TUMOR), "em"), "BayesHead.of.estimate: there is no 'em'"),
        (lambda: BayesHead([2, 2], 2)(torch.zeros(1, 3)), "got 3 columns; the attributes have 4"),
        (
            lambda: BayesHead([2, 2], 2)([torch.zeros(1, 2)]),
            r"got blocks of \(2,\) values; the attributes have \(2, 2\)",
        ),
    ],
)
def test_what_cannot_be_a_head_says_so(make, sentence):
    with pytest.raises(DataError, match=sentence):
        quietly(make)
