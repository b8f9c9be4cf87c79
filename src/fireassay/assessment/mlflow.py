"""MLflow: an evaluator for ``mlflow.models.evaluate``, and the log of a run folder."""

import math
import re
import tempfile
from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from fireassay.core import ParameterError
from fireassay.core.arrays import is_frame
from fireassay.core.lazy import require
from fireassay.report import Report, Verdict

if TYPE_CHECKING:
    from mlflow import MlflowClient

_FOLDER: Final = "fireassay"
_KEYS: Final = ("gates", "groups", "parts", "positive", "seed", "settings", "slices", "threshold")
_MOST: Final = 1000  # metrics in one batch, MLflow's own limit


class FireassayEvaluator:
    """The evaluator ``"fireassay"`` of ``mlflow.models.evaluate``, found by its entry point.

    ``evaluator_config`` takes ``gates``, ``groups`` and ``slices`` (values, or names of columns;
    the column of groups is not sent to the model), ``parts`` (accuracy alone by default),
    ``positive``, ``threshold``, ``settings`` and ``seed``, as `evaluate` does.
    """

    @classmethod
    def can_evaluate(
        cls, *, model_type: str, evaluator_config: Mapping[str, Any], **kwargs: Any
    ) -> bool:
        """Whether this is a classifier."""
        del evaluator_config, kwargs
        return model_type == "classifier"

    def evaluate(  # the signature is MLflow's
        self,
        *,
        model_type: str,
        dataset: Any,
        run_id: str,
        evaluator_config: Mapping[str, Any] | None,
        model: Any = None,
        extra_metrics: Any = None,
        custom_artifacts: Any = None,
        predictions: str | None = None,
        **kwargs: Any,
    ) -> Any:
        """Judge the model, or its recorded predictions, and log numbers, page and verdict."""
        del model_type, extra_metrics, custom_artifacts, predictions, kwargs
        from mlflow import MlflowClient
        from mlflow.models import EvaluationResult
        from mlflow.models.evaluation.artifacts import (
            JsonEvaluationArtifact,
            TextEvaluationArtifact,
        )

        config = dict(evaluator_config or {})
        unknown = sorted(set(config) - set(_KEYS))
        if unknown:
            raise ParameterError(f"evaluator_config takes {', '.join(_KEYS)}.", got=unknown[0])
        gates = config.pop("gates", ())
        report = _judged(dataset, model, config, gates)
        verdict = report.verdict(gates)
        client = MlflowClient()
        _log_numbers(client, run_id, report, verdict)
        uri = f"{client.get_run(run_id).info.artifact_uri}/{_FOLDER}"
        with tempfile.TemporaryDirectory() as scratch:
            page, result = Path(scratch) / "report.html", Path(scratch) / "result.json"
            report.to_html(page, gates=gates)
            report.to_json(result)
            for path in (page, result):
                client.log_artifact(run_id, str(path), _FOLDER)
            artifacts = {
                "fireassay_report": TextEvaluationArtifact(
                    f"{uri}/{page.name}", page.read_text(encoding="utf-8")
                ),
                "fireassay_result": JsonEvaluationArtifact(
                    f"{uri}/{result.name}", report.document()
                ),
            }
        return EvaluationResult(metric_values(report), artifacts, run_id)


def _judged(dataset: Any, model: Any, config: dict[str, Any], gates: Any) -> Report:
    """The model itself where it has probabilities, otherwise its answers as predictions."""
    from fireassay.assessment.evaluate import evaluate
    from fireassay.assessment.judge import judge

    X, y = dataset.features_data, np.asarray(dataset.labels_data)
    parts, settings = config.pop("parts", ("accuracy",)), config.pop("settings", None)
    groups, slices = config.pop("groups", None), config.pop("slices", None)
    if isinstance(groups, str):
        groups, X = X[groups], X.drop(columns=groups)
    if slices is not None and not isinstance(slices, Mapping) and not is_frame(slices):
        slices = {name: X[name] for name in ([slices] if isinstance(slices, str) else slices)}
    raw = None if model is None else _inside(model)
    if hasattr(raw, "predict_proba"):
        if "threshold" in config and config.get("positive") is not None:
            config["threshold"] = {config["positive"]: config["threshold"]}
        return evaluate(
            raw, X, y, parts, groups=groups, slices=slices, settings=settings, **config
        )  # fmt: skip
    said = np.asarray(dataset.predictions_data if model is None else model.predict(X))
    table = said.ndim == 2 and said.shape[1] > 1
    own = {"proba": said} if table else {"answers": said.reshape(len(y))}
    return judge(y, **own, groups=groups, slices=slices, gates=gates, **config)


def _inside(model: Any) -> Any:
    """The model that was logged, where its flavour keeps one."""
    try:
        return model.get_raw_model()
    except (AttributeError, NotImplementedError):
        return model


def metric_values(report: Report) -> dict[str, float]:
    """Every finite number of the report with both ends of its interval, by MLflow's names."""
    found = {}
    for part in report.parts:
        for name, estimate in part.estimates.items():
            if "{" in name:
                continue  # slices are in result.json
            plain = re.sub(r"[^\w.:/ -]+", "_", name.replace("[", "/").replace("]", ""))
            ends = {"": estimate.value, ".low": estimate.low, ".high": estimate.high}
            for end, value in ends.items():
                if value is not None and math.isfinite(value):
                    found[f"{part.question}.{plain}{end}"] = float(value)
    return found


def log_run(folder: Path) -> str:
    """Log a run folder to MLflow, in the active run or a new one, and give the run's id."""
    # The server is the one that MLFLOW_TRACKING_URI names, by default files on this machine.
    mlflow = require("mlflow", "mlflow", "The log in MLflow")
    from fireassay.assessment.run.judging import read_judged

    judged = read_judged(folder)
    active = mlflow.active_run()
    with mlflow.start_run() if active is None else nullcontext(active) as run:
        client = mlflow.MlflowClient()
        _log_numbers(client, run.info.run_id, judged.report, judged.verdict)
        for name in ("result.json", "report.html"):
            if (folder / name).is_file():
                client.log_artifact(run.info.run_id, str(folder / name), _FOLDER)
        return str(run.info.run_id)


def _log_numbers(client: "MlflowClient", run_id: str, report: Report, verdict: Verdict) -> None:
    from mlflow.entities import Metric, RunTag

    metrics = [Metric(name, value, 0, 0) for name, value in metric_values(report).items()]
    tags = [
        RunTag("fireassay.verdict", verdict.status),
        RunTag("fireassay.headline", verdict.headline),
        *([RunTag("fireassay.lock", verdict.lock)] if verdict.lock else []),
    ]
    for first in range(0, max(len(metrics), 1), _MOST):
        client.log_batch(run_id, metrics[first : first + _MOST], tags=tags if first == 0 else [])
