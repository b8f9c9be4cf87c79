"""Every reader of untrusted bytes, N damaged contents each.

    python tests/faults/fuzz.py N [READER …]

Prints for each reader how many contents were read and refused, the slowest, and how much the peak
of memory has grown. Anything but a value or an error that fireassay means ends it, with that
content in a file, and so does a content that takes too long or too much memory.
"""

import random
import resource
import sys
import tempfile
import time
import warnings
from pathlib import Path

import fuzz_data_readers
import fuzz_readers

from fireassay.core import FireassayError

READERS = fuzz_data_readers.READERS | fuzz_readers.READERS
SECONDS = 20.0
MOST_MIB = 400
NUMBERS = (b"-1", b"1e999", b"NaN", b"9" * 30, b"\xff" * 4, b"[" * 99)


def damaged(content: bytes, chance: random.Random) -> bytes:
    """The content with up to four changes, or bytes that never were one."""
    if chance.random() < 0.1:
        return bytes(chance.randrange(256) for _ in range(chance.randrange(200)))
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
            found[at:at] = bytes(chance.randrange(256) for _ in range(chance.randrange(12)))
        else:
            huge = chance.choice(NUMBERS)
            found[at : at + len(huge)] = huge
    return bytes(found)


def is_read(name: str, folder: Path, content: bytes) -> bool:
    """Whether a reader takes the content, or refuses it with an error that is meant."""
    began = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            READERS[name][0](folder, content)
        except FireassayError:
            return False
        finally:
            assert time.process_time() - began < SECONDS, "it takes too long"
    return True


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
    resource.setrlimit(resource.RLIMIT_AS, (16 * 2**30, 16 * 2**30))
    count, names = int(sys.argv[1]), sys.argv[2:] or list(READERS)
    total = [0, 0]
    say(f"{'reader':<16}{'read':>7}{'refused':>9}{'seconds':>9}{'slowest':>9}{'more MiB':>10}")
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            is_read(name, Path(folder), READERS[name][1])  # its libraries are loaded now
            chance, fine, slowest = random.Random(name), 0, 0.0
            before, start = peak_mib(), time.process_time()
            for _ in range(count):
                content = damaged(READERS[name][1], chance)
                began = time.process_time()
                try:
                    fine += is_read(name, Path(folder), content)
                except BaseException:
                    kept = Path(tempfile.gettempdir()) / f"fuzzed-{name.replace(' ', '-')}"
                    kept.write_bytes(content)
                    say(f"{name}: not meant, with {kept}")
                    raise
                slowest = max(slowest, time.process_time() - began)
        spent, grown = time.process_time() - start, peak_mib() - before
        assert grown < MOST_MIB, f"{name} took {grown:.0f} MiB more"
        say(f"{name:<16}{fine:>7}{count - fine:>9}{spent:>9.1f}{slowest:>9.2f}{grown:>10.0f}")
        total = [total[0] + fine, total[1] + count - fine]
    found = f"{total[0]} read, {total[1]} refused, 0 else"
    say(f"{sum(total)} contents for {len(names)} readers: {found}")


if __name__ == "__main__":
    main()
