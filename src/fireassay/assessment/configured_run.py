"""Run what a configuration asks for, in its run folder."""

from collections.abc import Sequence

from fireassay.assessment.about_run import about_files, begun
from fireassay.assessment.config import Config
from fireassay.assessment.door import at_the_door
from fireassay.assessment.inputs import load_context
from fireassay.assessment.judging import judge_run
from fireassay.assessment.looks import RowSketch, sketch_to_json
from fireassay.assessment.nothing_to_do import already_done, ended
from fireassay.assessment.parts import PARTS
from fireassay.assessment.row_outcomes import marks_of
from fireassay.assessment.run_folder import TEST_ROWS, configured_gates, looks_left, under_way
from fireassay.assessment.run_outcome import RunOutcome
from fireassay.assessment.running import Run, Say, silent
from fireassay.assessment.sources import source_facts
from fireassay.assessment.spending import Budget
from fireassay.core import ParameterError
from fireassay.engine import Executor, RunStore
from fireassay.engine.foreign_files import refuse_foreign
from fireassay.engine.signals import no_other_exit
from fireassay.report.gates import parse_gates


def run_assessment(
    config: Config,
    *,
    only: Sequence[str] | None = None,
    seed: int | None = None,
    workers: int | None = None,
    cluster: str | None = None,
    max_minutes: float | None = None,
    max_queries: int | None = None,
    trust: bool = False,
    accept_below_baseline: bool = False,
    samples: bool = True,
    say: Say = silent,
    progress: bool | None = None,
) -> RunOutcome:
    """Run what a configuration asks for, in its run folder.

    The numbers of earlier runs in the folder stay: those of parts that are not run again and whose
    inputs have changed are marked stale.

    Parameters
    ----------
    config
        What `read_config` gives.
    only
        Parts to run; by default those of the configuration.
    seed, workers, max_minutes, max_queries, cluster
        Instead of the configuration's, and the address of a Dask scheduler. With a budget of
        queries everything runs in this process: others would each count on their own.
    trust
        Allow a model file that can run code when read, and code beside the configuration.
    accept_below_baseline
        Go on where the model agrees with the labels less than chance does (it is then said).
    samples
        Show rows of the data as evidence; False leaves them out, as ``[run] samples`` does.
    say, progress
        Gets lines for a terminal; whether to show a bar (None: where somebody can see it).

    >>> import tempfile
    >>> from pathlib import Path
    >>> from fireassay.assessment import read_config
    >>> with tempfile.TemporaryDirectory() as name:
    ...     file = Path(name) / "fireassay.toml"
    ...     _ = file.with_name("test.csv").write_text("x,y\\n.1,0\\n.2,0\\n.3,1\\n.8,1\\n")
    ...     _ = file.with_name("at_half.py").write_text(
    ...         "import numpy as np\\ndef model(X): return np.hstack([1 - X, X])\\n")
    ...     _ = file.write_text('[model]\\npath="at_half:model"\\n[data]\\ntest="test.csv"\\n')
    ...     outcome = run_assessment(read_config(file), only=["accuracy"], trust=True)
    >>> outcome.report["accuracy"].estimates["accuracy"].value, outcome.verdict.status
    (0.75, 'no limits set')
    """
    unknown = [name for name in only or () if name not in PARTS]
    if unknown:
        raise ParameterError(f"Known parts: {', '.join(PARTS)}.", got=unknown[0])
    folder = config.folder / config.run.folder
    budget = Budget(
        config.run.max_minutes if max_minutes is None else max_minutes,
        config.run.max_queries if max_queries is None else max_queries,
    )
    as_configured = (
        (only, seed, max_minutes, max_queries) == (None, None, None, None)
        and samples
        and (budget.max_minutes, budget.max_queries) == (None, None)
    )
    refuse_foreign(folder)  # a configuration may name any
    done = already_done(config, say) if as_configured else None
    if done is not None:
        return done
    with RunStore(folder) as store, under_way(store, config), no_other_exit("the model"):
        executor = Executor(
            workers=workers or config.run.workers, cluster=cluster, store=store, progress=False
        )
        if budget.max_queries is not None and not executor.is_alone:
            say(f"{'note':<13}max_queries is counted in one process: no other one is used.")
            executor = Executor(store=store, progress=False)
        sources = source_facts(config)  # before they are loaded: a later change is seen
        context = at_the_door(
            load_context(config, seed=seed, executor=executor, trust=trust),
            accept_below_baseline=accept_below_baseline,
            go_on=True,
        )
        notes = (*context.notes, *(doubt.check for doubt in context.doubts))
        for note in notes:
            say(f"{'note':<13}{note}")
        sketch = None
        if context.test.y is not None:
            sketch = RowSketch.of(marks_of(context, context.test.labels))
            store.set_meta(TEST_ROWS, sketch_to_json(sketch))
        run = Run(
            context,
            config.run.parts if only is None else tuple({*config.run.parts, *only}),
            config.settings,
            only=only,
            title=config.run.title,
            gates=configured_gates(config),
            accepted=config.gates.accept,
            sources=sources,
            left=lambda parts: looks_left(config, sketch, parts),
            about=begun(about_files(config, context), folder),
            budget=budget,
            samples=samples and config.run.samples,
            say=say,
            progress=progress,
        )
        report = run.go()
    if as_configured:
        with RunStore(folder) as store:
            ended(store, config, report, notes)
    judge_run(folder, report, parse_gates(run.gates))  # what a run shows was looked at
    return RunOutcome(folder, report, run.costs, tuple(only or ()), run.gates)
