"""The runner of Table 2 at a tiny size, on MNIST with rows mixed by hand."""

import os

import numpy as np
import pytest

from fireassay.papers.fixed_budget import EPSILON, climbed
from fireassay.papers.supervision_published import KINDS, PUBLISHED
from fireassay.papers.supervision_summary import summary
from fireassay.papers.supervision_trainings import one_autoencoder, one_member, one_run

SETTINGS = {"rows": 100, "attacked": 60, "train_rows": 2_000, "ambiguous_rows": 100, "epochs": 8}


@pytest.mark.slow
def test_one_training_is_supervised_on_every_kind_of_trouble():
    folder = os.environ.get("FIREASSAY_DATA")
    if not folder:
        pytest.skip("FIREASSAY_DATA is not set")
    from fireassay.data import mnist

    full = mnist("train", folder=folder)
    threes, eights = full.X[full.labels == 3][:400], full.X[full.labels == 8][:400]
    mixed = np.maximum(threes, eights).astype(np.float32)
    made = {"X": mixed, "y": np.resize([3, 8], 400), "control": mixed[:100]}
    shared = {"folder": folder, "made": made, "settings": SETTINGS}
    row = {"data": "mnist", "architecture": "fully-connected"}
    members = [one_member(row | {"member": i}, **shared) for i in range(3)]
    kept = [one_autoencoder(row | {"run": 0}, **shared)]
    found = one_run(row | {"run": 0}, members=members, autoencoders=kept, **shared)
    assert found["accuracy"] > 0.7
    assert set(found["adversarial"]) <= {"fgsm", "bim", "pgd", "deepfool"}
    rows = {(r["supervisor"], r["set"]): r for r in summary([(row, found)], networks=3)}
    assert rows["softmax-entropy", "ambiguous"]["published"] == PUBLISHED["softmax-entropy"][0]
    assert all(rows["max-softmax", kind]["mean"] > 0.5 for kind in ("corrupted", "invalid"))
    assert {kind for _, kind in rows} == {*KINDS, "control"}
    assert {name for name, _ in rows} == set(PUBLISHED)
    assert rows["autoencoder", "invalid"]["mean"] > 0.7


def test_a_fixed_budget_is_spent_to_the_end():
    import torch

    net = torch.nn.Linear(1, 2)
    net.load_state_dict({"weight": torch.tensor([[-1.0], [1.0]]), "bias": torch.zeros(2)})
    X = np.full((3, 1), 0.5, dtype=np.float32)
    for seed in (None, 0):
        found = climbed(net, X, np.zeros(3, dtype=int), steps=5, step=0.1, seed=seed)
        assert found == pytest.approx(np.full((3, 1), 0.5 + EPSILON), abs=1e-6)
