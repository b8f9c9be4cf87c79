"""What a result was made with: a CycloneDX ML-BOM (version 1.6), and BibTeX of the papers."""

import json
import math
from collections.abc import Iterable
from typing import Any, Final
from uuid import NAMESPACE_URL, uuid5

from fireassay.core import Evidence
from fireassay.report.report import Report
from fireassay.version import __version__


def ml_bom(report: Report, environment: dict[str, str]) -> dict[str, Any]:
    """Model, data, software and every number with its interval, in CycloneDX's words."""
    model = {p.provenance.model_sha256 for p in report.parts if p.provenance} - {None}
    data = {p.provenance.data_sha256 for p in report.parts if p.provenance} - {None}
    metrics = [metric for part in report.parts for metric in _metrics(part)]
    about = report.about
    subject: dict[str, Any] = {
        "type": "machine-learning-model",
        "bom-ref": "model",
        "name": report.title if about is None else about.model,
        "hashes": [{"alg": "SHA-256", "content": digest} for digest in sorted(filter(None, model))],
        "modelCard": {"quantitativeAnalysis": {"performanceMetrics": metrics}},
    }
    sets: list[dict[str, Any]] = [
        {
            "type": "data",
            "bom-ref": f"data-{number}",
            "name": f"data {number}",
            "hashes": [{"alg": "SHA-256", "content": digest}],
        }
        for number, digest in enumerate(sorted(filter(None, data)), start=1)
    ]
    software = [
        {"type": "library", "bom-ref": f"{name}@{version}", "name": name, "version": version}
        for name, version in sorted(environment.items())
    ]
    content: dict[str, Any] = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "tools": {
                "components": [{"type": "application", "name": "fireassay", "version": __version__}]
            },
            "component": subject,
        },
        "components": [*sets, *software],
    }
    serial = uuid5(NAMESPACE_URL, json.dumps(content, sort_keys=True))
    return {**content, "serialNumber": f"urn:uuid:{serial}"}


def _metrics(part: Evidence) -> list[dict[str, Any]]:
    """The numbers of one part; a number that is not finite has no place in this form."""
    found = []
    for name, estimate in part.estimates.items():
        ends = (estimate.value, estimate.low, estimate.high)
        if part.status != "done" or not all(map(math.isfinite, ends)):
            continue
        number, _, piece = name.partition("{")
        metric: dict[str, Any] = {"type": f"{part.question}.{number}", "value": repr(ends[0])}
        if piece:
            metric["slice"] = piece.removesuffix("}")
        if estimate.kind in ("interval", "bound"):
            metric["confidenceInterval"] = {
                "lowerBound": repr(ends[1]),
                "upperBound": repr(ends[2]),
            }
        found.append(metric)
    return found


_CURATION: Final = (
    "Curating Naturally Adversarial Datasets for Learning-Enabled Medical Cyber-Physical Systems"
)
_RELIABILITY: Final = (
    "Assessing the Reliability of Deep Learning Classifiers Through Robustness Evaluation and "
    "Operational Profiles"
)
# By question: key, authors, title, year (empty where the paper itself prints none).
PAPERS: Final[dict[str, tuple[str, str, str, str]]] = {
    "curation": (
        "pugh-naturally-adversarial",
        "Pugh, Sydney and Ruchkin, Ivan and Weimer, James and Lee, Insup",
        _CURATION,
        "",
    ),
    "ambiguity": (
        "weiss-ambiguity",
        "Weiss, Michael and García Gómez, André and Tonella, Paolo",
        "Generating and Detecting True Ambiguity: A Forgotten Danger in DNN Supervision Testing",
        "2023",
    ),
    "discovery": (
        "bennette-adversarial-distances",
        "Bennette, Walter and Maurer, Karsten and Sisti, Sean",
        "Harnessing Adversarial Distances to Discover High-Confidence Errors",
        "",
    ),
    "reliability": (
        "zhao-reliability",
        "Zhao, Xingyu and Huang, Wei and Banks, Alec and Cox, Victoria and others",
        _RELIABILITY,
        "2021",
    ),
    "survival": (
        "meyers-trashfire",
        "Meyers, Charles and Saleh Sedghpour, Mohammad Reza and Löfstedt, Tommy and Elmroth, Erik",
        "A Training Rate and Survival Heuristic for Inference and Robustness Evaluation",
        "",
    ),
}
_SAME_PAPER: Final = {"supervision": "ambiguity"}


def bibtex(parts: Iterable[str]) -> str:
    """BibTeX entries of fireassay and of the papers behind the named parts."""
    used = dict.fromkeys(_SAME_PAPER.get(name, name) for name in parts)
    own = ["@software{fireassay,", "  author = {{The fireassay developers}},"]
    own += ["  title = {fireassay: test a trained classifier before anyone relies on it},"]
    entries = ["\n".join([*own, f"  version = {{{__version__}}},", "}\n"])]
    for name in used:
        if name in PAPERS:
            key, authors, title, year = PAPERS[name]
            lines = [f"@misc{{{key},", f"  author = {{{authors}}},", f"  title = {{{title}}},"]
            lines += [f"  year = {{{year}}}," if year else "", "}"]
            entries.append("\n".join(line for line in lines if line) + "\n")
    return "\n".join(entries)
