"""The goals, each a ratio of what one round measured, and how bench/compare shows them."""
import statistics
import sys

import runner

PEERS = ["redis", "rabbitmq-classic", "rabbitmq-quorum", "nats", "postgres"]
# NATS confirms what it has not synced: a power cut takes it, so that it gives no such guarantee.
SYNCING = [name for name in PEERS if name != "nats"]


class Round:
    """What one round measured."""

    def __init__(self, seen):
        self.seen = seen

    def of(self, key, field="per_second"):
        return self.seen[key][field] if key in self.seen else None

    def best_peer(self, load, field="per_second", best=max):
        there = [self.seen[f"{name} {load}"][field] for name in SYNCING if f"{name} {load}" in self.seen]
        return best(there) if len(there) == len(SYNCING) else None


    def best_plain_peer(self):
        """PostgreSQL groups commits by itself; for the others one would have to write that."""
        keys = [f"{name} plain concurrent 64" for name in SYNCING if name != "postgres"]
        there = [self.of(key) for key in [*keys, "postgres concurrent 64"]]
        return None if None in there else max(there)


def ratio(a, b):
    return a / b if a is not None and b else None


def of_round(seen):
    """(number, what, value, comparison, goal, by_cpu, of_limit) of one round, as far as it was run.

    A letter after the number marks the same question asked in another way. What `by_cpu` says is the
    ratio of processor times a message: what the throughputs would be if nothing else limited them,
    and what is left to go by on a machine that others use too. `of_limit` is what the hand-written
    minimum gets in Posthorn's place.
    """
    now = Round(seen)
    ours, rate = "posthorn unix concurrent 64", "posthorn unix rate 200"
    bare_rate, cpu = "bare rate 200", "cpu_us"
    made = [
        ("1", "64 senders, Unix socket, against the limit",
         ratio(now.of(ours), now.of("limit unix concurrent 64")), ">=", 0.6),
        ("1b", "1,024 senders that are called back, against the limit",
         ratio(now.of("posthorn unix chained 1024"), now.of("limit unix chained 1024")), ">=", 0.6),
        ("2", "64 senders against the fastest peer with the same guarantee",
         ratio(now.of(ours), now.best_peer("concurrent 64")), ">=", 2),
        ("2b", "the same, where each of its senders commits by itself",
         ratio(now.of(ours), now.best_plain_peer()), ">=", 2),
        ("3", "64 senders against the fastest bare peer that syncs",
         ratio(now.of(ours), now.best_peer("bare concurrent 64")), ">=", 1),
        ("3b", "1,024 that are called back, against the same with 1,024",
         ratio(now.of("posthorn unix chained 1024"), now.best_peer("bare chained 1024")), ">=", 1),
        ("4", "HTTP against Unix socket", ratio(now.of("posthorn http concurrent 64"), now.of(ours)),
         ">=", 0.8),
        ("5", "one sender, each effective before the next, against the limit",
         ratio(now.of("posthorn unix serial"), now.of("limit unix serial")), ">=", 0.7),
        ("6", "200/s, p50 to effect, against the fastest bare peer that syncs",
         ratio(now.of(rate, "p50_us"), now.best_peer(bare_rate, "p50_us", min)), "<=", 1.0),
        ("6b", "200/s, p50 until durable and effective, against the same",
         ratio(now.of(rate, "both_p50_us"), now.best_peer(bare_rate, "both_p50_us", min)), "<=", 1.0),
        ("6c", "200/s, p50 from durable to effect, against publish to effect",
         ratio(now.of(rate, "after_commit_p50_us"), now.best_peer(bare_rate, "p50_us", min)),
         "<=", 1.0),
        ("8", "syncs a message, 64 senders", now.of(ours, "syncs"), "<=", 0.1),
        ("9", "plain SQL in another process, p50 from commit to effect, ms",
         ratio(now.of("posthorn unix rate 200 sql", "after_commit_p50_us"), 1000), "<", 2.0),
    ]
    chained = "posthorn unix chained 1024"
    by_cpu = {
        "1": ratio(now.of("limit unix concurrent 64", cpu), now.of(ours, cpu)),
        "1b": ratio(now.of("limit unix chained 1024", cpu), now.of(chained, cpu)),
        "2": ratio(now.best_peer("concurrent 64", cpu, min), now.of(ours, cpu)),
        "3": ratio(now.best_peer("bare concurrent 64", cpu, min), now.of(ours, cpu)),
        "3b": ratio(now.best_peer("bare chained 1024", cpu, min), now.of(chained, cpu)),
        "4": ratio(now.of(ours, cpu), now.of("posthorn http concurrent 64", cpu)),
        "5": ratio(now.of("limit unix serial", cpu), now.of("posthorn unix serial", cpu)),
    }
    limit, limit_rate = now.of("limit unix concurrent 64"), "limit unix rate 200"
    of_limit = {
        "2": ratio(limit, now.best_peer("concurrent 64")),
        "2b": ratio(limit, now.best_plain_peer()),
        "3": ratio(limit, now.best_peer("bare concurrent 64")),
        "3b": ratio(now.of("limit unix chained 1024"), now.best_peer("bare chained 1024")),
        "6": ratio(now.of(limit_rate, "p50_us"), now.best_peer(bare_rate, "p50_us", min)),
        "6b": ratio(now.of(limit_rate, "both_p50_us"), now.best_peer(bare_rate, "both_p50_us", min)),
        "6c": ratio(now.of(limit_rate, "after_commit_p50_us"), now.best_peer(bare_rate, "p50_us", min)),
        "8": now.of("limit unix concurrent 64", "syncs"),
    }
    return [(*one, by_cpu.get(one[0]), of_limit.get(one[0])) for one in made]


def verdict(number, what, values, comparison, goal, by_cpu=(), of_limit=()):
    value = statistics.median(values) if values else None
    holds = None if value is None else {">=": value >= goal, "<=": value <= goal,
                                        "<": value < goal}[comparison]
    return {"number": number, "what": what, "value": value, "low": min(values, default=None),
            "high": max(values, default=None), "comparison": comparison, "goal": goal, "holds": holds,
            "by_cpu": statistics.median(by_cpu) if by_cpu else None,
            "of_limit": statistics.median(of_limit) if of_limit else None}


def judge(rounds, between, looked_up):
    """Of each goal the median of what the rounds gave, and what was measured between the peers."""
    judged = []
    for each in zip(*[of_round(seen) for seen in rounds + between]):
        number, what, _, comparison, goal, _, _ = each[0]
        values, by_cpu, of_limit = ([one[place] for one in each if one[place] is not None]
                                    for place in (2, 5, 6))
        judged.append(verdict(number, what, values, comparison, goal, by_cpu, of_limit))
    rows = looked_up["rows"] if looked_up else 10_000_000
    values = [looked_up["p99_us"] / 1000] if looked_up else []
    judged.append(verdict("7", f"a repeat looked up among {rows:,} rows, p99, ms", values, "<", 1.0))
    values = [looked_up["cpu_p99_us"] / 1000] if looked_up else []
    judged.append(verdict("7b", "the same in processor time, which others do not disturb", values, "<",
                          1.0))
    return sorted(judged, key=lambda one: one["number"])


def medians(rounds):
    """Of each case the median of every number."""
    merged = {}
    for key in dict.fromkeys(key for seen in rounds for key in seen):
        lines = [seen[key] for seen in rounds if key in seen]
        merged[key] = dict(lines[0])
        for field, value in lines[0].items():
            if isinstance(value, (int, float)) and not isinstance(value, bool):
                merged[key][field] = statistics.median(line[field] for line in lines)
    return merged


def print_cases(shown):
    rows = [["what", "messages/s", "p50", "p99", "p99.9", "CPU", "syncs", "file", "memory"]]
    for key, line in shown["medians"].items():
        syncs = "?" if line["syncs"] is None else f"{line['syncs']:.3f}"
        rows.append([key, f"{line['per_second']:,.0f}",
                     *[runner.duration(line[field])
                       for field in ("p50_us", "p99_us", "p999_us", "cpu_us")],
                     syncs, f"{line['file_bytes']:.0f} B", f"{line['memory_kib'] / 1024:.0f} MiB"])
    print(runner.table(rows))
    print("\nPayloads of 256 bytes. Times from due to effect; CPU, syncs and growth of files a message."
          "\nBare: publish, consume, acknowledge, without business rows. NATS confirms what it has not"
          "\nsynced, so that it counts neither as a peer with the same guarantee nor as one that syncs.\n")


def is_disturbed(shown):
    return shown["machine"]["others"] > 0.1


def print_goals(shown):
    rows = [["", "goal", "wanted", "seen", "from", "to", "by CPU", "limit", ""]]
    for one in shown["goals"]:
        seen = ["-" if one[field] is None else f"{one[field]:.2f}"
                for field in ("value", "low", "high", "by_cpu", "of_limit")]
        word = {None: "not measured", True: "yes", False: "NO"}[one["holds"]]
        rows.append([one["number"], one["what"], f"{one['comparison']} {one['goal']}", *seen,
                     word + ("?" if is_disturbed(shown) and one["holds"] is not None else "")])
    print(runner.table(rows, left=2))


def print_tables(shown):
    print_cases(shown)
    print_goals(shown)
    for key, why in shown["failures"].items():
        print(f"did not work: {key}: {why}", file=sys.stderr)
    about = shown["machine"]
    print(f"\n{len(shown['rounds'])} rounds in {shown['seconds']} s on {about['cores']} cores of "
          f"{about['cpu']}, {about['memory_mib']} MiB, Linux {about['kernel']}")
    if is_disturbed(shown):
        print(f"Others took {about['others']:.0%} of this machine meanwhile: measure again when it is "
              "idle.")
