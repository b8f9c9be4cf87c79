"""Configuration, plan, run: the only place where one part's result becomes another's argument."""

from typing import TYPE_CHECKING

from fireassay.core.lazy_names import lazy_names

if TYPE_CHECKING:
    from fireassay.assessment.config import Config, read_config
    from fireassay.assessment.configured_run import run_assessment
    from fireassay.assessment.demonstration import run_demo
    from fireassay.assessment.evaluation import evaluate
    from fireassay.assessment.initialising import initialise
    from fireassay.assessment.planning import Plan, make_plan
    from fireassay.assessment.power import HowMany, how_many
    from fireassay.assessment.run_outcome import RunOutcome

__all__ = [
    "Config",
    "HowMany",
    "Plan",
    "RunOutcome",
    "evaluate",
    "how_many",
    "initialise",
    "make_plan",
    "read_config",
    "run_assessment",
    "run_demo",
]

lazy_names(__name__)
