"""``python -m fireassay`` is the same program as ``fireassay``."""

import sys
from pathlib import Path

# Python puts the folder that it is started in before everything else. That folder may have been
# received from somebody: a numpy.py in it is not to run.
if not sys.flags.safe_path and sys.path[:1] == [str(Path.cwd())]:
    del sys.path[0]

from fireassay.cli.main import app

app(prog_name="fireassay")
