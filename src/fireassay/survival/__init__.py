"""How soon does the model fall to an attack, and at whose cost?"""

from typing import TYPE_CHECKING

from fireassay.core.lazy_names import lazy_names

if TYPE_CHECKING:
    from fireassay.survival.aft_fit import AftFit
    from fireassay.survival.budget import BUDGET, GRADIENT_COST
    from fireassay.survival.calibration import FailureCalibration
    from fireassay.survival.campaign import campaign
    from fireassay.survival.campaign_result import CampaignResult
    from fireassay.survival.cox_fit import CoxFit
    from fireassay.survival.defences import (
        DEFENCES,
        Conf,
        Defence,
        FeatureSqueezing,
        GaussIn,
        GaussOut,
        defend,
        make_defence,
    )
    from fireassay.survival.families import FAMILIES
    from fireassay.survival.family_comparison import FamilyComparison, compare
    from fireassay.survival.fit import fit
    from fireassay.survival.kaplan_meier import KaplanMeier, kaplan_meier
    from fireassay.survival.log_rank import LogRank, log_rank
    from fireassay.survival.measures import MEASURES
    from fireassay.survival.observations import Observations
    from fireassay.survival.observe import observe
    from fireassay.survival.plan import SamplePlan, plan
    from fireassay.survival.reference_models import MeasuredTraining, TrainedModel, train_reference
    from fireassay.survival.rmst import Rmst, rmst
    from fireassay.survival.trash import Cost, Trash, trash

__all__ = [
    "BUDGET",
    "DEFENCES",
    "FAMILIES",
    "GRADIENT_COST",
    "MEASURES",
    "AftFit",
    "CampaignResult",
    "Conf",
    "Cost",
    "CoxFit",
    "Defence",
    "FailureCalibration",
    "FamilyComparison",
    "FeatureSqueezing",
    "GaussIn",
    "GaussOut",
    "KaplanMeier",
    "LogRank",
    "MeasuredTraining",
    "Observations",
    "Rmst",
    "SamplePlan",
    "TrainedModel",
    "Trash",
    "campaign",
    "compare",
    "defend",
    "fit",
    "kaplan_meier",
    "log_rank",
    "make_defence",
    "observe",
    "plan",
    "rmst",
    "train_reference",
    "trash",
]

lazy_names(__name__)
