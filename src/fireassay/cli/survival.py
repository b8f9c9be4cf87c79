"""``fireassay survival …``: how soon does a model fall to an attack, and at whose cost?"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument, Option

from fireassay.cli import options
from fireassay.cli.console import asked, emit, emit_json, say
from fireassay.cli.loading import load_rows, probed, remember
from fireassay.cli.options import answering, arg, opt, read_attack, read_defence, read_value

if TYPE_CHECKING:
    import pandas as pd

app = typer.Typer(
    no_args_is_help=True, help="How soon does a model fall to an attack, and at whose cost?"
)
Rows = Annotated[
    Path, Argument(help="CSV or Parquet: lower, upper (or duration, event) and covariates.")
]
Covariates = Annotated[
    list[str] | None, Option("--covariate", "-c", help="A column; may be given often.")
]
Groups = Annotated[str | None, Option("--groups", help="Column of rows that belong together.")]


@app.command()
@answering
def model(
    model: str = arg("A model file, http:// address or package:name.", ...),
    data: Path = arg("Labelled test samples (npz, CSV, Parquet, idx).", ...),
    attack: list[str] | None = opt(
        "Name and parameters: pgd:norm=linf,eps=0.1 (fireassay survival names lists "
        "them); left out: auto, as in fireassay run.",
        None,
        "--attack",
        "-a",
    ),
    eps: float | None = opt(
        "Largest change of a feature, where no attack is named (default: a tenth)."
    ),
    budget: int | None = opt("Queries per sample and attack (default: as fireassay run).", min=1),
    defence: str | None = opt("In front of the model, NAME=VALUE: conf=0.9 (see names)."),
    bounds: tuple[float, float] | None = opt(
        "Allowed input values: LOW HIGH; left out: each feature on its own range."
    ),
    class_name: list[str] | None = opt(
        "Class names in the order of the outputs, where the model does not know them.",
        None,
        "--class",
    ),
    output_kind: options.ModelOutput = "probabilities",
    samples: int | None = opt("How many rows, drawn by the seed (default: all).", min=1),
    workers: options.Workers = 1,
    cluster: options.Cluster = None,
    trust: options.Trust = False,
    hang_minutes: options.HangMinutes = 30.0,
    output: options.Output = None,
    seed: options.Seed = 0,
) -> None:
    """Attack a model and show how long samples stand.

    Example: fireassay survival model model.onnx test.npz --bounds 0 1 --samples 100
    """
    from fireassay import survival
    from fireassay.assessment.coded_rows import coded, why_not_attacked, with_own_hash
    from fireassay.assessment.context import Context
    from fireassay.assessment.parts.attack_space import attack_space
    from fireassay.attacks import suite
    from fireassay.classifiers import as_classifier
    from fireassay.core.errors import DataError, ParameterError

    if attack and eps is not None:
        raise ParameterError(
            "An attack that is named has its own eps: --attack pgd:eps=0.1.", got=f"--eps {eps:g}"
        )
    classifier = as_classifier(
        model,
        classes=[read_value(name) for name in class_name] if class_name else None,
        bounds=bounds,
        output=output_kind,
        trust=trust,
        hang_minutes=hang_minutes,
    )
    context = coded(Context(classifier, load_rows(data, classifier)))
    reason = why_not_attacked(context)
    if reason is not None:
        raise DataError(
            "Survival needs rows that can be changed.", got=reason,
            do="For texts write perturb(text, rng) and use fireassay init --perturb.",
        )  # fmt: skip
    rows = context.test
    attacked, space = attack_space(context, eps=eps)
    found = survival.observe(
        attacked,
        space.inside(rows.X),
        rows.labels,
        [read_attack(text) for text in attack] if attack else suite(attacked, eps),
        budget=budget or survival.BUDGET,
        seed=seed,
        samples=samples,
        defence=None if defence is None else read_defence(defence),
        workers=workers,
        cluster=cluster,
    )
    if output is not None:
        _write(found.frame(), output)
    evidence = with_own_hash(found.evidence(), context.model)
    emit(probed(evidence, context.model, rows.X))


@app.command()
@answering
def fit(
    rows: Rows,
    covariate: Covariates = None,
    family: str = opt("A family of survival.FAMILIES (see names).", "weibull"),
    groups: Groups = None,
    output: options.Output = None,
) -> None:
    """Fit time to failure on covariates.

    Example: fireassay survival fit rows.csv -c attack -c layers --groups model_id
    """
    from fireassay import survival

    fitted = survival.fit(_read(rows), family, covariate or [], groups)
    if output is not None:
        fitted.save(output)
    emit(fitted.evidence())
    say(fitted.coefficients.to_string(float_format="{:.4g}".format))


@app.command()
@answering
def compare(
    rows: Rows,
    covariate: Covariates = None,
    test_share: float = opt("Share kept for the test part.", 0.2),
    groups: Groups = "model_id",
    seed: options.Seed = 0,
) -> None:
    """Compare all families on a training and a test part.

    Example: fireassay survival compare rows.csv -c attack -c epochs
    """
    from fireassay import survival

    found = survival.compare(
        _read(rows), test_share=test_share, covariates=covariate, groups=groups, seed=seed
    )
    emit(found.evidence())
    say(found.frame().drop(columns="note").to_string(float_format="{:.3f}".format))


@app.command()
@answering
def plan(
    time_ratio: float = opt("The factor worth seeing.", 1.2),
    power: float = opt("Probability of seeing it.", 0.8),
    failure_share: float = opt("Share failing within the budget.", 0.5),
    between_model_sd: float = opt("Spread of log time of models.", 0.0),
    samples_per_model: int = opt("", 100, min=1),
) -> None:
    """How many samples and models a comparison needs.

    Example: fireassay survival plan --time-ratio 1.5 --between-model-sd 0.3
    """
    import dataclasses

    from fireassay import survival

    found = survival.plan(
        time_ratio,
        power,
        failure_share=failure_share,
        between_model_sd=between_model_sd,
        samples_per_model=samples_per_model,
    )
    emit_json(dataclasses.asdict(found))
    say(found.frame().to_string(float_format="{:.3g}".format))
    say(f"models per arm: {found.models} (of {found.samples_per_model} samples)")


@app.command()
@answering
def campaign(
    config: Path = arg("The campaign's TOML file.", ...),
    store: Path = opt("Run folder; a killed run goes on from it.", ...),
    workers: options.Workers = 1,
    cluster: options.Cluster = None,
    output: options.Output = None,
    report: Path | None = opt("Write tables, charts and conclusions as one HTML page."),
    sample: float | None = opt("Share of the trials to run, drawn at random."),
    trust: options.Trust = False,
) -> None:
    """Train, defend and attack models; finished trials are never run twice.

    Example: fireassay survival campaign campaign.toml --store runs/campaign --report campaign.html
    """
    from fireassay import survival
    from fireassay.report import Report
    from fireassay.survival.campaign_config import read_config

    if trust:
        for own in read_config(config).own_models:
            remember(own.path, config.resolve().parent)
    found = survival.campaign(
        config,
        store=store,
        workers=workers,
        cluster=cluster,
        sample=sample,
        trust=trust,
        progress=False if asked.quiet else None,
    )
    if output is not None:
        _write(found.frame(), output)
    evidence = found.evidence()
    if report is not None:
        Report([evidence], title=f"Campaign {config.stem}").to_html(report)
    emit(evidence)
    for claim in evidence.claims:
        say({True: "Yes: ", False: "No: ", None: ""}[claim.holds] + claim.text)


@app.command()
@answering
def names() -> None:
    """List attacks, defences and families by name.

    Example: fireassay survival names
    """
    from fireassay.attacks import ATTACKS
    from fireassay.core.registry import Registry
    from fireassay.survival import DEFENCES, FAMILIES

    tables: dict[str, Registry[Any]] = {
        "attacks": ATTACKS, "defences": DEFENCES, "families": FAMILIES,
    }  # fmt: skip
    found = {kind: {row.name: row.summary for row in t.values()} for kind, t in tables.items()}
    emit_json(found)
    for kind, summaries in found.items():
        say(f"{kind}:")
        for name, summary in summaries.items():
            say(f"  {name:<14}{summary}")


def _read(path: Path) -> "pd.DataFrame":
    from fireassay.core.errors import DataError
    from fireassay.core.lazy import pd, require

    try:
        if path.suffix == ".parquet":
            require("pyarrow", "tables", "Reading Parquet")
            return pd.read_parquet(path)
        return pd.read_csv(path)
    except (OSError, ValueError) as error:
        raise DataError(
            f"{path} must be a CSV or Parquet table of observations.", got=str(error)
        ) from error


def _write(frame: "pd.DataFrame", path: Path) -> None:
    if path.suffix == ".parquet":
        from fireassay.core.lazy import require

        require("pyarrow", "tables", "Writing Parquet")
        frame.to_parquet(path)
        return
    from fireassay.data import write_csv

    write_csv(frame, path)
