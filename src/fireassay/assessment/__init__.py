"""Configuration, plan, run: the only place where one part's result becomes another's argument."""

from typing import TYPE_CHECKING

from fireassay.core.lazy import lazy_names

if TYPE_CHECKING:
    from fireassay.assessment.config import Config as Config
    from fireassay.assessment.config import read_config as read_config
    from fireassay.assessment.demo import run_demo as run_demo
    from fireassay.assessment.evaluate import evaluate as evaluate
    from fireassay.assessment.init import initialise as initialise
    from fireassay.assessment.judge import judge as judge
    from fireassay.assessment.plan.plan import Plan as Plan
    from fireassay.assessment.plan.plan import make_plan as make_plan
    from fireassay.assessment.plan.power import HowMany as HowMany
    from fireassay.assessment.plan.power import how_many as how_many
    from fireassay.assessment.run.start import RunOutcome as RunOutcome
    from fireassay.assessment.run.start import run_assessment as run_assessment
    from fireassay.assessment.watch.monitor import Monitor as Monitor
    from fireassay.assessment.watch.monitor import MonitoredAnswers as MonitoredAnswers

lazy_names(__name__)
