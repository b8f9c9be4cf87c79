"""Attacks: batched over samples, with exact counts, hard limits and a status for every sample."""

from typing import TYPE_CHECKING

from fireassay.core.lazy import lazy_names

if TYPE_CHECKING:
    from fireassay.attacks.apgd import apgd as apgd
    from fireassay.attacks.art import ArtAttack as ArtAttack
    from fireassay.attacks.art import art as art
    from fireassay.attacks.attack_space import AttackSpace as AttackSpace
    from fireassay.attacks.attack_space import ColumnRule as ColumnRule
    from fireassay.attacks.attacked_model import AttackedModel as AttackedModel
    from fireassay.attacks.auto import auto as auto
    from fireassay.attacks.auto import members as members
    from fireassay.attacks.blocks import in_blocks as in_blocks
    from fireassay.attacks.boundary import boundary as boundary
    from fireassay.attacks.boundary import hopskipjump as hopskipjump
    from fireassay.attacks.deepfool import deepfool as deepfool
    from fireassay.attacks.deepfool import fmn as fmn
    from fireassay.attacks.discrete import discrete as discrete
    from fireassay.attacks.evolution import pixel as pixel
    from fireassay.attacks.evolution import threshold as threshold
    from fireassay.attacks.gradient_steps import bim as bim
    from fireassay.attacks.gradient_steps import fgm as fgm
    from fireassay.attacks.gradient_steps import pgd as pgd
    from fireassay.attacks.registry import ATTACKS as ATTACKS
    from fireassay.attacks.registry import AttackRow as AttackRow
    from fireassay.attacks.registry import make as make
    from fireassay.attacks.registry import suite as suite
    from fireassay.attacks.result import AttackResult as AttackResult
    from fireassay.attacks.spaced import SpacedClassifier as SpacedClassifier
    from fireassay.attacks.square import square as square

lazy_names(__name__)
