"""A person at a terminal sees that work goes on; files and pipes stay clean."""

import os
import pty
import subprocess
import sys

CODE = """
import time
from fireassay.cli.console import at_work, say
with at_work("asking the model"):
    time.sleep({seconds})
    say("found")
"""


def on_a_terminal(seconds):
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", CODE.format(seconds=seconds)], stdout=theirs, stderr=theirs
    )
    os.close(theirs)
    said = b""
    try:
        while chunk := os.read(ours, 65536):
            said += chunk
    except OSError:  # the other end is closed
        pass
    os.close(ours)
    assert process.wait() == 0
    return said.decode()


def test_the_seconds_are_shown_while_nothing_else_is_said():
    said = on_a_terminal(1.6)
    assert "asking the model, 1 s" in said
    assert "found" in said


def test_quick_work_and_pipes_show_no_line():
    assert on_a_terminal(0.05).split() == ["found"]
    piped = subprocess.run(
        [sys.executable, "-c", CODE.format(seconds=0.8)], capture_output=True, text=True, check=True
    )
    assert (piped.stdout, piped.stderr) == ("found\n", "")
