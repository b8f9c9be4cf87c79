"""``--trust``: said once on the command line, kept in the user's own settings."""

from pathlib import Path
from typing import TYPE_CHECKING

from fireassay.cli.console import warn

if TYPE_CHECKING:
    from fireassay.assessment.config import Config


def remember(
    model: str, folder: Path, token_env: str | None = None, perturb: str | None = None
) -> None:
    """Keep that the user trusts this model, so that later commands need not ask again.

    A file counts by its bytes, "package.module:name" by those of all code beside the
    configuration in ``folder`` (so does ``perturb``, which changes texts), a token's variable
    together with the server it goes to.

    Trust holds for this command even where the settings cannot be written; that is said.
    """
    from fireassay.classifiers.code_beside import remember_code
    from fireassay.classifiers.trusted_files import remember_trust, trusted_list
    from fireassay.classifiers.trusted_tokens import remember_token

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
