"""``python -m fireassay`` is the same program as ``fireassay``."""

from fireassay.cli.main import app

app(prog_name="fireassay")
