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


SIM, CRASH, CHAOS = "tests/sim/sim", "tests/crash/crash_tests", "tests/chaos/chaos_tests"


def chaos(road, case):
    return Program(f"network, {road}", "deliveries", 10_000, 1_000_000, 4, program=CHAOS,
                   case=f"chaos.loses_and_doubles_nothing_{case}")


def fuzz(what):
    return Fuzzer(f"fuzz, {what}", "seconds", 20, HOUR, 1, program=f"tests/fuzz/fuzz_{what}",
                  corpus=f"tests/fuzz/corpus/{what}")


# The long ones of which several are as good as one come last: they take the time that is left.
HARNESSES = [
    Cases("planted bugs", "cases", 49, 49, 2, label="planted"),
    Cases("attacks", "cases", 24, 24, 2, label="attacks"),
    Cases("ten scenarios", "cases", 34, 34, 1, cases="scenario_|^scenario[.]"),
    Cases("take-over", "cases", 2, 2, 1, cases="^crash[.](settlements_of|a_standby)"),
    Program("kill -9", "kills", 50, 1_000, 5, program=CRASH,
            case="kill.of_either_side_or_both_at_random_moments_loses_nothing_and_doubles_nothing"),
    Program("kill, workflows", "kills", 50, 1_000, 5, program="tests/crash/workflow/crash_workflow",
            case="workflow_kill.loses_no_step_and_repeats_no_effect"),
    Program("kill, PostgreSQL", "kills", 6, 1_000, 5, program="tests/integration_postgres",
            case="postgres_invariants.hold_though_senders_and_their_backends_are_killed"),
    Program("pause, dispatcher", "pauses", 10, 500, 4, program=CRASH,
            case="pause.of_a_dispatcher_past_its_lease_loses_doubles_disorders_and_charges_nothing"),
    Program("pause, receiver", "pauses", 10, 500, 3, program=CRASH,
            case="pause.of_a_receiver_past_the_senders_time_out_loses_doubles_and_disorders_nothing"),
    Program("disk full", "cycles", 20, 500, 5, program=CRASH,
            case="full_disk.refuses_new_work_loses_none_and_recovers_without_a_restart"),
    Program("corruption", "cases", 200, 10_000, 5, program=CRASH, case="corruption.*"),
    Program("backup", "restores", 5, 100, 4, program=CRASH,
            case="backup_under_load.loses_nothing_up_to_the_backup_and_a_replay_brings_the_rest_once"),
    Program("foreign writers", "seconds", 20, HOUR, 5, program=CRASH,
            case="foreign_writers.with_checkpoints_of_their_own_beside_two_nodes_lose_and_double_nothing"),
    Program("WAL reset", "rounds", 1, 2_000, 4, program=CRASH,
            case="wal_reset_schedule.loses_rows_where_no_node_runs_and_none_beside_a_node"),
    chaos("HTTP", "over_http"),
    chaos("HTTPS", "over_https"),
    chaos("Unix sockets", "over_unix_sockets"),
    chaos("named pipes", "over_named_pipes"),
    chaos("gRPC", "over_grpc"),
    chaos("in process", "inside_a_process"),
    *map(fuzz, ("decode", "frame", "envelope", "batch", "answer", "signature", "canonical", "http",
                "address", "configuration", "admin")),
    Program("workflows", "seeds", 24, 5_000, 6, split=True, program=SIM,
            case="part/sim.two_dozen_seeds_lose_no_step_of_a_workflow_and_double_none/1"),
    Program("workflows, power cuts", "cuts", 200, 20_000, 4, split=True, program=SIM,
            case="part/sim.power_cuts_lose_no_step_of_a_workflow_and_double_none/1"),
    Program("power cuts", "cuts", 2_000, 100_000, 12, split=True, program=SIM,
            case="part/sim.two_thousand_power_cuts_lose_nothing_and_double_nothing/1"),
    Program("simulation", "seeds", 200, 10_000, 20, split=True, program=SIM,
            environment={"POSTHORN_PROOF_MESSAGES": "10000"},
            case="part/sim.two_hundred_seeds_lose_nothing_and_double_nothing/1"),
]
