"""Runner of Table 2 and Tables 8 to 11: supervisors, kinds of trouble, trainings."""

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fireassay.classifiers import as_classifier
from fireassay.core.seeds import derived_seed, generator
from fireassay.data import corrupt, corruption_kinds, fashion_mnist, mnist
from fireassay.papers.supervision_published import PUBLISHED

LOADERS = {"mnist": (mnist, fashion_mnist), "fashion": (fashion_mnist, mnist)}
_SEVERITY = 3
_COLUMNS = ["supervisor", "set", "n", "auroc", "low", "high", "status", "reason", "note"]


def ambiguous_rows(row: dict[str, Any], folder: str, settings: dict[str, Any]) -> dict[str, Any]:
    """Ambiguous rows of all 45 pairs for training and testing, and control rows.

    As published, all accepted autoencoders give both, so that those tested are in distribution,
    as the comparison of ambiguity with strangeness needs.
    """
    from fireassay import ambiguity

    started = time.process_time()
    full = LOADERS[row["data"]][0]("train", folder=folder)
    pairs, n = settings["pairs"] or "all", settings["train_rows"]
    made = ambiguity.AmbiguityGenerator(pairs=pairs, tries=settings["tries"], seed=0)
    drawn = made.fit(full.X[:n], full.labels[:n]).sample(
        settings["ambiguous_rows"] + 2 * settings["rows"], split="any"
    )
    order = generator(0, "table2", "ambiguous").permutation(len(drawn.X))
    return {
        "X": drawn.X[order].astype(np.float32),
        "y": np.asarray(drawn.labels)[order].astype(np.int64),
        "control": drawn.control.X.astype(np.float32),
        "cpu_seconds": time.process_time() - started,
    }


def one_member(
    row: dict[str, Any], folder: str, made: dict[str, Any], settings: dict[str, Any]
) -> dict[str, Any]:
    """Train one network on nominal and ambiguous rows; its weights and CPU seconds."""
    from fireassay.papers.supervision_networks import ARCHITECTURES, trained

    started = time.process_time()
    X, y = learnt_rows(row["data"], folder, made, settings)
    build, epochs = ARCHITECTURES[row["architecture"]]
    network = build(derived_seed(row["member"], "table2", row["architecture"]))
    seed = derived_seed(row["member"], "table2", "order")
    trained(network, X, y, min(epochs, settings["epochs"]), seed)
    weights = {name: value.numpy() for name, value in network.state_dict().items()}
    return {"weights": weights, "cpu_seconds": time.process_time() - started}


def one_autoencoder(
    row: dict[str, Any], folder: str, made: dict[str, Any], settings: dict[str, Any]
) -> dict[str, Any]:
    """The autoencoder of a run: it sees inputs alone, so all architectures share it."""
    from fireassay.supervision.autoencoder import Autoencoder
    from fireassay.supervision.reading import Reading

    started = time.process_time()
    X, _ = learnt_rows(row["data"], folder, made, settings)
    fitted = Autoencoder(seed=row["run"]).fit_reading(Reading(inputs=X))
    return {"state": fitted.state_, "cpu_seconds": time.process_time() - started}


def one_run(
    row: dict[str, Any],
    folder: str,
    made: dict[str, Any],
    settings: dict[str, Any],
    members: list[dict[str, Any]],
    autoencoders: list[dict[str, Any]],
) -> dict[str, Any]:
    """Supervise one training, with the others as its ensemble, on all kinds of trouble."""
    from fireassay import supervision
    from fireassay.papers.fixed_budget import fixed_budget_rows
    from fireassay.papers.kept_autoencoder import KeptAutoencoder

    started, run, name = time.process_time(), row["run"], row["data"]
    networks = [_network(row["architecture"], member["weights"]) for member in members]
    models = [_classifier(network) for network in networks]
    X, y = learnt_rows(name, folder, made, settings)
    test, foreign = LOADERS[name][0]("test", folder=folder), LOADERS[name][1]("test", folder=folder)
    order = generator(run, "table2", name).permutation(len(test.X))
    nominal, damaged, attacked = (order[: settings[n]] for n in ("rows", "rows", "attacked"))
    right = attacked[models[run].predict(test.X[attacked]) == test.labels[attacked]]
    labels = test.labels[right].astype(np.int64)
    adversarial, by = fixed_budget_rows(networks[run], models[run], test.X[right], labels, run)
    corrupted = [
        corrupt(test.X[part], kind, severity=_SEVERITY, seed=run)
        for kind, part in zip(corruption_kinds(), np.array_split(damaged, 15), strict=True)
        if len(part)
    ]
    extra = settings["ambiguous_rows"]
    judged = generator(run, "table2", "judged").permutation(len(made["X"]) - extra)
    strangers = generator(run, "table2", "invalid").permutation(len(foreign.X))
    sets = {
        "ambiguous": made["X"][extra:][judged[: settings["rows"]]],
        "adversarial": adversarial,
        "corrupted": np.concatenate(corrupted),
        "invalid": foreign.X[strangers[: settings["rows"]]],
        "control": made["control"][: settings["rows"]],
    }
    kept = KeptAutoencoder(seed=run, kept=autoencoders[run]["state"])
    found = supervision.compare(
        models[run], X, y, test.X[nominal], sets,
        [kept if name == kept.name else name for name in PUBLISHED],
        members=[m for i, m in enumerate(models) if i != run], seed=run,
    )  # fmt: skip
    frame = found.frame()[_COLUMNS].round(5).assign(run=run).astype(object)
    return {
        "records": frame.where(frame.notna(), None).to_dict("records"),
        "accuracy": float((models[run].predict(test.X[nominal]) == test.labels[nominal]).mean()),
        "adversarial": {name: int((by == name).sum()) for name in np.unique(by)},
        "cpu_seconds": time.process_time() - started,
    }


def learnt_rows(
    name: str, folder: str, made: dict[str, Any], settings: dict[str, Any]
) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Nominal rows, then the ambiguous ones to learn from."""
    full = LOADERS[name][0]("train", folder=folder)
    kept = generator(0, "table2", "train").permutation(len(full.X))[: settings["train_rows"]]
    extra = settings["ambiguous_rows"]
    X = np.concatenate([full.X[kept].astype(np.float32), made["X"][:extra]])
    return X, np.concatenate([full.labels[kept], made["y"][:extra]]).astype(np.int64)


def _network(architecture: str, weights: dict[str, Any]) -> Any:
    import torch

    from fireassay.papers.supervision_networks import ARCHITECTURES

    network: Any = ARCHITECTURES[architecture][0](0)
    network.load_state_dict({n: torch.from_numpy(np.array(v)) for n, v in weights.items()})
    return network.to(memory_format=torch.channels_last).eval()


def _classifier(network: Any) -> Any:
    return as_classifier(network, output="logits", classes=range(10), bounds=(0, 1), batch_size=256)
