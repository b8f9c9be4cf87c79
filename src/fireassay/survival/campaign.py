"""A campaign: train models, attack each behind each defence, note every time of failure."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fireassay.core.errors import DataError, NotEnoughEvidenceError
from fireassay.core.seeds import generator
from fireassay.data import DataSet, digits, fashion_mnist, load, mnist
from fireassay.engine import Executor, RunStore
from fireassay.survival.campaign_config import CampaignConfig, read_config
from fireassay.survival.campaign_result import CampaignResult
from fireassay.survival.defences import make_defence
from fireassay.survival.observations import Observations
from fireassay.survival.observe import observe
from fireassay.survival.reference_models import LAYERS, TrainedModel, Training, train_reference


def campaign(
    source: str | Path | dict[str, Any],
    store: str | Path | RunStore | None = None,
    workers: int = 1,
    cluster: Any = None,
    *,
    progress: Any = None,
) -> CampaignResult:
    """Run a campaign; with a store, a killed run goes on where it was.

    Parameters
    ----------
    source
        A TOML file (see `CampaignConfig` for its settings), or the same as a dict.
    store
        Run folder in which finished trials are journalled; they are never run twice.
    workers, cluster
        Processes on this machine, or the address of a Dask scheduler.

    Notes
    -----
    A trial is one attack on one trained model behind one defence: a pure function of its row,
    the model's weights and the samples. Models differ by data set, architecture, epochs,
    learning rate and seed, which also shuffles the split into training and test part.
    """
    config = read_config(source)
    with _opened(store) as journal:
        executor = Executor(workers=workers, cluster=cluster, store=journal, progress=progress)
        tables, trained, checked = [], [], []
        for name in config.data:
            data = _data(name)
            rows = [row for row in config.trainings() if row["data"] == name]
            shared = {"X": data.X, "y": data.labels, "train_share": config.train_share}
            shared["max_train"] = config.max_train
            results = executor.map(train_trial, rows, shared=shared, name=f"training on {name}")
            for row, training in zip(rows, results, strict=True):
                X, y = _samples(data, row["seed"], config)
                scale = _training_scale(data, row["seed"], config)
                observed = executor.map(
                    attack_trial,
                    config.trials(row),
                    shared={"model": training.model, "X": X, "y": y, "eps_scale": scale},
                    name=f"attacks on {model_name(row)}",
                )
                trained.append(_training_row(row, training))
                for trial, part in zip(config.trials(row), observed, strict=True):
                    checked.append(_trial_row(part, trial, row))
                    if len(part):
                        tables.append(_labelled(part, trial, row))
    if not tables:
        raise NotEnoughEvidenceError(
            "At least one model must get a sample right.",
            got="none",
            do="Train longer, or with another learning rate.",
        )
    table = pd.concat(tables, ignore_index=True)
    table.attrs["time_unit"] = "queries"
    return CampaignResult(table, pd.DataFrame(checked), pd.DataFrame(trained), config.budget)


def train_trial(
    row: dict[str, Any],
    X: NDArray[Any],
    y: NDArray[Any],
    train_share: float,
    max_train: int | None,
) -> Training:
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
    row: dict[str, Any],
    model: TrainedModel,
    X: NDArray[Any],
    y: NDArray[Any],
    eps_scale: float,
) -> Observations:
    """Attack one trained model behind one defence."""
    import torch

    torch.set_num_threads(1)
    parameters = {"label": row["label"], **row["parameters"]}
    for key in ("norm", "eps"):
        if row[key] is not None:
            parameters[key] = row[key]
    defence = make_defence(row["defence"], row["defence_value"], seed=row["seed"])
    return observe(
        model.classifier(batch_size=row["batch_size"]),
        X,
        y,
        [(row["attack"], parameters)],
        budget=row["budget"],
        seed=row["seed"],
        defence=defence,
        gradient_cost=row["gradient_cost"],
        eps_scale=eps_scale,
        model_id=model_name(row),
        empty_ok=True,
    )


def model_name(row: dict[str, Any]) -> str:
    """What identifies a trained model's recipe and seed: the cluster of its rows."""
    return (
        f"{row['data']}/{row['model']}/e{row['epochs']}/lr{row['learning_rate']:g}/s{row['seed']}"
    )


def _data(name: str) -> DataSet:
    if name == "digits":
        data = digits()
    elif name in ("mnist", "fashion-mnist"):
        data = mnist("test") if name == "mnist" else fashion_mnist("test")
    else:
        data = load(name)
    if data.y is None or data.y.dtype.kind not in "iu" or data.y.min() != 0:
        raise DataError("A campaign trains on integer labels 0, 1, … k−1.", got=f"{data!r}")
    return data


def _train_rows(n: int, seed: int, share: float) -> NDArray[np.int64]:
    return generator(seed, "campaign split").permutation(n)[: round(share * n)]


def _samples(data: DataSet, seed: int, config: CampaignConfig) -> tuple[NDArray[Any], NDArray[Any]]:
    """Class-balanced samples of the test part."""
    order = generator(seed, "campaign split").permutation(len(data))
    test = order[round(config.train_share * len(data)) :]
    labels = data.labels[test]
    turn = pd.Series(labels).groupby(labels).cumcount().to_numpy()
    chosen = test[np.argsort(turn, kind="stable")[: config.samples]]
    return data.X[chosen], data.labels[chosen]


def _training_scale(data: DataSet, seed: int, config: CampaignConfig) -> float:
    if not config.eps_in_training_std:
        return 1.0
    chosen = _train_rows(len(data), seed, config.train_share)[: config.max_train]
    return float(np.std(data.X[chosen]))


def _labelled(part: Observations, trial: dict[str, Any], training: dict[str, Any]) -> pd.DataFrame:
    table = part.table.copy()
    table["eps"] = np.nan if trial["eps"] is None else trial["eps"]
    for name in ("data", "model", "epochs", "learning_rate", "seed"):
        table[name] = training[name]
    table["layers"] = LAYERS[training["model"]]
    return table


def _trial_row(
    part: Observations, trial: dict[str, Any], training: dict[str, Any]
) -> dict[str, Any]:
    table = part.table
    spent = np.where(np.isfinite(table["upper"].astype(float)), table["upper"], table["lower"])
    keys = ("defence", "defence_value", "label", "norm", "eps")
    return {
        **{name: training[name] for name in ("data", "model", "epochs", "learning_rate", "seed")},
        **{("attack" if key == "label" else key): trial[key] for key in keys},
        "model_id": model_name(training),
        "n": part.benign_accuracy.n,
        "right": len(table),
        "failures": int(table["success"].sum()),
        "benign_rejection_rate": part.benign_rejection_rate.value,
        "queries_spent": float(spent.sum()),
    }


def _training_row(row: dict[str, Any], training: Training) -> dict[str, Any]:
    return {
        **row,
        "model_id": model_name(row),
        "layers": LAYERS[row["model"]],
        "n_train": training.n_train,
        "train_seconds": training.train_seconds,
        "train_seconds_per_sample": training.train_seconds_per_sample,
        "seconds_per_query": training.seconds_per_query,
    }


@contextmanager
def _opened(store: str | Path | RunStore | None) -> Iterator[RunStore | None]:
    if store is None or isinstance(store, RunStore):
        yield store
        return
    with RunStore(store) as opened:
        yield opened
