import subprocess
import sys

import pytest

from fireassay.engine import progress, track

ON_A_TERMINAL = """
import os, pty, sys, time
pid, terminal = pty.fork()
if pid == 0:
    from fireassay.engine import track
    for _ in track(range(3), "counting sheep [red]", total=3):
        time.sleep(float(sys.argv[1]))
    sys.exit(0)
shown = b""
while True:
    try:
        chunk = os.read(terminal, 4096)
    except OSError:
        break
    if not chunk:
        break
    shown += chunk
sys.stdout.buffer.write(shown)
"""


def test_items_pass_through_and_nothing_is_written_without_a_terminal(capfd):
    assert list(track([1, 2, 3], "work")) == [1, 2, 3]
    assert list(track((i for i in range(2)), "work", total=2)) == [0, 1]
    assert capfd.readouterr() == ("", "")


def test_rich_is_not_imported_without_need():
    program = (
        "import sys; from fireassay.engine import track; list(track([1], 'a'));"
        "sys.exit(any(m in sys.modules for m in ('rich', 'joblib', 'distributed', 'sklearn')))"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
@pytest.mark.parametrize(("nap", "seen"), [("0.6", True), ("0.01", False)])
def test_a_terminal_sees_the_bar_only_when_work_takes_over_a_second(nap, seen):
    finished = subprocess.run(
        [sys.executable, "-c", ON_A_TERMINAL, nap], capture_output=True, check=False
    )
    assert (b"counting sheep [red]" in finished.stdout) == seen, finished.stdout


def test_an_error_in_the_work_passes_through():
    work = track([1, 2], "work")
    assert next(work) == 1
    with pytest.raises(KeyError):
        work.throw(KeyError("a"))


@pytest.mark.parametrize(("total", "shown"), [(None, ""), (3, "0/3")])
def test_nobody_is_shown_a_question_mark_where_the_number_is_not_known(total, shown):
    display = progress._open()
    display.add_task("", total=total, text=lambda: "measuring")
    display.stop()
    assert display.columns[-1].render(display.tasks[0]).plain == shown
