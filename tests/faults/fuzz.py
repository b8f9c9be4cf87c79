"""Every reader of untrusted bytes, N damaged contents each.

    python tests/faults/fuzz.py N [READER …]

Prints for each reader how many contents were read, refused, and the peak of memory; anything but a
value or an error that fireassay means ends it with that content in a file.
"""

import importlib.util
import random
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

from fireassay.core import FireassayError

HERE = Path(__file__).resolve().parent
NUMBERS = (b"-1", b"1e999", b"NaN", b"9" * 30, b"\xff" * 4, b"[" * 99)


def readers() -> dict[str, tuple[Any, bytes]]:
    """Those of data, and those of models, settings and journals."""
    found: dict[str, tuple[Any, bytes]] = {}
    for path in (HERE.parent / "data" / "test_fuzz.py", HERE / "test_fuzz_models.py"):
        spec = importlib.util.spec_from_file_location(path.stem, path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        found |= module.READERS
    return found


def damaged(content: bytes, chance: random.Random) -> bytes:
    """The content with up to four changes, or bytes that never were one."""
    if chance.random() < 0.1:
        return chance.randbytes(chance.randrange(200))
    found = bytearray(content)
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(max(1, len(found)))
        how = chance.randrange(6)
        if how == 0 and found:
            found[at] ^= 1 << chance.randrange(8)
        elif how == 1:
            del found[at:]
        elif how == 2:
            del found[at : at + chance.randint(1, 16)]
        elif how == 3:
            found[at:at] = found[at : at + 32] * chance.randint(1, 20)
        elif how == 4:
            found[at:at] = chance.randbytes(chance.randrange(12))
        else:
            huge = chance.choice(NUMBERS)
            found[at : at + len(huge)] = huge
    return bytes(found)


def peak_mib() -> float:
    """The most memory that this process has held."""
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) / 1024 for line in status if line.startswith("VmHWM"))


def say(line: str) -> None:
    """At once, so that a crash is known by the reader it happened in."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def main() -> None:
    """Try them all, and print a table."""
    count, known = int(sys.argv[1]), readers()
    warnings.simplefilter("ignore")
    say(f"{'reader':<16}{'read':>7}{'refused':>9}{'slowest s':>11}{'peak MiB':>10}")
    for name in sys.argv[2:] or known:
        read, sound = known[name]
        chance, fine, refused, slowest = random.Random(name), 0, 0, 0.0
        with tempfile.TemporaryDirectory() as folder:
            for _ in range(count):
                content = damaged(sound, chance)
                began = time.process_time()
                try:
                    read(Path(folder), content)
                    fine += 1
                except FireassayError:
                    refused += 1
                except BaseException:
                    kept = Path(tempfile.gettempdir()) / f"fuzzed-{name.replace(' ', '-')}"
                    kept.write_bytes(content)
                    say(f"{name}: not meant, with {kept}")
                    raise
                slowest = max(slowest, time.process_time() - began)
        say(f"{name:<16}{fine:>7}{refused:>9}{slowest:>11.2f}{peak_mib():>10.0f}")


if __name__ == "__main__":
    main()
