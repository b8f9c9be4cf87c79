"""The protocol: limits, decision, unit, parts, settings and seed, fixed before the first look."""

import getpass
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Literal

from fireassay.assessment.config import Config
from fireassay.core import DataError, FireassayError, json_files, sha256
from fireassay.core.files import write_text
from fireassay.core.json_files import read_kept
from fireassay.report import Gate

FILE: Final = "fireassay-protocol.json"
State = Literal["locked", "first look", "exploratory", "broken"]
_SCHEMA: Final = 1
_TERMS: Final = {
    "max": "an upper limit",
    "min": "a lower limit",
    "accept": "an accepted assumption",
    "decision": "the threshold or the costs",
    "unit": "the unit (groups)",
    "parts": "the parts",
    "settings": "the settings",
    "seed": "the seed",
    "about": "[about]",
}


@dataclass(frozen=True)
class Protocol:
    """What was fixed, by whom and when."""

    terms: Mapping[str, Any]  # limits, decision, unit, parts, settings, seed, declarations
    who: str
    when: str
    commit: str = ""  # of git, where there is one
    reason: str = ""
    data: Mapping[str, str] | None = None  # hashes of the files, which join at the first reading
    earlier: tuple[Mapping[str, Any], ...] = ()  # protocols that this one amends, oldest first

    @property
    def sha256(self) -> str:
        """One hash over everything but the data that joins later."""
        return sha256(dict(self.terms), self.who, self.when, self.commit, self.reason, self.earlier)

    @property
    def day(self) -> str:
        """The day of the signature, in words."""
        day = datetime.fromisoformat(self.when)
        return f"{day.day} {day:%B %Y}"

    def document(self) -> dict[str, Any]:
        """Plain types, for the file."""
        own = {"schema": _SCHEMA, **vars(self), "sha256": self.sha256}
        return {**own, "terms": dict(self.terms), "earlier": list(self.earlier)}


@dataclass(frozen=True)
class Lock:
    """Whether limits were fixed before the number was seen, with the sentence that says so."""

    state: State
    text: str


def terms_of(config: Config) -> dict[str, Any]:
    """What a protocol fixes, from a configuration."""
    gates, parts = config.gates, list(config.run.parts)
    return {
        **{side: dict(sorted(limits.items())) for side, limits in gates if side != "looks"},
        "decision": config.decision.model_dump(mode="json"),
        "unit": config.data.model_dump(mode="json").get("group"),
        "parts": parts,
        "settings": {
            name: settings.model_dump(mode="json")
            for name, settings in sorted(config.settings.items())
            if name in parts
        },
        "seed": config.run.seed,
        "about": dict(config.about),
    }


def write_protocol(config: Config, *, amend: bool = False, reason: str = "") -> Protocol:
    """Fix the terms of a configuration; one that is amended is kept inside the new protocol."""
    path = config.folder / FILE
    # An edited protocol can be amended as well: what the file says now is kept, as it is.
    old: Any = json_files.loads(path.read_text(encoding="utf-8")) if path.is_file() else None
    if old is not None and not amend:
        raise FireassayError(
            f"{path} must not exist yet.",
            got="a protocol",
            do='Change the protocol with: fireassay lock --amend --reason "…"',
        )
    if amend and not reason:
        raise FireassayError("An amended protocol needs a reason.", do='Add: --reason "…"')
    earlier = () if old is None else (*old.pop("earlier", ()), old)
    made = Protocol(
        json_files.loads(json_files.dumps(terms_of(config))),
        getpass.getuser(),
        datetime.now(UTC).isoformat(timespec="seconds"),
        _commit(config.folder),
        reason,
        earlier=earlier,
    )
    write_text(path, json_files.dumps(made.document(), indent=2) + "\n")
    return made


def read_protocol(folder: Path) -> Protocol | None:
    """The protocol of a project; None without one, an error if its hash does not fit."""
    path = folder / FILE
    return read_kept(path, lambda kept: _checked(kept, path)) if path.is_file() else None


def join_data(folder: Path, hashes: Mapping[str, str]) -> None:
    """Write the hashes of the data into a protocol that has none yet: the first reading."""
    found = read_protocol(folder)
    if found is not None and found.data is None:
        document = found.document() | {"data": dict(hashes)}
        write_text(folder / FILE, json_files.dumps(document, indent=2) + "\n")


def changes_since(protocol: Protocol, config: Config, data: Mapping[str, str]) -> list[str]:
    """What differs from the protocol now, in words."""
    now = json_files.loads(json_files.dumps(terms_of(config)))
    found = [words for key, words in _TERMS.items() if protocol.terms.get(key) != now[key]]
    if protocol.data is not None:
        names = {*protocol.data, *data}
        found += [f"{n} rows" for n in sorted(names) if protocol.data.get(n) != data.get(n)]
    return found


def lock_of(
    protocol: Protocol | None,
    changed: Sequence[str],
    *,
    at_first: Mapping[str, Any] | None,
    gates: Sequence[Gate],
    tried: Mapping[str, Sequence[float]],
    usual: Mapping[str, str] | None = None,
) -> Lock:
    """Whether these limits were there before the numbers they judge, in a sentence."""
    # ``at_first`` is what the journal noted when the answers were first finished, ``tried`` every
    # limit that was judged on these labels so far, ``usual`` the usual name of a number by the name
    # that a limit gives.
    if protocol is not None and changed:
        return Lock(
            "broken", f"Protocol broken: {', '.join(changed)} changed since {protocol.day}."
        )
    if at_first is None:
        return Lock("first look", "Looks unknown: nobody noted limits when this was first found.")
    fixed = dict(at_first.get("gates", {}))
    locked = protocol is not None and at_first.get("sha256") == protocol.sha256
    if protocol is not None and locked:
        fixed |= {
            f"{side} {name}": limit
            for side in ("max", "min")
            for name, limit in protocol.terms[side].items()
        }
    moved = []
    for gate in gates:
        names = {gate.number, (usual or {}).get(gate.number, gate.number)}
        keys = [f"{gate.direction} {name}" for name in names]
        before = [limit for name, limit in fixed.items() if _any_same(name, keys)]
        others = {v for name, limits in tried.items() if _any_same(name, keys) for v in limits}
        times = len({*others, *before, gate.limit})
        many = f", {times} limits tried" if times > 1 else ""
        if gate.limit not in before or (protocol is None and times > 1):
            moved.append(f"{gate.number} {gate.limit:g}{many}")
    if moved:
        return Lock("exploratory", f"Exploratory: limits set after a look ({'; '.join(moved)}).")
    if protocol is not None and locked:
        amended = f", amended {n} time{'s' * (n > 1)}" if (n := len(protocol.earlier)) else ""
        return Lock("locked", f"Limits locked on {protocol.day}{amended}, before the first look.")
    return Lock("first look", "First look; limits were not locked beforehand.")


def first_limits(noted: Mapping[str, Any], judged: Mapping[str, str]) -> dict[str, Any] | None:
    """What was fixed when each judged part was first finished; None where one was not noted."""
    found = [noted.get(f"{part} {result}") for part, result in judged.items()]
    known = [one for one in found if one is not None]
    if not known or len(known) < len(found):
        return None
    common = set.intersection(*(set(one["gates"].items()) for one in known))
    hashes = {one["sha256"] for one in known}
    return {"gates": dict(common), "sha256": hashes.pop() if len(hashes) == 1 else None}


def note_first(
    noted: Mapping[str, Any], judged: Mapping[str, str], gates: Sequence[Gate], sha: str | None
) -> dict[str, Any]:
    """What was noted, and these limits for each part that is finished for the first time."""
    limits = {f"{gate.direction} {gate.number}": gate.limit for gate in gates}
    new = {f"{part} {result}": {"gates": limits, "sha256": sha} for part, result in judged.items()}
    return {**new, **noted}


def _any_same(one: str, others: Sequence[str]) -> bool:
    return any(_same_number(one, other) for other in others)


def _same_number(one: str, other: str) -> bool:
    """Whether two keys name one number; the part may be left out of a name."""
    (side, name), (other_side, other_name) = one.split(" ", 1), other.split(" ", 1)
    ends = name.endswith(f".{other_name}") or other_name.endswith(f".{name}")
    return side == other_side and (name == other_name or ends)


def _checked(kept: Any, path: Path) -> Protocol:
    if not isinstance(kept, dict) or kept.get("schema") != _SCHEMA:
        raise DataError(f"{path} must be a protocol.", got="another file")
    fields = {name: kept[name] for name in ("terms", "who", "when", "commit", "reason", "data")}
    found = Protocol(**fields, earlier=tuple(kept["earlier"]))
    if found.sha256 != kept.get("sha256"):
        raise DataError(
            f"{path} must be as it was locked.",
            got="a content that its own hash does not fit",
            do='Amend the protocol with: fireassay lock --amend --reason "…"',
        )
    return found


def _commit(folder: Path) -> str:
    """The commit of the project's repository; empty where there is none."""
    told = ["git", "-C", str(folder.resolve()), "rev-parse", "HEAD"]
    try:
        done = subprocess.run(told, capture_output=True, text=True, timeout=10, check=False)  # noqa: S603
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
