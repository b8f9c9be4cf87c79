"""Judge a run's gates, counting how often its labels were judged before."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fireassay.assessment.looks import LookLedger, fraction, looks_at
from fireassay.assessment.run_folder import configuration, labelled_rows, project_folder
from fireassay.report import Gate, Report, Verdict


@dataclass(frozen=True)
class Judged:
    """A verdict, and how often these labels were judged.

    Attributes
    ----------
    verdict
        With each number at what is left of its error probability.
    looks
        For each gate's number which look at these labels this one is.
    """

    verdict: Verdict
    looks: dict[str, int]


def judge_run(
    run: Path, report: Report, gates: Sequence[Gate], *, strict: bool = False, spend: bool = False
) -> Judged:
    """Judge a run and note it in the project's ledger of looks.

    Parameters
    ----------
    run, report
        The folder, and what `read_report` gives for it.
    gates
        With the full names of their numbers.
    strict
        Let undecided gates fail.
    spend
        Share the error probability of each number among the looks, also where the configuration
        has no ``[gates] looks``.
    """
    sketch, config = labelled_rows(run), configuration(run)
    if sketch is None:
        return Judged(report.verdict(gates, strict=strict), {})
    planned = None if config is None else config.gates.looks
    ledger = LookLedger(project_folder(run))
    looks = looks_at(ledger, sketch, gates, report.parts)
    numbers = {gate.number: look for gate, _, look in looks}
    report.fractions = {}
    if spend or planned is not None:
        report.fractions = {number: fraction(look, planned) for number, look in numbers.items()}
    verdict = report.verdict(gates, strict=strict)
    if looks:
        ledger.note(sketch, [(gate, part) for gate, part, _ in looks])
    return Judged(verdict, numbers)
