"""MLflow with a real file store: the evaluator by its name, and the log of a run."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from typer.testing import CliRunner

import fireassay as fa
from fireassay.cli.main import app

mlflow = pytest.importorskip("mlflow", reason="MLflow is not installed")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning", "ignore::ResourceWarning"),
]


@pytest.fixture
def store(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    monkeypatch.setenv("MLFLOW_TRACKING_URI", (tmp_path / "mlruns").as_uri())
    mlflow.set_tracking_uri((tmp_path / "mlruns").as_uri())
    return tmp_path


@pytest.fixture(scope="module")
def ward():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(600, 3)), columns=["a", "b", "c"])
    table["sepsis"] = np.where(table.a + rng.normal(size=600) > 0.5, "yes", "no")
    table["patient"] = np.repeat(np.arange(200), 3)
    model = LogisticRegression().fit(table[["a", "b", "c"]][:300], table.sepsis[:300])
    return model, table[300:].reset_index(drop=True)


def logged(run_id):
    return mlflow.MlflowClient().get_run(run_id).data


def test_recorded_predictions_are_judged_by_name(store, ward):
    model, table = ward
    data = table.assign(said=model.predict(table[["a", "b", "c"]]))
    with mlflow.start_run() as run:
        found = mlflow.models.evaluate(
            data=data[["sepsis", "said", "patient"]],
            targets="sepsis",
            predictions="said",
            model_type="classifier",
            evaluators="fireassay",
            evaluator_config={"gates": {"max": {"error": 0.5}}, "groups": table.patient},
        )
    data = logged(run.info.run_id)
    own = (table.sepsis != model.predict(table[["a", "b", "c"]])).mean()
    assert data.metrics["accuracy.error"] == pytest.approx(own)
    assert data.metrics["accuracy.error.low"] < own < data.metrics["accuracy.error.high"]
    assert data.tags["fireassay.verdict"] == "pass"
    assert found.metrics["accuracy.error"] == pytest.approx(own)
    result = found.artifacts["fireassay_result"].content
    assert result["parts"]["accuracy"]["estimates"]["error"]["n"] == 300
    names = {f.path for f in mlflow.MlflowClient().list_artifacts(run.info.run_id, "fireassay")}
    assert names == {"fireassay/report.html", "fireassay/result.json"}


def test_a_model_with_probabilities_is_asked_for_them(store, ward):
    model, table = ward

    class Probable(mlflow.pyfunc.PythonModel):
        def predict(self, context, model_input, params=None):
            return model.predict_proba(model_input)

    path = store / "model"
    mlflow.pyfunc.save_model(str(path), python_model=Probable())
    with mlflow.start_run() as run:
        mlflow.models.evaluate(
            model=path.as_uri(),
            data=table[["a", "b", "c", "sepsis"]].assign(sepsis=(table.sepsis == "yes") * 1),
            targets="sepsis",
            model_type="classifier",
            evaluators="fireassay",
            evaluator_config={"gates": {"min": {"auroc": 0.99}}, "positive": 1},
        )
    data = logged(run.info.run_id)
    p = model.predict_proba(table[["a", "b", "c"]])[:, 1]
    assert data.metrics["accuracy.auroc/1"] == pytest.approx(roc_auc_score(table.sepsis, p))
    assert data.tags["fireassay.verdict"] == "fail"


def test_an_unknown_key_of_the_configuration_is_named(store, ward):
    with mlflow.start_run(), pytest.raises(fa.FireassayError, match="evaluator_config takes"):
        mlflow.models.evaluate(
            data=pd.DataFrame({"y": [0, 1], "said": [0, 1]}),
            targets="y",
            predictions="said",
            model_type="classifier",
            evaluators="fireassay",
            evaluator_config={"gate": {}},
        )


def test_a_run_is_logged_with_its_verdict(store):
    rng = np.random.default_rng(0)
    X = rng.random((80, 2))
    np.savez("test.npz", X=X, y=(X[:, 0] > 0.5).astype(int))
    text = "import numpy as np\ndef model(X): return np.column_stack([1 - X[:, 0], X[:, 0]])\n"
    (store / "logged_model.py").write_text(text)
    (store / "fireassay.toml").write_text(
        '[model]\npath = "logged_model:model"\nclasses = [0, 1]\n[data]\ntest = "test.npz"\n'
        '[run]\nparts = ["accuracy"]\n[gates.max]\n"accuracy.error" = 0.5\n'
    )
    done = CliRunner().invoke(app, ["run", "--trust", "--mlflow"])
    assert done.exit_code == 0, done.output
    (run,) = mlflow.search_runs(output_format="list", search_all_experiments=True)
    kept = json.loads((store / "fireassay-run" / "result.json").read_text())
    error = kept["parts"]["accuracy"]["estimates"]["error"]
    assert run.data.metrics["accuracy.error.high"] == pytest.approx(error["high"])
    assert run.data.tags["fireassay.verdict"] == "pass"
