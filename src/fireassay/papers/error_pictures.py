"""Figs. 8 and 9 of the discovery paper: which superpixels lead a model to its errors."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fireassay import discovery
from fireassay.attacks import make
from fireassay.core.chart import Chart
from fireassay.core.drawing import Spec, field
from fireassay.papers.discovery_run import searched
from fireassay.papers.superpixels import superpixels, surrogate_weights

_DRAWN = 6


def explained_errors(
    row: dict[str, Any], work: str, settings: dict[str, int], errors: int = 50
) -> dict[str, Any]:
    """Of the first errors in the order of adversarial distance: is what led to them light?

    The paper says so of its classifier that learnt no dark cats. The images of the two figures are
    kept in the model's folder (``pictures.npz``): they are the data set's, not ours to give away.
    """
    own = searched(row, work, settings)
    logs, _ = own.log_mae("hopskipjump", settings["hopskipjump"], row["seed"])
    scores = discovery.adversarial_distance(log_mae=logs, confidence=own.confidence)
    order = np.argsort(scores, kind="stable")
    first = order[own.y[order] != "critical"][:errors]
    light = own.X.reshape(len(own.X), -1).mean(axis=1)
    maps = [_weights(own.model, image, "critical") for image in own.X[first]]
    lighter = [
        _heaviest_is_lighter(image, of) for image, of in zip(own.X[first], maps, strict=True)
    ]
    right = order[(own.y[order] == "critical") & np.isfinite(scores[order])]
    if len(first) and len(right):
        image, prototype = own.X[first[0]], own.X[right[-1]]
        found = make("hopskipjump", max_queries=settings["hopskipjump"], seed=row["seed"])(
            own.model, image[None]
        ).adversarial[0]
        np.savez(
            own.folder / "pictures.npz", errors=own.X[first[:_DRAWN]], maps=np.array(maps[:_DRAWN]),
            nine=np.array([image, found, prototype]),
            nine_maps=np.array([
                _weights(own.model, image, "critical"), _weights(own.model, found, "other"),
                _weights(own.model, prototype, "critical"),
            ]),
        )  # fmt: skip
    return {
        "errors": len(first),
        "heaviest superpixel lighter than its image": int(sum(lighter)),
        "lighter than the median candidate": int((light[first] > np.median(light)).sum()),
    }


def pictures(arrays: Any) -> dict[str, Chart]:
    """Fig. 8 (images above, weights of their superpixels below) and Fig. 9, of ``pictures.npz``."""
    return {
        "fig_8": _rows(
            arrays["errors"], arrays["maps"],
            "The first errors found, and what the surrogate says led to them.",
        ),
        "fig_9": _rows(
            arrays["nine"], arrays["nine_maps"],
            "An error, the same image attacked, and the critical image hardest to overturn.",
        ),
    }  # fmt: skip


def _rows(images: NDArray[Any], maps: NDArray[Any], caption: str) -> Chart:
    panels: list[Spec] = []
    for title, values in (("brightness", _brightness(images)), ("weight", maps)):
        drawn = [
            field(each.T[:, ::-1], (0, each.shape[1], 0, each.shape[0]), title=title, across="x",
                  up="y")
            for each in values
        ]  # fmt: skip
        panels.append({"hconcat": drawn, "resolve": {"scale": {"color": "shared"}}})
    spec = {"vconcat": panels, "resolve": {"scale": {"color": "independent"}}}
    return Chart(spec, caption, "Images above, the weights of their superpixels below.")


def _brightness(images: NDArray[Any]) -> NDArray[Any]:
    return images.mean(axis=-1) if images.ndim == 4 else images


def _weights(model: Any, image: NDArray[Any], name: str) -> NDArray[np.float64]:
    """The weight of each pixel's superpixel for a class."""
    segments = superpixels(image)
    column = list(model.classes).index(name)

    def probability(X: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(model.predict_proba(X.astype(np.float32))[:, column])

    weights = surrogate_weights(probability, image, segments)
    return np.asarray(weights[np.searchsorted(np.unique(segments), segments)])


def _heaviest_is_lighter(image: NDArray[Any], weights: NDArray[np.float64]) -> bool:
    brightness = _brightness(image[None])[0]
    return bool(brightness[weights == weights.max()].mean() > brightness.mean())
