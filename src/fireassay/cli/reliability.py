"""``fireassay reliability``: how often the model will be wrong in the field, how surely."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fireassay.cli.console import emit, say
from fireassay.cli.options import Json, Output, Quiet, Seed, Trust, Workers

if TYPE_CHECKING:
    from fireassay.data import DataSet


def reliability(
    model: Annotated[str, typer.Argument(help="Model: .onnx, .skops, .pt2, package.module:name.")],
    data: Annotated[Path, typer.Argument(help="Labelled rows the model was not trained on.")],
    operational: Annotated[
        Path | None, typer.Option("--operational", help="Unlabelled rows from the field.")
    ] = None,
    mode: Annotated[
        str,
        typer.Option("--mode", help="rectified, worst-case, conservative-bayes, ram or naive."),
    ] = "rectified",
    alpha: Annotated[
        float, typer.Option("--alpha", help="One-sided error probability of the bound.")
    ] = 0.025,
    held_out: Annotated[
        Path | None, typer.Option("--held-out", help="ram: labelled rows for its check.")
    ] = None,
    estimate_weights: Annotated[
        bool,
        typer.Option(
            "--estimate-weights", help="Labels not from the field: weigh them (no claim)."
        ),
    ] = False,
    cells: Annotated[
        int | None, typer.Option("--cells", min=1, help="ram: cells per axis.")
    ] = None,
    bandwidth: Annotated[
        float | None, typer.Option("--bandwidth", help="ram: bandwidth of the profile.")
    ] = None,
    epsilon: Annotated[
        float, typer.Option("--epsilon", help="conservative-bayes: P(pmi ≤ epsilon) = theta.")
    ] = 1e-3,
    theta: Annotated[float, typer.Option("--theta", help="conservative-bayes: see epsilon.")] = 0.5,
    floor: Annotated[
        float, typer.Option("--floor", help="conservative-bayes: smallest possible pmi.")
    ] = 0.0,
    latent: Annotated[
        int | None,
        typer.Option("--latent", min=1, help="ram: cells in so many principal components."),
    ] = None,
    side: Annotated[float, typer.Option("--side", help="ram with --latent: side of a cell.")] = 0.5,
    label: Annotated[str | None, typer.Option("--label", help="Column of the labels.")] = None,
    output_kind: Annotated[
        str, typer.Option("--model-output", help="probabilities, logits or labels.")
    ] = "probabilities",
    target: Annotated[
        float | None, typer.Option("--target", help="Also say how many labels this bound costs.")
    ] = None,
    workers: Workers = 1,
    output: Output = None,
    trust: Trust = False,
    seed: Seed = 0,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Bound the probability that the model is wrong on the next input.

    Example: fireassay reliability model.onnx test.npz --operational field.npz
    """
    from fireassay import as_classifier, reliability
    from fireassay.core.errors import DataError
    from fireassay.data import load

    labelled = load(data, label=label)
    if labelled.y is None:
        raise DataError(f"{data} must have labels.", got="none", do="Name their column: --label.")
    field = None if operational is None else _field_rows(operational, labelled)
    check = None
    if held_out is not None:
        check = load(held_out, label=label, encoder=labelled.encoder)
    if check is not None and check.y is None:
        raise DataError(f"{held_out} must have labels.", got="none", do="Name them: --label.")
    result = reliability.assess(
        as_classifier(model, output=output_kind, trust=trust),
        labelled.X,
        labelled.y,
        operational=field,
        mode=mode,
        alpha=alpha,
        weights="estimate" if estimate_weights else None,
        held_out=None if check is None or check.y is None else (check.X, check.y),
        seed=seed,
        cells=cells,
        bandwidth=bandwidth,
        prior=reliability.ConservativePrior(epsilon, theta, floor),
        latent=None if latent is None else _components(latent, labelled.X),
        top=reliability.TopCells(side=side),
        workers=workers,
    )
    if output is not None:
        result.save(output)
    emit(result.evidence(), as_json=as_json, quiet=quiet)
    if as_json or quiet:
        return
    say()
    for line in result.comparison.to_string(index=False, float_format="{:.5f}".format).splitlines():
        say(f"  {line}")
    if target is not None:
        planned = reliability.plan(target, alpha)
        say(f"  A bound of {target:g} takes at least {planned.labels} labels without an error.")


def _field_rows(path: Path, labelled: "DataSet") -> Any:
    """Operational rows like the labelled ones; an .npy table stays on disk."""
    import numpy as np

    from fireassay.data import load

    if path.suffix == ".npy" and path.exists() and labelled.X.ndim == 2:
        return np.load(path, mmap_mode="r", allow_pickle=False)
    if labelled.encoder is not None:
        return load(path, label=False, encoder=labelled.encoder).X
    return load(path).X


def _components(dims: int, X: Any) -> Any:
    from fireassay.reliability import PcaLatent

    return PcaLatent(dims, (0, 1) if X.min() >= 0 and X.max() <= 1 else None).fit(X)
