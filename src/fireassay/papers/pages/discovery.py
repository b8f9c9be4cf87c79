"""Bennette et al., adversarial distance: Figs. 1 to 9, Table I and the claims about searches."""

import math
import statistics
from typing import Any

from fireassay.papers.pages.discovery_claims import (
    LABELS,
    OWN,
    PUBLISHED,
    Models,
    accuracies,
    at_the_end,
    confidence_text,
    falls,
    finds_more,
    leads,
    like_random,
    lower_confidence,
    mean_of,
    means_text,
    more_than_random,
    near_accuracies,
    others_near_one,
    overconfidence_text,
    overconfident,
    similar,
    twice_on_bias,
)
from fireassay.papers.pages.section import Claim, Ladder, Results, Row, Section, not_run
from fireassay.papers.verdicts import (
    above,
    decided,
    together,
)
from fireassay.statistics.counts import clopper_pearson

COMMAND = "studies/discovery_errors.py"

ARCHIVE = "studies/authors_archives.py"

KINDS = ("bias", "shift", "overfitting")

# What the paper did not compare cannot lead there.
BEYOND = ("facility-location", "twin-trees")

_CANDIDATES, _REPLICATIONS = 2_000, 1_000

_QUERIES = 25_000  # 1,000 steps of the boundary attack, up to 25 directions each


def section(results: Results) -> Section:
    """The section from the stored searches of each kind of error."""
    found: Models = {
        kind: [m for i in range(10) if (m := results(f"discovery/{kind}-{i}"))] for kind in KINDS
    }
    found = {kind: models for kind, models in found.items() if models}
    archive = results("authors_archives").get("discovery", {})
    title = "Bennette et al., adversarial distance (discovery)"
    if not found:
        return Section(title, [not_run("Figs. 2–7", "searches", COMMAND, "figures")], [])
    differs = setting(found)
    figures = (
        ("Fig. 3", "spread at 50 labels", "all similar", "spread", similar(found, differs)),
        ("Fig. 4", "SDR at 50 labels", "adversarial distance highest", "sdr",
         leads(found, "sdr", (OWN,), differs)),
        ("Fig. 5", "Bansal and Weld's utility", "their search and low confidence highest",
         "utility", leads(found, "utility", ("bansal-weld", "low-confidence"), differs)),
        ("Fig. 6", "errors found with 50 labels", "low confidence and Bansal and Weld highest",
         "errors", leads(found, "errors", ("bansal-weld", "low-confidence"), differs)),
    )  # fmt: skip
    rows = [
        *cloud_row(found, differs),
        Row(
            "Table I", "accuracy on validation and test images", COMMAND,
            _accuracies(PUBLISHED), _accuracies(accuracies(found)), near_accuracies(found, differs),
        ),
        Row(
            "Fig. 2", "classifiers and their overconfidence", COMMAND,
            "overconfident, each to its own degree", overconfidence_text(found),
            overconfident(found, differs), "papers/discovery_fig_2.svg",
        ),
        *(
            Row(item, shows, COMMAND, theirs, means_text(found, number), verdict,
                f"papers/discovery_{item.lower().replace('. ', '_')}.svg")
            for item, shows, theirs, number, verdict in figures
        ),
        Row(
            "Fig. 7", "confidence of the sampled rows", COMMAND,
            "low confidence lower; adversarial distance as random", confidence_text(found),
            lower_confidence(found, differs), "papers/discovery_fig_7.svg",
        ),
        superpixel_row(results("superpixels")),
        light_row(results("discovery_superpixels"), differs),
    ]  # fmt: skip
    rows += archive_rows(archive)
    claims = [
        Claim("Adversarial distance finds errors at a rate above that expected (SDR > 1).",
              "Section V-C, Fig. 4",
              finds_more(found, OWN, differs), {}),
        Claim("It samples at the confidence of random search and finds more errors.",
              "Section VI-A, Figs. 6, 7",
              more_than_random(found, differs), {}),
        Claim("On the biased classifier it finds more than twice the errors expected with 50 "
              "labels (four times with 20).", "Section V-C", twice_on_bias(found, differs), {}),
        Claim("Bansal and Weld's search has an SDR like that of random search.",
              "Section VI-A",
              like_random(found, differs), {}),
        Claim("Its SDR falls as more labels are asked for.", "Section V-C, Fig. 4",
              falls(found, differs), {}),
        Claim("On a classifier that is well calibrated the other searches have SDR near 1.",
              "Section V-C, Fig. 4",
              others_near_one(found, differs),
              {"agrees": "Every search looks good on an overconfident classifier: "
                                "compare with random search, not with 1."}),
    ]  # fmt: skip
    seconds = sum(m.get("cpu_seconds", 0.0) for models in found.values() for m in models)
    seconds += float(archive.get("cpu_seconds", 0.0))
    return Section(
        title, rows, claims, seconds, settings=(differs,),
        ladders=[*archive_ladder(archive), *default_search(found, results("discovery_regret"))],
        price="18 CPU hours by `--boundary 25000`; splits and networks not obtained: "
        "github.com/afri-ri/adversarialDistance was searched",
    )  # fmt: skip


def archive_rows(archive: dict[str, Any]) -> list[Row]:
    """SDR on the authors' early file, raw and after temperature scaling."""
    if not archive:
        return []
    rows = []
    for kind, differs in (
        ("raw", "an early, uncalibrated network of theirs, half of its 5,058 rows"),
        ("scaled", "the same, temperature scaled here on the other half of its rows"),
    ):
        own = archive[kind]
        at = own["expected of 50"]["adversarial distance"]
        errors = own["errors of 50"]["adversarial distance"]
        low, high = (end * LABELS / at for end in clopper_pearson(errors, LABELS))
        told = ", ".join(f"{name} {value:.2f}" for name, value in own["sdr"].items())
        held = None if low <= 2 <= high else low > 2
        rows.append(
            Row(
                f"Fig. 4, cats and dogs, {kind}", "SDR at 50 labels", ARCHIVE,
                "adversarial distance above 2, the others near 1", told,
                decided(held, f"{errors / at:.2f} [{low:.2f}, {high:.2f}], said to be above 2",
                        differs),
            )
        )  # fmt: skip
    return rows


def archive_ladder(archive: dict[str, Any]) -> list[Ladder]:
    """What calibration takes from the ratio of every search."""
    if not archive:
        return []
    raw, scaled = (archive[kind]["sdr"] for kind in ("raw", "scaled"))
    return [
        Ladder(
            "SDR at 50 labels on their early file of cats and dogs",
            (
                "above 2 as printed (calibrated network, not published)",
                (
                    f"{raw['adversarial distance']:.2f} on the file as it is (random search "
                    f"{raw['random']:.2f})"
                ),
                (
                    f"{scaled['adversarial distance']:.2f} after temperature scaling (random "
                    f"{scaled['random']:.2f})"
                ),
                "compare with random search, not with 1",
            ),
        )
    ]


def default_search(found: Models, small: list[dict[str, Any]]) -> list[Ladder]:
    """Errors with 50 labels by fireassay's default search: in these networks, and in small ones."""
    steps = {}
    for kind, models in found.items():
        if all("twin-trees" in m["curves"] for m in models):
            names = ("random", OWN, "low-confidence", "twin-trees")
            own = {name: mean_of(at_the_end(models, name, "errors")) for name in names}
            steps[f"{kind}, the networks above"] = [f"{n} {own[n]:.1f}" for n in names]
    for kind in found:
        told = {
            line["search"]: f"{line['search']} {line['mean']:.1f} ± {line['half']:.1f}"
            for line in small
            if (line["world"], line["known"], line["budget"]) == (kind, 200, LABELS)
        }
        asked = ("random", "adversarial-distance", "low-confidence", "twin-trees")
        if told:
            place = f"{kind} in a small network, `benchmarks/discovery_regret.py`"
            steps[place] = [told[name] for name in asked if name in told]
    return [Ladder(f"Errors found with 50 labels, {kind}", own) for kind, own in steps.items()]


def cloud_row(found: Models, differs: str) -> list[Row]:
    """Fig. 1: the surer a model is, the larger the perturbation that changes its answer."""
    clouds = {kind: models[0]["cloud"] for kind, models in found.items() if "cloud" in models[0]}
    if not clouds:
        return []
    found_at = {kind: correlated(own["confidence"], own["log_mae"]) for kind, own in clouds.items()}
    differs = with_hopskipjump(found, differs)
    told = ", ".join(f"{kind} {value:.2f}" for kind, (value, *_) in found_at.items())
    return [
        Row("Fig. 1", "perturbation against confidence", COMMAND, "a curve that rises",
            f"correlation: {told}", above(found_at, 0.0, differs), "papers/discovery_fig_1.svg")
    ]  # fmt: skip


def correlated(one: list[float], other: list[float]) -> tuple[float, float, float]:
    """Correlation with Fisher's 95 % interval.

    >>> [round(value, 2) for value in correlated([1, 2, 3, 4, 5, 6], [1, 3, 2, 5, 4, 6])]
    [0.89, 0.26, 0.99]
    """
    value = statistics.correlation(one, other)
    arm = 1.96 / math.sqrt(len(one) - 3)
    return value, math.tanh(math.atanh(value) - arm), math.tanh(math.atanh(value) + arm)


def setting(found: Models) -> str:
    """In what the runs differ: the image sets always, the sizes where they do."""
    every = [m for models in found.values() for m in models]
    images = " and ".join(dict.fromkeys(m["data"] for m in every))
    said = [f"the same mechanisms in other images ({images})"]
    fewest = min(m["images"] for m in every)
    if fewest < _CANDIDATES:
        said.append(f"{fewest:,} to {max(m['images'] for m in every):,} candidates, not 2,000")
    queries = min(m["queries"]["boundary"] for m in every)
    if queries < _QUERIES:
        said.append(f"boundary attacks of {queries:,} queries, theirs of up to {_QUERIES:,}")
    replications = min(m.get("replications", 100) for m in every)
    if replications < _REPLICATIONS:
        said.append(f"{replications:,} replications, not 1,000")
    return ", ".join(said)


def with_hopskipjump(found: Models, differs: str) -> str:
    """The setting of what was measured by this product's usual attack."""
    queries = min(m["queries"]["hopskipjump"] for models in found.values() for m in models)
    return together(differs, f"HopSkipJump of {queries:,} queries")


def _accuracies(values: dict[str, tuple[float, float]]) -> str:
    return "; ".join(f"{kind} {both[0]:.2f}, {both[1]:.2f}" for kind, both in values.items())


def superpixel_row(found: dict[str, Any]) -> Row:
    """Figs. 8 and 9: the surrogate on a model whose important region is known."""
    item, shows = "Figs. 8, 9", "superpixels that lead to an error"
    command, theirs = "studies/superpixels.py", "light fur and background, by LIME"
    if not found:
        return not_run(item, shows, command, theirs)
    hits, tried = found["hits"], found["images"]
    verdict = decided(
        hits >= 0.9 * tried if tried else None,
        f"the known region is the heaviest segment in {hits} of {tried}",
        "a model whose important region is known, and our images",
    )
    return Row(
        item, shows, command, theirs, f"{tried} images", verdict, "papers/discovery_fig_8.svg"
    )


def light_row(found: dict[str, Any], differs: str) -> Row:
    """Figs. 8 and 9 on our errors: is the heaviest superpixel lighter than its image?"""
    item, shows = "Figs. 8, 9, errors", "superpixels of the first errors that were found"
    theirs = "light superpixels, where no dark cat was learnt"
    bias = [m for m in found.get("models", []) if m["kind"] == "bias"]
    tried = sum(m["errors"] for m in bias)
    if not tried:
        return not_run(item, shows, COMMAND, theirs)
    hits = sum(m["heaviest superpixel lighter than its image"] for m in bias)
    light = sum(m["lighter than the median candidate"] for m in bias)
    low, high = clopper_pearson(hits, tried)
    held = True if low > 0.5 else False if high < 0.5 else None
    told = f"lighter in {hits} of {tried}, {hits / tried:.2f} [{low:.2f}, {high:.2f}]"
    ours = f"{light} of {tried} errors lighter than the median candidate"
    return Row(item, shows, COMMAND, theirs, ours, decided(held, told, differs))
