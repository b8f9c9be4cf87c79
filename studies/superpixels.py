"""Figs. 8 and 9 of the discovery paper: the surrogate on models whose important region is known.

    python studies/superpixels.py --work FOLDER

Random images with one textured square, and a model that looks at nothing else: how often is the
heaviest superpixel inside the square? Writes studies/results/superpixels.json and
docs/papers/discovery_fig_8.svg. Needs no data.
"""

import time

import numpy as np
from commands import draw, executor, options, write

from fireassay.core.chart import Chart
from fireassay.core.drawing import field
from fireassay.papers.superpixels import known_region, superpixels, surrogate_weights


def one_image(seed, samples):
    """Whether most of the heaviest superpixel is inside the square that the model sees."""
    started = time.process_time()
    image, square, probability = known_region(seed)
    segments = superpixels(image)
    weights = surrogate_weights(probability, image, segments, samples, seed)
    heaviest = segments == np.unique(segments)[weights.argmax()]
    return {
        "inside": float(square[heaviest].mean()),
        "cpu_seconds": time.process_time() - started,
    }


def picture(seed, samples):
    """The square, and the weights of the superpixels, as maps."""
    image, square, probability = known_region(seed)
    segments = superpixels(image)
    weights = surrogate_weights(probability, image, segments, samples, seed)
    by_pixel = weights[np.searchsorted(np.unique(segments), segments)]
    shown = {
        "brightness": image.mean(axis=2),
        "what the model sees": square.astype(float),
        "weight of the superpixel": by_pixel,
    }
    panels = [
        field(values.T[:, ::-1], (0, 32, 0, 32), title=title, across="x", up="y")
        for title, values in shown.items()
    ]
    return Chart(
        {"hconcat": panels, "resolve": {"scale": {"color": "independent"}}},
        "An image, the part that the model looks at, and what the surrogate finds.",
        "Three maps.",
    )


def main() -> None:
    chosen = options(__doc__).parse_args()
    images, samples = (5, 100) if chosen.quick else (200, 500)
    found = executor(chosen).map(one_image, range(images), {"samples": samples}, name="images")
    write(chosen, "superpixels", {
        "images": images, "samples": samples,
        "hits": sum(row["inside"] > 0.5 for row in found),
        "cpu_seconds": sum(row["cpu_seconds"] for row in found),
    })  # fmt: skip
    draw(chosen, "discovery", {"fig_8": picture(0, samples)})


if __name__ == "__main__":
    main()
