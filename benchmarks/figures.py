"""What each package promises, and what its benchmark last measured: reached or not.

A row names the figure, its target, the file under results/ and how to read it there. A figure that
its file does not hold is "not measured". Used by benchmarks/table.py.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

RESULTS = Path(__file__).parent / "results"


@dataclass(frozen=True)
class Figure:
    """One promise: reached where ``read`` gives at least (or at most) the target."""

    package: str
    what: str
    target: float
    read: Callable[[dict[str, Any]], float]
    file: str
    most: bool = False
    form: str = "×{:,.0f}"
    note: str = ""

    def measured(self) -> float | None:
        path = RESULTS / f"{self.file}.json"
        if not path.exists():
            return None
        try:
            return float(self.read(json.loads(path.read_text())))
        except (KeyError, IndexError):
            return None

    def row(self) -> list[str]:
        found = self.measured()
        goal = f"{'≤' if self.most else '≥'} {self.form.format(self.target)}"
        if found is None:
            return [self.package, self.what, goal, "not measured", "–", self.note]
        reached = found <= self.target if self.most else found >= self.target
        verdict = "reached" if reached else "**not reached**"
        return [self.package, self.what, goal, self.form.format(found), verdict, self.note]


def _least(rows, key, **chosen):
    kept = [row for row in rows if all(row[k] == v for k, v in chosen.items())]
    if not kept:
        raise KeyError(chosen)
    return min(row[key] for row in kept)


def _row(found, peer: str):
    return next((row for row in found["rows"] if row["peer"] == peer), {})


def _ratio(peer: str):
    return lambda found: _row(found, peer)["ratio"]


def _ours(peer: str):
    return lambda found: _row(found, peer)["ours_cpu_s"]


def _attack(start: str, key: str = "ratio"):
    def read(found):
        rows = [row for row in found["attacks"] if row["peer"].startswith(start)]
        return min(row[key] for row in rows)

    return read


def _default(found):
    return [row for row in found["coverage"] if row["method"] == "rectified (default)"]


def _auroc(supervisor: str, kind: str, data: str = "mnist"):
    def read(found):
        return _least(found[data]["rows"], "auroc", supervisor=supervisor, set=kind)

    return read


def _lowest_coverage(found):
    return min(min(row["CR3 t"], row["CR2 t"]) for row in found["coverage"])


FIGURES = (
    Figure("curation", "snorkel + statsmodels at 847,486 × 5", 30,
           lambda r: r["recsys size"]["times_faster"], "curation"),
    Figure("curation", "posteriors against snorkel, largest difference", 1e-5,
           lambda r: r["recsys size"]["largest_posterior_difference"], "curation", True, "{:.1e}"),
    Figure("curation", "label model against snorkel, no two rows alike", 10,
           _ratio("snorkel, distinct rows"), "rivals", form="×{:.1f}"),
    Figure("curation", "votes to verdict, 10 million × 10, passes of 7 ms", 50,
           lambda r: _ours("numpy and scipy, verdict")(r) / 0.007, "rivals", True, "{:.0f}"),
    Figure("curation", "random orders called a trend, of 1,000", 73,
           lambda r: r["verdict"]["level_of_1000_random_orders"]["calibrated"], "curation", True,
           "{:.0f}"),
    Figure("curation", "informative votes found decreasing, of 100 worlds", 95,
           lambda r: r["verdict"]["power_of_100_worlds"], "curation", form="{:.0f}"),
    Figure("curation", "bytes per row beyond the votes", 64,
           lambda r: r["recsys size"]["fireassay"]["bytes_per_row"], "curation", True, "{:.1f}"),
    Figure("curation", "100 million × 10 votes streamed, MiB beyond import", 2048,
           lambda r: r["stream"]["posterior"]["peak_mib_beyond_import"], "curation", True,
           "{:.0f}"),
    Figure("ambiguity", "stacked training against the pair-by-pair loop, MNIST", 30,
           lambda r: r["mnist"]["times_faster"], "ambiguity", note="loop scaled"),
    Figure("ambiguity", "pairs accepted of 45, MNIST", 43,
           lambda r: r["mnist"]["accepted_of_45"], "ambiguity", form="{:.0f}"),
    Figure("ambiguity", "soft labels against an independent CNN, MAE over the latent space", 0.07,
           lambda r: r["mnist"]["label_error"]["latent_space"], "ambiguity", True, "{:.3f}"),
    Figure("ambiguity", "mixed training, MNIST: top-2", 0.97,
           lambda r: r["mnist"]["mixed"]["top2"]["value"], "ambiguity", form="{:.3f}"),
    Figure("ambiguity", "mixed training, MNIST: top-pair", 0.94,
           lambda r: r["mnist"]["mixed"]["top_pair"]["value"], "ambiguity", form="{:.3f}"),
    Figure("ambiguity", "mixed training, MNIST: nominal accuracy lost", 0.01,
           lambda r: r["mnist"]["clean"]["nominal_accuracy"]
           - r["mnist"]["mixed"]["nominal_accuracy"], "ambiguity", True, "{:.3f}"),
    Figure("ambiguity", "mixed training, Fashion-MNIST: top-2", 0.93,
           lambda r: r["fashion-mnist"]["mixed"]["top2"]["value"], "ambiguity", form="{:.3f}"),
    Figure("ambiguity", "mixed training, Fashion-MNIST: top-pair", 0.85,
           lambda r: r["fashion-mnist"]["mixed"]["top_pair"]["value"], "ambiguity",
           form="{:.3f}"),
    Figure("supervision", "DSA against the original authors' scores", 1e-6,
           lambda r: r["golden"]["dsa_max_difference"], "supervision", True, "{:.1e}"),
    Figure("supervision", "LSA against the original authors' scores", 2e-2,
           lambda r: r["golden"]["lsa_max_difference"], "supervision", True, "{:.1e}"),
    Figure("supervision", "DSA against numpy float32, activations on MNIST", 1.5,
           _ratio("numpy float32, DSA of a network"), "rivals", form="×{:.2f}"),
    Figure("supervision", "DSA against numpy float32, noise alike everywhere", 1.5,
           _ratio("numpy float32, DSA"), "rivals", form="×{:.2f}",
           note="the products alone take that long"),
    Figure("supervision", "softmax entropy on ambiguous MNIST, AUROC", 0.95,
           _auroc("softmax-entropy", "ambiguous"), "supervision", form="{:.3f}"),
    Figure("supervision", "DSA on invalid inputs, AUROC", 0.93,
           _auroc("dsa", "invalid"), "supervision", form="{:.3f}"),
    Figure("supervision", "MDSA on invalid inputs, AUROC", 0.93,
           _auroc("mdsa", "invalid"), "supervision", form="{:.3f}"),
    Figure("supervision", "DSA on ambiguous inputs, AUROC", 0.5,
           _auroc("dsa", "ambiguous"), "supervision", True, "{:.3f}"),
    Figure("supervision", "MDSA on ambiguous inputs, AUROC", 0.5,
           _auroc("mdsa", "ambiguous"), "supervision", True, "{:.3f}"),
    Figure("discovery", "foolbox HopSkipJump at the same median distance", 8,
           _attack("foolbox HopSkipJump"), "discovery", form="×{:.1f}", note="least of 3 seeds"),
    Figure("discovery", "the same, started from a pool in a DCT subspace", 20,
           _attack("foolbox HopSkipJump", "ratio_pool_dct"), "discovery", form="×{:.1f}",
           note="least of 3 seeds"),
    Figure("discovery", "foolbox Boundary Attack at the same median distance", 8,
           _attack("foolbox Boundary"), "discovery", form="×{:.1f}", note="least of 3 seeds"),
    Figure("discovery", "ART HopSkipJump at the same median distance", 5,
           _attack("ART"), "discovery", form="×{:.1f}", note="least of 3 seeds"),
    Figure("discovery", "LOESS against statsmodels, largest difference", 0.01,
           lambda r: max(row.get("largest_difference", 0) for row in r["loess"]), "discovery",
           True, "{:.4f}"),
    Figure("discovery", "LOESS of 1,000,000 points, CPU seconds", 1,
           _ours("statsmodels lowess, delta 1 %"), "rivals", True, "{:.2f}"),
    Figure("discovery", "comparison of 6 searches × 100 replications, seconds", 180,
           lambda r: r["compare"]["seconds"], "discovery", True, "{:.0f}"),
    Figure("reliability", "cells of a forest against 10,000 draws each", 300,
           lambda r: r["cells"][0]["times less CPU"], "reliability"),
    Figure("reliability", "cells of an MLP against 10,000 draws each", 200,
           lambda r: r["cells"][1]["times less CPU"], "reliability"),
    Figure("reliability", "KDE against linear binning by hand", 1,
           _ratio("linear binning, KDE"), "rivals", form="×{:.2f}"),
    Figure("reliability", "splitting: sd of ln p, largest", 0.15,
           lambda r: max(row["sd of ln p"] for row in r["splitting"]), "reliability", True,
           "{:.3f}"),
    Figure("reliability", "splitting against the published one, a box at a time, least", 20,
           lambda r: min(row["200: times less CPU"] for row in r["splitting"]), "reliability",
           form="×{:.1f}", note="its sd of ln p is larger: see the next row"),
    Figure("reliability", "the same at equal sd of ln p, least", 20,
           lambda r: min(row["200: at equal sd"] for row in r["splitting"]), "reliability",
           form="×{:.1f}"),
    Figure("reliability", "default bound: most misses in 500 worlds", 25,
           lambda r: max(row["misses"] for row in _default(r)), "reliability", True, "{:.0f}"),
    Figure("reliability", "default bound: largest excess / Clopper–Pearson", 1.05,
           lambda r: np.nanmax([row["excess / Clopper-Pearson"] for row in _default(r)]),
           "reliability", True, "{:.3f}"),
    Figure("reliability", "excess where the surrogate explains half", 0.9,
           lambda r: _least(_default(r), "excess / Clopper-Pearson",
                            world="surrogate explains half"), "reliability", True, "{:.3f}"),
    Figure("survival", "Weibull fit of 100,000 × 20, CPU seconds", 0.065,
           _ours("twenty-line Newton, Weibull"), "rivals", True, "{:.3f}"),
    Figure("survival", "AFT against lifelines, right-censored, least family", 10,
           lambda r: _least(r["aft"], "speed_up", kind="right"), "survival", form="×{:.1f}"),
    Figure("survival", "AFT against lifelines, interval-censored, least family", 10,
           lambda r: _least(r["aft"], "speed_up", kind="interval"), "survival", form="×{:.1f}"),
    Figure("survival", "coefficients against lifelines, largest difference", 1e-3,
           lambda r: max(row["largest_difference"] for row in r["aft"]), "survival", True,
           "{:.1e}"),
    Figure("survival", "batched PGD against ART", 5,
           _ratio("ART PGD"), "rivals"),
    Figure("survival", "batched DeepFool against ART", 5,
           _ratio("ART DeepFool"), "rivals"),
    Figure("survival", "paper mode: test concordance off .92, largest", 0.01,
           lambda r: max(abs(r["paper"][f]["test_concordance"] - 0.92)
                         for f in ("weibull", "lognormal", "loglogistic")), "survival", True,
           "{:.3f}"),
    Figure("survival", "coverage of clustered intervals, least", 0.93, _lowest_coverage,
           "survival", form="{:.3f}"),
    Figure("engine", "journal, CPU ms a task with the promise kept: upper end of 95 %", 0.06,
           lambda r: _row(r, "plain SQLite, WAL")["ours_interval"][1] / 3, "rivals", True,
           "{:.3f}", note="3,000 tasks, 15 turns"),
    Figure("engine", "journalled tasks: cost of the last tenth / the first", 1.5,
           lambda r: r["journalled"]["cpu_ms_by_tenth"][-1] / r["journalled"]["cpu_ms_by_tenth"][0],
           "engine", True, "{:.2f}"),
    Figure("web", "20 annotators: 95 % of answers within ms", 200,
           lambda r: r["paced"]["p95_ms"], "web", True, "{:.0f}"),
)  # fmt: skip


def stored(name: str) -> dict[str, Any] | None:
    path = RESULTS / f"{name}.json"
    return json.loads(path.read_text()) if path.exists() else None


def markdown(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines) + "\n"


def machine_line(record: dict[str, Any]) -> str:
    machine = record["machine"]
    versions = ", ".join(f"{name} {version}" for name, version in record["versions"].items())
    return (
        f"{record['date']}; {machine['processor']}, {machine['cores']} cores, load "
        f"{machine['load_average']} at the end; reads {machine['read_bytes_per_s'] / 1e9:.1f} GB/s,"
        f" multiplies {machine['float32_flops_per_s'] / 1e9:.0f} Gflop/s (float32, one thread); "
        f"Python {machine['python']}; {versions}.\n"
    )


def seconds(value: float) -> str:
    return f"{value:,.0f} s" if value >= 100 else f"{value:.3g} s"
