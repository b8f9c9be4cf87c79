"""``fireassay assess``: how often the model will be wrong in the field, and how sure that is."""

from pathlib import Path
from typing import Annotated

import typer

from fireassay.cli.console import emit, say
from fireassay.cli.options import Json, Output, Quiet, Seed, Trust


def assess(
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
    label: Annotated[str | None, typer.Option("--label", help="Column of the labels.")] = None,
    output_kind: Annotated[
        str, typer.Option("--model-output", help="probabilities, logits or labels.")
    ] = "probabilities",
    target: Annotated[
        float | None, typer.Option("--target", help="Also say how many labels this bound costs.")
    ] = None,
    output: Output = None,
    trust: Trust = False,
    seed: Seed = 0,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Bound the probability that the model is wrong on the next input.

    Example: fireassay assess model.onnx test.npz --operational field.npz
    """
    from fireassay import as_classifier, reliability
    from fireassay.core.errors import DataError
    from fireassay.data import load

    labelled = load(data, label=label)
    if labelled.y is None:
        raise DataError(f"{data} must have labels.", got="none", do="Name their column: --label.")
    field = None if operational is None else load(operational).X
    check = None if held_out is None else load(held_out, label=label)
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
