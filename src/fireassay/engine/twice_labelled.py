"""Items of a label book that two people have answered: how often they differ."""

from pathlib import Path

from fireassay.engine.label_book import BOOK, LabelBook

_SAID = """
SELECT queue, item, annotator, choice FROM answers
WHERE undone IS NULL AND kind = 'answer' AND choice >= 0 ORDER BY number
"""


def twice_labelled(run: str | Path) -> tuple[int, int]:
    """Items with two different answers, of how many that two people have answered.

    Parameters
    ----------
    run
        The folder of the label book; none there: nothing was answered twice.

    Notes
    -----
    The latest answer of each person counts, and of more than two people the first two; "cannot
    tell" and "other" are no answers.

    >>> twice_labelled("no-such-folder")
    (0, 0)
    """
    if not (Path(run) / BOOK).is_file():
        return 0, 0
    given: dict[tuple[str, int], dict[str, int]] = {}
    with LabelBook(run) as book:
        for queue, item, annotator, choice in book.reading(lambda c: c.execute(_SAID).fetchall()):
            given.setdefault((queue, item), {})[annotator] = choice
    pairs = [list(answers.values())[:2] for answers in given.values() if len(answers) > 1]
    return sum(one != other for one, other in pairs), len(pairs)
