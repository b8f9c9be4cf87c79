"""How much of a run is the model's own work: one command of fireassay with a clock in the model.

    python benchmarks/forward_share.py run [ARGUMENTS …]      (in a folder with a fireassay.toml)

Prints one line of JSON: CPU seconds of the process, CPU seconds inside the model, rows that callers
asked about, those of them whose answers were known, rows that were sent (padding included) and all
rows that went through the model (probes included).
"""

import json
import sys
import time

from fireassay.classifiers.backends import onnx
from fireassay.classifiers.counting import CountsRows


class Clock:
    """Seconds and rows inside a model."""

    def __init__(self):
        self.seconds, self.rows, self.known, self.models = 0.0, 0, 0, []

    def timed(self, call):
        def clocked(model, rows, *more):
            started = time.process_time()
            answer = call(model, rows, *more)
            self.seconds += time.process_time() - started
            self.rows += len(rows)
            return answer

        return clocked

    def counted(self, call):
        def noting(model, n):
            self.known += n
            return call(model, n)

        return noting


def main(words):
    """Run the command and print what was counted."""
    from fireassay.cli.main import app

    clock = Clock()
    kind = onnx.OnnxClassifier
    kind._raw = clock.timed(kind._raw)
    made = CountsRows.__init__

    def noted(model, *given):
        made(model, *given)
        clock.models.append(model)

    CountsRows.__init__ = noted
    for name in ("count_kept", "counting_kept"):
        setattr(CountsRows, name, clock.counted(getattr(CountsRows, name)))
    started = time.process_time()
    try:
        code = app(words, standalone_mode=False)
    except SystemExit as end:
        code = end.code
    total = time.process_time() - started
    asked = sum(model.queries for model in clock.models)
    sent = sum(model.rows_delivered for model in clock.models)
    print(
        json.dumps(
            {
                "code": code,
                "cpu_s": total,
                "model_s": clock.seconds,
                "asked": asked,
                "known": clock.known,
                "sent": sent,
                "through": clock.rows,
            }
        )
    )


if __name__ == "__main__":
    main(sys.argv[1:])
