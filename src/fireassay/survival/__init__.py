"""How soon does the model fall to an attack, and at whose cost?"""

from fireassay.survival.aft_fit import AftFit
from fireassay.survival.calibration import Calibration
from fireassay.survival.compare import Comparison, compare
from fireassay.survival.cost import Cost
from fireassay.survival.cox_fit import CoxFit
from fireassay.survival.fit import fit
from fireassay.survival.kaplan_meier import KaplanMeier, kaplan_meier
from fireassay.survival.log_rank import LogRank, log_rank
from fireassay.survival.paper import paper_covariates, paper_rows
from fireassay.survival.plan import Plan, plan
from fireassay.survival.rmst import Rmst, rmst
from fireassay.survival.trash import Trash, trash

__all__ = [
    "AftFit",
    "Calibration",
    "Comparison",
    "Cost",
    "CoxFit",
    "KaplanMeier",
    "LogRank",
    "Plan",
    "Rmst",
    "Trash",
    "compare",
    "fit",
    "kaplan_meier",
    "log_rank",
    "paper_covariates",
    "paper_rows",
    "plan",
    "rmst",
    "trash",
]
