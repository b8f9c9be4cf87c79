"""Datasets as files: index lists, and one table with label, confidence, bound, dataset number."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fireassay.core import strict_json
from fireassay.core.extras import is_installed
from fireassay.core.validation import check_labels
from fireassay.data.csv_file import write_csv

if TYPE_CHECKING:
    from fireassay.curation.result import Curation


def export(result: "Curation", folder: str | Path, ids: Any = None) -> list[Path]:
    """Write ``D_01.txt`` … (one sample number per line), ``samples.csv`` and ``curation.json``.

    With pyarrow installed the table is also written as ``samples.parquet``. Text identifiers that a
    spreadsheet would run as a formula are quoted with an apostrophe in the CSV file.

    Parameters
    ----------
    result
        A curation.
    folder
        Where to write; made if needed.
    ids
        The user's own identifier of each sample.
    """
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    table = result.frame()
    table.insert(0, "row", np.arange(result.n))
    if ids is not None:
        table.insert(1, "id", check_labels(ids, name="ids", n=result.n))
    written = []
    width = max(2, len(str(len(result.sizes))))
    for number, rows in enumerate(result.datasets, start=1):
        path = target / f"D_{number:0{width}d}.txt"
        path.write_text("".join(f"{row}\n" for row in rows.tolist()))
        written.append(path)
    csv = target / "samples.csv"
    written.append(write_csv(table, csv))
    if is_installed("pyarrow"):
        parquet = target / "samples.parquet"
        table.to_parquet(parquet, index=False)
        written.append(parquet)
    summary = target / "curation.json"
    summary.write_text(strict_json.dumps(_summary(result), indent=2))
    return [*written, summary]


def _summary(result: "Curation") -> dict[str, Any]:
    settings = result.settings
    return {
        "settings": {name: getattr(settings, name) for name in settings.__dataclass_fields__},
        "samples": result.n,
        "sizes": result.sizes.tolist(),
        "kept_lfs": [result.lf_names[i] for i in result.kept_lfs],
        "warnings": list(result.warnings),
    }
