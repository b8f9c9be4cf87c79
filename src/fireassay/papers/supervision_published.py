"""Table 2 of the supervision paper, as printed."""

KINDS = ("ambiguous", "adversarial", "corrupted", "invalid")
# Weiss and Tonella, Table 2: MNIST, then Fashion-MNIST, in the order of KINDS.
PUBLISHED: dict[str, tuple[float | None, ...]] = {
    "max-softmax": (0.96, 0.79, 0.78, 0.79, 0.91, 0.61, 0.71, 0.73),
    "pcs": (0.96, 0.79, 0.78, 0.79, 0.91, 0.61, 0.70, 0.72),
    "softmax-entropy": (0.97, 0.79, 0.78, 0.79, 0.92, 0.61, 0.72, 0.74),
    "deep-gini": (0.96, 0.79, 0.78, 0.79, 0.92, 0.61, 0.71, 0.73),
    "mc-dropout-variation-ratio": (0.79, 0.69, 0.65, 0.72, 0.76, 0.62, 0.66, 0.72),
    "mc-dropout-mean-softmax": (0.96, 0.79, 0.80, 0.80, 0.91, 0.61, 0.73, 0.77),
    "mc-dropout-mutual-information": (0.87, 0.78, 0.81, 0.83, 0.73, 0.61, 0.78, 0.86),
    "mc-dropout-predictive-entropy": (0.96, 0.79, 0.80, 0.80, 0.91, 0.61, 0.74, 0.79),
    "ensemble-mean-softmax": (0.97, None, 0.84, 0.85, 0.90, None, 0.75, 0.64),
    "ensemble-mutual-information": (0.84, None, 0.84, 0.88, 0.57, None, 0.76, 0.70),
    "ensemble-predictive-entropy": (0.97, None, 0.83, 0.84, 0.89, None, 0.77, 0.66),
    "dissector": (0.95, 0.79, 0.76, 0.79, 0.88, 0.68, 0.72, 0.75),
    "dsa": (0.48, 0.93, 0.87, 0.98, 0.31, 0.85, 0.85, 0.90),
    "lsa": (0.17, 0.78, 0.73, 0.77, 0.16, 0.75, 0.74, 0.86),
    "mdsa": (0.31, 0.94, 0.87, 0.98, 0.32, 0.86, 0.83, 0.95),
    "autoencoder": (0.62, 0.95, 0.84, 1.00, 0.53, 0.80, 0.77, 0.49),
}
