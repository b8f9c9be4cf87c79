"""Runner of the image rows of the reliability paper's Table 1: cells of a VAE's latent space."""

import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fireassay.classifiers import as_classifier
from fireassay.core.hashing import sha256
from fireassay.core.seeds import generator
from fireassay.data import DataSet
from fireassay.engine import Executor
from fireassay.papers.intervals import mean_interval, ratio_interval
from fireassay.papers.one_cycle import OneCycle, train_one_cycle
from fireassay.reliability import MonteCarlo, Ram, Splitting, TopCells, VaeLatent, r_separation
from fireassay.reliability.cells import KINDS
from fireassay.reliability.label_bounds import exact_row
from fireassay.reliability.latent import latent_unastuteness
from fireassay.reliability.plan import Workers
from fireassay.reliability.problem import Problem, check_problem


@dataclass(frozen=True)
class LatentStudy:
    """Sizes of one row of Table 1.

    Attributes:
        name, published: The data set, and the printed row.
        latent_dims, side, cells: Of the latent space; how many of the heaviest cells are evaluated.
        radius: Of the pixel balls; from the separation of the test rows if None.
        decoded, balls: Images decoded from each cell, and random points around each.
        drawn: Cells drawn from the profile beside the heaviest ones.
        split: Cells evaluated by splitting as well, drawn from the heaviest.
        width, recipe, vae_epochs: Of the network and the VAE.
        labels: Labelled test rows; the others are the field.
        rows: Training rows.
    """

    name: str
    published: dict[str, float]
    latent_dims: int
    side: float
    radius: float | None
    cells: int
    decoded: int
    balls: int
    drawn: int
    split: int
    width: int
    recipe: OneCycle
    vae_epochs: int
    labels: int
    rows: int


def run_latent_study(
    study: LatentStudy, learn: DataSet, test: DataSet, work: Path, executor: Executor
) -> dict[str, Any]:
    """The row of Table 1, with the mass that its cells hold and bounds that hold beside it."""
    X, y = learn.X[: study.rows], learn.labels[: study.rows]
    network = network_for(study, X.shape[1:])
    trained = train_one_cycle(network, X, y, study.recipe, work / "network.pt")
    started = time.process_time()
    latent = trained_latent(study, X, work / "vae.pt")
    model = as_classifier(
        network, output="logits", classes=range(10), bounds=(0, 1), batch_size=1000
    )
    test_error = float((model.predict(test.X) != test.labels).mean())
    order = generator(0, "latent study").permutation(len(test.X))
    labelled, field = order[: study.labels], order[study.labels :]
    problem = check_problem(model, test.X[labelled], test.labels[labelled], test.X[field])
    problem = replace(problem, workers=Workers(problem.model, executor=executor))
    if study.radius is None:
        study = replace(study, radius=r_separation(problem.labelled.X[:2000], problem.y[:2000]).r)
    top = TopCells(
        side=study.side, top_k=study.cells, mass=1.0, draws=study.drawn, decoded=study.decoded,
        candidates=study.cells + study.cells // 4, balls=MonteCarlo(study.balls),
    )  # fmt: skip
    before = time.process_time()
    result = Ram(latent=latent, top=top, radius=study.radius).run(problem)
    found: Any = result.details
    lambdas = found.cells["unastuteness"].to_numpy(dtype=float)
    weights = found.cells["mass"].to_numpy(dtype=float)
    return {
        "published": study.published,
        "test error": test_error,
        "test rows": len(test.X),
        "wrong after decoding": wrong_after_decoding(model, latent, test),
        "training rows": len(X),
        "r in the latent": r_separation(latent.encode(test.X[labelled]), test.labels[labelled]).r,
        "side": study.side,
        "radius": study.radius,
        "cells": len(lambdas),
        "ACU": float(lambdas.mean()),
        "ACU interval": list(mean_interval(lambdas)),
        "E": found.mean,
        "E interval": list(ratio_interval(weights * lambdas, weights)),
        "their mass": found.evaluated_mass,
        "E, the rest always wrong": found.pmi,
        "E, cells drawn from the profile": found.drawn,
        "its upper limit": found.drawn_upper,
        "cells drawn": study.drawn,
        "normal cells": int((found.cells["kind"] == "normal").sum()),
        "images per cell": study.decoded,
        "points per image": study.balls,
        "s per cell": (time.process_time() - before) / (len(lambdas) + study.drawn),
        "splitting": splitting_beside(problem, latent, top, study, found.cells),
        "Clopper-Pearson 97.5 %": float(exact_row(problem)[2]),
        "network CPU seconds": trained,
        "cpu_seconds": trained + time.process_time() - started,
    }


def wrong_after_decoding(model: Any, latent: VaeLatent, test: DataSet) -> int:
    """Test rows that the model gets wrong once they are encoded and decoded, and nothing else."""
    starts = range(0, len(test.X), 1000)
    parts = (test.X[start : start + 1000] for start in starts)
    answers = [model.predict(latent.decode(latent.encode(part))) for part in parts]
    return int((np.concatenate(answers) != test.labels).sum())


def measured_after_decoding(
    study: LatentStudy, learn: DataSet, test: DataSet, work: Path
) -> dict[str, int]:
    """`wrong_after_decoding` of what an earlier run trained and kept in ``work``."""
    import torch

    X = learn.X[: study.rows]
    network = network_for(study, X.shape[1:])
    network.load_state_dict(torch.load(work / "network.pt", weights_only=True)["module"])
    latent = trained_latent(study, X, work / "vae.pt")
    model = as_classifier(
        network.eval(), output="logits", classes=range(10), bounds=(0, 1), batch_size=1000
    )
    return {"wrong after decoding": wrong_after_decoding(model, latent, test)}


def splitting_beside(
    problem: Problem, latent: VaeLatent, top: TopCells, study: LatentStudy, cells: Any
) -> dict[str, Any]:
    """Plain draws and the published splitting on the same cells, and how far apart they are."""
    chosen = generator(1, "split cells").choice(
        len(cells), min(study.split, len(cells)), replace=False
    )
    some = cells.iloc[np.sort(chosen)]
    lows = some[[f"low_{axis}" for axis in range(study.latent_dims)]].to_numpy(dtype=float)
    shared = {
        "problem": problem.without_rows(),
        "latent": latent,
        "keys": np.round(lows / study.side).astype(np.int64),
        "kind": np.array([KINDS.index(kind) for kind in some["kind"]]),
        "label": some["label"].to_numpy(dtype=np.int64),
        "radius": study.radius,
    }
    rows = [(start, min(start + 25, len(some))) for start in range(0, len(some), 25)]
    found, seconds = {}, {}
    for name, balls in (
        ("plain", MonteCarlo(study.balls)),
        ("splitting", Splitting(particles=50, moves=10, smallest=-15.0)),
    ):
        before = time.process_time()
        own = {**shared, "top": replace(top, balls=balls)}
        parts = problem.workers.run(latent_unastuteness, rows, own, f"cells, {name}")
        found[name] = np.concatenate([part[0] for part in parts])
        seconds[name] = (time.process_time() - before) / len(some)
    gap = found["splitting"] - found["plain"]
    return {
        "cells": len(some),
        **{f"ACU, {name}": float(values.mean()) for name, values in found.items()},
        "difference": float(gap.mean()),
        "difference interval": list(mean_interval(gap)),
        **{f"s per cell, {name}": value for name, value in seconds.items()},
    }


def network_for(study: LatentStudy, shape: tuple[int, ...]) -> Any:
    """A small CNN for grey images, a ResNet-9 for colour ones."""
    if len(shape) == 2:
        from fireassay.networks.small_networks import Cnn

        return Cnn(shape, 10, width=study.width, hidden=128)
    from fireassay.papers.resnet9 import ResNet9

    return ResNet9(shape[2], 10, width=study.width)


def trained_latent(study: LatentStudy, X: NDArray[Any], kept: Path) -> VaeLatent:
    """The latent space, from ``kept`` where the same one was trained before."""
    import torch

    from fireassay.networks.vae import ConvVae

    latent = VaeLatent(study.latent_dims, epochs=study.vae_epochs)
    made_for = sha256(X, study.latent_dims, study.vae_epochs)
    known = torch.load(kept, weights_only=True) if kept.exists() else {}
    if known.get("made_for") == made_for:
        latent.vae_ = ConvVae(X.shape[1:], study.latent_dims)
        latent.vae_.load_state_dict(known["vae"])
        latent.vae_.eval()
    else:
        latent.fit(X)
        kept.parent.mkdir(parents=True, exist_ok=True)
        torch.save({"vae": latent.vae_.state_dict(), "made_for": made_for}, kept)
    weights = [value.numpy() for value in latent.vae_.state_dict().values()]
    latent.sha256 = sha256(*weights)  # type: ignore[attr-defined]  # what the journal knows it by
    return latent
