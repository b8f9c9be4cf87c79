"""``fireassay init``: look at a model and its data, and write the configuration."""

import os
from pathlib import Path
from typing import Annotated

import typer
from typer import Option

from fireassay.cli.console import at_work, emit_json, loading, say, say_now, starting
from fireassay.cli.loading import remember
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
from fireassay.core.errors import ParameterError


def init(
    model: Annotated[
        str | None, Option(help="A file, an http(s) address, or package.module:name.")
    ] = None,
    data: Annotated[
        Path | None,
        Option(help="Labelled test rows: npz, CSV, JSON, Parquet, idx, a folder."),
    ] = None,
    predictions: Annotated[
        Path | None, Option(help="A file of predictions, instead of --model and --data.")
    ] = None,
    train: Annotated[Path | None, Option(help="Rows the model was trained on.")] = None,
    operational: Annotated[Path | None, Option(help="Unlabelled rows of the field.")] = None,
    votes: Annotated[Path | None, Option(help="Votes of labelling functions (.npy).")] = None,
    groups: Annotated[
        Path | None, Option(help="Patient or device of each voted row (.npy).")
    ] = None,
    label: LabelColumn = None,
    group: Annotated[
        list[str] | None,
        Option(help="The column of rows that belong together (site, then patient)."),
    ] = None,
    largest_group: Annotated[
        int | None, Option(min=1, help="The most rows that a group can have.")
    ] = None,
    rows_per_group: Annotated[
        int | None, Option(min=1, help="Take so many rows of each group, drawn by lot.")
    ] = None,
    independent: Annotated[
        bool, Option("--independent", help="No two rows belong to one patient or device.")
    ] = False,
    id_column: Annotated[str | None, Option("--id", help="The id column of a table.")] = None,
    ignore: Annotated[
        list[str] | None, Option(help="A column that is no feature (repeatable).")
    ] = None,
    categorical: Annotated[
        list[str] | None,
        Option(help="A column of names, also if it looks numeric (repeatable)."),
    ] = None,
    encoding: Annotated[
        str | None, Option(help="Of a CSV file that is not UTF-8: latin-1, cp1252.")
    ] = None,
    header: Annotated[
        bool | None,
        Option("--header/--no-header", help="Whether a CSV file's first line names columns."),
    ] = None,
    na: Annotated[
        list[str] | None, Option(help="What stands for a missing value in a CSV file.")
    ] = None,
    drop_unlabelled: Annotated[
        bool, Option("--drop-unlabelled", help="Leave out rows without a label.")
    ] = False,
    size: Annotated[
        tuple[int, int] | None,
        Option(help="Height and width that images of several sizes are brought to."),
    ] = None,
    slices: Annotated[
        list[str] | None,
        Option(help="A column to show the accuracy of each value of (repeatable)."),
    ] = None,
    weight: Annotated[str | None, Option(help="The column of weights.")] = None,
    perturb: Annotated[
        str | None, Option(help="For texts: package.module:name of perturb(text, rng).")
    ] = None,
    kind: Annotated[
        str | None,
        Option(help="What rows are: image, series, table, text, tokens, integer or real."),
    ] = None,
    missing: Annotated[
        bool, Option("--missing", help="Allow missing values (NaN) in arrays.")
    ] = False,
    model_output: Annotated[
        str | None, Option(help="probabilities, logits or labels (default: inferred).")
    ] = None,
    classes: Annotated[
        str | None, Option(help="The model's classes in the order of its columns: a,b,c.")
    ] = None,
    bounds: Bounds = None,
    mean: Annotated[
        str | None, Option(help="Of normalised images, by channel: 0.485,0.456,0.406.")
    ] = None,
    std: Annotated[
        str | None, Option(help="What each channel was divided by: 0.229,0.224,0.225.")
    ] = None,
    rows: Annotated[
        str | None,
        Option(help="How it takes rows: texts, array, frame or categories."),
    ] = None,
    layout: Annotated[
        str | None,
        Option(help="Where it takes channels: channels first, channels last, time first."),
    ] = None,
    pixels: Annotated[
        str | None, Option(help="Pixels it takes: unit, bytes or normalised (--mean, --std).")
    ] = None,
    split: Annotated[str | None, Option(help="The column that says test, train, or field.")] = None,
    accept_below_baseline: AcceptBelowBaseline = False,
    request: Annotated[
        str | None, Option(help='For an address: JSON with {rows}, e.g. {"inputs": {rows}}.')
    ] = None,
    answer: Annotated[
        str | None, Option(help="For an address: where the scores are, e.g. outputs[0].data.")
    ] = None,
    token_env: Annotated[
        str | None, Option(help="For an address: the variable that holds its token.")
    ] = None,
    config: Annotated[Path, Option(help="The file to write.")] = Path("fireassay.toml"),
    force: Annotated[bool, Option("--force", help="Overwrite the file.")] = False,
    trust: Trust = False,
    hang_minutes: HangMinutes = 5.0,
    seed: Seed = 0,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Inspect a model and its data, print what was inferred, write fireassay.toml.

    Example: fireassay init --model model.onnx --data test.npz
    """
    silent = quiet or json
    starting("looking at the model and the data", quiet=silent)
    if config.exists() and not force:
        say(f"{config} exists already. Pass --force to overwrite it.")
        raise typer.Exit(2)
    if predictions is not None:
        _predictions(predictions, config, quiet=silent)
        return
    if model is None or data is None:
        raise ParameterError("init needs --model and --data, or --predictions FILE.", got="less")
    with at_work("looking at the model and the data", quiet=silent):
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
                **_files(
                    base,
                    test=data,
                    train=train,
                    operational=operational,
                    votes=votes,
                    groups=groups,
                ),
                "label": label,
                "group": _one_or_all(group),
                "largest_group": largest_group,
                "rows_per_group": rows_per_group,
                "id": id_column,
                "ignore": ignore or None,
                "slices": slices or None,
                "categorical": categorical or None,
                "encoding": encoding,
                "header": header,
                "na": na or None,
                "drop_unlabelled": drop_unlabelled or None,
                "size": size,
                "weight": weight,
                "kind": kind,
                "split": split,
                "perturb": perturb,
                "missing": missing or None,
            },
            output=model_output,
            bounds=bounds,
            rows=rows,
            layout=layout,
            pixels=pixels,
            mean=_numbers(mean, "--mean"),
            std=_numbers(std, "--std"),
            classes=None if classes is None else [name.strip() for name in classes.split(",")],
            accept_below_baseline=accept_below_baseline,
            independent=independent,
            http=_given(request=request, answer=answer, token_env=token_env),
            trust=trust or named,
            folder=base,
            seed=seed,
            say=lambda line: say_now(line, quiet=silent),
            hang_minutes=hang_minutes,
        )
    config.write_text(started.text, encoding="utf-8")
    if json:
        seen, names = started.inspection, ("output", "classes", "bounds", "shape", "rows")
        inferred = {name: getattr(seen, name) for name in names}
        inferred["deterministic"] = seen.probe.deterministic
        inferred["batch_invariant"] = seen.probe.batch_invariant
        emit_json({"config": str(config), "inferred": inferred, "missing": started.missing})
        return
    say(f"wrote {config}. Next: fireassay plan", quiet=quiet)


def _one_or_all(names: list[str] | None) -> str | list[str] | None:
    return names[0] if names and len(names) == 1 else names or None


def _files(base: Path, **files: Path | None) -> dict[str, str | None]:
    return {name: None if p is None else _relative(str(p), base) for name, p in files.items()}


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


def _predictions(file: Path, config: Path, *, quiet: bool) -> None:
    """Write a configuration for a file of predictions, and say what was found in it."""
    from fireassay.assessment.judge import predictions_config
    from fireassay.data.predictions import read_predictions

    found = read_predictions(file)
    config.write_text(
        predictions_config(found, os.path.relpath(file, config.resolve().parent)), encoding="utf-8"
    )
    for line in (*found.findings, *found.asks):
        say(f"  {line}", quiet=quiet)
    say(f"wrote {config}; next: fireassay run", quiet=quiet)
