"""Tables 1 and 3 to 7 of the ambiguity paper, as printed."""

BASELINE = "baseline (mnist)"
NUMBERS = ("top1", "top2", "top_pair", "entropy")
Four = tuple[float, float, float | None, float]
# Top-1, top-2, top-pair, entropy: Table 1 (the average), then Tables 4 to 7.
PUBLISHED: dict[tuple[str, str, str], dict[str, Four]] = {
    ("fashion-mnist", "mixed", "ambiguous"): {
        "average": (0.51, 0.94, 0.87, 1.33), "CNN": (0.52, 0.95, 0.89, 1.56),
        "MLP": (0.49, 0.82, 0.63, 1.78), "DenseNet": (0.52, 0.99, 0.98, 0.98),
        "ResNet": (0.51, 0.99, 0.97, 1.01),
    },
    ("fashion-mnist", "mixed", "nominal"): {
        "average": (0.88, 0.96, None, 0.35), "CNN": (0.90, 0.97, None, 0.38),
        "MLP": (0.82, 0.93, None, 0.69), "DenseNet": (0.90, 0.98, None, 0.22),
        "ResNet": (0.92, 0.98, None, 0.12),
    },
    ("fashion-mnist", "clean", "ambiguous"): {
        "average": (0.32, 0.49, 0.14, 1.05), "CNN": (0.32, 0.51, 0.17, 1.51),
        "MLP": (0.32, 0.50, 0.13, 1.23), "DenseNet": (0.28, 0.44, 0.12, 0.71),
        "ResNet": (0.36, 0.50, 0.12, 0.76),
    },
    ("fashion-mnist", "clean", "nominal"): {
        "average": (0.88, 0.97, None, 0.33), "CNN": (0.90, 0.98, None, 0.39),
        "MLP": (0.83, 0.94, None, 0.57), "DenseNet": (0.89, 0.97, None, 0.23),
        "ResNet": (0.92, 0.98, None, 0.15),
    },
    ("mnist", "mixed", "ambiguous"): {
        "average": (0.53, 0.98, 0.95, 1.22), "CNN": (0.54, 0.99, 0.98, 1.48),
        "MLP": (0.53, 0.94, 0.86, 1.45), "DenseNet": (0.53, 1.00, 1.00, 0.96),
        "ResNet": (0.53, 0.99, 0.99, 0.99),
    },
    ("mnist", "mixed", "nominal"): {
        "average": (0.97, 0.99, None, 0.15), "CNN": (0.99, 1.00, None, 0.06),
        "MLP": (0.91, 0.96, None, 0.49), "DenseNet": (0.99, 1.00, None, 0.02),
        "ResNet": (0.99, 1.00, None, 0.02),
    },
    ("mnist", "clean", "ambiguous"): {
        "average": (0.42, 0.64, 0.32, 0.73), "CNN": (0.47, 0.73, 0.46, 1.07),
        "MLP": (0.45, 0.70, 0.43, 1.10), "DenseNet": (0.35, 0.53, 0.20, 0.31),
        "ResNet": (0.42, 0.59, 0.21, 0.43),
    },
    ("mnist", "clean", "nominal"): {
        "average": (0.97, 0.99, None, 0.10), "CNN": (0.99, 1.00, None, 0.04),
        "MLP": (0.92, 0.97, None, 0.34), "DenseNet": (0.99, 1.00, None, 0.03),
        "ResNet": (0.99, 1.00, None, 0.02),
    },
    (BASELINE, "mixed", "ambiguous"): {
        "average": (0.72, 0.91, None, 0.88), "CNN": (0.77, 0.93, None, 0.87),
        "MLP": (0.63, 0.86, None, 1.31), "DenseNet": (0.75, 0.93, None, 0.67),
        "ResNet": (0.76, 0.92, None, 0.67),
    },
    (BASELINE, "mixed", "nominal"): {
        "average": (0.97, 0.99, None, 0.12), "CNN": (0.99, 1.00, None, 0.04),
        "MLP": (0.92, 0.97, None, 0.37), "DenseNet": (0.99, 1.00, None, 0.03),
        "ResNet": (0.99, 1.00, None, 0.03),
    },
    (BASELINE, "clean", "ambiguous"): {
        "average": (0.65, 0.85, None, 0.68), "CNN": (0.77, 0.93, None, 0.81),
        "MLP": (0.56, 0.80, None, 1.16), "DenseNet": (0.58, 0.83, None, 0.34),
        "ResNet": (0.67, 0.83, None, 0.41),
    },
    (BASELINE, "clean", "nominal"): {
        "average": (0.97, 0.99, None, 0.11), "CNN": (0.99, 1.00, None, 0.03),
        "MLP": (0.92, 0.97, None, 0.36), "DenseNet": (0.98, 1.00, None, 0.04),
        "ResNet": (0.99, 1.00, None, 0.02),
    },
}  # fmt: skip
# Soft labels and softmax predictions of the worked example; top-pair accuracy is 5 / 7.
TABLE_3: tuple[list[list[float]], list[list[float]]] = (
    [
        [0, 0.4, 0, 0.6, 0], [0.45, 0, 0.55, 0, 0], [0, 0.3, 0, 0.7, 0], [0.35, 0, 0, 0.65, 0],
        [0, 0, 0.5, 0, 0.5], [0.2, 0, 0, 0.8, 0], [0, 0.4, 0, 0, 0.6],
    ],
    [
        [0.1, 0.45, 0.05, 0.25, 0.15], [0.4, 0.45, 0.1, 0.02, 0.03], [0.03, 0.6, 0.2, 0.1, 0.07],
        [0.45, 0.05, 0.1, 0.35, 0.05], [0.06, 0.07, 0.3, 0.2, 0.37], [0.3, 0.03, 0.02, 0.6, 0.05],
        [0.1, 0.35, 0.06, 0.04, 0.45],
    ],
)  # fmt: skip

SECTION_6_2: tuple[tuple[tuple[str, str, str], str, float], ...] = (
    (("mnist", "mixed", "nominal"), "top1", 0.9698),
    (("mnist", "clean", "nominal"), "top1", 0.9742),
    (("fashion-mnist", "mixed", "nominal"), "top1", 0.8843),
    (("fashion-mnist", "clean", "nominal"), "top1", 0.8837),
    (("mnist", "mixed", "ambiguous"), "top_pair", 0.9537),
    (("fashion-mnist", "mixed", "ambiguous"), "top_pair", 0.8671),
    (("mnist", "mixed", "ambiguous"), "top1", 0.5331),
    ((BASELINE, "mixed", "ambiguous"), "top1", 0.7250),
    (("mnist", "mixed", "ambiguous"), "top2", 0.9799),
    ((BASELINE, "mixed", "ambiguous"), "top2", 0.9093),
    ((BASELINE, "mixed", "ambiguous"), "entropy", 0.88),
    (("mnist", "mixed", "ambiguous"), "entropy", 1.22),
)
"""Numbers of the text of Section 6.2 and the cell of Table 1 that each belongs to."""
