"""How often will a classifier be wrong in the field, and how sure can one be?"""

from typing import TYPE_CHECKING

from fireassay.core.lazy_names import lazy_names

if TYPE_CHECKING:
    from fireassay.reliability.assess import METHODS, Method, assess
    from fireassay.reliability.cell_details import GridCells, LatentCells
    from fireassay.reliability.cell_shares import Certified, Sampled
    from fireassay.reliability.cells import Grid
    from fireassay.reliability.conservative_bayes import (
        ConservativeBayes,
        ConservativeBound,
        ConservativePrior,
        conservative_upper,
    )
    from fireassay.reliability.exact import Exact, ExactBound
    from fireassay.reliability.grouped import GroupedBound, GroupsBetting, ProvenGroupedBound
    from fireassay.reliability.label_designs import (
        DESIGNS,
        Design,
        LabelDesign,
        importance_design,
    )
    from fireassay.reliability.label_noise import CorrectedBound, LabelNoise
    from fireassay.reliability.latent import PcaLatent, VaeLatent
    from fireassay.reliability.latent_cells import TopCells
    from fireassay.reliability.measures import MEASURES
    from fireassay.reliability.monitor import Monitor, MonitorState
    from fireassay.reliability.multilevel import Splitting
    from fireassay.reliability.plan import LabelPlan, plan
    from fireassay.reliability.profile import DensityProfile, KdeProfile
    from fireassay.reliability.ram import Ram
    from fireassay.reliability.rare_events import BoxFailures, MonteCarlo
    from fireassay.reliability.rectified import Rectified
    from fireassay.reliability.rectified_bound import RectifiedBound
    from fireassay.reliability.result import Details, ReliabilityResult
    from fireassay.reliability.separation import Separation, r_separation
    from fireassay.reliability.splitting import SplittingResult, box_failures, splitting
    from fireassay.reliability.surrogate import cells_risk
    from fireassay.reliability.worst_case import WorstCase, WorstCaseInterval

__all__ = [
    "DESIGNS",
    "MEASURES",
    "METHODS",
    "BoxFailures",
    "Certified",
    "ConservativeBayes",
    "ConservativeBound",
    "ConservativePrior",
    "CorrectedBound",
    "DensityProfile",
    "Design",
    "Details",
    "Exact",
    "ExactBound",
    "Grid",
    "GridCells",
    "GroupedBound",
    "GroupsBetting",
    "KdeProfile",
    "LabelDesign",
    "LabelNoise",
    "LabelPlan",
    "LatentCells",
    "Method",
    "Monitor",
    "MonitorState",
    "MonteCarlo",
    "PcaLatent",
    "ProvenGroupedBound",
    "Ram",
    "Rectified",
    "RectifiedBound",
    "ReliabilityResult",
    "Sampled",
    "Separation",
    "Splitting",
    "SplittingResult",
    "TopCells",
    "VaeLatent",
    "WorstCase",
    "WorstCaseInterval",
    "assess",
    "box_failures",
    "cells_risk",
    "conservative_upper",
    "importance_design",
    "plan",
    "r_separation",
    "splitting",
]

lazy_names(__name__)
