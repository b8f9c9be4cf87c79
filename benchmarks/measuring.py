"""CPU seconds, ratios with intervals, growth with size, and what the machine itself can do."""

import importlib
import importlib.metadata
import os
import platform
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import t as student


def cpu(function: Callable[[], Any]) -> tuple[Any, float]:
    """The value of a call and its CPU seconds (user and system, this process)."""
    started = time.process_time()
    value = function()
    return value, time.process_time() - started


def interval(values: Sequence[float], confidence: float = 0.95) -> tuple[float, float, float]:
    """Geometric mean of positive numbers with its t interval on the log scale."""
    logs = np.log(np.asarray(values, dtype=float))
    middle = float(logs.mean())
    if len(logs) < 2:
        return float(np.exp(middle)), float("nan"), float("nan")
    half = float(student.ppf((1 + confidence) / 2, len(logs) - 1) * logs.std(ddof=1))
    half /= float(np.sqrt(len(logs)))
    return tuple(float(np.exp(v)) for v in (middle, middle - half, middle + half))


def side_by_side(
    ours: Callable[[], Any], peer: Callable[[], Any], repeats: int
) -> tuple[Any, Any, dict[str, Any]]:
    """Both in turn, ``repeats`` times: the last values, and seconds and ratio with interval."""
    ours(), peer()  # imports and caches are nobody's work
    own, other = [], []
    for _ in range(repeats):
        mine, seconds = cpu(ours)
        own.append(seconds)
        theirs, seconds = cpu(peer)
        other.append(seconds)
    ratio, low, high = interval(np.array(other) / np.maximum(own, 1e-6))
    record = {"ours_cpu_s": float(np.median(own)), "peer_cpu_s": float(np.median(other)),
              "ours_interval": interval(own)[1:],
              "ratio": ratio, "low": low, "high": high, "repeats": repeats}  # fmt: skip
    return mine, theirs, record


def exponent(sizes: Sequence[float], seconds: Sequence[float]) -> tuple[float, float, float]:
    """Slope of log seconds on log size with its 95 % interval."""
    x, y = np.log(np.asarray(sizes, float)), np.log(np.asarray(seconds, float))
    centred = x - x.mean()
    slope = float(centred @ y / (centred @ centred))
    rest = y - y.mean() - slope * centred
    free = len(x) - 2
    if free < 1:
        return slope, float("nan"), float("nan")
    error = float(np.sqrt((rest @ rest) / free / (centred @ centred)))
    half = float(student.ppf(0.975, free)) * error
    return slope, slope - half, slope + half


def machine() -> dict[str, Any]:
    """What a time means: processor, memory bandwidth, speed of a matrix product."""
    block = np.ones(32 << 20)  # 256 MiB of float64: larger than any cache
    block.sum()
    read = min(cpu(block.sum)[1] for _ in range(3))
    del block
    left = np.ones((1500, 1500), dtype=np.float32)
    product = min(cpu(lambda: left @ left)[1] for _ in range(3))
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "load_average": round(os.getloadavg()[0], 1),
        "read_bytes_per_s": (256 << 20) / read,
        "float32_flops_per_s": 2 * 1500**3 / product,
        "python": platform.python_version(),
    }


def _processor() -> str:
    listed = Path("/proc/cpuinfo")
    if listed.exists():
        for line in listed.read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or "unknown"


def stamp(packages: Sequence[str]) -> dict[str, Any]:
    """Date, machine and versions: what every table of times must carry."""
    versions = {}
    for name in packages:
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found = importlib.import_module(name) if find_spec(name) else None
            versions[name] = getattr(found, "__version__", "not installed")
    today = datetime.now(UTC).date().isoformat()
    return {"date": today, "machine": machine(), "versions": versions}
