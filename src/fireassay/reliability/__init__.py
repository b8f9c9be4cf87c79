"""How often will a classifier be wrong in the field, and how sure can one be?"""

from typing import TYPE_CHECKING

from fireassay.core.lazy import lazy_names

if TYPE_CHECKING:
    from fireassay.reliability.assess import METHODS as METHODS
    from fireassay.reliability.assess import Method as Method
    from fireassay.reliability.assess import assess as assess
    from fireassay.reliability.betting_bound import RectifiedBound as RectifiedBound
    from fireassay.reliability.cell_details import GridCells as GridCells
    from fireassay.reliability.cell_details import LatentCells as LatentCells
    from fireassay.reliability.cell_shares import Certified as Certified
    from fireassay.reliability.cell_shares import Sampled as Sampled
    from fireassay.reliability.cells import Grid as Grid
    from fireassay.reliability.conservative_bayes import ConservativeBayes as ConservativeBayes
    from fireassay.reliability.conservative_bayes import ConservativeBound as ConservativeBound
    from fireassay.reliability.conservative_bayes import ConservativePrior as ConservativePrior
    from fireassay.reliability.conservative_bayes import conservative_upper as conservative_upper
    from fireassay.reliability.label_bounds import Exact as Exact
    from fireassay.reliability.label_bounds import ExactBound as ExactBound
    from fireassay.reliability.label_bounds import GroupedBound as GroupedBound
    from fireassay.reliability.label_bounds import GroupsBetting as GroupsBetting
    from fireassay.reliability.label_bounds import GroupsMax as GroupsMax
    from fireassay.reliability.label_bounds import GroupsMaxBound as GroupsMaxBound
    from fireassay.reliability.label_designs import DESIGNS as DESIGNS
    from fireassay.reliability.label_designs import Design as Design
    from fireassay.reliability.label_designs import LabelDesign as LabelDesign
    from fireassay.reliability.label_designs import importance_design as importance_design
    from fireassay.reliability.label_noise import CorrectedBound as CorrectedBound
    from fireassay.reliability.label_noise import LabelNoise as LabelNoise
    from fireassay.reliability.latent import PcaLatent as PcaLatent
    from fireassay.reliability.latent import TopCells as TopCells
    from fireassay.reliability.latent import VaeLatent as VaeLatent
    from fireassay.reliability.measures import MEASURES as MEASURES
    from fireassay.reliability.monitor import Monitor as Monitor
    from fireassay.reliability.monitor import MonitorState as MonitorState
    from fireassay.reliability.plan import LabelPlan as LabelPlan
    from fireassay.reliability.plan import plan as plan
    from fireassay.reliability.profile import DensityProfile as DensityProfile
    from fireassay.reliability.profile import KdeProfile as KdeProfile
    from fireassay.reliability.ram import Ram as Ram
    from fireassay.reliability.rare_events import BoxFailures as BoxFailures
    from fireassay.reliability.rare_events import MonteCarlo as MonteCarlo
    from fireassay.reliability.rectified import Rectified as Rectified
    from fireassay.reliability.result import Details as Details
    from fireassay.reliability.result import ReliabilityResult as ReliabilityResult
    from fireassay.reliability.separation import Separation as Separation
    from fireassay.reliability.separation import r_separation as r_separation
    from fireassay.reliability.splitting import Splitting as Splitting
    from fireassay.reliability.splitting import SplittingResult as SplittingResult
    from fireassay.reliability.splitting import box_failures as box_failures
    from fireassay.reliability.splitting import splitting as splitting
    from fireassay.reliability.surrogate import cells_risk as cells_risk
    from fireassay.reliability.worst_case import WorstCase as WorstCase
    from fireassay.reliability.worst_case import WorstCaseInterval as WorstCaseInterval

lazy_names(__name__)
