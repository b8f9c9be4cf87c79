"""A campaign: train models, attack each behind each defence, note every time of failure."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fireassay.classifiers import as_classifier
from fireassay.classifiers.trust import make_importable
from fireassay.core import DataError, NotEnoughEvidenceError, generator
from fireassay.core.lazy import pd
from fireassay.core.validation import check_real
from fireassay.data import DataSet, cifar10, cifar100, digits, fashion_mnist, load, mnist
from fireassay.engine import Executor, RunStore
from fireassay.survival.campaign_config import CampaignConfig, read_config
from fireassay.survival.campaign_result import CampaignResult
from fireassay.survival.defences import make_defence
from fireassay.survival.observations import Observations
from fireassay.survival.observe import observe
from fireassay.survival.reference_models import (
    LAYERS,
    MeasuredTraining,
    TrainedModel,
    measure_query,
    train_reference,
)

_BUILT_IN: dict[str, Callable[[], DataSet]] = {
    "digits": digits, "mnist": mnist, "fashion-mnist": fashion_mnist, "cifar10": cifar10,
    "cifar100": cifar100,
}  # fmt: skip
_AXES = ("data", "model", "epochs", "learning_rate", "seed")


def campaign(
    source: str | Path | dict[str, Any],
    store: str | Path | RunStore | None = None,
    workers: int = 1,
    cluster: Any = None,
    *,
    sample: float | None = None,
    trust: bool = False,
    progress: Any = None,
) -> CampaignResult:
    """Run a campaign; with a store, a killed run goes on where it was.

    Args:
        source: A TOML file (see `CampaignConfig` for its settings), or the same as a dict.
        store: Run folder in which finished trials are journalled; they are never run twice.
        workers, cluster: Processes on this machine, or the address of a Dask scheduler.
        sample: Share of the trials to run, drawn at random, instead of the file's own.
        trust: Allow ``own_models`` whose files can run code when read, or that a file names as
            code.
        progress: Whether to show a progress bar; None: where somebody can see it.

    A trial is one attack on one trained model behind one defence: a pure function of its row,
    the model and the samples. Trained models differ by data set, architecture, epochs, learning
    rate and seed, which also shuffles the split into training and test part; the user's own
    (``own_models``) are attacked as they are, each seed drawing other samples.

    >>> found = campaign(
    ...     {"models": ["logistic"], "epochs": [2], "samples": 10, "max_train": 500,
    ...      "attacks": [{"name": "fgm", "eps": [0.1, 5.0]}]}, progress=False)
    >>> fallen = found.trials["failures"].tolist()
    >>> fallen[0] <= fallen[1]  # a larger step breaks at least as many
    True
    """
    config = read_config(source)
    if sample is not None:
        share = check_real(sample, "sample", low=0, high=1, inclusive="high")
        config = config.model_copy(update={"sample": share})
    if not isinstance(source, dict):
        for own in config.own_models:
            make_importable(own.path, Path(source).parent, trust=trust)
    tables, models, checked = [], [], []
    opened: AbstractContextManager[RunStore | None] = (
        nullcontext(store) if store is None or isinstance(store, RunStore) else RunStore(store)
    )
    with opened as journal:
        executor = Executor(workers=workers, cluster=cluster, store=journal, progress=progress)
        for model, data, row, about in _models(config, executor, trust):
            X, y = _samples(data, row["seed"], config)
            trials = config.trials(row)
            observed = executor.map(
                attack_trial,
                trials,
                shared={"model": model, "X": X, "y": y, "eps_scale": _scale(data, row, config)},
                name=f"attacks on {row['model_id']}",
            )
            models.append({**row, **about})
            for trial, part in zip(trials, observed, strict=True):
                checked.append(_trial_row(part, trial, row))
                if len(part):
                    tables.append(_labelled(part, trial, row, about["layers"]))
    if not tables:
        raise NotEnoughEvidenceError(
            "At least one model must get a sample right.",
            got="none",
            do="Train longer, or with another learning rate.",
        )
    table = pd.concat(tables, ignore_index=True)
    table.attrs["time_unit"] = "queries"
    return CampaignResult(table, pd.DataFrame(checked), pd.DataFrame(models), config.budget)


_Attacked = tuple[Any, DataSet, dict[str, Any], dict[str, Any]]


def _models(config: CampaignConfig, executor: Executor, trust: bool) -> Iterator[_Attacked]:
    """Each model with its data set, its row and what it cost: trained here, then users' own."""
    for name in config.data if config.models else ():
        data = _data(name)
        rows = [row for row in config.trainings() if row["data"] == name]
        shared = {"X": data.X, "y": data.labels, "train_share": config.train_share}
        shared["max_train"] = config.max_train
        results = executor.map(train_trial, rows, shared=shared, name=f"training on {name}")
        for row, training in zip(rows, results, strict=True):
            yield training.model, data, row, _cost(LAYERS[row["model"]], training)
    for own, row in config.attacked_as_they_are():
        data, size = _data(row["data"]), config.batch_size
        asked: dict[str, Any] = {
            "classes": data.classes,
            "bounds": own.bounds,
            "output": own.output,
        }
        model = as_classifier(own.path, **asked, batch_size=size, trust=trust)
        seconds = own.seconds_per_query or measure_query(model, data.X, rows=size)
        training = MeasuredTraining(model, own.n_train, own.train_seconds, seconds)
        yield model, data, row, _cost(own.layers, training)


def train_trial(
    row: dict[str, Any], X: NDArray[Any], y: NDArray[Any], train_share: float, max_train: int | None
) -> MeasuredTraining:
    """Train one model on its seed's training part."""
    chosen = _train_rows(len(X), row["seed"], train_share)[:max_train]
    return train_reference(
        row["model"],
        X[chosen],
        y[chosen],
        epochs=row["epochs"],
        learning_rate=row["learning_rate"],
        defence=make_defence(row["training_defence"], row["training_value"]),
        seed=row["seed"],
        width=row["width"],
        n_classes=int(y.max()) + 1,
    )


def attack_trial(
    row: dict[str, Any], model: Any, X: NDArray[Any], y: NDArray[Any], eps_scale: float
) -> Observations:
    """Attack one model behind one defence."""
    given = {key: row[key] for key in ("norm", "eps") if row[key] is not None}
    parameters = {"label": row["label"], **row["parameters"], **given}
    defence = make_defence(row["defence"], row["defence_value"], seed=row["seed"])
    own = not isinstance(model, TrainedModel)
    return observe(
        model if own else model.classifier(batch_size=row["batch_size"]),
        X,
        y,
        [(row["attack"], parameters)],
        budget=row["budget"],
        seed=row["seed"],
        defence=defence,
        gradient_cost=row["gradient_cost"],
        eps_scale=eps_scale,
        model_id=row["model_id"],
        empty_ok=True,
    )


def _data(name: str) -> DataSet:
    data = _BUILT_IN[name]() if name in _BUILT_IN else load(name)
    if data.y is None or data.y.dtype.kind not in "iu" or data.y.min() != 0:
        raise DataError("A campaign trains on integer labels 0, 1, … k−1.", got=f"{data!r}")
    return data


def _train_rows(n: int, seed: int, share: float) -> NDArray[np.int64]:
    return generator(seed, "campaign split").permutation(n)[: round(share * n)]


def _samples(data: DataSet, seed: int, config: CampaignConfig) -> tuple[NDArray[Any], NDArray[Any]]:
    """Class-balanced samples of the test part; where nothing is trained, of the whole."""
    order = generator(seed, "campaign split").permutation(len(data))
    test = order[round(config.train_share * len(data)) :] if config.models else order
    labels = data.labels[test]
    turn = pd.Series(labels).groupby(labels).cumcount().to_numpy()
    chosen = test[np.argsort(turn, kind="stable")[: config.samples]]
    return data.X[chosen], data.labels[chosen]


def _scale(data: DataSet, row: dict[str, Any], config: CampaignConfig) -> float:
    """What ε = 1 means: a standard deviation of the training part, or 1."""
    if not config.eps_in_training_std:
        return 1.0
    if not config.models:
        return float(np.std(data.X))
    chosen = _train_rows(len(data), row["seed"], config.train_share)[: config.max_train]
    return float(np.std(data.X[chosen]))


def _labelled(
    part: Observations, trial: dict[str, Any], training: dict[str, Any], layers: int
) -> pd.DataFrame:
    table = part.table.copy()
    table["eps"] = np.nan if trial["eps"] is None else trial["eps"]
    for name in _AXES:
        table[name] = np.nan if training[name] is None else training[name]
    table["layers"] = layers
    origin = f"{training['data']}/s{training['seed']}/"
    table["sample_id"] = origin + table["sample"].astype(str)
    return table


def _trial_row(
    part: Observations, trial: dict[str, Any], training: dict[str, Any]
) -> dict[str, Any]:
    table = part.table
    spent = np.where(np.isfinite(table["upper"].astype(float)), table["upper"], table["lower"])
    keys = ("defence", "defence_value", "label", "norm", "eps")
    return {
        **{name: training[name] for name in _AXES},
        **{("attack" if key == "label" else key): trial[key] for key in keys},
        "model_id": training["model_id"],
        "n": part.benign_accuracy.n,
        "right": len(table),
        "failures": int(table["success"].sum()),
        "benign_rejection_rate": part.benign_rejection_rate.value,
        "queries_spent": float(spent.sum()),
    }


def _cost(layers: int, training: MeasuredTraining) -> dict[str, Any]:
    names = ("n_train", "train_seconds", "train_seconds_per_sample", "seconds_per_query")
    return {"layers": layers, **{name: getattr(training, name) for name in names}}
