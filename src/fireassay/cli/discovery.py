"""``fireassay discovery``: where is the model confidently wrong, found with few labels?"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from fireassay.cli import options
from fireassay.cli.console import emit, emit_json, say
from fireassay.cli.loading import load_rows, need_labels, probed
from fireassay.cli.options import answering, arg, opt

if TYPE_CHECKING:
    from fireassay.data import DataSet
    from fireassay.discovery import Search


def _list_searches(wanted: bool) -> None:
    if wanted:
        from fireassay.discovery import SEARCHES

        width = max(map(len, SEARCHES))
        for name, search in SEARCHES.items():
            typer.echo(f"{name:{width}}  {search.summary}")
        raise typer.Exit


@answering
def discovery(
    model: options.ModelArgument,
    data: Path = arg("Rows to search; labels, if any, play the oracle.", ...),
    search: str = opt("How rows are chosen; --searches lists the names.", "twin-trees"),
    searches: bool = opt(
        "List the searches and end.", False, is_eager=True, callback=_list_searches
    ),
    budget: int = opt("Labels to buy.", 50, min=0),
    calibration: Path | None = opt("Other labelled rows: the search learns from them."),
    critical_class: str | None = opt("Search only predictions of this class."),
    threshold: float = opt("Search only above this confidence.", 0.65),
    matched_share: float = opt("Share of the budget for matched random rows.", 0.0),
    audit_share: float | None = opt("Share drawn by lot at the end; 0.2 where it learns."),
    tolerance: int = opt("End when at most so many can be left.", 0, min=0),
    attack: str = opt("Decision-based attack that measures distances.", "hopskipjump"),
    max_queries: int = opt("Queries of the attack per row.", 500, min=2),
    subspace: str | None = opt("dct: attack low frequencies of images only."),
    bounds: tuple[float, float] | None = opt("Allowed input values: LOW HIGH."),
    compare_all: bool = opt(
        "Compare all searches on the labelled rows instead.", False, "--compare"
    ),
    replications: int = opt("Random subsets of --compare.", 100, min=1),
    label: options.LabelsColumn = None,
    output_kind: options.ModelOutput = "probabilities",
    output: options.Output = None,
    workers: options.Workers = 1,
    trust: options.Trust = False,
    hang_minutes: options.HangMinutes = 30.0,
    seed: options.Seed = 0,
) -> None:
    """Spend a label budget where the model looks overconfident, and say what may be concluded.

    Without labels in DATA the search waits in the folder --output for 'fireassay label'.

    Example: fireassay discovery model.onnx test.npz --calibration validation.npz --budget 50
    """
    del searches
    from fireassay import as_classifier, discovery
    from fireassay.assessment.parts.attack_space import searched_rows
    from fireassay.core.errors import DataError

    given = as_classifier(
        model, bounds=bounds, output=output_kind, trust=trust, hang_minutes=hang_minutes
    )
    rows = load_rows(data, given, label=label)
    held_out = None
    if calibration is not None:
        held_out = need_labels(load_rows(calibration, given, label=label), calibration)
    attacked = not compare_all and discovery.SEARCHES[search].needs == "distances"
    searched = searched_rows(given, rows, held_out, attacked=attacked)
    if searched.no_distances:
        say(f"No attack measures distances here ({searched.no_distances}): twin-trees searches "
            "instead.")  # fmt: skip
        search, searched = "twin-trees", searched_rows(given, rows, held_out)
    classifier = searched.model
    classifier.predict_proba(searched.X[:1])
    by_text: dict[str | None, Any] = {str(known): known for known in classifier.classes}
    common: dict[str, Any] = {
        "critical_class": by_text.get(critical_class, critical_class), "threshold": threshold,
        "budget": budget, "attack": attack, "max_queries": max_queries, "seed": seed,
        **({"attack_parameters": {"subspace": subspace}} if subspace else {}),
    }  # fmt: skip
    if compare_all:
        if rows.y is None:
            raise DataError(f"--compare needs labels in {data}.", got="none", do="--label COLUMN")
        compared = discovery.compare(
            classifier, searched.X, rows.y, replications=replications,
            workers=workers, calibration=searched.calibration, **common,
        )  # fmt: skip
        if output is not None:
            compared.save(output)
        emit(probed(compared.evidence(), classifier, searched.X))
        return
    path = _state_file(output, waits=rows.y is None)
    searching = discovery.Search(
        search, model=classifier, X=searched.X, features=searched.features, ids=rows.ids,
        matched_share=matched_share, audit_share=audit_share, tolerance=tolerance,
        calibration=searched.calibration, path=path, **common,
    )  # fmt: skip
    if path is not None and rows.y is None:
        _wait(searching, rows, path)
        return
    labels = rows.labels
    searching.run(lambda row: labels[row])
    result = searching.judged(labels)
    if output is not None:
        result.save(output / "discovery.npz")
    emit(probed(result.evidence(), classifier, searched.X))


def _state_file(output: Path | None, *, waits: bool) -> Path | None:
    """Where a search is kept; a folder that has a search already is refused."""
    from fireassay.core.errors import ParameterError
    from fireassay.engine.labels.book import STATE_FILE

    if output is None:
        if waits:
            raise ParameterError(
                "A search without labels needs --output, a folder to wait in for them.",
                got="no labels and no folder",
            )
        return None
    output.mkdir(parents=True, exist_ok=True)
    path = output / STATE_FILE
    if path.exists():
        raise ParameterError(
            f"--output must be a folder without a search, {output} has one.",
            got=str(path),
            do="Go on with it: fireassay label next; or choose another folder.",
        )
    return path


def _wait(searching: "Search", rows: "DataSet", path: Path) -> None:
    """Keep the rows as people see them, and say how labels are given."""
    from fireassay.discovery.label_files import keep_shown

    keep_shown(path, rows.rows.values, rows.feature_names, rows.rows.form)
    emit_json(searching.result.evidence().to_dict())
    say(f"{len(searching.state.rows)} candidates, {searching.budget} labels to buy.")
    say(f"Next: fireassay label next {path.parent} --csv next.csv")
