"""``fireassay init``: look at a model and its data, and write the configuration."""

import os
from pathlib import Path
from typing import Any

import typer

from fireassay.cli import options
from fireassay.cli.console import asked, at_work, emit_json, loading, say, say_now, starting
from fireassay.cli.loading import remember
from fireassay.cli.options import answering, opt
from fireassay.core.errors import ParameterError


@answering
def init(
    model: str | None = opt("A file, an http(s) address, or package.module:name."),
    data: Path | None = opt("Labelled test rows: npz, CSV, JSON, Parquet, idx, a folder."),
    predictions: Path | None = opt("A file of predictions, instead of --model and --data."),
    train: Path | None = opt("Rows the model was trained on."),
    operational: Path | None = opt("Unlabelled rows of the field."),
    votes: Path | None = opt("Votes of labelling functions (.npy)."),
    groups: Path | None = opt("Patient or device of each voted row (.npy)."),
    label: options.LabelColumn = None,
    group: list[str] | None = opt("The column of rows that belong together (site, then patient)."),
    largest_group: int | None = opt("The most rows that a group can have.", min=1),
    rows_per_group: int | None = opt("Take so many rows of each group, drawn by lot.", min=1),
    independent: bool = opt("No two rows belong to one patient or device.", False),
    id_column: str | None = opt("The id column of a table.", None, "--id"),
    ignore: list[str] | None = opt("A column that is no feature (repeatable)."),
    categorical: list[str] | None = opt(
        "A column of names, also if it looks numeric (repeatable)."
    ),
    encoding: str | None = opt("Of a CSV file that is not UTF-8: latin-1, cp1252."),
    header: bool | None = opt(
        "Whether a CSV file's first line names columns.", None, "--header/--no-header"
    ),
    na: list[str] | None = opt("What stands for a missing value in a CSV file."),
    drop_unlabelled: bool = opt("Leave out rows without a label.", False),
    size: tuple[int, int] | None = opt(
        "Height and width that images of several sizes are brought to."
    ),
    slices: list[str] | None = opt("Column to slice by (repeatable).", None, "--slice", "--slices"),
    weight: str | None = opt("The column of weights."),
    perturb: str | None = opt("For texts: package.module:name of perturb(text, rng)."),
    kind: str | None = opt("What rows are: image, series, table, text, tokens, integer or real."),
    missing: bool = opt("Allow missing values (NaN) in arrays.", False),
    model_output: str | None = opt("probabilities, logits or labels (default: inferred)."),
    classes: str | None = opt("The model's classes in the order of its columns: a,b,c."),
    bounds: options.Bounds = None,
    mean: str | None = opt("Of normalised images, by channel: 0.485,0.456,0.406."),
    std: str | None = opt("What each channel was divided by: 0.229,0.224,0.225."),
    rows: str | None = opt("How it takes rows: texts, array, frame or categories."),
    layout: str | None = opt("Where it takes channels: channels first, channels last, time first."),
    pixels: str | None = opt("Pixels it takes: unit, bytes or normalised (--mean, --std)."),
    split: str | None = opt("The column that says test, train, or field."),
    accept_below_baseline: options.AcceptBelowBaseline = False,
    request: str | None = opt('For an address: JSON with {rows}, e.g. {"inputs": {rows}}.'),
    answer: str | None = opt("For an address: where the scores are, e.g. outputs[0].data."),
    token_env: str | None = opt("For an address: the variable that holds its token."),
    config: Path = opt("The file to write.", Path("fireassay.toml")),
    force: bool = opt("Overwrite the file.", False),
    trust: options.Trust = False,
    hang_minutes: options.HangMinutes = 5.0,
    seed: options.Seed = 0,
) -> None:
    """Inspect a model and its data, print what was inferred, write fireassay.toml.

    Example: fireassay init --model model.onnx --data test.npz
    """
    starting("looking at the model and the data")
    if config.exists() and not force:
        say(f"{config} exists already. Pass --force to overwrite it.", quiet=False)
        raise typer.Exit(2)
    if predictions is not None:
        _predictions(predictions, config)
        return
    if model is None or data is None:
        raise ParameterError("init needs --model and --data, or --predictions FILE.", got="less")
    with at_work("looking at the model and the data"):
        with loading():
            from fireassay.assessment import initialise
            from fireassay.classifiers.import_path import is_import_path

        base = config.resolve().parent
        files = {
            "test": data, "train": train, "operational": operational, "votes": votes,
            "groups": groups,
        }  # fmt: skip
        columns: dict[str, Any] = {
            "label": label, "group": group[0] if group and len(group) == 1 else group or None,
            "largest_group": largest_group, "rows_per_group": rows_per_group, "id": id_column,
            "ignore": ignore or None, "slices": slices or None,
            "categorical": categorical or None, "encoding": encoding, "header": header,
            "na": na or None, "drop_unlabelled": drop_unlabelled or None, "size": size,
            "weight": weight, "kind": kind, "split": split, "perturb": perturb,
            "missing": missing or None,
        }  # fmt: skip
        server = {"request": request, "answer": answer, "token_env": token_env}
        # Named by the user, on the command line.
        named = any(is_import_path(name) for name in (model, perturb or ""))
        if trust or named or token_env is not None:
            remember(model, base, token_env, perturb)
        started = initialise(
            model=_relative(model, base),
            data={k: p and _relative(str(p), base) for k, p in files.items()} | columns,
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
            http={name: text for name, text in server.items() if text is not None},
            trust=trust or named,
            folder=base,
            seed=seed,
            say=say_now,
            hang_minutes=hang_minutes,
        )
    config.write_text(started.text, encoding="utf-8")
    if asked.json:
        seen, names = started.inspection, ("output", "classes", "bounds", "shape", "rows")
        inferred = {name: getattr(seen, name) for name in names}
        inferred["deterministic"] = seen.probe.deterministic
        inferred["batch_invariant"] = seen.probe.batch_invariant
        emit_json({"config": str(config), "inferred": inferred, "missing": started.missing})
        return
    say(f"wrote {config}. Next: fireassay plan")


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


def _predictions(file: Path, config: Path) -> None:
    """Write a configuration for a file of predictions, and say what was found in it."""
    from fireassay.assessment.judge import predictions_config
    from fireassay.data.predictions import read_predictions

    found = read_predictions(file)
    config.write_text(
        predictions_config(found, os.path.relpath(file, config.resolve().parent)), encoding="utf-8"
    )
    for line in (*found.findings, *found.asks):
        say(f"  {line}")
    say(f"wrote {config}; next: fireassay run")
