"""An environment with every peer and with fireassay: side by side in one process.

python benchmarks/peers.py        # makes .venv-peers (some minutes, once), prints its Python
"""

import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ENVIRONMENT = HERE.parent / ".venv-peers"


def python_with_peers() -> str:
    """The Python of the peers' environment, which is made if it is not there.

    ``FIREASSAY_PEERS`` may name the Python of an environment that exists already.
    """
    given = os.environ.get("FIREASSAY_PEERS")
    if given:
        return given
    python = ENVIRONMENT / "bin" / "python"
    wanted = (HERE / "peers.txt").read_text()
    done = ENVIRONMENT / "peers.txt"
    if not done.exists() or done.read_text() != wanted:
        print("Installing the peers into .venv-peers (once, some minutes) …", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", str(ENVIRONMENT)], check=True)
        install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*install, "-r", str(HERE / "peers.txt"), "-e", str(HERE.parent)],
                       check=True)  # fmt: skip
        done.write_text(wanted)
    return str(python)


if __name__ == "__main__":
    print(python_with_peers())
