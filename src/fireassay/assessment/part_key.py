"""What a part's answer depends on: its key in the journal, and what has changed since."""

from collections.abc import Mapping
from typing import Any

from fireassay.assessment.context import Context
from fireassay.assessment.parts import part_module
from fireassay.classifiers.fingerprint import fingerprint
from fireassay.core import sha256
from fireassay.version import __version__

Facts = dict[str, str]
_OTHER = {
    "fireassay": "another version of fireassay",
    "model": "another model",
    "test": "other test rows",
    "train": "other training rows",
    "operational": "other field rows",
    "votes": "other votes",
    "kinds": "other kinds of columns",
    "decision": "another decision",
    "seed": "another seed",
    "settings": "other settings",
    "state": "other labels",
    "normalisation": "another mean and std",
    "perturb": "other changes of texts",
}
OTHER_ANSWERS = "other answers of the parts it takes from"


def part_facts(name: str, context: Context, settings: Any) -> Facts:
    """Everything that an answer depends on but for the answers it takes, as short hashes."""
    state = getattr(part_module(name), "state", None)
    facts = {
        "fireassay": __version__,
        "model": context.model.sha256,
        "test": context.test.sha256,
        "train": None if context.train is None else context.train.sha256,
        "operational": None if context.operational is None else context.operational.sha256,
        "votes": (context.votes, context.vote_names, context.groups),
        "kinds": context.test.kinds,
        "decision": (dict(context.decision.costs), dict(context.decision.threshold)),
        "seed": context.seed,
        "settings": settings.model_dump(),
        "state": None if state is None else state(context),
    }
    if context.normalisation is not None:
        facts["normalisation"] = context.normalisation
    if context.perturb is not None:
        facts["perturb"] = fingerprint(context.perturb)
    return {key: sha256(value) for key, value in facts.items()}


def part_key(name: str, facts: Facts, used_keys: Mapping[str, str]) -> str:
    """A changed input is a new answer, never an old one."""
    return sha256(name, facts, dict(used_keys))


def what_differs(before: Facts | None, after: Facts) -> str:
    """What has changed, in words; empty if nothing has."""
    if before is None:
        return "inputs that were not noted"
    return ", ".join(words for key, words in _OTHER.items() if before.get(key) != after.get(key))
