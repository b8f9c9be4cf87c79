"""What a configuration proposes, and how typed names are read."""

import numpy as np

from fireassay.assessment.init import as_labels
from fireassay.assessment.plan.power import propose_gates
from fireassay.data import DataSet


def test_proposed_limits_follow_from_the_labels() -> None:
    rows = DataSet(np.zeros((400, 1)), np.repeat([0, 1], [300, 100]))
    assert [(gate.direction, gate.name, gate.limit) for gate in propose_gates(rows)] == [
        ("min", "accuracy.accuracy", 0.76),
        ("max", "reliability.pmi_upper", 0.1),
        ("min", "accuracy.worst_recall", 0.7),
    ]


def test_typed_names_are_integers_where_labels_are() -> None:
    assert as_labels(["1", "0"], DataSet([[0.0]], [1])) == (1, 0)
    assert as_labels(["1", "0"], DataSet([[0.0]], ["1"])) == ("1", "0")
