"""The MNIST row of Table 1 on the authors' own network: rows and the steps of its correction."""

from typing import Any

from fireassay.papers.pages.section import Ladder, Row, not_run
from fireassay.papers.verdicts import PaperVerdict, near

COMMAND = "studies/reliability_authors_mnist.py"
_RELATIVE, _SEPARATION = 0.1, 0.02
_ROUNDED = 5e-5


def authors_rows(row: dict[str, Any]) -> list[Row]:
    """Errors, number of cells, ACU and E as published, on their network and autoencoder."""
    if not row:
        return [not_run("Table 1, MNIST", "ACU, E", COMMAND, "0.107, 0.037")]
    printed = row["published"]
    rows = [
        _row(name, printed[name], f"{row[name]:.4f}",
             near(row[name], printed[name], _ROUNDED, (row[name], row[name])), "{:.4f}")
        for name in ("training error", "test error")
    ]  # fmt: skip
    apart, r = row["separation"], printed["r"]
    rows.append(
        _row("r-separation", r, f"{apart:.4f} (half the latent distance of two classes)",
             near(apart, r, _SEPARATION * r, (apart, apart)), "{:.4f}")
    )  # fmt: skip
    cells = row["cells"]
    counted = near(cells, printed["cells"], 0.001 * printed["cells"], (cells, cells))
    counted = PaperVerdict(counted.finding, f"{cells:,}, printed the top {printed['cells']:,}")
    rows.append(_row("cells", printed["cells"], f"{cells:,}", counted, "{:,}"))
    for name in ("ACU", "E"):
        value, low, high = row[f"{name}, 10**ln p"]
        verdict = near(value, printed[name], _RELATIVE * printed[name], (low, high))
        told = PaperVerdict(verdict.finding, f"{value:.4f} [{low:.4f}, {high:.4f}]")
        rows.append(_row(f"{name}, as published", printed[name], f"{value:.4f}", told, "{:.4f}"))
    return rows


def authors_acu(row: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """ACU with the right logarithm beside the test error."""
    return {"mnist": row | {"ACU": row["ACU, exp"][0]}} if row else {}


def _row(name: str, printed: float, ours: str, verdict: PaperVerdict, form: str) -> Row:
    return Row(f"Table 1, MNIST, {name}", "their network and VAE", COMMAND, form.format(printed),
               ours, verdict)  # fmt: skip


def authors_ladder(row: dict[str, Any]) -> list[Ladder]:
    """From the printed ACU to a bound, one fault removed at a time."""
    if not row:
        return []
    coded, right = ("{:.3f} [{:.3f}, {:.3f}]".format(*row[f"ACU, {base}"])
                    for base in ("10**ln p", "exp"))  # fmt: skip
    weighted = "{:.3f} [{:.3f}, {:.3f}]".format(*row["E, exp"])
    decoded = row["wrong after decoding"] / row["test rows"]
    beside = (
        f"{row['cells']:,} cells hold {row['their mass']:.2g} of the mass, and the network errs in "
        f"{decoded:.3f} of test images that were only encoded and decoded"
    )
    return [
        Ladder(
            "Table 1, MNIST, ACU",
            (
                f"{row['published']['ACU']:.3f} as printed",
                f"{coded} rerun with their `10**ln p`",
                f"{right} with `exp(ln p)` (E {weighted}, printed {row['published']['E']:.3f})",
                beside,
                f"{row['Clopper-Pearson 97.5 %']:.4f}, a 97.5 % bound from the test labels",
            ),
        )
    ]
