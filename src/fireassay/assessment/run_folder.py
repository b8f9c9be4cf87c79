"""The files of a run folder, and how they are read back."""

from pathlib import Path

from fireassay.core import DataError, strict_json
from fireassay.engine import RunStore
from fireassay.report import Gate, Report
from fireassay.report.gates import parse_gates

RESULT, PAGE, TIMINGS, GATES = "result.json", "report.html", "timings.json", "gates.json"
PART_KEYS = "part keys"


def result_path(run: Path) -> Path:
    """The ``result.json`` of a run folder (or the file itself)."""
    path = run / RESULT if run.is_dir() else run
    if not path.is_file():
        raise DataError(
            f"Expected a run folder with a {RESULT}.",
            got=str(run),
            do="Make one with: fireassay run (or fireassay demo)",
        )
    return path


def read_report(folder: Path) -> Report:
    """The report of a run, with figures where they are kept."""
    plain = Report.from_json(result_path(folder))
    with RunStore(folder, read_only=True) as store:
        keys: dict[str, str] = store.meta(PART_KEYS, {})
        kept = store.finished(list(keys.values()))
    evidence = {name: kept[key]["evidence"] for name, key in keys.items() if key in kept}
    parts = [evidence.get(part.question, part) for part in plain.parts]
    return Report(parts, plain.title)


def read_gates(run: Path) -> tuple[Gate, ...]:
    """The gates that a run was configured with."""
    path = (run if run.is_dir() else run.parent) / GATES
    return parse_gates(strict_json.loads(path.read_text())) if path.is_file() else ()
