"""BibTeX of a run: the tool and each paper once."""

from fireassay.report.bom import bibtex


def test_two_questions_of_one_paper_cite_it_once() -> None:
    assert bibtex(["supervision"]).count("@") == 2
    assert bibtex(["supervision", "ambiguity"]).count("@") == 2
