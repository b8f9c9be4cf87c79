"""What an earlier run in the same folder found."""

from dataclasses import replace

from fireassay.assessment.part_key import OTHER_ANSWERS, Facts, what_differs
from fireassay.assessment.run_folder import (
    PART_FACTS,
    PART_KEYS,
    PART_SOURCES,
    RESULT,
    as_journalled,
)
from fireassay.core import Evidence
from fireassay.engine import RunStore
from fireassay.report import Report


class EarlierParts:
    """What an earlier run in the same folder found: kept, with what has changed since."""

    def __init__(self, store: RunStore | None) -> None:
        self.store = store
        self.parts: dict[str, Evidence] = {}
        self.keys: dict[str, str] = {} if store is None else store.meta(PART_KEYS, {})
        self.facts: dict[str, Facts] = {} if store is None else store.meta(PART_FACTS, {})
        self.sources: dict[str, Facts] = {} if store is None else store.meta(PART_SOURCES, {})
        if store is not None and (store.path / RESULT).is_file():
            seconds = store.timings()
            for part in Report.from_json(store.path / RESULT).parts:
                taken = seconds.get(self.keys.get(part.question, ""))
                self.parts[part.question] = replace(part, seconds=taken)

    def compare(self, name: str, facts: Facts) -> None:
        """Mark a part whose inputs are no longer those it was made with."""
        if name in self.parts and self.parts[name].status == "done":
            differs = what_differs(self.facts.get(name), facts)
            self.parts[name] = replace(self.parts[name], stale=differs)

    def compare_key(self, name: str, key: str) -> None:
        """Mark a part that took other answers of other parts than it would take now."""
        part = self.parts.get(name)
        if part is not None and part.status == "done" and self.keys.get(name) != key:
            self.parts[name] = replace(part, stale=part.stale or OTHER_ANSWERS)

    def restore(self, name: str) -> None:
        """Give a part that stays its charts and samples back."""
        part, key = self.parts.get(name), self.keys.get(name)
        kept = (
            {} if part is None or key is None or self.store is None else self.store.finished([key])
        )
        if part is not None and key in kept:
            journalled = as_journalled(part, kept[key]["evidence"])
            self.parts[name] = replace(journalled, seconds=part.seconds)
