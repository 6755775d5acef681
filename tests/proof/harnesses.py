"""What ./test proof runs: every harness with its small size, as in ./test, and its large one."""

from dataclasses import dataclass, field

HOUR = 3600


@dataclass
class Harness:
    name: str       # As in the table that is printed.
    unit: str       # What one round is.
    small: int      # Rounds; for those that are counted in seconds, seconds.
    large: int
    weight: int     # Its share of the time, if that is limited.
    split: bool = False  # Whether several at once, with other seeds, are as good as a longer one.
    environment: dict = field(default_factory=dict)  # Of the large size only.


@dataclass
class Program(Harness):
    """A GoogleTest case whose loop is a proof_run."""
    program: str = ""
    case: str = ""


@dataclass
class Fuzzer(Harness):
    """A libFuzzer program with its corpus; in seconds."""
    program: str = ""
    corpus: str = ""


@dataclass
class Cases(Harness):
    """CTest cases by label, each run once, whatever the size."""
    label: str = ""
    cases: str = ""


HARNESSES = [
]
