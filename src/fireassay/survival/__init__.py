"""How soon does the model fall to an attack, and at whose cost?"""

from typing import TYPE_CHECKING

from fireassay.core.lazy import lazy_names

if TYPE_CHECKING:
    from fireassay.survival.calibration import FailureCalibration as FailureCalibration
    from fireassay.survival.campaign import campaign as campaign
    from fireassay.survival.campaign_result import CampaignResult as CampaignResult
    from fireassay.survival.cox_fit import CoxFit as CoxFit
    from fireassay.survival.curves import KaplanMeier as KaplanMeier
    from fireassay.survival.curves import kaplan_meier as kaplan_meier
    from fireassay.survival.defences import DEFENCES as DEFENCES
    from fireassay.survival.defences import Conf as Conf
    from fireassay.survival.defences import Defence as Defence
    from fireassay.survival.defences import FeatureSqueezing as FeatureSqueezing
    from fireassay.survival.defences import GaussIn as GaussIn
    from fireassay.survival.defences import GaussOut as GaussOut
    from fireassay.survival.defences import defend as defend
    from fireassay.survival.defences import make_defence as make_defence
    from fireassay.survival.families import FAMILIES as FAMILIES
    from fireassay.survival.family_comparison import FamilyComparison as FamilyComparison
    from fireassay.survival.family_comparison import compare as compare
    from fireassay.survival.fit import fit as fit
    from fireassay.survival.fitted import AftFit as AftFit
    from fireassay.survival.log_rank import LogRank as LogRank
    from fireassay.survival.log_rank import Rmst as Rmst
    from fireassay.survival.log_rank import log_rank as log_rank
    from fireassay.survival.log_rank import rmst as rmst
    from fireassay.survival.measures import MEASURES as MEASURES
    from fireassay.survival.observations import Observations as Observations
    from fireassay.survival.observe import observe as observe
    from fireassay.survival.plan import SamplePlan as SamplePlan
    from fireassay.survival.plan import plan as plan
    from fireassay.survival.reference_models import MeasuredTraining as MeasuredTraining
    from fireassay.survival.reference_models import TrainedModel as TrainedModel
    from fireassay.survival.reference_models import train_reference as train_reference
    from fireassay.survival.rows import BUDGET as BUDGET
    from fireassay.survival.rows import GRADIENT_COST as GRADIENT_COST
    from fireassay.survival.trash import Cost as Cost
    from fireassay.survival.trash import Trash as Trash
    from fireassay.survival.trash import trash as trash

lazy_names(__name__)
