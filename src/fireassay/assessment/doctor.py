"""What ``fireassay doctor`` looks at: a project and its last run, and this installation itself."""

import math
import os
import pickle
import shutil
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np

import fireassay
from fireassay.assessment.config import FILE_NAME, Config, read_config
from fireassay.assessment.run.folder import RESULT, read_report, reservations
from fireassay.classifiers.import_path import is_import_path
from fireassay.classifiers.model_file import model_kind
from fireassay.classifiers.trust import code_beside, code_digest, is_trusted, is_trusted_digest
from fireassay.core import Estimate, Evidence, FireassayError
from fireassay.core.errors import ConfigError
from fireassay.core.evidence import host_size, library_versions
from fireassay.core.files import check_regular
from fireassay.core.hashing import sha256, sha256_file
from fireassay.core.lazy import EXTRAS, is_installed, pd
from fireassay.engine import RunStore

State = Literal["sound", "stale", "mend"]
_LEAST_FREE_MB = 500
_SAY_TRUST = "Look at what it does. If it may run, say so once: fireassay run --trust"


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at."""

    what: str
    state: State
    found: str
    do: str = ""


def check_project(place: Path) -> list[Finding]:
    """Everything that a run of this project would stumble over, and whether its last run counts."""
    file = place / FILE_NAME if place.is_dir() else place
    try:
        config = read_config(file)
    except ConfigError as error:
        return [Finding("configuration", "mend", str(error), f"Mend {file}.")]
    gates = len(config.gates.max) + len(config.gates.min)
    limits = (
        f"{gates} limit{'' if gates == 1 else 's'}, all of known numbers" if gates else "no limits"
    )
    looks = (_model, _data, _extras, _disk, _last_run)
    said = Finding("configuration", "sound", f"{file}: {limits}")
    return [said, *(finding for look in looks for finding in look(config))]


def _model(config: Config) -> Iterator[Finding]:
    path, resolved = config.model.path, config.resolve(config.model.path)
    if "://" in path:
        yield Finding("model", "sound", f"{path}, which is not asked here")
        variable = config.model.http.token_env
        if variable is not None and variable not in os.environ:
            do = f"Set it before the run: export {variable}=…"
            yield Finding("token", "mend", f"the variable {variable} is not set", do)
        return
    if is_import_path(path):
        place = code_beside(path, config.folder)
        where = "installed, or on Python's path" if place is None else str(place)
        if is_trusted_digest(code_digest(path, config.folder)):
            yield Finding("model", "sound", f"{path}: {where}, trusted as it is now")
        else:
            yield Finding("model", "mend", f"{path}: {where}, not trusted as it is now", _SAY_TRUST)
        return
    try:
        kind = model_kind(Path(resolved))
    except FireassayError as error:
        yield Finding("model", "mend", str(error), "Name another file as [model] path.")
        return
    if not kind.is_available and kind.extra is not None:
        yield _missing("model", f"{path} is a {kind.name} file", kind.extra)
    elif kind.runs_code and not is_trusted(Path(resolved)):
        yield Finding("model", "mend", f"{path} can run code when it is read", _SAY_TRUST)
    else:
        yield Finding("model", "sound", f"{path}, a {kind.name} file")


def _data(config: Config) -> Iterator[Finding]:
    for role in ("test", "train", "operational", "votes", "groups"):
        name = getattr(config.data, role)
        if name is None:
            continue
        path = config.folder / name
        try:
            size = 0 if path.is_dir() else check_regular(path).stat().st_size
        except (OSError, FireassayError) as error:
            do = f"Put it there, or name another file as [data] {role}."
            yield Finding(f"data.{role}", "mend", f"{error}", do)
            continue
        if path.suffix.lower() in (".parquet", ".pq") and not is_installed(EXTRAS["tables"][0]):
            yield _missing(f"data.{role}", f"{name} is a Parquet file", "tables")
        else:
            yield Finding(f"data.{role}", "sound", f"{name}, {size / 1e6:,.1f} MB")


def _extras(config: Config) -> Iterator[Finding]:
    if "ambiguity" in config.run.parts and not is_installed(EXTRAS["torch"][0]):
        yield _missing("extras", "the part ambiguity trains networks", "torch")


def _missing(what: str, why: str, extra: str) -> Finding:
    return Finding(
        what, "mend", f"{why}: [{extra}] is not installed", f"pip install 'fireassay[{extra}]'"
    )


def _disk(config: Config) -> Iterator[Finding]:
    folder = config.folder / config.run.folder
    there = next(place for place in (folder, *folder.resolve().parents) if place.exists())
    free = shutil.disk_usage(there).free / 1e6
    if free < _LEAST_FREE_MB:
        yield Finding("disk", "mend", f"{free:,.0f} MB free for {folder}", "Make room.")
    elif not os.access(there, os.W_OK):
        yield Finding("disk", "mend", f"{there} cannot be written", "Name another [run] folder.")
    else:
        yield Finding("disk", "sound", f"{free / 1000:,.0f} GB free for {folder}")


def _last_run(config: Config) -> Iterator[Finding]:
    folder = config.folder / config.run.folder
    if not (folder / "run.sqlite").exists():
        empty = not folder.exists() or not any(folder.iterdir())
        if empty:
            yield Finding("last run", "sound", "none yet", "fireassay run")
        else:
            do = "Name another folder as [run] folder."
            yield Finding("last run", "mend", f"{folder} has files, but is no run's", do)
        return
    try:
        with RunStore(folder, read_only=True) as store:
            store.progress("")
        if not (folder / RESULT).is_file():
            yield Finding("last run", "stale", "it has no result yet", "fireassay run")
            return
        doubts = reservations(folder, read_report(folder, charts=False))
    except FireassayError as error:
        yield Finding("last run", "mend", str(error), "Run again, in another folder if need be.")
        return
    for part, reason in doubts.items():
        yield Finding(f"last run: {part}", "stale", reason, "fireassay run")
    if not doubts:
        yield Finding("last run", "sound", f"{folder}: made from what there is now")


_TOLERANCE: Final = 1e-9
KNOWN_LIMITS: Final = (
    "A verdict speaks of the rows and the model that it names by SHA-256, and of no others.",
    "Bounds assume that test rows, or groups of them, were drawn independently from the field.",
    "No check proves that labels are right, or that rows of one patient are named as such.",
    "An attack that fails proves nothing about stronger attacks; survival is an upper estimate.",
    "Intervals marked approximate may cover less than they say; docs/intervals.md has the worst.",
    "A model behind an address can change between runs; 16 asked rows show large changes only.",
    "The self-test covers single functions; your own process must validate the whole.",
)


@dataclass(frozen=True)
class SelfTest:
    """One known answer: what must come out, by which source, and what came."""

    what: str
    source: str
    expected: Any
    got: Any
    holds: bool


def qualification_record() -> dict[str, Any]:
    """Versions, hash of every installed file, self-test against known answers, known limits."""
    root = Path(str(files("fireassay")))
    paths = sorted(p for p in root.rglob("*") if p.is_file() and "__pycache__" not in p.parts)
    hashes = {path.relative_to(root).as_posix(): sha256_file(path) for path in paths}
    tests = self_test()
    return {
        "tool": {"name": "fireassay", "version": fireassay.version.__version__},
        "versions": library_versions(),
        "host": host_size(),
        "package_sha256": sha256(hashes),
        "files": hashes,
        "self_test": [asdict(test) for test in tests],
        "holds": all(test.holds for test in tests),
        "known_limits": list(KNOWN_LIMITS),
    }


def self_test() -> list[SelfTest]:
    """Run every known answer; one that breaks does not hold, and says why."""
    return [_tried(what, source, run) for what, (source, run) in _KNOWN.items()]


def _tried(what: str, source: str, run: Callable[[], tuple[Any, Any]]) -> SelfTest:
    try:
        expected, got = run()
    except Exception as error:  # noqa: BLE001 a self-test reports whatever breaks
        return SelfTest(what, source, "an answer", f"{type(error).__name__}: {error}", holds=False)
    if isinstance(expected, float):
        return SelfTest(what, source, expected, got, abs(expected - got) <= _TOLERANCE)
    return SelfTest(what, source, expected, got, bool(expected == got))


def _no_success() -> tuple[float, float]:
    return 1 - 0.025 ** (1 / 10), fireassay.statistics.clopper_pearson(0, 10)[1]


def _binomial_tail() -> tuple[float, float]:
    high = fireassay.statistics.clopper_pearson(3, 40)[1]
    return 0.025, sum(math.comb(40, k) * high**k * (1 - high) ** (40 - k) for k in range(4))


def _no_bad_group() -> tuple[float, float]:
    groups = np.repeat(np.arange(40), 12)
    return 1 - 0.025 ** (1 / 40), fireassay.statistics.group_mean(np.zeros(480), groups).high


def _pairs_in_order() -> tuple[float, float]:
    return 0.75, float(fireassay.score([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], "auroc"))


def _kappa_by_hand() -> tuple[float, float]:
    pairs = [(0, 0)] * 20 + [(0, 1)] * 5 + [(1, 0)] * 10 + [(1, 1)] * 15
    first, second = np.array(pairs).T
    return 0.4, float(fireassay.statistics.cohen_kappa(first, second))


def _leukaemia() -> tuple[float, float]:
    """Remission on 6-mercaptopurine, 21 patients (Freireich and others, 1963)."""
    from fireassay.survival.curves import estimate_curve
    from fireassay.survival.times import read_times

    weeks = [6, 6, 6, 7, 10, 13, 16, 22, 23, 6, 9, 10, 11, 17, 19, 20, 25, 32, 32, 34, 35]
    ended = np.arange(21) < 9
    times = read_times(pd.DataFrame({"duration": weeks, "event": ended}))
    return 0.753, round(float(estimate_curve(times).at(10.0)), 3)


def _three_verdicts() -> tuple[list[str], list[str]]:
    error = Estimate(0.04, 0.02, 0.06, 0.95, 500, "known")
    report = fireassay.Report([Evidence("accuracy", "known", estimates={"error": error})])
    limits = (0.10, 0.05, 0.01)
    found = [str(report.verdict({"max": {"accuracy.error": limit}}).status) for limit in limits]
    return ["pass", "not enough evidence", "fail"], found


def _counted_rows() -> tuple[int, int]:
    received = []

    def answer(X: Any) -> Any:
        received.append(len(X))
        return np.full((len(X), 2), 0.5)

    model: Any = fireassay.as_classifier(answer, classes=[0, 1])
    model.predict_proba(np.zeros((300, 2)))
    return sum(received), model.rows_delivered


def _same_seed() -> tuple[str, str]:
    y = np.arange(200) % 2
    p = (np.arange(200) * 37 % 100) / 100
    first, second = (fireassay.judge(y, p, seed=3)["accuracy"].estimates for _ in range(2))
    return sha256(first), sha256(second)


class _Touch:
    """Leaves a file behind if somebody unpickles it."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (Path(self.path),)


def _pickle_refused() -> tuple[list[str], list[str]]:
    with tempfile.TemporaryDirectory() as folder:
        trace, model = Path(folder) / "ran", Path(folder) / "model.pkl"
        model.write_bytes(pickle.dumps(_Touch(str(trace))))
        found = []
        try:
            fireassay.as_classifier(str(model))
        except FireassayError:
            found.append("refused")
        return ["refused"], [*found, *(["its code ran"] if trace.exists() else [])]


_KNOWN: Final[dict[str, tuple[str, Callable[[], tuple[Any, Any]]]]] = {
    "upper bound without an error in 10 rows": ("closed form 1 - .025^(1/10)", _no_success),
    "upper bound of 3 errors in 40 rows": ("binomial sum at the bound is .025", _binomial_tail),
    "upper bound without an error in 40 groups": ("closed form 1 - .025^(1/40)", _no_bad_group),
    "AUROC of four rows": ("3 of 4 pairs are in order", _pairs_in_order),
    "kappa of two raters on 50 rows": ("by hand: (.7 - .5) / (1 - .5)", _kappa_by_hand),
    "Kaplan-Meier at 10 weeks": ("Freireich and others 1963: .753", _leukaemia),
    "verdicts above, across and below an interval": ("definition of a limit", _three_verdicts),
    "rows counted and rows received": ("the model's own count", _counted_rows),
    "one seed, one answer": ("the same call twice", _same_seed),
    "a pickle is refused and does not run": ("SECURITY.md", _pickle_refused),
}
