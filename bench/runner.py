"""What bench/compare and bench/end_to_end share: building, running one measurement, showing how far."""
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "bench"
# What each peer needs of Debian, apart from what ./test installs: its server, and its C client.
PEER_PACKAGES = {"redis": ["redis-server", "libhiredis-dev"],
                 "rabbitmq": ["rabbitmq-server", "librabbitmq-dev"],
                 "nats": ["nats-server", "libnats-dev"],
                 "postgres": ["postgresql", "libpq-dev"]}


class Failed(Exception):
    """A measurement, or what it needs, did not work; the text says why."""


def install(packages=()):
    """Installs what is missing from Debian's packages, through the script that ./test uses."""
    script = 'cd "$1"; shift; . tools/common.sh; install_packages "${packages_build[@]}" "$@"'
    # Servers that are installed are not to be started: each measurement starts its own.
    subprocess.run(["bash", "-euc", script, "install", str(ROOT), *packages], check=True,
                   env={**os.environ, "RUNLEVEL": "1"})


def build(targets):
    """Builds into a folder of its own, without the tests."""
    quiet = [] if sys.stderr.isatty() else ["--quiet"]
    subprocess.run(["cmake", "--preset", "release", "-B", str(BUILD), "-DPOSTHORN_BENCH=ON",
                    "-DPOSTHORN_TESTS=OFF"], cwd=ROOT, check=True,
                   stdout=subprocess.DEVNULL)
    subprocess.run(["ninja", "-C", str(BUILD), *quiet, *targets], check=True, stdout=sys.stderr)


def busy_seconds():
    """How long the machine's cores have worked, for anybody."""
    first = Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]
    user, nice, system, _, _, irq, softirq, steal = (int(word) for word in first[:8])
    return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")


def run(command, seconds_max=300):
    """One program: the lines of JSON that it prints, one for each load.

    Each says how much of the machine others took meanwhile, since that spoils it.
    """
    busy, begun, ours = busy_seconds(), time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                              timeout=seconds_max, check=False)
    except subprocess.TimeoutExpired:
        raise Failed(f"took longer than {seconds_max} s") from None
    except OSError as why:
        raise Failed(str(why)) from None
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines() or ["no reason given"]
        raise Failed(lines[-1])
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - ours.ru_utime - ours.ru_stime
    whole = (time.monotonic() - begun) * os.cpu_count()
    others = max(0.0, min(1.0, (busy_seconds() - busy - used) / whole))
    return [dict(json.loads(line), others=round(others, 3))
            for line in done.stdout.strip().splitlines()]


class Progress:
    """A bar on a terminal; nothing elsewhere."""

    def __init__(self, whole):
        self.whole = max(1, whole)
        self.done = 0
        self.begun = time.monotonic()
        self.is_terminal = sys.stderr.isatty()

    def show(self, note):
        if self.is_terminal:
            marks = 30 * self.done // self.whole
            sys.stderr.write(f"\r\033[K[{'#' * marks}{'.' * (30 - marks)}] "
                             f"{100 * self.done // self.whole:3d} % "
                             f"{time.monotonic() - self.begun:4.0f} s  {note}")
            sys.stderr.flush()

    def step(self, steps=1):
        self.done = min(self.whole, self.done + steps)

    def clear(self):
        if self.is_terminal:
            sys.stderr.write("\r\033[K")
            sys.stderr.flush()


def machine(others=()):
    """What the numbers were taken on, and how much of it others took."""
    model = platform.machine()
    try:
        listed = subprocess.run(["lscpu"], capture_output=True, text=True, check=False).stdout
        for line in listed.splitlines():
            if line.startswith("Model name:"):
                model = line.split(":", 1)[1].strip()
        memory = next(int(line.split()[1]) for line in Path("/proc/meminfo").read_text().splitlines()
                      if line.startswith("MemTotal:")) // 1024
    except (OSError, StopIteration):
        memory = 0
    return {"cores": os.cpu_count(), "cpu": model, "memory_mib": memory,
            "kernel": platform.release(),
            "others": statistics.median(others) if others else 0.0}


def duration(us):
    return f"{us:.0f} us" if us < 1000 else f"{us / 1000:.2f} ms"


def table(rows, left=1):
    """Columns, the first ones to the left and the others to the right."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [cell.ljust(width) if i < left else cell.rjust(width)
                 for i, (cell, width) in enumerate(zip(row, widths))]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)
