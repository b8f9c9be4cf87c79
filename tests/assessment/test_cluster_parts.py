"""Each question's heavy loop gives the same bytes here and on two workers on loopback."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier

from fireassay import (
    ambiguity,
    as_classifier,
    attacks,
    data,
    discovery,
    reliability,
    supervision,
    survival,
)

pytestmark = [pytest.mark.extras, pytest.mark.slow, pytest.mark.filterwarnings("default")]
distributed = pytest.importorskip("distributed")
pytest.importorskip("torch")


def digits_network():
    from fireassay.networks.small_networks import Cnn
    from fireassay.networks.training import train

    digits = data.digits()
    X, y = digits.X.astype(np.float32), digits.y
    module = Cnn((8, 8), 10, width=4, seed=0)
    train(module, X[:800], y[:800], epochs=5)
    model = as_classifier(module.eval(), classes=range(10), bounds=(0, 1), output="logits")
    return model, X, y


def attacked(where):
    model, X, y = digits_network()
    tools = {
        "pgd": attacks.make("pgd", eps=0.1),
        "hopskipjump": attacks.make("hopskipjump", max_queries=30),
    }
    found = attacks.in_blocks(tools, model, X[800:832], y[800:832], block=16, **where)
    return [found[name].adversarial for name in tools] + [found["pgd"].queries_to_failure]


def observed(where):
    model, X, y = digits_network()
    specs = [("pgd", {"norm": "linf", "eps": 0.1}), ("deepfool", {"eps": 1.0})]
    return [survival.observe(model, X[800:900], y[800:900], specs, budget=40, **where).frame()]


def cells(where):
    square = data.unit_square(1200, seed=0)
    model = MLPClassifier((16,), max_iter=300, random_state=0).fit(square.X, square.y)
    result = reliability.assess(
        model, square.X, square.y, method=reliability.Ram(cells=40, samples=500), **where
    )
    found = result.details
    return [np.array([found.acu, found.pmi, found.std]), found.cells]


def rare_events(where):
    model = LogisticRegression(C=100).fit([[0.0, 0.0], [1.0, 1.0]], [0, 1])
    found = reliability.splitting(
        model, [0.35, 0.35], 0, 0.16, particles=200, replicates=4, **where
    )
    return [found.replicates, np.array([found.log_p, found.low, found.high])]


def generated(where):
    digits = data.digits()
    chosen = np.isin(digits.y, [3, 8])
    made = ambiguity.AmbiguityGenerator(tries=1, seed=0)
    amb = made.fit(digits.X[chosen], digits.y[chosen], **where).sample(40)
    return [amb.X, amb.soft_labels]


def supervised(where):
    model, X, y = digits_network()
    sets = {"noise": np.random.default_rng(0).random((300, 8, 8)).astype(np.float32)}
    table = supervision.compare(
        model, X[:800], y[:800], X[800:1400], sets,
        supervisors=["softmax-entropy", "dsa", "mdsa", "knn", "mc-dropout-mutual-information"],
        **where,
    )  # fmt: skip
    frame = table.frame()
    return [frame.drop(columns=[name for name in frame if "cost" in name])]


def searched(where):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 4))
    y = (X[:, 0] + 0.5 * rng.standard_normal(400) > 0).astype(int)
    model = as_classifier(LogisticRegression().fit(X[:200], y[:200]))
    found = discovery.compare(
        model, X[200:], y[200:], ["random", "low-confidence", "bansal-weld"], subset=100,
        replications=6, budget=20, progress=False, **where,
    )  # fmt: skip
    return [found.frame()]


LOOPS = (attacked, observed, cells, rare_events, generated, supervised, searched)


@pytest.mark.parametrize("loop", LOOPS, ids=lambda loop: loop.__name__)
def test_the_same_here_and_on_a_cluster(loop, cluster_address):
    here, there = loop({"workers": 1}), loop({"cluster": cluster_address})
    for mine, theirs in zip(here, there, strict=True):
        if isinstance(mine, pd.DataFrame):
            pd.testing.assert_frame_equal(mine, theirs, check_exact=True)
        else:
            np.testing.assert_array_equal(mine, theirs)
