"""``fireassay discovery``: where is the model confidently wrong, found with few labels?"""

from pathlib import Path
from typing import Annotated, Any

import typer

from fireassay.cli.console import emit, say
from fireassay.cli.numeric_rows import load_numbers, load_rows
from fireassay.cli.options import HangMinutes, Json, Output, Quiet, Seed, Trust, Workers
from fireassay.cli.probing import probed


def _list_searches(wanted: bool) -> None:
    if wanted:
        from fireassay.discovery import SEARCHES

        width = max(map(len, SEARCHES))
        for name, search in SEARCHES.items():
            typer.echo(f"{name:{width}}  {search.summary}")
        raise typer.Exit


def discovery(
    model: Annotated[str, typer.Argument(help="Model: .onnx, .skops, .pt2, package.module:name.")],
    data: Annotated[Path, typer.Argument(help="Rows to search; labels, if any, play the oracle.")],
    search: Annotated[
        str,
        typer.Option("--search", help="How rows are chosen; --searches lists the names."),
    ] = "adversarial-distance",
    searches: Annotated[
        bool,
        typer.Option(
            "--searches", is_eager=True, callback=_list_searches, help="List the searches and end."
        ),
    ] = False,
    budget: Annotated[int, typer.Option("--budget", min=0, help="Labels to buy.")] = 50,
    calibration: Annotated[
        Path | None,
        typer.Option("--calibration", help="Labelled rows to calibrate the confidences on."),
    ] = None,
    critical_class: Annotated[
        str | None, typer.Option("--critical-class", help="Search only predictions of this class.")
    ] = None,
    threshold: Annotated[
        float, typer.Option("--threshold", help="Search only above this confidence.")
    ] = 0.65,
    matched_share: Annotated[
        float,
        typer.Option("--matched-share", help="Share of the budget for matched random rows."),
    ] = 0.0,
    attack: Annotated[
        str, typer.Option("--attack", help="Decision-based attack that measures distances.")
    ] = ("hopskipjump"),
    max_queries: Annotated[
        int, typer.Option("--max-queries", min=2, help="Queries of the attack per row.")
    ] = 500,
    subspace: Annotated[
        str | None, typer.Option("--subspace", help="dct: attack low frequencies of images only.")
    ] = None,
    bounds: Annotated[
        tuple[float, float] | None, typer.Option("--bounds", help="Allowed input values: LOW HIGH.")
    ] = None,
    compare_all: Annotated[
        bool, typer.Option("--compare", help="Compare all searches on the labelled rows instead.")
    ] = False,
    replications: Annotated[
        int, typer.Option("--replications", min=1, help="Random subsets of --compare.")
    ] = 100,
    label: Annotated[str | None, typer.Option("--label", help="Column of the labels.")] = None,
    output_kind: Annotated[
        str, typer.Option("--model-output", help="probabilities, logits or labels.")
    ] = "probabilities",
    output: Output = None,
    workers: Workers = 1,
    trust: Trust = False,
    hang_minutes: HangMinutes = 30.0,
    seed: Seed = 0,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Spend a label budget where the model looks overconfident, and say what may be concluded.

    Without labels in DATA the search waits in the folder --output for 'fireassay label'.

    Example: fireassay discovery model.onnx test.npz --calibration validation.npz --budget 50
    """
    del searches
    from fireassay import as_classifier, discovery
    from fireassay.assessment.searched_rows import searched_rows
    from fireassay.core.errors import DataError, ParameterError
    from fireassay.discovery.shown_rows import keep_shown
    from fireassay.discovery.state_file import STATE_FILE

    given = as_classifier(
        model, bounds=bounds, output=output_kind, trust=trust, hang_minutes=hang_minutes
    )
    rows = (
        load_numbers(data, "discovery", label=label)
        if compare_all
        else load_rows(data, given, label=label)
    )
    held_out = None
    if calibration is not None:
        held_out = load_rows(calibration, given, label=label)
        if held_out.y is None:
            raise DataError(
                f"{calibration} must have labels.", got="none", do="Name them: --label."
            )
    searched = searched_rows(given, rows, held_out)
    classifier = searched.model
    classifier.predict_proba(searched.X[:1])
    if searched.no_distances and discovery.SEARCHES[search].needs == "distances":
        say(f"No attack measures distances here ({searched.no_distances}): the least sure of the "
            "sure come first (low-confidence).", quiet=quiet or as_json)  # fmt: skip
        search = "low-confidence"
    critical = None
    if critical_class is not None:
        by_text = {str(known): known for known in classifier.classes}
        critical = by_text.get(critical_class, critical_class)
    options = {"attack_parameters": {"subspace": subspace}} if subspace else {}
    common: dict[str, Any] = {
        "critical_class": critical,
        "threshold": threshold,
        "budget": budget,
        "attack": attack,
        "max_queries": max_queries,
        "seed": seed,
        **options,
    }
    if compare_all:
        if rows.y is None:
            raise DataError(f"--compare needs labels in {data}.", got="none", do="--label COLUMN")
        compared = discovery.compare(
            classifier, rows.X, rows.y, replications=replications, workers=workers, **common
        )
        if output is not None:
            compared.save(output)
        emit(probed(compared.evidence(), classifier, rows.X), as_json=as_json, quiet=quiet)
        return
    if rows.y is None and output is None:
        raise ParameterError(
            "A search without labels needs --output, a folder to wait in for them.",
            got="no labels and no folder",
        )
    path = None
    if output is not None:
        output.mkdir(parents=True, exist_ok=True)
        path = output / STATE_FILE
        if path.exists():
            raise ParameterError(
                f"--output must be a folder without a search, {output} has one.",
                got=str(path),
                do="Go on with it: fireassay label next; or choose another folder.",
            )
    searching = discovery.Search(
        search, model=classifier, X=searched.X, features=searched.features, ids=rows.ids,
        matched_share=matched_share, path=path, **common,
    )  # fmt: skip
    if path is not None and rows.y is None:
        kind = "series" if rows.kinds == ("series",) else None
        keep_shown(path, rows.rows.values, rows.feature_names, kind)
    if rows.y is not None:
        labels = rows.y
        searching.run(lambda row: labels[row])
        result = searching.judged(labels)
        if output is not None:
            result.save(output / "discovery.npz")
        emit(probed(result.evidence(), classifier, searched.X), as_json=as_json, quiet=quiet)
        return
    emit(searching.result.evidence(), as_json=as_json, quiet=True)
    quiet = quiet or as_json
    say(f"{len(searching.state.rows)} candidates, {searching.budget} labels to buy.", quiet=quiet)
    say(f"Next: fireassay label next {output} --csv next.csv", quiet=quiet)
