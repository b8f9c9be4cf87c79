"""``--trust``: said once on the command line, kept in the user's own settings."""

from fireassay.cli.console import warn


def remember(model: str) -> None:
    """Keep that the user trusts this model file, so that later commands need not ask again.

    Trust holds for this command even where the settings cannot be written; that is said.
    """
    from fireassay.classifiers.trusted_files import remember_trust, trusted_list

    try:
        remember_trust(model)
    except OSError as failure:
        warn(f"Warning: trust holds for this command only, {trusted_list()}: {failure}")
