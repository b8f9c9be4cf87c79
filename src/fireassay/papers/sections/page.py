"""docs/papers.md: every section, one after the other."""

from collections.abc import Callable
from pathlib import Path

from fireassay.papers.sections import (
    ambiguity,
    curation,
    discovery,
    reliability,
    supervision,
    survival,
)
from fireassay.papers.sections.section import Results, Section

SECTIONS = (curation, ambiguity, supervision, discovery, reliability, survival)
_HEAD = """# The five papers

<!-- chart: docs/pictures.py of_pages papers -->

Every table and figure of the five papers, and their headline claims one by one: where each is made,
their number, ours, and a verdict. `python studies/papers.py` writes this page from the stored
results; every verdict is computed by a rule of `fireassay.papers.verdicts`:

- **reproduced**: within the stated tolerance, or the claim holds on the same data.
- **refuted**: the same setting, and our interval (shown) excludes what they say.
- **other setting**: ours differs in what is said, in numbers; what was found there is told.
- **not decided**: our interval allows both, or no result is stored.
- **no public data**: nobody can tell.

Tolerances: .05 of a share, an accuracy or an AUROC; .17 bits of an entropy (as much of what ten
classes can have); .01 of a mean standard deviation; .02 of Table I of survival; of Table 1 of
reliability .5 % in two dimensions (r-separation 2 %) and 10 % on images. Of several numbers in a
row the one farthest off, in tolerances, decides.

Drawings of an idea or a pipeline hold no number and are left out. `make papers` runs every study,
each journalled and resumable; `make papers-quick` a version of minutes."""
_TRAININGS = 5  # of each network of Table 1
# Command, about how many CPU hours, and whether its stored result has the paper's size.
_LONG: tuple[tuple[str, float, Callable[[Results], bool]], ...] = (
    ("studies/reliability_latent.py mnist", 0.3, lambda found: _cells(found, "mnist")),
    ("studies/ambiguity_table1.py", 3.5, lambda found: _trained(found)),
    ("studies/reliability_latent.py cifar10", 1.4, lambda found: _cells(found, "cifar10")),
    ("studies/supervision_table2.py", 4.5, lambda found: _supervised(found)),
    ("studies/discovery_errors.py", 1.5, lambda found: _searched(found)),
    ("studies/survival_cifar10.py", 3, lambda found: bool(found("survival_cifar10"))),
    ("studies/discovery_errors.py --boundary 25000", 18, lambda found: _searched(found, 25_000)),
    ("studies/ambiguity_table1.py --preset paper", 30, lambda found: _trained(found, "paper")),
)


def sections(results: Results) -> list[Section]:
    """All sections from the stored results."""
    return [module.section(results) for module in SECTIONS]


def left(results: Results) -> list[str]:
    """Studies whose stored result is smaller than the paper's, in the order to run them."""
    return [f"`{command}` (about {hours:g})" for command, hours, done in _LONG if not done(results)]


def _cells(results: Results, name: str) -> bool:
    row = results(f"reliability_{name}")
    return bool(row) and bool(row["cells"] >= row["published"]["cells"])


def _trained(results: Results, preset: str = "") -> bool:
    found = results("ambiguity_table1")
    if not found or ambiguity.setting(found["settings"]):
        return False
    if preset not in ("", found["settings"]["preset"]):
        return False
    trained = {(part["model"], part["run"]) for part in found["parts"]}
    return len(trained) >= _TRAININGS * len(ambiguity.MODELS)


def _supervised(results: Results) -> bool:
    found = results("supervision_table2")
    return bool(found) and not supervision.setting(found) and found["settings"]["tries"] >= 20


def _searched(results: Results, queries: int = 0) -> bool:
    found = [results(f"discovery/{kind}-0") for kind in discovery.KINDS]
    return all(
        row and row["replications"] >= 1_000 and row["queries"]["boundary"] >= queries
        for row in found
    )


def page(results: Results, docs: Path) -> str:
    """The whole page as Markdown; ``docs`` holds the figures."""
    found = sections(results)
    verdicts = [row.verdict.word for s in found for row in s.rows]
    verdicts += [claim.verdict.word for s in found for claim in s.claims]
    counts = ", ".join(f"{verdicts.count(word)} {word}" for word in dict.fromkeys(sorted(verdicts)))
    hours = sum(section.cpu_seconds for section in found) / 3600
    clock = sum(section.clock_seconds for section in found) / 3600
    taken = f"{hours:.1f} CPU hours" + (f" and {clock:.1f} hours by the clock" if clock else "")
    lines = [_HEAD, "", f"In all: {counts}; {taken} of stored results."]
    waiting = left(results)
    if waiting:
        lines[-1] += f" Not yet run at the paper's size, with CPU hours: {', '.join(waiting)}."
    for section in found:
        lines += ["", *section.markdown(docs)]
    return "\n".join(lines) + "\n"


def write_page(root: Path) -> Path:
    """Write docs/papers.md of a checkout."""
    results = Results(root / "studies" / "results", root / "benchmarks" / "results")
    path = root / "docs" / "papers.md"
    path.write_text(page(results, path.parent), encoding="utf-8")
    return path
