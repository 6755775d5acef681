#!/usr/bin/env python3
"""Compiles a service of fifty messages with ten fields each, both ends, and limits the time.

Processor time is what counts, and the limit is ten seconds of a machine that compiles the yardstick
in YARDSTICK_SECONDS: neighbours take caches away, and the same work takes half as long again. The
two are compiled by turns, so that what slows the one slows the other.
"""

import argparse
import math
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

MESSAGES = 50
FIELDS = ["std::string a", "std::string b", "std::int64_t c", "std::int32_t d", "bool e",
          "double f", "std::optional<std::string> g", "std::vector<std::string> h",
          "posthorn::uuid i", "posthorn::wall_time j"]

# The processor time that the yardstick took where the limit of ten seconds was set.
YARDSTICK_SECONDS = {"clang++-19": 3.3, "g++-12": 5.0}


def yardstick():
    """The standard library alone, used as a program of some size uses it."""
    lines = [f"#include <{header}>" for header in
             ("algorithm", "chrono", "coroutine", "functional", "map", "memory", "optional",
              "regex", "sstream", "string", "unordered_map", "variant", "vector")]
    for n in range(15):
        lines += [f"struct s{n} {{ std::string a; std::optional<std::vector<int>> b; }};",
                  f"int f{n}(std::map<int, s{n}>& m, std::vector<s{n}>& v) {{",
                  f"    std::unordered_map<std::string, std::variant<int, s{n}>> u;",
                  "    for (auto& x : v) u.emplace(x.a, x);",
                  "    std::ranges::sort(v, {}, [](const auto& x) { return x.a; });",
                  "    std::function<int()> g = [&] { return int(m.size() + u.size()); };",
                  "    return g(); }"]
    return "\n".join(lines + [""])


def source():
    names = ", ".join(field.split()[-1] for field in FIELDS)
    members = " ".join(f"{field}{{}};" for field in FIELDS)
    lines = ["#include <posthorn/posthorn.hpp>"]
    for n in range(MESSAGES):
        lines += [f"struct m{n} {{ {members} }};",
                  f'POSTHORN_COMMAND(m{n}, "M{n}", std::string, {names})']
    every = ", ".join(f"m{n}" for n in range(MESSAGES))
    lines += [f'using big = posthorn::service<"big", 1, {every}>;', "struct all {"]
    lines += [f"    std::string handle(posthorn::context&, const m{n}& m) {{ return m.a; }}"
              for n in range(MESSAGES)]
    lines += ["};",
              "void serve(posthorn::node& n, all& by) { posthorn::offer<big> o(n, by); }",
              "void use(posthorn::node& n) {", "    posthorn::proxy<big> p(n);"]
    lines += [f"    p.send(m{n}{{}});" for n in range(MESSAGES)]
    lines += ["}", ""]
    return "\n".join(lines)


def seconds_to_compile(options, file):
    before = seconds_spent()
    subprocess.run([options.compiler, "-std=c++23", "-c",
                    *(f"-I{folder}" for folder in options.include), str(file),
                    "-o", str(file.with_suffix(".o"))], check=True)
    return seconds_spent() - before


def seconds_spent():
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--include", action="append", required=True)
    parser.add_argument("--seconds-max", type=float, default=10)
    options = parser.parse_args()
    seconds = yardstick_seconds = math.inf
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "big.cpp"
        file.write_text(source(), encoding="utf-8")
        measure = Path(folder) / "yardstick.cpp"
        measure.write_text(yardstick(), encoding="utf-8")
        for _ in range(3):
            seconds = min(seconds, seconds_to_compile(options, file))
            yardstick_seconds = min(yardstick_seconds, seconds_to_compile(options, measure))
    slower = yardstick_seconds / YARDSTICK_SECONDS[options.compiler]
    print(f"{MESSAGES} messages of {len(FIELDS)} fields: {seconds:.1f} s of processor time on a "
          f"machine that takes {slower:.2f} times as long as that of the limit")
    if seconds > options.seconds_max * slower:
        sys.exit(f"at most {options.seconds_max * slower:.1f} s are allowed on this machine")


if __name__ == "__main__":
    main()
