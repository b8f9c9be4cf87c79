"""``fireassay reliability``: how often the model will be wrong in the field, how surely."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fireassay.cli.console import emit, say
from fireassay.cli.numeric_rows import is_table, load_numbers, load_rows
from fireassay.cli.options import HangMinutes, Json, Output, Quiet, Seed, Trust, Workers
from fireassay.cli.probing import probed

if TYPE_CHECKING:
    from fireassay.data import DataSet

_COUNT_ERRORS = ("rectified", "exact", "groups-betting")  # other methods measure distances


def reliability(
    model: Annotated[str, typer.Argument(help="Model: .onnx, .skops, .pt2, package.module:name.")],
    data: Annotated[Path, typer.Argument(help="Labelled rows the model was not trained on.")],
    operational: Annotated[
        Path | None, typer.Option("--operational", help="Unlabelled rows from the field.")
    ] = None,
    method: Annotated[
        str,
        typer.Option("--method", help="How; a wrong name is answered with the right ones."),
    ] = "rectified",
    confidence: Annotated[
        float, typer.Option("--confidence", help="Of the bound, one-sided.")
    ] = 0.975,
    held_out: Annotated[
        Path | None, typer.Option("--held-out", help="ram: labelled rows for its check.")
    ] = None,
    estimate_weights: Annotated[
        bool,
        typer.Option(
            "--estimate-weights",
            help="rectified: labels are not from the field, weigh them (no claim).",
        ),
    ] = False,
    cells: Annotated[
        int | None, typer.Option("--cells", min=1, help="ram, worst-case: cells per axis.")
    ] = None,
    bounds: Annotated[
        tuple[float, float] | None,
        typer.Option("--bounds", help="ram, worst-case: the box of the cells, LOW HIGH."),
    ] = None,
    bandwidth: Annotated[
        float | None, typer.Option("--bandwidth", help="ram: bandwidth of the profile.")
    ] = None,
    epsilon: Annotated[
        float | None,
        typer.Option("--epsilon", help="conservative-bayes: P(pmi ≤ epsilon) = theta; 0.001."),
    ] = None,
    theta: Annotated[
        float | None, typer.Option("--theta", help="conservative-bayes: see epsilon; 0.5.")
    ] = None,
    floor: Annotated[
        float | None, typer.Option("--floor", help="conservative-bayes: smallest possible pmi; 0.")
    ] = None,
    latent: Annotated[
        int | None,
        typer.Option("--latent", min=1, help="ram: cells in so many principal components."),
    ] = None,
    side: Annotated[
        float | None, typer.Option("--side", help="ram with --latent: side of a cell; 0.5.")
    ] = None,
    label: Annotated[str | None, typer.Option("--label", help="Column of the labels.")] = None,
    group: Annotated[
        str | None,
        typer.Option("--group", help="Column that says which rows belong together."),
    ] = None,
    largest_group: Annotated[
        int | None,
        typer.Option("--largest-group", min=1, help="groups-betting: most rows of a group."),
    ] = None,
    output_kind: Annotated[
        str, typer.Option("--model-output", help="probabilities, logits or labels.")
    ] = "probabilities",
    target: Annotated[
        float | None, typer.Option("--target", help="Also say how many labels this bound costs.")
    ] = None,
    workers: Workers = 1,
    output: Output = None,
    trust: Trust = False,
    hang_minutes: HangMinutes = 30.0,
    seed: Seed = 0,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Bound the probability that the model is wrong on the next input.

    Example: fireassay reliability model.onnx test.npz --operational field.npz
    """
    from fireassay import as_classifier, reliability
    from fireassay.assessment.coded_context import with_own_hash
    from fireassay.core.errors import DataError
    from fireassay.data import DataSet

    classifier = as_classifier(model, output=output_kind, trust=trust, hang_minutes=hang_minutes)
    read: Callable[..., DataSet] = partial(load_numbers, question="reliability")
    if method in _COUNT_ERRORS:
        read = partial(load_rows, model=classifier)
    labelled = read(data, label=label, group=group)
    if labelled.y is None:
        raise DataError(f"{data} must have labels.", got="none", do="Name their column: --label.")
    field = None if operational is None else _field_rows(operational, labelled, read, label, group)
    check = None
    if held_out is not None:
        check = load_numbers(held_out, "reliability", label=label)
        if check.y is None:
            raise DataError(f"{held_out} must have labels.", got="none", do="Name them: --label.")
    prior = {"epsilon": epsilon, "theta": theta, "floor": floor}
    given: dict[str, tuple[str, Any]] = {
        "--cells": ("cells", cells),
        "--bounds": ("bounds", bounds),
        "--bandwidth": ("bandwidth", bandwidth),
        "--held-out": ("held_out", None if check is None else (check.X, check.y)),
        "--latent": ("latent", None if latent is None else _components(latent, labelled.X)),
        "--side": ("top", side),
        "--largest-group": ("largest_group", largest_group),
        **{f"--{name}": ("prior", value) for name, value in prior.items()},
    }
    chosen = _method(method, {o: pair for o, pair in given.items() if pair[1] is not None})
    classifier, coded = _in_codes(classifier, labelled, field)
    labelled, field = coded["labelled"], coded.get("field")
    result = reliability.assess(
        classifier,
        labelled.X,
        labelled.y,
        operational=field.X if isinstance(field, DataSet) else field,
        method=chosen,
        groups=labelled.groups,
        weights="estimate" if estimate_weights else None,
        confidence=confidence,
        seed=seed,
        workers=workers,
    )
    if output is not None:
        result.save(output)
    evidence = with_own_hash(result.evidence(), classifier)
    emit(probed(evidence, classifier, labelled.X), as_json=as_json, quiet=quiet)
    if as_json or quiet:
        return
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


def _in_codes(model: Any, labelled: "DataSet", field: Any) -> tuple[Any, dict[str, Any]]:
    """The model and the rows; names, texts and holes as codes, which the model never sees."""
    from fireassay.assessment.coded_context import coded_sets
    from fireassay.data import DataSet

    sets = {"labelled": labelled}
    if isinstance(field, DataSet):
        sets["field"] = field
    coded, made = coded_sets(model, sets)
    return coded, {"field": field, **made}


def _field_rows(
    path: Path,
    labelled: "DataSet",
    read: Callable[..., "DataSet"],
    label: str | None,
    group: str | None,
) -> Any:
    """Operational rows like the labelled ones; an .npy table stays on disk."""
    from fireassay.core.npy_header import map_npy

    if path.suffix == ".npy" and path.exists() and labelled.X.ndim == 2:
        return map_npy(path)
    if not is_table(path):
        return read(path)
    from fireassay.data import column_names

    names = set(column_names(path))
    usual = bool(names & {"label", "labels", "y", "target", "class"})
    where = label if label in names else None if usual else False
    return read(path, label=where, group=group if group in names else None)


def _components(dims: int, X: Any) -> Any:
    from fireassay.reliability import PcaLatent

    return PcaLatent(dims, (0, 1) if X.min() >= 0 and X.max() <= 1 else None).fit(X)
