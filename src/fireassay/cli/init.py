"""``fireassay init``: look at a model and its data, and write the configuration."""

import os
from pathlib import Path
from typing import Annotated, Any

import typer

from fireassay.cli.console import at_work, emit_json, loading, say, say_now, starting
from fireassay.cli.options import (
    AcceptBelowBaseline,
    Bounds,
    HangMinutes,
    Json,
    LabelColumn,
    Quiet,
    Seed,
    Trust,
)
from fireassay.cli.trusting import remember


def init(
    model: Annotated[str, typer.Option(help="A file, an http(s) address, or package.module:name.")],
    data: Annotated[Path, typer.Option(help="Labelled test rows: npz, CSV, Parquet, idx, folder.")],
    train: Annotated[Path | None, typer.Option(help="Rows the model was trained on.")] = None,
    operational: Annotated[Path | None, typer.Option(help="Unlabelled rows of the field.")] = None,
    votes: Annotated[Path | None, typer.Option(help="Votes of labelling functions (.npy).")] = None,
    groups: Annotated[
        Path | None, typer.Option(help="Patient or device of each voted row (.npy).")
    ] = None,
    label: LabelColumn = None,
    group: Annotated[
        str | None, typer.Option(help="The column that says which rows belong together.")
    ] = None,
    id_column: Annotated[str | None, typer.Option("--id", help="The id column of a table.")] = None,
    ignore: Annotated[
        list[str] | None, typer.Option(help="A column that is no feature (repeatable).")
    ] = None,
    slices: Annotated[
        list[str] | None,
        typer.Option(help="A column to show the accuracy of each value of (repeatable)."),
    ] = None,
    weight: Annotated[str | None, typer.Option(help="The column of weights.")] = None,
    perturb: Annotated[
        str | None, typer.Option(help="For texts: package.module:name of perturb(text, rng).")
    ] = None,
    kind: Annotated[
        str | None, typer.Option(help="What arrays are: image, series, integer or real.")
    ] = None,
    missing: Annotated[
        bool, typer.Option("--missing", help="Allow missing values (NaN) in arrays.")
    ] = False,
    model_output: Annotated[
        str | None,
        typer.Option("--model-output", help="probabilities, logits or labels (default: inferred)."),
    ] = None,
    classes: Annotated[
        str | None,
        typer.Option("--classes", help="The model's classes in the order of its columns: a,b,c."),
    ] = None,
    bounds: Bounds = None,
    mean: Annotated[
        str | None, typer.Option(help="Of normalised images, by channel: 0.485,0.456,0.406.")
    ] = None,
    std: Annotated[
        str | None, typer.Option(help="What each channel was divided by: 0.229,0.224,0.225.")
    ] = None,
    accept_below_baseline: AcceptBelowBaseline = False,
    request: Annotated[
        str | None, typer.Option(help='For an address: JSON with {rows}, e.g. {"inputs": {rows}}.')
    ] = None,
    answer: Annotated[
        str | None, typer.Option(help="For an address: where the scores are, e.g. outputs[0].data.")
    ] = None,
    token_env: Annotated[
        str | None, typer.Option(help="For an address: the variable that holds its token.")
    ] = None,
    config: Annotated[Path, typer.Option(help="The file to write.")] = Path("fireassay.toml"),
    force: Annotated[bool, typer.Option("--force", help="Overwrite the file.")] = False,
    trust: Trust = False,
    hang_minutes: HangMinutes = 5.0,
    seed: Seed = 0,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Inspect a model and its data, print what was inferred, write fireassay.toml.

    Example: fireassay init --model model.onnx --data test.npz
    """
    starting("looking at the model and the data", quiet=quiet or json)
    if config.exists() and not force:
        say(f"{config} exists already. Pass --force to overwrite it.")
        raise typer.Exit(2)
    with at_work("looking at the model and the data", quiet=quiet or json):
        with loading():
            from fireassay.assessment import initialise
            from fireassay.classifiers.import_path import is_import_path

        base = config.resolve().parent
        # Named by the user, on the command line.
        named = any(is_import_path(name) for name in (model, perturb or ""))
        if trust or named or token_env is not None:
            remember(model, base, token_env, perturb)
        started = initialise(
            model=_relative(model, base),
            data={
                "test": _relative(str(data), base),
                "train": None if train is None else _relative(str(train), base),
                "operational": None if operational is None else _relative(str(operational), base),
                "votes": None if votes is None else _relative(str(votes), base),
                "groups": None if groups is None else _relative(str(groups), base),
                "label": label,
                "group": group,
                "id": id_column,
                "ignore": ignore or None,
                "slices": slices or None,
                "weight": weight,
                "kind": kind,
                "perturb": perturb,
                "missing": missing or None,
            },
            output=model_output,
            bounds=bounds,
            mean=_numbers(mean, "--mean"),
            std=_numbers(std, "--std"),
            classes=None if classes is None else [name.strip() for name in classes.split(",")],
            accept_below_baseline=accept_below_baseline,
            http=_given(request=request, answer=answer, token_env=token_env),
            trust=trust or named,
            folder=base,
            seed=seed,
            say=lambda line: say_now(line, quiet=quiet or json),
            hang_minutes=hang_minutes,
        )
    config.write_text(started.text, encoding="utf-8")
    if json:
        inferred: dict[str, Any] = {
            "output": started.inspection.output,
            "classes": started.inspection.classes,
            "bounds": started.inspection.bounds,
            "shape": started.inspection.shape,
            "rows": started.inspection.rows,
            "deterministic": started.inspection.probe.deterministic,
            "batch_invariant": started.inspection.probe.batch_invariant,
        }
        emit_json({"config": str(config), "inferred": inferred, "missing": started.missing})
        return
    say(f"wrote {config}. Next: fireassay plan", quiet=quiet)


def _relative(path: str, base: Path) -> str:
    """Paths in the file are relative to the file; addresses and import names stay."""
    if "://" in path or not Path(path).exists():
        return path
    return os.path.relpath(Path(path).resolve(), base)


def _numbers(typed: str | None, option: str) -> list[float] | None:
    """Numbers as somebody typed them, with commas between."""
    if typed is None:
        return None
    try:
        return [float(number) for number in typed.split(",")]
    except ValueError as error:
        raise typer.BadParameter(
            f"{option} takes numbers with commas between: {typed!r}"
        ) from error


def _given(**options: str | None) -> dict[str, str]:
    return {name: value for name, value in options.items() if value is not None}
