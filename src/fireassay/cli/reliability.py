"""``fireassay reliability``: how often the model will be wrong in the field, how surely."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fireassay.cli import options
from fireassay.cli.console import emit, say
from fireassay.cli.loading import is_table, load_numbers, load_rows, need_labels, probed
from fireassay.cli.options import answering, arg, opt

if TYPE_CHECKING:
    from fireassay.data import DataSet

_COUNT_ERRORS = ("rectified", "exact", "groups-max")  # other methods measure distances


@answering
def reliability(
    model: options.ModelArgument,
    data: Path = arg("Labelled rows the model was not trained on.", ...),
    operational: Path | None = opt("Unlabelled rows from the field."),
    method: str = opt("How; a wrong name is answered with the right ones.", "rectified"),
    confidence: float = opt("Of the bound, one-sided.", 0.975),
    held_out: Path | None = opt("ram: labelled rows for its check."),
    estimate_weights: bool = opt(
        "rectified: labels are not from the field, weigh them (no claim).", False
    ),
    cells: int | None = opt("ram, worst-case: cells per axis.", min=1),
    bounds: tuple[float, float] | None = opt("ram, worst-case: the box of the cells, LOW HIGH."),
    bandwidth: float | None = opt("ram: bandwidth of the profile."),
    epsilon: float | None = opt("conservative-bayes: P(pmi ≤ epsilon) = theta; 0.001."),
    theta: float | None = opt("conservative-bayes: see epsilon; 0.5."),
    floor: float | None = opt("conservative-bayes: smallest possible pmi; 0."),
    latent: str | None = opt("ram: cells in so many principal components; vae or vae:8."),
    side: float | None = opt("ram with --latent: side of a cell; 0.5."),
    label: options.LabelsColumn = None,
    group: str | None = opt("Column that says which rows belong together."),
    largest_group: int | None = opt("The most rows that a group can have.", min=1),
    output_kind: options.ModelOutput = "probabilities",
    target: float | None = opt("Also say how many labels this bound costs."),
    workers: options.Workers = 1,
    output: options.Output = None,
    trust: options.Trust = False,
    hang_minutes: options.HangMinutes = 30.0,
    seed: options.Seed = 0,
) -> None:
    """Bound the probability that the model is wrong on the next input.

    Example: fireassay reliability model.onnx test.npz --operational field.npz
    """
    from fireassay import as_classifier, reliability
    from fireassay.assessment.coded_rows import coded_sets, with_own_hash
    from fireassay.core.groups import Groups
    from fireassay.data import DataSet

    classifier = as_classifier(model, output=output_kind, trust=trust, hang_minutes=hang_minutes)
    read: Callable[..., DataSet] = partial(load_numbers, question="reliability")
    if method in _COUNT_ERRORS:
        read = partial(load_rows, model=classifier)
    found = read(data, label=label, group=group)
    labelled = need_labels(found, data, "Name their column: --label.")
    field = None if operational is None else _field_rows(operational, labelled, read, label, group)
    check = None
    if held_out is not None:
        check = need_labels(load_numbers(held_out, "reliability", label=label), held_out)
    prior = {"epsilon": epsilon, "theta": theta, "floor": floor}
    given: dict[str, tuple[str, Any]] = {
        "--cells": ("cells", cells),
        "--bounds": ("bounds", bounds),
        "--bandwidth": ("bandwidth", bandwidth),
        "--held-out": ("held_out", None if check is None else (check.X, check.y)),
        "--latent": ("latent", None if latent is None else _latent(latent, labelled.X)),
        "--side": ("top", side),
        **{f"--{name}": ("prior", value) for name, value in prior.items()},
    }
    chosen = _method(method, {o: pair for o, pair in given.items() if pair[1] is not None})
    sets = {"labelled": labelled, **({"field": field} if isinstance(field, DataSet) else {})}
    coded: dict[str, Any]
    classifier, coded = coded_sets(classifier, sets)
    labelled, field = coded["labelled"], coded.get("field", field)
    result = reliability.assess(
        classifier,
        labelled.X,
        labelled.labels,
        operational=field.X if isinstance(field, DataSet) else field,
        method=chosen,
        groups=None if labelled.groups is None else Groups(labelled.groups, largest_group),
        weights="estimate" if estimate_weights else None,
        confidence=confidence,
        seed=seed,
        workers=workers,
    )
    if output is not None:
        result.save(output)
    evidence = with_own_hash(result.evidence(), classifier)
    emit(probed(evidence, classifier, labelled.X))
    say()
    for line in result.comparison.to_string(index=False, float_format="{:.5f}".format).splitlines():
        say(f"  {line}")
    if target is not None:
        planned = reliability.plan(target, confidence)
        say(f"  A bound of {target:g} takes at least {planned.labels} labels without an error.")


def _method(name: str, given: dict[str, tuple[str, Any]]) -> Any:
    """The method with the settings that were given; options that it does not take are refused."""
    from fireassay.core.errors import ParameterError
    from fireassay.reliability import METHODS, ConservativePrior, TopCells

    row = METHODS[name]
    settings: dict[str, Any] = {}
    for option, (setting, value) in given.items():
        able = [n for n, other in METHODS.items() if setting in other.__dataclass_fields__]
        if name not in able:
            raise ParameterError(
                f"{option} is an option of {', '.join(able)}.", got=f"--method {name}"
            )
        if setting == "prior":
            settings.setdefault("prior", {})[option.removeprefix("--")] = value
        else:
            settings[setting] = value
    if "top" in settings and "latent" not in settings:
        raise ParameterError("--side is the side of a latent cell.", got="no --latent")
    if "prior" in settings:
        settings["prior"] = ConservativePrior(**settings["prior"])
    if "latent" in settings:
        settings["top"] = TopCells(side=settings.get("top", 0.5))
    return row(**settings)


def _field_rows(
    path: Path, labelled: "DataSet", read: Callable[..., Any], label: str | None, group: str | None
) -> Any:
    """Operational rows like the labelled ones; an .npy table stays on disk."""
    from fireassay.core.files import map_npy

    if path.suffix == ".npy" and path.exists() and labelled.X.ndim == 2:
        return map_npy(path)
    if not is_table(path):
        return read(path)
    from fireassay.data import column_names

    names = set(column_names(path))
    usual = bool(names & {"label", "labels", "y", "target", "class"})
    where = label if label in names else None if usual else False
    return read(path, label=where, group=group if group in names else None)


def _latent(asked: str, X: Any) -> Any:
    """Principal components ("3"), or a VAE that is trained on the labelled images ("vae:8")."""
    from fireassay.core.errors import ParameterError
    from fireassay.reliability import PcaLatent, VaeLatent

    kind, _, dims = asked.partition(":") if asked[:1].isalpha() else ("pca", "", asked)
    if kind not in ("pca", "vae") or not (dims or "8").isdigit() or dims == "0":
        raise ParameterError("--latent takes 3, pca:3, vae or vae:8.", got=asked)
    count = int(dims or 8)
    if kind == "vae":
        return VaeLatent(count).fit(X)
    return PcaLatent(count, (0, 1) if X.min() >= 0 and X.max() <= 1 else None).fit(X)
