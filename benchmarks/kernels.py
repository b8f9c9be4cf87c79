"""Small pieces of work against the plain way to do them, turn by turn in one process, CPU seconds.

    python benchmarks/kernels.py [NAME …]

Results are kept in results/kernels.json: the median of each side, and of the ratios.
"""

import json
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import ndimage

RESULTS = Path(__file__).resolve().parent / "results" / "kernels.json"
RNG = np.random.default_rng(0)


def motion_blur():
    """Motion blur, severity 3, of images of 224 × 224 × 3, an image; 109 shifts by scipy."""
    from fireassay.data import corrupt

    images = RNG.random((2, 224, 224, 3), dtype=np.float32)
    steps = np.linspace(-27, 27, 109)

    def rival():
        for image in images.astype(np.float64):
            np.mean([ndimage.shift(image, (s * 0.6, s * 0.8, 0), order=1) for s in steps], axis=0)

    return lambda: corrupt(images, "motion_blur"), rival, len(images)


def defocus_blur():
    """Defocus blur, severity 3, an image of 224 × 224 × 3; scipy's convolution."""
    from fireassay.data import corrupt

    images = RNG.random((2, 224, 224, 3), dtype=np.float32)
    kernel = np.ones((1, 35, 35, 1)) / 35**2
    rival = lambda: ndimage.convolve(images.astype(np.float64), kernel, mode="nearest")  # noqa: E731
    return lambda: corrupt(images, "defocus_blur"), rival, len(images)


def fog():
    """Fog, severity 3, an image of 224 × 224 × 3; a Gaussian filter of each width."""
    from fireassay.data import corrupt

    images = RNG.random((4, 224, 224, 3), dtype=np.float32)

    def rival():
        for k in range(7):
            size = (0, 56 / 2**k, 56 / 2**k)
            ndimage.gaussian_filter(RNG.standard_normal((4, 224, 224)), size, mode="wrap")

    return lambda: corrupt(images, "fog"), rival, len(images)


def mahalanobis():
    """Nearest of 1,000 class means, 2,000 × 256; numpy: whitened once, one product."""
    from fireassay.supervision.gaussian_scores import fit_shared, nearest_class_distance

    rows, classes = RNG.standard_normal((6000, 256)), np.arange(6000) % 1000
    state, new = fit_shared(rows, classes), RNG.standard_normal((2000, 256))

    def rival():
        W = np.linalg.inv(np.linalg.cholesky(np.cov(rows[:2000].T) + np.eye(256) * 1e-3)).T
        Z, M = new @ W, state["means"] @ W
        return ((Z**2).sum(1)[:, None] - 2 * Z @ M.T + (M**2).sum(1)).min(axis=1)

    return lambda: nearest_class_distance(state, new), rival, 1


def aft_groups():
    """A Weibull fit of 50,000 × 10 with 5,000 groups; the same without groups."""
    from fireassay import survival

    frame = pd.DataFrame(RNG.standard_normal((50_000, 10))).add_prefix("x")
    names = list(frame)
    times = RNG.weibull(1.5, len(frame)) * np.exp(0.3 * frame["x0"])
    frame["lower"], frame["upper"] = times.clip(upper=2), times.where(times < 2, np.inf)
    frame["patient"] = np.arange(len(frame)) % 5000
    alone = lambda: survival.fit(frame, "weibull", names)  # noqa: E731
    return lambda: survival.fit(frame, "weibull", names, groups="patient"), alone, 1


def row_marks():
    """Marks of 200,000 × 20 float32 rows; pandas' hash of rows."""
    from fireassay.assessment.parts.part import row_marks

    X, y = RNG.standard_normal((200_000, 20)).astype(np.float32), RNG.integers(0, 2, 200_000)
    frame = pd.DataFrame(X).assign(y=y)
    return lambda: row_marks(X, y), lambda: pd.util.hash_pandas_object(frame, index=False), 1


def csv():
    """A CSV of 200,000 × 12; pandas."""
    from fireassay.data.csv_file import read_csv

    path = Path(tempfile.mkdtemp()) / "rows.csv"
    frame = pd.DataFrame(RNG.standard_normal((200_000, 12)).round(4)).add_prefix("x")
    frame.assign(label=RNG.integers(0, 3, len(frame))).to_csv(path, index=False)
    return lambda: read_csv(path), lambda: pd.read_csv(path), 1


def overlap():
    """Copies among 2 × 20,000 byte images of 28 × 28; a set of the rows' bytes."""
    from fireassay.core.mapped import ByteImages
    from fireassay.data import find_overlap

    a, b = RNG.integers(0, 256, (2, 20_000, 28, 28)).astype(np.uint8)
    ours = ByteImages(a, 255), ByteImages(b, 255)

    def rival():
        known = {row.tobytes() for row in a}
        return [i for i, row in enumerate(b) if row.tobytes() in known]

    return lambda: find_overlap(*ours), rival, 1


JOBS = (motion_blur, defocus_blur, fog, mahalanobis, aft_groups, row_marks, csv, overlap)


def timed(call):
    begun = time.process_time()
    call()
    return time.process_time() - begun


def main():
    kept = json.loads(RESULTS.read_text()) if RESULTS.is_file() else {}
    for job in JOBS:
        if sys.argv[1:] and job.__name__ not in sys.argv[1:]:
            continue
        ours, rival, each = job()
        ours(), rival()
        turns = [(timed(ours) / each, timed(rival) / each) for _ in range(5)]
        mine, theirs = np.median(turns, axis=0)
        ratio = float(np.median([b / a for a, b in turns]))
        kept[job.__name__] = {"work": job.__doc__, "ours_s": mine, "rival_s": theirs,
                              "ratio": ratio}  # fmt: skip
        print(f"{job.__name__:<14}{1e3 * mine:9.2f} ms{1e3 * theirs:10.2f} ms  × {ratio:.2f}")
        RESULTS.write_text(json.dumps(kept, indent=1) + "\n")


if __name__ == "__main__":
    main()
