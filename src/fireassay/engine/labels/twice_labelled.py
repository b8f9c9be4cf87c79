"""Items of a label book that two people have answered: how often they differ."""

from pathlib import Path

from fireassay.engine.labels.book import BOOK, LabelBook

_SAID = """
SELECT queue, item, annotator, choice FROM answers
WHERE undone IS NULL AND kind = 'answer' AND choice >= 0 ORDER BY number
"""


def twice_labelled(run: str | Path) -> tuple[int, int]:
    """Items that their first two annotators label differently, and items with two annotators."""
    # The latest answer of each counts; "cannot tell" and "other" are no answers.
    if not (Path(run) / BOOK).is_file():
        return 0, 0
    given: dict[tuple[str, int], dict[str, int]] = {}
    with LabelBook(run) as book:
        for queue, item, annotator, choice in book.reading(lambda c: c.execute(_SAID).fetchall()):
            given.setdefault((queue, item), {})[annotator] = choice
    pairs = [list(answers.values())[:2] for answers in given.values() if len(answers) > 1]
    return sum(one != other for one, other in pairs), len(pairs)
