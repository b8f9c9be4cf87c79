"""Supervisors: which runtime monitor catches which kind of trouble, at what threshold."""

from fireassay.supervision.alarm_threshold import AlarmRule, alarm_rule
from fireassay.supervision.dsa import dsa_scores
from fireassay.supervision.lsa import lsa_scores
from fireassay.supervision.mdsa import mdsa_scores
from fireassay.supervision.reading import Reading, SampleSummary
from fireassay.supervision.registry import TABLE, make, names
from fireassay.supervision.storage import load
from fireassay.supervision.supervisor import NotAvailableError, Supervisor

__all__ = [
    "TABLE",
    "AlarmRule",
    "NotAvailableError",
    "Reading",
    "SampleSummary",
    "Supervisor",
    "alarm_rule",
    "dsa_scores",
    "load",
    "lsa_scores",
    "make",
    "mdsa_scores",
    "names",
]
