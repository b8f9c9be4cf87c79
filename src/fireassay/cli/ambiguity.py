"""``fireassay ambiguity``: generate inputs between two classes, and measure a model on them."""

from pathlib import Path

import typer

from fireassay.cli import options
from fireassay.cli.console import emit, emit_json, say
from fireassay.cli.loading import load_numbers, probe_words, probed
from fireassay.cli.options import answering, arg, opt

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Inputs that truly belong to two classes: generate them, measure a model on them.",
)


@app.command()
@answering
def generate(
    data: Path = arg("Labelled rows: npz, CSV, Parquet, idx, folder.", ...),
    output: Path = opt("Folder to write the set to.", ..., "--output", "-o"),
    n: int = opt("How many inputs.", 10_000, "-n", min=1),
    pair: list[str] | None = opt("FIRST,SECOND: only this pair (repeatable)."),
    confused_by: str | None = opt("A model: only the pairs that it confuses."),
    tries: int = opt("Autoencoders per pair.", 2, min=1),
    preset: str = opt("How autoencoders are trained.", "fast"),
    delta_max: float = opt("Largest difference of the two probabilities.", 0.25),
    split: str = opt("test, train or any.", "test"),
    release: bool = opt("Also a Parquet file with images, and a card.", False),
    label: options.LabelColumn = None,
    bounds: options.Bounds = None,
    model_output: options.ModelOutput = "probabilities",
    workers: options.Workers = 1,
    cluster: options.Cluster = None,
    seed: options.Seed = 0,
    trust: options.Trust = False,
    hang_minutes: options.HangMinutes = 30.0,
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
    confusing = None
    if confused_by:
        confusing = as_classifier(
            confused_by, bounds=bounds, output=model_output, trust=trust, hang_minutes=hang_minutes
        )
    same = probe_words(confusing, loaded.X)
    pairs = _pairs(pair, loaded.classes) if pair else "confused" if confused_by else "all"
    gen = AmbiguityGenerator(pairs=pairs, tries=tries, preset=preset, seed=seed, model=confusing)
    gen.fit(loaded.X, loaded.labels, workers=workers, cluster=cluster)
    amb = gen.sample(n, delta_max=delta_max, split=split)
    files = amb.export(output, loaded.feature_names)
    if release:
        files += write_release(amb, output / "release")
    told = {"folder": str(output), "n": len(amb), "sha256": amb.sha256, "reproducible": same}
    emit_json(told | {"pairs": gen.report.astype(object).to_dict(orient="records")})
    for row in gen.report.to_dict(orient="records"):
        state = f"{row['accepted']} of {row['tries']} accepted"
        reason = f" ({row['reason']})" if row["reason"] else ""
        say(f"{row['first']} / {row['second']}: {state}{reason}")
    if confusing is not None:
        say(f"Same answer twice: {same['status']}. {same['check']}")
    say(f"wrote {len(amb)} inputs ({len(files)} files) to {output}")


@app.command()
@answering
def evaluate(
    model: str = arg("A file, an http(s) address, or module:name.", ...),
    ambiguous: Path = arg("A folder written by generate.", ...),
    output: options.Output = None,
    bounds: options.Bounds = None,
    model_output: options.ModelOutput = "probabilities",
    confidence: options.Confidence = 0.95,
    trust: options.Trust = False,
    hang_minutes: options.HangMinutes = 30.0,
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
    emit(probed(result.evidence(), classifier, amb.X))


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
