"""Attacks: batched over samples, with exact counts, hard limits and a status for every sample."""

from typing import TYPE_CHECKING

from fireassay.core.lazy_names import lazy_names

if TYPE_CHECKING:
    from fireassay.attacks.apgd import apgd
    from fireassay.attacks.art import ArtAttack, art
    from fireassay.attacks.attack_space import AttackSpace
    from fireassay.attacks.attacked_model import AttackedModel
    from fireassay.attacks.auto import auto, members
    from fireassay.attacks.bim import bim
    from fireassay.attacks.blocks import in_blocks
    from fireassay.attacks.boundary import boundary
    from fireassay.attacks.column_rule import ColumnRule
    from fireassay.attacks.deepfool import deepfool
    from fireassay.attacks.discrete import discrete
    from fireassay.attacks.fgm import fgm
    from fireassay.attacks.fmn import fmn
    from fireassay.attacks.hopskipjump import hopskipjump
    from fireassay.attacks.pgd import pgd
    from fireassay.attacks.pixel import pixel
    from fireassay.attacks.registry import ATTACKS, AttackRow, make, suite
    from fireassay.attacks.result import AttackResult
    from fireassay.attacks.spaced_classifier import SpacedClassifier
    from fireassay.attacks.square import square
    from fireassay.attacks.threshold import threshold

__all__ = [
    "ATTACKS",
    "ArtAttack",
    "AttackResult",
    "AttackRow",
    "AttackSpace",
    "AttackedModel",
    "ColumnRule",
    "SpacedClassifier",
    "apgd",
    "art",
    "auto",
    "bim",
    "boundary",
    "deepfool",
    "discrete",
    "fgm",
    "fmn",
    "hopskipjump",
    "in_blocks",
    "make",
    "members",
    "pgd",
    "pixel",
    "square",
    "suite",
    "threshold",
]

lazy_names(__name__)
