"""How soon does the model fall to an attack, and at whose cost?"""

from fireassay.survival.aft_fit import AftFit
from fireassay.survival.calibration import Calibration
from fireassay.survival.campaign import campaign
from fireassay.survival.campaign_result import CampaignResult
from fireassay.survival.compare import Comparison, compare
from fireassay.survival.cost import Cost
from fireassay.survival.cox_fit import CoxFit
from fireassay.survival.defences import (
    Conf,
    Defence,
    FeatureSqueezing,
    GaussIn,
    GaussOut,
    defend,
    make_defence,
)
from fireassay.survival.fit import fit
from fireassay.survival.kaplan_meier import KaplanMeier, kaplan_meier
from fireassay.survival.log_rank import LogRank, log_rank
from fireassay.survival.observations import Observations
from fireassay.survival.observe import observe
from fireassay.survival.paper import paper_covariates, paper_rows
from fireassay.survival.plan import Plan, plan
from fireassay.survival.reference_models import TrainedModel, Training, train_reference
from fireassay.survival.rmst import Rmst, rmst
from fireassay.survival.trash import Trash, trash

__all__ = [
    "AftFit",
    "Calibration",
    "CampaignResult",
    "Comparison",
    "Conf",
    "Cost",
    "CoxFit",
    "Defence",
    "FeatureSqueezing",
    "GaussIn",
    "GaussOut",
    "KaplanMeier",
    "LogRank",
    "Observations",
    "Plan",
    "Rmst",
    "TrainedModel",
    "Training",
    "Trash",
    "campaign",
    "compare",
    "defend",
    "fit",
    "kaplan_meier",
    "log_rank",
    "make_defence",
    "observe",
    "paper_covariates",
    "paper_rows",
    "plan",
    "rmst",
    "train_reference",
    "trash",
]
