"""The first look asks what the parts need, once; minutes are a wall; draws and prices are told."""

import time
from pathlib import Path

import numpy as np
import pytest

import fireassay as fa
from fireassay.assessment import read_config, run_assessment
from fireassay.assessment.context import Context
from fireassay.assessment.parts.table import PARTS, settings_models
from fireassay.assessment.run.first_look import first_look, rows_needed
from fireassay.data import DataSet

SETTINGS = {name: each() for name, each in settings_models().items()}
MODEL = """
import time
import numpy as np
RNG = np.random.default_rng()
def answered(score):
    p = 1 / (1 + np.exp(-score))
    return np.column_stack([1 - p, p])
def slow(X):
    time.sleep(0.01 * len(X))
    return answered(3 * X[:, 0])
def drawn(X):
    return answered(3 * X[:, 0] + RNG.normal(size=len(X)))
"""


def project(folder: Path, function: str, n: int = 2000) -> Path:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    np.savez(folder / "test.npz", X=X, y=(X[:, 0] + 0.3 * rng.normal(size=n) > 0).astype(int))
    name = f"looked_{function}_{folder.name}"
    (folder / f"{name}.py").write_text(MODEL)
    file = folder / "fireassay.toml"
    file.write_text(
        f'[model]\npath = "{name}:{function}"\n[data]\ntest = "test.npz"\n'
        '[run]\nparts = ["accuracy"]\n[gates.max]\nerror = 0.5\n'
    )
    return file


@pytest.mark.slow
def test_minutes_end_the_look_and_what_was_answered_by_then_is_judged(tmp_path: Path) -> None:
    began = time.monotonic()
    done = run_assessment(read_config(project(tmp_path, "slow")), trust=True, max_minutes=0.2)
    assert time.monotonic() - began < 2 * 12
    part = done.report["accuracy"]
    n = part.estimates["accuracy"].n
    assert part.status == "done"
    assert 100 < n < 1200, "twelve seconds at ten milliseconds a row, less time to write"
    assert part.partial.startswith(f"on the first {n:,} of 2,000 rows, in random order")
    assert done.verdict.status == "not enough evidence"
    truth = 1 - np.arctan(0.3) / np.pi  # of a sign and the same with noise of 0.3
    assert part.estimates["accuracy"].low < truth < part.estimates["accuracy"].high


def test_a_stochastic_model_is_judged_and_its_draws_are_compared(tmp_path: Path) -> None:
    file = project(tmp_path, "drawn", n=300)
    done = run_assessment(read_config(file), trust=True, stochastic=True)
    (found,) = [a for a in done.report["accuracy"].assumptions if a.id == "reproducible"]
    assert found.status == "supported"
    assert "Two draws differ on" in found.check
    assert done.verdict.status == "pass"


def test_a_row_with_a_price_is_asked_once(tmp_path: Path) -> None:
    file = project(tmp_path, "drawn", n=300)
    done = run_assessment(read_config(file), trust=True, price=0.002)
    assert done.costs["first look"]["actual"]["delivered"] == 300
    (found,) = [a for a in done.report["accuracy"].assumptions if a.id == "reproducible"]
    assert "paid for" in found.check


@pytest.mark.parametrize(("parts", "rows"), [(["accuracy"], 900), (["survival"], 400)])
def test_only_the_rows_that_the_parts_need_are_asked(parts: list[str], rows: int) -> None:
    X = np.random.default_rng(0).random((900, 2))
    model = fa.as_classifier(lambda X: np.column_stack([1 - X[:, 0], X[:, 0]]), bounds=(0, 1))
    context = Context(model, DataSet(X, (X[:, 0] > 0.5).astype(int)))
    look = first_look(context)
    assert len(rows_needed(context, [PARTS[name] for name in parts], SETTINGS, look)) == rows
    assert model.rows_delivered == 0  # type: ignore[attr-defined]


def test_equal_rows_are_asked_once() -> None:
    X = np.repeat(np.random.default_rng(0).random((150, 2)), 2, axis=0)
    sent: list[int] = []

    def model(rows: np.ndarray) -> np.ndarray:
        sent.append(len(rows))
        return np.column_stack([1 - rows[:, 0], rows[:, 0]])

    context = Context(fa.as_classifier(model, batch_size=100), DataSet(X))
    look = first_look(context)
    look.ask(np.arange(300))
    assert sent[:3] == [100, 50, 50], "the first cut tells the form of the table"
    np.testing.assert_array_equal(look.given(np.arange(300))[:, 1], X[:, 0])


@pytest.mark.parametrize("kind", [np.uint8, np.int32, np.float16, np.float32])
def test_rows_of_any_type_are_found_again(kind: type) -> None:
    X = (100 * np.random.default_rng(0).random((300, 2))).astype(kind)
    from sklearn.linear_model import LogisticRegression

    y = (X[:, 0] > 50).astype(int)
    model = fa.as_classifier(LogisticRegression().fit(X, y))
    report = fa.evaluate(model, X, y, parts="accuracy")
    assert report["accuracy"].status == "done"
    seen = {row.tobytes() for row in X[:256]}
    different = len({row.tobytes() for row in X[256:]} - seen)
    assert model.rows_delivered == 256 + different + 32  # type: ignore[attr-defined]
    assert model.queries == 300
