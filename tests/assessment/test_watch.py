"""Lines of a watched stream: read as they come, kept as a thinned history."""

import io
from pathlib import Path

import numpy as np

from fireassay.assessment.watch.lines import Cursor, LineReader, as_text, lines_of, new_lines
from fireassay.assessment.watch.watch import Thinned
from fireassay.data import DataSet


def test_a_history_keeps_points_at_multiples_of_its_stride() -> None:
    history = Thinned()
    for i in range(1, 10_001):
        if history.due(i):
            history.points.append([i])
    assert (len(history.points), history.points[-1]) == (125, [10_000])


def test_a_json_line_is_a_row_like_the_reference() -> None:
    reader = LineReader(DataSet(np.zeros((2, 3)), [0, 1]))
    line = reader.read('{"id": 7, "row": [1, 2, 3], "label": 1}', "")
    assert (line.id, line.row.shape, line.label) == ("7", (1, 3), "1")
    assert (as_text(1.0), as_text("cat"), as_text(None)) == ("1", "cat", None)


def test_an_unfinished_line_of_a_file_waits(tmp_path: Path) -> None:
    file = tmp_path / "rows.csv"
    file.write_bytes(b"x,label\n1,0\n2,1\n3,")
    found = next(new_lines(file, Cursor()))
    assert (found.lines, found.header, found.cursor.offset) == (("1,0", "2,1"), "x,label", 16)


def test_lines_of_a_stream_that_were_read_before_are_skipped() -> None:
    found = list(lines_of(io.BytesIO(b"{}\n[]\n"), 1, Cursor(lines=1)))
    assert (found[0].lines, found[0].cursor.lines) == (("[]",), 2)
