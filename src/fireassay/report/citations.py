"""BibTeX of fireassay and of the papers whose methods a run has used."""

from collections.abc import Iterable
from typing import Final

from fireassay.version import __version__

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
