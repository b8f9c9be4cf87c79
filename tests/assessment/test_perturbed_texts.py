"""Texts with a function that changes them: survival and supervision can ask more."""

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import fireassay as fa
from fireassay.attacks.spaced import perturbed, row_key
from fireassay.cli.main import app
from fireassay.core import ParameterError

BAD = ("bad", "awful", "poor")
SMALL = {
    "survival": {"samples": 60, "budget": 10},
    "supervision": {"samples": 59, "supervisors": ["max-softmax"]},
}


def texts(n=300):
    rng = np.random.default_rng(1)
    words = (["good", "fine", "nice"], BAD)
    y = rng.integers(0, 2, n)
    meant = np.where(rng.random(n) < 0.9, y, 1 - y)
    return [f"{rng.choice(words[m])} film {i}" for i, m in enumerate(meant)], y


def reader(rows):
    """Does not know the word 'lousy', and is less sure of longer texts."""
    p = np.array([0.9 if row.split()[0] in BAD else 0.1 for row in rows])
    p += np.array([0.02 * (len(row.split()) - 3) for row in rows]) * np.sign(0.5 - p)
    return np.column_stack([1 - p, p])


def synonyms(text, rng):
    """Two longer texts, then, of bad films, a word that the reader does not know."""
    del rng
    first, rest = text.split(" ", 1)
    return [f"{text} indeed", f"{text} it was", *([f"lousy {rest}"] if first in BAD else [])]


def test_rows_fall_to_the_first_change_that_fools_the_model():
    rows, y = texts()
    report = fa.evaluate(
        reader,
        rows[150:],
        y[150:],
        ["survival", "supervision"],
        train=(rows[:150], y[:150]),
        settings=SMALL,
        perturb=synonyms,
    )
    survival = report["survival"]
    assert survival.status == "done", survival.reason
    # By hand: of 60 drawn rows those that are right; the bad ones fall to their third change.
    drawn = np.sort(fa.core.generator(0, "attacked rows").permutation(150)[:60])
    said = np.array([rows[150 + i].split()[0] in BAD for i in drawn])
    right = said == y[150 + drawn]
    standing = 1 - said[right].mean()
    assert survival.estimates["standing_share"].value == pytest.approx(standing)
    assert survival.estimates["standing_share"].n == right.sum()
    assert "within the changes of the given function" in survival.headline
    assert "changes made by the given function, attackers" in survival.sentence
    assert "perturbed-texts-keep-their-meaning" in [a.id for a in survival.assumptions]
    shown = survival.samples[0]
    assert shown.text[0][0] == "lousy"
    assert shown.why == "fooled by a small change"
    assert shown.scores["queries"] == 4  # itself, and three changes
    watched = report["supervision"]
    assert watched.status == "done", watched.reason
    assert watched.estimates["auroc_corrupted"].value > 0.8  # longer texts are less sure
    assert watched.provenance.model_sha256 == survival.provenance.model_sha256


def test_the_same_on_a_table_with_a_text_column():
    rows, y = texts()
    report = fa.evaluate(
        lambda frame: reader(list(frame["note"])),
        pd.DataFrame({"note": [f"{row}, which is all there is to say" for row in rows]}),
        y,
        "survival",
        settings=SMALL,
        perturb=synonyms,
    )
    found = report["survival"]
    assert found.status == "done", found.reason
    assert 0.2 < found.estimates["standing_share"].value < 0.8
    assert found.samples[0].cells[0].value.startswith("lousy")


def test_rows_that_are_not_changed_are_counted_and_said():
    rows, y = texts()
    report = fa.evaluate(
        reader, rows, y, "survival", settings=SMALL,
        perturb=lambda text, rng: [text.replace("poor", "lousy")],
    )  # fmt: skip
    found = report["survival"]
    drawn = np.sort(fa.core.generator(0, "attacked rows").permutation(300)[:60])
    left = sum("poor" not in rows[i] for i in drawn)
    assert f"not tried: {left} rows that perturb does not change" in found.headline


def test_no_change_at_all_is_no_survival():
    rows, y = texts()
    report = fa.evaluate(
        reader, rows, y, "survival", settings=SMALL, perturb=lambda text, rng: []
    )  # fmt: skip
    assert report["survival"].status == "not available"
    assert "no changed text for 60 rows" in report["survival"].reason


def test_perturb_is_for_texts():
    X = np.random.default_rng(0).random((50, 2))
    with pytest.raises(ParameterError, match="rows that are one text"):
        fa.evaluate(
            lambda X: np.column_stack([1 - X[:, 0], X[:, 0]]), X, (X[:, 0] > 0.5).astype(int),
            "survival", perturb=synonyms,
        )  # fmt: skip


def test_something_else_than_texts_is_named():
    rows, y = texts(120)
    with pytest.raises(fa.core.ModelError, match="must give a list of texts"):
        fa.evaluate(reader, rows, y, "survival", settings=SMALL, perturb=lambda text, rng: text)


def test_the_budget_ends_the_search():
    X = np.zeros((2, 1))
    changes = {row_key(X[0]): np.arange(1.0, 9.0)[:, None]}
    found = perturbed(lambda X: np.hstack([X < 6, X >= 6]), X, choices=changes, max_queries=4)
    assert found.status.tolist() == ["not found"] * 2
    assert found.queries.tolist() == [4, 4]


def test_code_beside_the_configuration_is_trusted_by_name_on_init_alone(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "own"))
    rows, y = texts(80)
    np.savez("test.npz", X=np.array(rows), y=y)
    body = "import numpy as np\ndef model(rows):\n    p = np.array([.9 if r[0] in 'bap' else .1 "
    body += "for r in rows])\n    return np.column_stack([1 - p, p])\n"
    (tmp_path / "film_reader.py").write_text(body)
    (tmp_path / "film_words.py").write_text("def synonyms(text, rng):\n    return ['lousy film']\n")
    arguments = ["init", "--model", "film_reader:model", "--data", "test.npz"]
    found = CliRunner().invoke(app, [*arguments, "--perturb", "film_words:synonyms"])
    assert found.exit_code == 0, found.output
    assert "survival    can be answered" in found.output
    text = (tmp_path / "fireassay.toml").read_text().replace("# samples = 100", "samples = 20")
    (tmp_path / "fireassay.toml").write_text(text)
    found = CliRunner().invoke(app, ["run", "--only", "survival"])
    assert found.exit_code == 0, found.output
    result = json.loads((tmp_path / "fireassay-run" / "result.json").read_text())
    assert result["parts"]["survival"]["status"] == "done"
    (tmp_path / "film_words.py").write_text("def synonyms(text, rng):\n    return ['other']\n")
    found = CliRunner().invoke(app, ["run", "--only", "survival"])
    assert found.exit_code == 2
    assert "it is imported and called" in found.output
