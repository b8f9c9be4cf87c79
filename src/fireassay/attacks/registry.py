"""The table of attacks: adding one is one file and one row."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from fireassay.attacks.art import art
from fireassay.attacks.bim import bim
from fireassay.attacks.boundary import boundary
from fireassay.attacks.deepfool import deepfool
from fireassay.attacks.fgm import fgm
from fireassay.attacks.hopskipjump import hopskipjump
from fireassay.attacks.pgd import pgd
from fireassay.attacks.result import AttackResult
from fireassay.core.errors import ParameterError

Attack = Callable[..., AttackResult]


@dataclass(frozen=True)
class AttackRow:
    """What a caller needs to know to choose an attack."""

    function: Attack
    norms: tuple[str, ...]
    needs_gradients: bool
    fixed_size: bool
    summary: str


TABLE: dict[str, AttackRow] = {
    "fgm": AttackRow(fgm, ("l1", "l2", "linf"), True, True, "one gradient step"),
    "bim": AttackRow(bim, ("l1", "l2", "linf"), True, True, "gradient steps from the sample"),
    "pgd": AttackRow(pgd, ("l1", "l2", "linf"), True, True, "gradient steps from random starts"),
    "deepfool": AttackRow(deepfool, ("l2", "linf"), True, False, "steps to the nearest boundary"),
    "hopskipjump": AttackRow(
        hopskipjump, ("l2", "linf"), False, False, "decisions alone: walks along estimated normals"
    ),
    "boundary": AttackRow(
        boundary, ("l2",), False, False, "decisions alone: a random walk along the boundary"
    ),
}


def names() -> tuple[str, ...]:
    """Names that `make` understands, besides ``"art:<Class>"``.

    >>> names()
    ('fgm', 'bim', 'pgd', 'deepfool', 'hopskipjump', 'boundary')
    """
    return tuple(TABLE)


def make(name: str, **parameters: Any) -> Attack:
    """An attack by name, with its parameters set: ``make("pgd", eps=0.1)(model, X, y, seed=3)``.

    Raises
    ------
    ParameterError
        For a name that is not in the table.
    """
    if name.startswith("art:"):
        return art(name.removeprefix("art:"), **parameters)
    if name not in TABLE:
        raise ParameterError(
            f"The attack must be one of {', '.join(TABLE)}, or 'art:' and the name of a class.",
            got=repr(name),
        )
    return partial(TABLE[name].function, **parameters)
