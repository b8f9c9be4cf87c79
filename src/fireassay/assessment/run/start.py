"""Run what a configuration asks for, in its run folder."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np

from fireassay.assessment.config import Config
from fireassay.assessment.context import Context, load_context
from fireassay.assessment.parts.part import marks_of
from fireassay.assessment.parts.table import PARTS, in_running_order
from fireassay.assessment.plan.costs import Budget
from fireassay.assessment.run import folder as run_folder
from fireassay.assessment.run.asked_once import meter_of
from fireassay.assessment.run.challenge import keep, same_model
from fireassay.assessment.run.first_look import first_look
from fireassay.assessment.run.judging import Judge, RowSketch, since_last_look, sketch_of
from fireassay.assessment.run.loop import Costs, Run, Say, silent
from fireassay.assessment.run.preflight import check_before_run
from fireassay.assessment.run.protocol import join_data
from fireassay.assessment.run.stale import data_hashes, made_from_files, read_made, run_made_from
from fireassay.classifiers.import_path import is_import_path
from fireassay.classifiers.read_files import Opened, listening, moved
from fireassay.core import ConfigError, ParameterError, sha256
from fireassay.core.hashing import sha256_file
from fireassay.data import DataSet
from fireassay.engine import Executor, RunStore
from fireassay.engine.executor import ALL_CORES, no_other_exit
from fireassay.engine.run_lock import refuse_foreign
from fireassay.report import About, DataFacts, Report, Verdict


@dataclass(frozen=True)
class RunOutcome:
    """A run: its folder, its report and verdict, and what each part was planned to take and took.

    Attributes:
        folder, report, verdict: Where everything is, what was found, and the verdict on the limits
            that were configured.
        costs: What each part was planned to take, and took.
        only: Parts that were asked for by name.
    """

    folder: Path
    report: Report
    verdict: Verdict
    costs: Costs = field(default_factory=dict)
    only: tuple[str, ...] = ()

    @property
    def exit_code(self) -> int:
        """0 if what was asked for ran; 3 if a part failed, was not available or not compared."""
        if self.verdict.model_state == "no answer":
            return 3
        if self.only:
            return 0 if all(self.report[name].status == "done" for name in self.only) else 3
        return 3 if any(part.status == "failed" for part in self.report.parts) else 0


def already_done(config: Config, say: Callable[[str], None]) -> RunOutcome | None:
    """The outcome of a run with nothing left to do, judged again; None: it has to be run."""
    folder = config.folder / config.run.folder
    if not (folder / run_folder.RESULT).is_file():
        return None
    with RunStore(folder) as store:
        found = _all_done(store, config)
        rows = run_folder.noted(store).get(run_folder.TEST_ROWS)
    if found is None:
        return None
    report, lines = found
    for line in lines:
        say(line)
    judge = Judge.of(config, sketch_of(rows), run_folder.first_noted(folder))
    judged = judge.judge(report)
    judge.note(judged)
    return RunOutcome(folder, judged.report, judged.verdict, run_folder.read_costs(folder))


def _all_done(store: RunStore, config: Config) -> tuple[Report, list[str]] | None:
    """The report of a complete run and the lines that are said of it, known by hashes of files."""
    result = store.path / run_folder.RESULT
    kept, now = run_folder.noted(store).get(run_folder.ENDED), run_made_from(config, result)
    if moved(run_folder.noted(store).get(run_folder.FILES) or {}, config.folder):
        return None
    if (
        not kept
        or now is None
        or kept.get("made from") != now
        or not run_folder.as_it_was_left(store)
    ):
        return None
    report, made = run_folder.read_report(store.path, charts=False), read_made(store)
    done = [part.question for part in report.parts if part.status == "done"]
    if not (store.path / run_folder.PAGE).is_file() or not set(done) <= made.keys():
        return None
    if not store.are_sound([made[name]["key"] for name in done]):
        return None
    found = {part.question: part.headline for part in report.parts}
    lines = [f"{'note':<13}{line}" for line in kept["notes"]]
    order = [name for name in in_running_order(found) if name in config.run.parts]
    return report, [*lines, *(f"{name:<13}{found[name]}" for name in order)]


def _note_end(store: RunStore, config: Config, report: Report, notes: tuple[str, ...]) -> None:
    """Note at the end of a run what it was made from, if nothing of it is left to do."""
    whole = all(
        part.status in ("done", "not available") and not part.partial and not part.stale
        for part in report.parts
    )
    made = run_made_from(config, store.path / run_folder.RESULT) if whole else None
    run_folder.note(
        store,
        {run_folder.ENDED: None if made is None else {"made from": made, "notes": list(notes)}},
    )


_ROLES = {"train": "for training", "operational": "from the field"}


def about_files(config: Config, context: Context) -> About:
    """A run on the files of a configuration: their names, without their folders."""
    names = {name: getattr(config.data, name) for name in ("test", *_ROLES)}
    return _about(context, model_name(config.model.path), names)


def about_arrays(context: Context, model: str) -> About:
    """A run on arrays: the data has the name that it was given, if any."""
    given = {name: data.name or "arrays" for name, data in context.sets.items()}
    return _about(context, model, given)


def begun(about: About, folder: Path | None = None) -> About:
    """The day on which the run in a folder began; one without, or on other inputs, begins now."""
    earlier = None if folder is None else run_folder.read_about(folder)
    if earlier is not None and earlier.inputs == about.inputs:
        return replace(about, began=earlier.began, change=earlier.change)
    return replace(about, began=datetime.now(UTC).isoformat(timespec="seconds"))


def model_name(path: str) -> str:
    """A file's name; an address without user, password and query; an import name as it is."""
    if "://" in path:
        address = urlsplit(path)
        host = address.netloc.rpartition("@")[2]
        return f"{host}{address.path}".rstrip("/")
    return path if is_import_path(path) else Path(path).name


def facts_of(data: DataSet, name: str, role: str = "") -> DataFacts:
    """How many rows and groups a set has."""
    groups = None if data.groups is None else len(np.unique(data.groups))
    labelled = data.y is not None
    return DataFacts(Path(name).name, len(data), labelled, groups, role, data.left_out)


def _about(context: Context, model: str, names: Mapping[str, str | None]) -> About:
    data = []
    for name in ("test", *_ROLES):
        rows = getattr(context, name)
        if rows is not None:
            data.append(facts_of(rows, names.get(name) or "arrays", _ROLES.get(name, "")))
    sets = [getattr(context, name) for name in names]
    hashes = [None if rows is None else context.digest(rows) for rows in sets]
    inputs = sha256("about", context.model.sha256, hashes, context.seed)
    return About(model, tuple(data), context.seed, inputs=inputs)


def _with_answers(config: Config, folder: str | Path | None, **model: float | None) -> Config:
    """The configuration with what the caller says instead of it; its folder is inside its own."""
    if folder is not None:
        told = config.run.model_copy(update={"folder": str(Path(folder).resolve())})
        config = config.model_copy(update={"run": told})
    elif not (config.folder / config.run.folder).resolve().is_relative_to(config.folder.resolve()):
        raise ConfigError(
            "[run] folder must lie inside the folder of the configuration.",
            got=f"{config.run.folder!r}",
            do="Somebody else may have written it. Say it yourself: fireassay run --output PATH.",
        )
    changed = {name: value for name, value in model.items() if value is not None}
    return config.model_copy(update={"model": config.model.model_copy(update=changed)})


def _usual_workers(config: Config) -> int:
    """All cores for a model that is a file: it is the same in each process; else one."""
    if config.predictions is not None:
        return 1
    path = config.model.path
    return 1 if "://" in path or is_import_path(path) else ALL_CORES


def run_assessment(
    config: Config,
    *,
    only: Sequence[str] | None = None,
    seed: int | None = None,
    workers: int | None = None,
    cluster: str | None = None,
    max_minutes: float | None = None,
    max_queries: int | None = None,
    stochastic: bool | None = None,
    price: float | None = None,
    trust: bool = False,
    accept_below_baseline: bool = False,
    samples: bool = True,
    folder: str | Path | None = None,
    say: Say = silent,
    progress: bool | None = None,
) -> RunOutcome:
    """Run what a configuration asks for, in its run folder.

    The numbers of earlier runs in the folder stay: those of parts that are not run again and whose
    inputs have changed are marked stale.

    Args:
        config: What `read_config` gives.
        only: Parts to run; by default those of the configuration.
        seed, workers, max_minutes, max_queries, cluster: Instead of the configuration's, and the
            address of a Dask scheduler. With a budget of queries everything runs in this process:
            others would each count on their own.
        stochastic, price: Whether the model answers at random, as meant; what a row costs: then
            none is asked twice.
        trust: Allow a model file that can run code when read, and code beside the configuration.
        accept_below_baseline: Go on where the model agrees with the labels less than chance does
            (it is then said).
        samples: Show rows of the data as evidence; False leaves them out, as ``[run] samples``
            does.
        folder: Instead of ``[run] folder``, which must lie inside the configuration's own folder.
        say, progress: Gets lines for a terminal; whether to show a bar (None: where somebody can
            see it).

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
    for name in only or ():
        if name not in PARTS:
            raise ParameterError(f"Known parts: {', '.join(PARTS)}.", got=name)
    config = _with_answers(config, folder, stochastic=stochastic, price=price)
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
    with RunStore(folder) as store, run_folder.under_way(store, config), no_other_exit("the model"):
        asked = workers or config.run.workers
        executor = Executor(
            workers=asked or _usual_workers(config), cluster=cluster, store=store, progress=False
        )
        if budget.max_queries is not None and not executor.is_alone:
            if asked or cluster:
                say(f"{'note':<13}max_queries is counted in one process: no other one is used.")
            executor = Executor(store=store, progress=False)
        files = made_from_files(config)  # before they are loaded: a later change is seen
        named = {"model": config.model.path, "data": config.data.test}
        inputs = {name: config.folder / path for name, path in named.items()}
        run_folder.note(
            store,
            {run_folder.DIGESTS: {n: sha256_file(p) for n, p in inputs.items() if p.is_file()}},
        )
        loaded = load_context(config, seed=seed, executor=executor, trust=trust)
        meter_of(loaded).watch(loaded.model, budget.max_queries)
        model = same_model(store, config, loaded, say, budget.max_queries)
        names = config.run.parts if only is None else only
        with listening(opened := Opened()):
            context = check_before_run(
                loaded,
                [PARTS[name] for name in names],
                config.settings,
                until=budget.look_until,
                accept_below_baseline=accept_below_baseline,
                go_on=True,
                shown=progress,
            )
        if not loaded.recorded:
            keep(store, config, loaded, first_look(loaded), opened)
        notes = (*context.notes, *(doubt.check for doubt in context.doubts))
        for line in notes:
            say(f"{'note':<13}{line}")
        sketch = None
        if context.test.y is not None:
            sketch = RowSketch.of(marks_of(context, context.test.labels))
            sketch = sketch if context.partial else since_last_look(store, sketch)
            run_folder.note(store, {run_folder.TEST_ROWS: asdict(sketch)})
        join_data(config.folder, data_hashes(config))
        judge = Judge.of(config, sketch, run_folder.noted(store).get(run_folder.FIRST_LIMITS))
        judge = replace(judge, model=model)
        run = Run(
            context,
            {*config.run.parts, *names},
            config.settings,
            only=only,
            title=config.run.title,
            judge=judge,
            accepted=config.gates.accept,
            files=files,
            about=begun(about_files(config, context), folder),
            budget=budget,
            samples=samples and config.run.samples,
            say=say,
            progress=progress,
        )
        report = run.go()
    if as_configured:
        with RunStore(folder) as store:
            _note_end(store, config, report, notes)
    judged = run.judged or judge.judge(report)
    judge.note(judged)  # what a run shows was looked at
    return RunOutcome(folder, report, judged.verdict, run.costs, tuple(only or ()))
