"""docs/papers.md: every section, one after the other."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path

from fireassay.papers.pages import (
    ambiguity,
    ambiguity_claims,
    curation,
    discovery,
    reliability,
    supervision,
    survival,
)
from fireassay.papers.pages.section import DETAILS, Results, Section
from fireassay.papers.pages.survival_fits import coefficient_table
from fireassay.papers.verdicts import Finding

PAPERS = {
    "000": (curation,),
    "001": (ambiguity, supervision),
    "002": (discovery,),
    "003": (reliability,),
    "004": (survival,),
}
"""What makes the sections of each paper."""
_HEAD = """# The five papers

<!-- chart: docs/pictures.py of_pages papers -->

Every table and figure of the five papers, and what they say in words, in ours: where it stands,
their number, ours, whose setting it is, and the finding. `python studies/papers.py` writes this
page from the stored results; every finding is computed by a rule of
`src/fireassay/papers/verdicts.py`.

Setting:

- **theirs**: their data, networks and tables, by their program's rules.
- **theirs, retrained**: their data and recipe; the model was trained here.
- **theirs, as printed**: their sentence or table beside their own printed numbers.
- **ours**: differs in what is said, in numbers, with what theirs would take. Such a row says
  nothing about theirs.

Finding:

- **agrees**: within the stated tolerance, or the claim holds.
- **differs**: our interval (shown) excludes what they say.
- **open**: our interval allows both, or no result is stored.

What a paper only suggests, or never says, is not judged.

Tolerances: .05 of a share, an accuracy or an AUROC; .17 bits of an entropy (as much of what ten
classes can have); .01 of a mean standard deviation; .02 of Table I of survival; of Table 1 of
reliability .5 % in two dimensions (r-separation 2 %) and 10 % on images. Of several numbers in a
row the one farthest off, in tolerances, decides. A printed table in a setting of ours is one row;
its own rows are in [papers/tables.md](papers/tables.md).

Drawings of an idea or a pipeline hold no number and are left out. `make papers` runs every study,
each journalled and resumable; `make papers-quick` a version of minutes."""
_TABLES = """# Tables of the papers, row by row

Each printed row of a table that is one row of [the page of the five papers](../papers.md), in the
same columns. All are in a setting of ours."""
_COUNTED: dict[Finding, str] = {"agrees": "agree", "differs": "differ", "open": "are open"}
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
    return [module.section(results) for modules in PAPERS.values() for module in modules]


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
    return len(trained) >= _TRAININGS * len(ambiguity_claims.MODELS)


def _supervised(results: Results) -> bool:
    found = results("supervision_table2")
    return bool(found) and not supervision.setting(found) and found["settings"]["tries"] >= 20


def _searched(results: Results, queries: int = 0) -> bool:
    found = [results(f"discovery/{kind}-0") for kind in discovery.KINDS]
    return all(
        row and row["replications"] >= 1_000 and row["queries"]["boundary"] >= queries
        for row in found
    )


def headline(found: list[Section]) -> str:
    """How many findings of each kind in the authors' own setting; how many rows are in ours."""
    every = [verdict for section in found for verdict in section.verdicts]
    own = [verdict for verdict in every if verdict.setting != "ours"]
    counts = Counter(verdict.finding for verdict in own)
    retrained, printed = (
        sum(v.setting.endswith(end) for v in own) for end in ("retrained", "printed")
    )
    told = ", ".join(f"{counts[name]} {word}" for name, word in _COUNTED.items())
    return (
        f"**In the authors' own setting: {len(own)} rows, of which {told}** ({retrained} of them "
        f"retrained, {printed} beside their own printed numbers). The other "
        f"{len(every) - len(own)} of {len(every)} rows are in a setting of ours and are not "
        "counted; each says what theirs would take."
    )


def page(results: Results, docs: Path) -> str:
    """The whole page as Markdown; ``docs`` holds the figures."""
    found = sections(results)
    hours = sum(section.cpu_seconds for section in found) / 3600
    clock = sum(section.clock_seconds for section in found) / 3600
    taken = f"{hours:.1f} CPU hours" + (f" and {clock:.1f} hours by the clock" if clock else "")
    lines = [_HEAD, "", headline(found), "", f"Stored results took {taken}."]
    waiting = left(results)
    if waiting:
        lines[-1] += f" Not yet run at the paper's size, with CPU hours: {', '.join(waiting)}."
    for section in found:
        lines += ["", *section.markdown(docs)]
    return "\n".join(lines) + "\n"


def tables(results: Results, docs: Path) -> str:
    """Rows of the tables that are one row of the page each."""
    lines = [_TABLES]
    for section in sections(results):
        if section.details:
            lines += ["", *section.detailed(docs)]
    lines += coefficient_table(results("authors_archives").get("survival", {}))
    return "\n".join(lines) + "\n"


def stored(root: Path) -> Results:
    """What the studies and the benchmarks of a checkout left."""
    return Results(root / "studies" / "results", root / "benchmarks" / "results")


def write_page(root: Path) -> Path:
    """Write docs/papers.md of a checkout."""
    path = root / "docs" / "papers.md"
    results = stored(root)
    path.write_text(page(results, path.parent), encoding="utf-8")
    (path.parent / DETAILS).write_text(tables(results, path.parent), encoding="utf-8")
    return path
