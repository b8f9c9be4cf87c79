"""``fireassay ambiguity``: generate inputs between two classes, and measure a model on them."""

from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option

from fireassay.cli.console import emit, emit_json, say
from fireassay.cli.loading import load_numbers, probe_words, probed
from fireassay.cli.options import (
    Bounds,
    Cluster,
    Confidence,
    HangMinutes,
    Json,
    LabelColumn,
    ModelOutput,
    Output,
    Quiet,
    Seed,
    Trust,
    Workers,
)

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Inputs that truly belong to two classes: generate them, measure a model on them.",
)


@app.command()
def generate(
    data: Annotated[Path, Argument(help="Labelled rows: npz, CSV, Parquet, idx, folder.")],
    output: Annotated[Path, Option("--output", "-o", help="Folder to write the set to.")],
    n: Annotated[int, Option("-n", min=1, help="How many inputs.")] = 10_000,
    pair: Annotated[
        list[str] | None, Option(help="FIRST,SECOND: only this pair (repeatable).")
    ] = None,
    confused_by: Annotated[
        str | None, Option(help="A model: only the pairs that it confuses.")
    ] = None,
    tries: Annotated[int, Option(min=1, help="Autoencoders per pair.")] = 2,
    preset: Annotated[str, Option(help="How autoencoders are trained.")] = "fast",
    delta_max: Annotated[float, Option(help="Largest difference of the two probabilities.")] = 0.25,
    split: Annotated[str, Option(help="test, train or any.")] = "test",
    release: Annotated[
        bool, Option("--release", help="Also a Parquet file with images, and a card.")
    ] = False,
    label: LabelColumn = None,
    bounds: Bounds = None,
    model_output: ModelOutput = "probabilities",
    workers: Workers = 1,
    cluster: Cluster = None,
    seed: Seed = 0,
    trust: Trust = False,
    hang_minutes: HangMinutes = 30.0,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Generate inputs between two classes, with probabilistic labels, and write them to a folder.

    Example: fireassay ambiguity generate train.npz --pair 3,8 --pair 4,9 -o ambiguous
    """
    from fireassay.ambiguity import AmbiguityGenerator, write_release
    from fireassay.classifiers import as_classifier
    from fireassay.core.errors import ParameterError

    if pair and confused_by:
        raise ParameterError("Pass --pair or --confused-by, not both.")
    loaded = load_numbers(data, "ambiguity", label=label)
    confusing = (
        as_classifier(
            confused_by, bounds=bounds, output=model_output, trust=trust, hang_minutes=hang_minutes
        )
        if confused_by
        else None
    )
    same = probe_words(confusing, loaded.X)
    gen = AmbiguityGenerator(
        pairs=_pairs(pair, loaded.classes) if pair else "confused" if confused_by else "all",
        tries=tries,
        preset=preset,
        seed=seed,
        model=confusing,
    ).fit(loaded.X, loaded.labels, workers=workers, cluster=cluster)
    amb = gen.sample(n, delta_max=delta_max, split=split)
    files = amb.export(output, loaded.feature_names)
    if release:
        files += write_release(amb, output / "release")
    if json:
        emit_json(
            {
                "folder": str(output),
                "n": len(amb),
                "sha256": amb.sha256,
                "reproducible": same,
                "pairs": gen.report.astype(object).to_dict(orient="records"),
            }
        )
        return
    for row in gen.report.to_dict(orient="records"):
        state = f"{row['accepted']} of {row['tries']} accepted"
        reason = f" ({row['reason']})" if row["reason"] else ""
        say(f"{row['first']} / {row['second']}: {state}{reason}", quiet=quiet)
    if confusing is not None:
        say(f"Same answer twice: {same['status']}. {same['check']}", quiet=quiet)
    say(f"wrote {len(amb)} inputs ({len(files)} files) to {output}", quiet=quiet)


@app.command()
def evaluate(
    model: Annotated[str, Argument(help="A file, an http(s) address, or module:name.")],
    ambiguous: Annotated[Path, Argument(help="A folder written by generate.")],
    output: Output = None,
    bounds: Bounds = None,
    model_output: ModelOutput = "probabilities",
    confidence: Confidence = 0.95,
    trust: Trust = False,
    hang_minutes: HangMinutes = 30.0,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Measure a model on an ambiguous set: top-1, top-2, top-pair accuracy, entropy.

    Example: fireassay ambiguity evaluate model.onnx ambiguous
    """
    from fireassay.ambiguity import evaluate as measure
    from fireassay.ambiguity import read_set
    from fireassay.classifiers import as_classifier

    amb = read_set(ambiguous)
    classifier = as_classifier(
        model, bounds=bounds, output=model_output, trust=trust, hang_minutes=hang_minutes
    )
    result = measure(classifier, amb, confidence)
    if output is not None:
        result.save(output)
    emit(probed(result.evidence(), classifier, amb.X), as_json=json, quiet=quiet)


def _pairs(texts: list[str], classes: tuple[object, ...]) -> list[tuple[object, object]]:
    """``"3,8"`` as class labels: names are compared as they are printed."""
    from fireassay.core.errors import ParameterError

    named = {str(label): label for label in classes}
    pairs = []
    for text in texts:
        # A name may have commas in it: any comma that leaves two names is the one meant.
        commas = [i for i, letter in enumerate(text) if letter == ","]
        found = [
            (named[first], named[second])
            for first, second in ((text[:i].strip(), text[i + 1 :].strip()) for i in commas)
            if first in named and second in named
        ]
        if len(found) != 1:
            raise ParameterError(
                f"--pair must be two of the classes {', '.join(named)}, with a comma.",
                got=repr(text),
            )
        pairs += found
    return pairs
