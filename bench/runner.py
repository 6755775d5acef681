"""What bench/compare and bench/end_to_end share: building, running one measurement, showing how far."""
import json
import os
import platform
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "bench"
PEER_PACKAGES = ["redis-server", "libhiredis-dev", "rabbitmq-server", "librabbitmq-dev", "nats-server",
                 "libnats-dev", "postgresql", "libpq-dev"]


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
                    "-DPOSTHORN_TESTS=OFF", "-DPOSTHORN_VERIFY_HEADERS=OFF"], cwd=ROOT, check=True,
                   stdout=subprocess.DEVNULL)
    subprocess.run(["ninja", "-C", str(BUILD), *quiet, *targets], check=True, stdout=sys.stderr)


def run(command, seconds_max=300):
    """One measurement: the JSON line that the program prints."""
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
    return json.loads(done.stdout.strip().splitlines()[-1])


class Progress:
    """A bar on a terminal; nothing elsewhere."""

    def __init__(self, whole):
        self.whole = max(1, whole)
        self.done = 0
        self.is_terminal = sys.stderr.isatty()

    def show(self, note):
        if self.is_terminal:
            marks = 30 * self.done // self.whole
            sys.stderr.write(f"\r\033[K[{'#' * marks}{'.' * (30 - marks)}] "
                             f"{100 * self.done // self.whole:3d} % {note}")
            sys.stderr.flush()

    def step(self):
        self.done += 1

    def clear(self):
        if self.is_terminal:
            sys.stderr.write("\r\033[K")
            sys.stderr.flush()


def machine():
    """What the numbers were taken on."""
    model = platform.processor() or platform.machine()
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith(("model name", "Model")):
                model = line.split(":", 1)[1].strip()
                break
        memory = next(int(line.split()[1]) for line in Path("/proc/meminfo").read_text().splitlines()
                      if line.startswith("MemTotal:")) // 1024
    except (OSError, StopIteration):
        memory = 0
    return {"cores": os.cpu_count(), "cpu": model, "memory_mib": memory,
            "kernel": platform.release(), "load": round(os.getloadavg()[0], 2)}


def duration(us):
    return f"{us:.0f} us" if us < 1000 else f"{us / 1000:.2f} ms"


def table(rows):
    """Columns, the first to the left and the others to the right."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [cell.ljust(width) if i == 0 else cell.rjust(width)
                 for i, (cell, width) in enumerate(zip(row, widths))]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)
