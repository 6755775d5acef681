#!/usr/bin/env python3
"""Shows that every header can be included alone: it includes what it uses.

Each is compiled by itself, syntax only, with the precompiled header of the library, which makes it a
matter of a fraction of a second. The precompiled header brings the standard library with it, so what a
header takes from that is looked up in a table instead. Build first: the commands are those of the build.
"""

import json
import os
import re
import shlex
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from common import Report, arguments, code_only, main, read

# Names of the standard library -> headers of which one must be included, by the header that uses the
# name or by one of ours that it includes.
NAMED_IN = {
    "array": "array", "atomic": "atomic", "chrono": "chrono", "coroutine_handle": "coroutine",
    "condition_variable": "condition_variable", "deque": "deque", "expected": "expected",
    "unexpected": "expected", "exception_ptr": "exception", "exception": "exception stdexcept",
    "filesystem": "filesystem", "function": "functional", "move_only_function": "functional",
    "initializer_list": "initializer_list", "list": "list", "map": "map", "multimap": "map",
    "unique_ptr": "memory", "shared_ptr": "memory", "weak_ptr": "memory", "make_unique": "memory",
    "make_shared": "memory", "enable_shared_from_this": "memory", "mutex": "mutex",
    "scoped_lock": "mutex", "lock_guard": "mutex", "unique_lock": "mutex", "optional": "optional",
    "nullopt": "optional", "queue": "queue", "runtime_error": "stdexcept", "set": "set",
    "shared_mutex": "shared_mutex", "span": "span", "stop_token": "stop_token", "string": "string",
    "string_view": "string_view string", "thread": "thread", "jthread": "thread", "tuple": "tuple",
    "unordered_map": "unordered_map", "unordered_set": "unordered_set", "variant": "variant",
    "visit": "variant", "vector": "vector",
}
USED = re.compile(r"\bstd::(" + "|".join(NAMED_IN) + r")\b")
PRECOMPILED = re.compile(r"\bposthorn_(?:upper|program)_headers\.dir\b")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)


class Headers:
    """The project's headers and what each includes, through others of ours too."""

    def __init__(self, root):
        self.root = root
        self.known = {}
        self.files = sorted([*root.glob("include/posthorn/**/*.hpp"), *root.glob("src/**/*.hpp")])

    def reach(self, path):
        """The standard's and other libraries' headers that come with this one."""
        if path in self.known:
            return self.known[path]
        self.known[path] = found = set()  # Before its own includes, so that a circle ends.
        for kind, name in INCLUDE.findall(read(path)):
            ours = next((place for base in ("include", "src")
                         if (place := self.root / base / name).is_file()), None)
            if ours is not None:
                found |= self.reach(ours)
            elif kind == "<":
                found.add(name)
        return found


def check_names(headers, report):
    for path in headers.files:
        reach = headers.reach(path)
        for number, line in enumerate(code_only(read(path)).splitlines(), 1):
            for name in USED.findall(line):
                wanted = NAMED_IN[name].split()
                if not reach.intersection(wanted):
                    report.add(path.relative_to(headers.root), number, f"uses std::{name}",
                               f"include <{wanted[0]}>")


def commands(build):
    """Folder of src -> how one of its sources is compiled, without the source and the output."""
    found = {}
    for entry in json.loads(read(build / "compile_commands.json")):
        words = shlex.split(entry["command"])
        if "-o" not in words:
            continue
        at = words.index("-o")
        target = re.search(r"CMakeFiles/posthorn_(\w+)\.dir/", words[at + 1])
        if target is not None:
            # The precompiled headers of the upper folders hold some of ours, which would be there twice;
            # the others are optimised.
            kept = [PRECOMPILED.sub("posthorn_headers.dir", word)
                    for word in words[:at] + words[at + 2:] if word != "-O0"]
            found.setdefault(target[1], (entry["directory"], kept[:kept.index("-c")]))
    return found


def compile_alone(path, command):
    """What the compiler says of a header by itself; nothing if it is content."""
    directory, words = command
    run = subprocess.run([*words, "-fsyntax-only", "-Wno-pragma-once-outside-header",
                          "-Wno-unused-command-line-argument", "-x", "c++-header", str(path)],
                         capture_output=True, text=True, cwd=directory)
    return run.stderr.strip() if run.returncode else ""


def room(path, root, known):
    """The target whose command compiles a header: the deepest folder that has one."""
    parts = path.relative_to(root / "src").parts[:-1] if path.is_relative_to(root / "src") else ()
    for length in range(len(parts), 0, -1):
        if "_".join(parts[:length]) in known:
            return "_".join(parts[:length])
    return "app"


def check():
    parser = arguments(__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, help="compile them too, as this build folder does")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("parts", nargs="*", metavar="PART",
                        help="compile those whose path has one of these in it; all unless there are some")
    options = parser.parse_args()
    root = options.root.resolve()
    headers, report = Headers(root), Report()
    check_names(headers, report)
    done = f"{len(headers.files)} headers include what they use"
    if options.build:
        known = commands(options.build.resolve())
        chosen = [path for path in headers.files if not options.parts
                  or any(part in f"/{path.relative_to(root)}" for part in options.parts)]
        done += f", and {len(chosen)} were compiled alone"
        with ThreadPoolExecutor(options.jobs) as pool:
            runs = [(path, pool.submit(compile_alone, path, known[room(path, root, known)]))
                    for path in chosen]
            for path, run in runs:
                if run.result():
                    print(run.result().replace(f"{root}/", ""))
                    report.add(path.relative_to(root), 1, "does not compile alone",
                               "include what it uses")
    return report.finish(done)


if __name__ == "__main__":
    main(check)
