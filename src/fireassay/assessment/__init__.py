"""Configuration, plan, run: the only place where one part's result becomes another's argument."""

from typing import TYPE_CHECKING

from fireassay.core.lazy import lazy_names

if TYPE_CHECKING:
    from fireassay.assessment.config import Config, read_config
    from fireassay.assessment.demo import run_demo
    from fireassay.assessment.evaluate import evaluate
    from fireassay.assessment.init import initialise
    from fireassay.assessment.judge import judge
    from fireassay.assessment.plan.plan import Plan, make_plan
    from fireassay.assessment.plan.power import HowMany, how_many
    from fireassay.assessment.run.start import RunOutcome, run_assessment
    from fireassay.assessment.watch.monitor import Monitor, MonitoredAnswers

__all__ = [
    "Config",
    "HowMany",
    "Monitor",
    "MonitoredAnswers",
    "Plan",
    "RunOutcome",
    "evaluate",
    "how_many",
    "initialise",
    "judge",
    "make_plan",
    "read_config",
    "run_assessment",
    "run_demo",
]

lazy_names(__name__)
