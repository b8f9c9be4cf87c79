"""A pair: a model and its data, how people would name it, and what writes its files."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np


@dataclass(frozen=True)
class Setup:
    """Arguments of init, and the accuracy of the bare model; None where a refusal is expected."""

    arguments: list[str]
    accuracy: float | None = None


@dataclass(frozen=True)
class Pair:
    """One row of the table.

    ``settings`` stand in for the small ones that keep a pair short, and ``beside`` is a command
    that must run while the steps do: a server.
    """

    name: str
    model: str
    data: str
    make: Callable[[Path], Setup]
    settings: dict[str, dict[str, object]] | None = None
    beside: Sequence[str] = ()


PAIRS: dict[str, Pair] = {}


def pair(name: str, model: str, data: str, **more):
    """One row of the table."""

    def add(make):
        PAIRS[name] = Pair(name, model, data, make, **more)
        return make

    return add


def kept(model, folder, name="model.skops"):
    """A scikit-learn model in a file."""
    if name.endswith(".skops"):
        import skops.io

        skops.io.dump(model, folder / name)
    else:
        import joblib

        joblib.dump(model, folder / name)
    return name


def function(folder, name, text):
    """A model that is a function in a module beside the configuration."""
    (folder / f"{name}.py").write_text(f"import numpy as np\n{text}\n")
    return f"{name}:model"


def share(said, truth):
    """How often both are the same."""
    return float(np.mean(np.asarray(said) == np.asarray(truth)))


def thirds(rows, y, folder):
    """Two thirds to train with, one to test with, as npz files."""
    cut = 2 * len(rows) // 3
    np.savez(folder / "train.npz", X=rows[:cut], y=y[:cut])
    np.savez(folder / "test.npz", X=rows[cut:], y=y[cut:])
    return cut
