"""Every table and figure of the five papers beside what came out here: writes docs/papers.md.

    python studies/papers.py

Numbers are read from benchmarks/results and studies/results; what has not been run is said so.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
Lookup = Callable[[], tuple[str, str] | None]


@dataclass(frozen=True)
class Row:
    """One table or figure: where it is made, their number, how ours is found."""

    item: str
    shows: str
    script: str
    theirs: str
    ours: Lookup


def results(name: str) -> Any:
    for folder in ("benchmarks", "studies"):
        path = ROOT / folder / "results" / f"{name}.json"
        if path.is_file():
            return json.loads(path.read_text())
    return None


def fixed(text: str, verdict: str) -> Lookup:
    """Something a test asserts (named in the script column), or that has no number."""
    return lambda: (text, verdict)


def nothing() -> tuple[str, str] | None:
    return None


def survival_table() -> tuple[str, str] | None:
    found = (results("survival") or {}).get("paper")
    if not found:
        return None
    shown = ", ".join(
        f"{family} {row['test_concordance']:.3f}"
        for family, row in found.items()
        if family in ("weibull", "lognormal", "loglogistic")
    )
    return f"test concordance {shown}", "reproduced (no row is censored: see the page)"


def mnist_row() -> tuple[str, str] | None:
    found = results("reliability_mnist")
    if not found or "latent cells" not in found:
        return None
    cells = found["latent cells"][0]
    text = (
        f"ACU {cells['ACU']:.3f}, E {cells['E (evaluated cells)']:.3f} with a model of test error "
        f"{found['test error']:.3f}"
    )
    return text, "not reproduced: other model, other cells (see the page)"


PAPERS: dict[str, tuple[Row, ...]] = {
    "Pugh et al., naturally adversarial datasets (curation)": (
        Row("Fig. 1, 2", "the idea, the pipeline", "–", "drawings", fixed("docs/curation.md", "–")),
        Row(
            "Tables II, III",
            "Spearman's rho of nine case studies",
            "tests/curation/test_paper_tables.py",
            "72 cells",
            fixed(
                "60 cells of the five public case studies, to 3 decimals",
                "reproduced; 4 case studies have no public data",
            ),
        ),
        Row(
            "Table III",
            'verdict "valid" by Definition 3',
            "studies/curation_case_studies.py",
            "decreasing where rho < 0 and p < .05",
            fixed(
                "random orders are called valid in 46 % of draws (benchmarks/curation.py)",
                "refuted as a test; calibrated test beside it",
            ),
        ),
        Row(
            "Fig. 3",
            "accuracy against dataset",
            "examples/curation.py",
            "figure",
            fixed("Trend.figures()", "reproduced"),
        ),
    ),
    "Weiss et al., AmbiGuess and sixteen supervisors (ambiguity, supervision)": (
        Row(
            "Table 1, 4–7",
            "top-1, top-2, top-pair, entropy",
            "studies/ambiguity_table1.py",
            "CNN .54 / .99 / .98 (MNIST, mixed training)",
            fixed("see docs/ambiguity.md", "see the page"),
        ),
        Row("Table 3", "top-pair by hand", "tests/ambiguity", "5/7", fixed("5/7", "reproduced")),
        Row(
            "Table 2, 8–11",
            "AUROC of supervisors",
            "studies/supervision_table2.py",
            "entropy finds ambiguous, surprise finds invalid",
            fixed("see docs/supervision.md", "see the page"),
        ),
    ),
    "Bennette et al., adversarial distance (discovery)": (
        Row(
            "Fig. 1",
            "LOESS of log perturbation on confidence",
            "examples/discovery.py",
            "figure",
            fixed("SearchResult.figures()", "reproduced"),
        ),
        Row(
            "Table I, Fig. 2",
            "three classifiers, reliability diagrams",
            "studies/discovery_errors.py",
            "figure",
            fixed("see docs/discovery.md", "rebuilt on Fashion-MNIST"),
        ),
        Row(
            "Fig. 3–7",
            "spread, SDR, utility, errors over replications",
            "studies/discovery_errors.py",
            "adversarial distance leads",
            fixed("see docs/discovery.md", "see the page"),
        ),
        Row(
            "Fig. 8, 9",
            "saliency of errors and prototypes",
            "examples/discovery_errors.py",
            "figures",
            fixed("insight_figure", "rebuilt"),
        ),
    ),
    "Zhao et al., reliability assessment (reliability)": (
        Row(
            "Fig. 1–3",
            "r-separation, profile, 2-D sets",
            "examples/reliability.py",
            "figures",
            fixed("ReliabilityResult.figures()", "reproduced; DS-2 is not public"),
        ),
        Row(
            "Table 1, running example",
            "ACU, E, bound",
            "tests/reliability",
            ".002982, .004891, .004899",
            fixed("within 0.5 %", "reproduced; the bound covers 0 of 100 simulated worlds"),
        ),
        Row(
            "Table 1, DS-1",
            "ACU, E, bound",
            "tests/reliability",
            ".008025, .008290, .008319",
            fixed("within 0.5 %", "reproduced; contradicted by the test set"),
        ),
        Row("Table 1, DS-2", "ACU, E, bound", "–", "–", fixed("–", "no data")),
        Row("Table 1, MNIST", "ACU, E", "studies/reliability_mnist.py", ".107, .037", mnist_row),
        Row("Table 1, CIFAR-10", "ACU, E", "–", ".238, .234", nothing),
    ),
    "Meyers et al., TRASHFIRE (survival)": (
        Row(
            "Fig. 1",
            "accuracy and failure rate by attack and defence",
            "studies/survival_campaign.py",
            "figure",
            fixed("see docs/survival.md", "rebuilt on small images"),
        ),
        Row(
            "Table I, Fig. 2",
            "fit of six families",
            "benchmarks/survival.py",
            "test concordance .92 (CIFAR-100 table)",
            survival_table,
        ),
        Row(
            "Fig. 3, 4",
            "covariate effects, cost ratio",
            "studies/survival_campaign.py",
            "figures",
            fixed("see docs/survival.md", "rebuilt on small images"),
        ),
    ),
}


def main() -> None:
    lines = [
        "# The five papers",
        "",
        "Every table and figure: where it is made, their number, and ours.",
    ]
    for paper, rows in PAPERS.items():
        lines += [
            "",
            f"## {paper}",
            "",
            "| item | shows | made by | theirs | ours | verdict |",
            "|---|---|---|---|---|---|",
        ]
        for row in rows:
            ours, verdict = row.ours() or ("not run yet", "open")
            script = f"`{row.script}`" if row.script != "–" else "–"
            lines.append(
                f"| {row.item} | {row.shows} | {script} | {row.theirs} | {ours} | {verdict} |"
            )
    path = ROOT / "docs" / "papers.md"
    path.write_text("\n".join(lines) + "\n")
    print(f"wrote {path.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
