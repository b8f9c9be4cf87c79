"""``--trust``: said once on the command line, kept in the user's own settings."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from fireassay.cli.console import warn

if TYPE_CHECKING:
    from fireassay.assessment.config import Config
    from fireassay.core.evidence import Evidence
    from fireassay.data import DataSet


def remember(
    model: str, folder: Path, token_env: str | None = None, perturb: str | None = None
) -> None:
    """Keep that the user trusts this model, so that later commands need not ask again."""
    # A file counts by its bytes, "package.module:name" (and perturb) by all code beside the
    # configuration in folder, a token's variable together with the server that receives the token.
    from fireassay.classifiers.trust import (
        remember_code,
        remember_token,
        remember_trust,
        trusted_list,
    )

    try:
        remember_trust(model)
        remember_code(model, folder)
        remember_code(perturb or "", folder)
        remember_token(model, token_env)
    except OSError as failure:
        warn(f"Warning: trust holds for this command only, {trusted_list()}: {failure}")


def remember_configured(config: "Config") -> None:
    """`remember` the model that a configuration names."""
    remember(
        config.resolve(config.model.path),
        config.folder,
        config.model.http.token_env,
        config.data.perturb,
    )


def load_rows(path: Path | str, model: Any, **options: Any) -> "DataSet":
    """Load rows as the model takes them; of a table the columns that it knows, in its order."""
    from fireassay.data import load

    columns = getattr(model, "feature_names", None) if is_table(path) else None
    return load(path, columns=columns, **options)


def is_table(path: Path | str) -> bool:
    """Whether a file has columns with names."""
    return Path(path).suffix.lower() in (".csv", ".tsv", ".txt", ".parquet", ".pq")


def load_numbers(path: Path | str, question: str, **options: Any) -> "DataSet":
    """Load rows of numbers; names, texts and holes need a whole run, which encodes them."""
    from fireassay.core.errors import DataError
    from fireassay.data import load

    data = load(path, **options)
    if data.rows.is_frame or data.rows.is_text:
        kinds = {kind for kind in data.kinds or () if kind != "real"}
        raise DataError(
            f"fireassay {question} takes rows of numbers without holes.",
            got=f"{Path(path).name} with {', '.join(sorted(kinds)) or 'holes'}",
            do=f"Use fireassay init, then fireassay run --only {question}: there the model gets "
            "such rows as they are.",
        )
    return data


def need_labels(data: "DataSet", path: Path, do: str = "Name them: --label.") -> "DataSet":
    """The data, refused where the file has no labels."""
    from fireassay.core.errors import DataError

    if data.y is None:
        raise DataError(f"{path} must have labels.", got="none", do=do)
    return data


def probed(evidence: "Evidence", model: Any, X: Any) -> "Evidence":
    """The evidence with the assumption that the model answers the same twice, tried on rows."""
    from fireassay.assessment.run.reproducibility import same_twice, with_reproducibility

    return with_reproducibility(evidence, same_twice(model, X))


def unprobed(evidence: "Evidence", why: str) -> "Evidence":
    """The evidence with that assumption, not tried."""
    from fireassay.assessment.run.reproducibility import not_probed, with_reproducibility

    return with_reproducibility(evidence, not_probed(why))


def probe_words(model: Any, X: Any) -> dict[str, str]:
    """What was found, for answers that are no evidence: status and check of the assumption."""
    from fireassay.assessment.run.reproducibility import not_probed, same_twice

    found = not_probed("no model was asked") if model is None else same_twice(model, X)
    return {"status": found.status, "check": found.check}
