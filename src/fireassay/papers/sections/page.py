"""docs/papers.md: every section, one after the other."""

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

Every table and figure of the five papers, and their headline claims one by one: where each is made,
their number, ours, and a verdict. `python studies/papers.py` writes this page from the stored
results; every verdict is computed by a rule of `fireassay.papers.verdicts`:

- **reproduced**: within the stated tolerance, or the claim holds on the same data.
- **refuted**: the same setting, and our interval (shown) excludes what they say.
- **other setting**: ours differs in what is said, in numbers; what was found there is told.
- **not decided**: our interval allows both, or no result is stored.
- **no public data**: nobody can tell.

Drawings of an idea or a pipeline hold no number and are left out."""


def sections(results: Results) -> list[Section]:
    """All sections from the stored results."""
    return [module.section(results) for module in SECTIONS]


def page(results: Results, docs: Path) -> str:
    """The whole page as Markdown; ``docs`` holds the figures."""
    found = sections(results)
    verdicts = [row.verdict.word for s in found for row in s.rows]
    verdicts += [claim.verdict.word for s in found for claim in s.claims]
    counts = ", ".join(f"{verdicts.count(word)} {word}" for word in dict.fromkeys(sorted(verdicts)))
    hours = sum(section.cpu_seconds for section in found) / 3600
    lines = [_HEAD, "", f"In all: {counts}; {hours:.1f} CPU hours of stored results."]
    for section in found:
        lines += ["", *section.markdown(docs)]
    return "\n".join(lines) + "\n"


def write_page(root: Path) -> Path:
    """Write docs/papers.md of a checkout."""
    results = Results(root / "studies" / "results", root / "benchmarks" / "results")
    path = root / "docs" / "papers.md"
    path.write_text(page(results, path.parent), encoding="utf-8")
    return path
