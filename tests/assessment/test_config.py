import numpy as np
import pytest

from fireassay.assessment import read_config
from fireassay.assessment.init import write_config
from fireassay.assessment.parts.table import PARTS, full_name
from fireassay.core import ConfigError, ParameterError
from fireassay.core.measure import find_measure

GOOD = """
[model]
path = "model.onnx"
[data]
test = "test.npz"
"""


def config_file(tmp_path, text):
    path = tmp_path / "fireassay.toml"
    path.write_text(text)
    return path


def test_a_small_file_is_enough(tmp_path):
    config = read_config(config_file(tmp_path, GOOD))
    assert config.run.parts == tuple(PARTS)
    assert config.run.seed == 0
    assert config.resolve("model.onnx") == str(tmp_path / "model.onnx")
    assert config.resolve("http://127.0.0.1:1/v2") == "http://127.0.0.1:1/v2"
    assert config.resolve("package.module:name") == "package.module:name"


@pytest.mark.parametrize(
    ("text", "messages"),
    [
        (GOOD + "[run]\nseeed = 1\n", [":7: run.seeed: this key is not known"]),
        (GOOD + "[run]\nseed = -1\n", [":7: run.seed:", "got -1"]),
        (GOOD + "[run]\nparts = ['accuracy', 'magic']\n", [":7: run.parts: unknown 'magic'"]),
        (GOOD + "[accuracy]\nconfidence = 1.5\n", [":7: accuracy.confidence:", "got 1.5"]),
        (GOOD + "[nonsense]\na = 1\n", [":6: nonsense: this key is not known"]),
        ("[model]\noutput = 'x'\n", ["model.path: this key is missing", "data: this key is miss"]),
        ("[model]\noutput = 'x'\n", [":2: model.output:"]),
        ("[model\n", ["expected TOML", "line 1"]),
        (GOOD + "[gates]\nmax = { error = 'low' }\n", [":7: gates.max.error:"]),
        (
            GOOD + "[gates.max]\n'accuracy.eror' = 0.1\n",
            [":7: gates.max: No part has the number 'accuracy.eror'", "Nearest: accuracy.error"],
        ),
        (GOOD + "[gates.accept]\nindependent-rows = ''\n", [":7: gates.accept.independent-rows"]),
    ],
)
def test_mistakes_are_named_with_their_line(tmp_path, text, messages):
    with pytest.raises(ConfigError) as caught:
        read_config(config_file(tmp_path, text))
    for message in messages:
        assert message in str(caught.value)


def test_a_missing_file_says_how_to_make_one(tmp_path):
    with pytest.raises(ConfigError, match="fireassay init"):
        read_config(tmp_path / "fireassay.toml")


def test_what_init_writes_is_valid_and_documents_every_key(tmp_path):
    text = write_config(
        {"model": {"path": 'we"ird\\name.onnx', "classes": ["a", 1]}, "data": {"test": "t.npz"}}
    )
    config = read_config(config_file(tmp_path, text))
    assert config.model.path == 'we"ird\\name.onnx'
    assert config.model.classes == ("a", 1)
    for key in ("output", "bounds", "train", "operational", "seed", "workers", "confidence"):
        line = next(i for i, row in enumerate(text.splitlines()) if f"{key} =" in row)
        assert text.splitlines()[line - 1].startswith("# "), f"{key} is not explained"


def test_gates_are_the_last_tables_and_come_back(tmp_path):
    values = {"model": {"path": "m.onnx"}, "data": {"test": "t.npz"}}
    tables = [line for line in write_config(values).splitlines() if line.startswith("[")]
    assert tables[-3:] == ["[gates.max]", "[gates.min]", "[gates.accept]"]
    gates = {
        "max": {"accuracy.error": 0.1},
        "accept": {"independent-rows": 'one "row" per patient'},
    }
    found = read_config(config_file(tmp_path, write_config({**values, "gates": gates})))
    assert found.gates.max == gates["max"]
    assert found.gates.min == {}
    assert found.gates.accept == gates["accept"]


def test_short_names_are_told_apart_before_anything_runs():
    assert full_name("accuracy.error") == "accuracy.error"
    assert full_name("accuracy_curated_last") == "accuracy.accuracy_curated_last"
    with pytest.raises(ParameterError, match=r"accuracy\.nothing.*Nearest"):
        full_name("accuracy.nothing")


def test_every_number_of_accuracy_is_in_the_table():
    import fireassay as fa

    X = np.random.default_rng(0).random((40, 2))
    model = fa.as_classifier(lambda rows: np.column_stack([1 - rows[:, 0], rows[:, 0]]))
    part = fa.evaluate(model, X, (X[:, 0] > 0.5).astype(int), parts="accuracy")["accuracy"]
    unknown = [n for n in part.estimates if find_measure(n, PARTS["accuracy"].measures) is None]
    assert not unknown
    rests_on = ("independent-rows", "unseen-rows", "reproducible")
    assert all(e.rests_on == rests_on for e in part.estimates.values())
    assert part.assumptions[0].id == "independent-rows"
