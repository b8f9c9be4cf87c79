"""How often will a classifier be wrong in the field, and how sure can one be?"""

from fireassay.reliability.assess import MODES, assess
from fireassay.reliability.cell_shares import Certified, ExactTrees, Sampled
from fireassay.reliability.cells import Grid
from fireassay.reliability.conservative_bayes import ConservativePrior, conservative_upper
from fireassay.reliability.label_designs import (
    Design,
    importance_design,
    stratified_design,
)
from fireassay.reliability.latent import PcaLatent, VaeLatent
from fireassay.reliability.latent_cells import TopCells
from fireassay.reliability.multilevel import Splitting
from fireassay.reliability.plan import LabelPlan, plan
from fireassay.reliability.profile import DensityProfile, KdeProfile
from fireassay.reliability.rare_events import BoxFailures, MonteCarlo
from fireassay.reliability.result import ReliabilityResult
from fireassay.reliability.separation import Separation, r_separation
from fireassay.reliability.splitting import SplittingResult, box_failures, splitting
from fireassay.reliability.streaming import Monitor, MonitorState
from fireassay.reliability.surrogate import cells_risk

__all__ = [
    "MODES",
    "BoxFailures",
    "Certified",
    "ConservativePrior",
    "DensityProfile",
    "Design",
    "ExactTrees",
    "Grid",
    "KdeProfile",
    "LabelPlan",
    "Monitor",
    "MonitorState",
    "MonteCarlo",
    "PcaLatent",
    "ReliabilityResult",
    "Sampled",
    "Separation",
    "Splitting",
    "SplittingResult",
    "TopCells",
    "VaeLatent",
    "assess",
    "box_failures",
    "cells_risk",
    "conservative_upper",
    "importance_design",
    "plan",
    "r_separation",
    "splitting",
    "stratified_design",
]
