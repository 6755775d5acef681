#!/usr/bin/env python3
"""Runs clang-tidy over the project's files, skipping those unchanged since they were last clean.

What takes the time is the headers, so sources of a target are looked at together as far as cmake/unity.py
lets them, in larger groups than they are compiled in; the libraries' headers are precompiled, and not
looked at (own_code.cpp). They are run again when one of them, a project header they include, the
compile command, .clang-tidy or clang-tidy itself changed. What a file includes is read from Ninja's
records, so build first.
"""

import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from common import arguments, code_only, main, read

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "cmake"))
import unity  # noqa: E402

TOOL = "clang-tidy-19"
PACKAGES = "libclang-19-dev llvm-19-dev"  # What a check of our own is compiled with.
# A source that is compiled with others is included by a generated file, as headers are.
FILES_MAX = 40  # In a group.
# What unity.py cannot tell apart, or what has definitions of its own.
ALONE = re.compile(r"^using enum |include <.*/src[.]hpp>|POSTHORN_BUILD_TYPE|POSTHORN_WITH_",
                   re.MULTILINE)
OWN_CODE = Path(__file__).with_name("own_code.cpp")
OURS = r"/(include/posthorn|src|tests|bench|examples)/[^.]*\.[hc]pp$"


def ninja_deps(build):
    """output -> files it was made from, as absolute paths."""
    run = subprocess.run(["ninja", "-C", str(build), "-t", "deps"], capture_output=True, text=True)
    deps = {}
    for line in run.stdout.splitlines():
        if line.startswith("    "):
            current.append((build / line.strip()).resolve())
        elif ": #deps" in line:
            current = deps.setdefault((build / line.split(": #deps")[0]).resolve(), [])
    return deps


def only_includes(path):
    """True of a file that compiles a library's code and holds none of ours."""
    return not re.sub(r"^[ \t]*#.*$", "", code_only(read(path)), flags=re.MULTILINE).strip()


def members(source, root, build):
    """The project's own sources that are compiled by this file: itself, or those that
    cmake/unity.py has put into it; none of them in a generated file of another kind."""
    if not source.is_relative_to(build):
        return [source] if source.is_relative_to(root) and not only_includes(source) else []
    if source.parent.name != "together":
        return []
    included = re.findall(r'^#include "(.+)"$', read(source), re.MULTILINE)
    return [path for name in included for room in ("src", "tests") for path in [root / room / name]
            if path.is_file()]


def commands(root, build):
    """target, command -> [(source, output)] of the project's own sources, each source once."""
    found, seen = {}, set()
    for entry in json.loads(read(build / "compile_commands.json")):
        file = (Path(entry["directory"]) / entry["file"]).resolve()
        own = [each for each in members(file, root, build) if each not in seen]
        if not own:
            continue
        seen.update(own)
        words = shlex.split(entry["command"])
        output = (Path(entry["directory"]) / words[words.index("-o") + 1]).resolve()
        target = next((part for part in output.parts if part.endswith(".dir")), "")
        found.setdefault((target, options(words)), []).extend((each, output) for each in own)
    return found


def options(words):
    """A command without what it says of one file."""
    kept, rest = [], iter(words)
    for word in rest:
        if word in ("-o", "-c", "-MF", "-MT"):
            next(rest)
        elif word != "-MD":
            kept.append(word)
    return tuple(kept)


def groups(root, build):
    """[(file, its members, arguments, outputs)]: a file for each group of sources that go together."""
    made = []
    folder = build / "tidy"
    folder.mkdir(exist_ok=True)
    for (target, command), sources in sorted(commands(root, build).items()):
        outputs = dict(sources)
        alone = [each for each in outputs if ALONE.search(read(each))]
        together = sorted(set(outputs) - set(alone))
        parts = [*unity.group(together, FILES_MAX), *([each] for each in alone)]
        for number, part in enumerate(parts):
            file = part[0]
            if part[1:]:
                file = folder / f"{target.removesuffix('.dir')}_{number}.cpp"
                file.write_text("".join(f'#include "{each}"\n' for each in part), encoding="utf-8")
            made.append((file, part, list(command), {outputs[each] for each in part}))
    return made


def without_pch(words):
    """The command with the precompiled header's text in place of its binary.

    CMake names both. The text needs no build before it and shows the checks its macros too.
    """
    line = "\0".join(words)
    return re.sub("\0-Xclang\0-include-pch\0-Xclang\0[^\0]*|\0-Winvalid-pch", "", line).split("\0")


def own_code(folder):
    """The words that have clang-tidy look at our own code alone; none where it cannot be had."""
    headers = Path(shutil.which(TOOL)).resolve().parents[1] / "include"
    if not (headers / "clang-tidy").is_dir() or not (headers / "llvm").is_dir():
        print(f"looking at the libraries' code too, which takes long; install {PACKAGES}")
        return []
    plugin = folder / "own_code.so"
    if not plugin.is_file() or plugin.stat().st_mtime < OWN_CODE.stat().st_mtime:
        compile_to(plugin, ["clang++-19", "-std=c++17", "-O1", "-fPIC", "-shared", "-fno-rtti",
                            f"-I{headers}", str(OWN_CODE)])
    return [f"--load={plugin}", "--checks=posthorn-own"]


def compile_to(output, words):
    made = output.with_suffix(".new")
    run = subprocess.run([*words, "-o", str(made)], capture_output=True, text=True)
    if run.returncode:
        raise SystemExit(f"{output.name} cannot be made:\n{run.stderr}")
    made.replace(output)


def with_libraries(words, folder, made):
    """The command, without its precompiled header, but with the libraries' part of it precompiled.

    What comes from a binary is not looked at, so our own headers stay text. One serves all commands
    that have the header, as in CMake; `made` remembers it.
    """
    text = next((Path(word) for word in words if word.endswith("cmake_pch.hxx")), None)
    own = without_pch(words)
    if text is None or not text.is_file():
        return own
    if text not in made:
        libraries = folder / f"{text.parent.name.removesuffix('.dir')}.hpp"
        lines = re.findall(r"^#include <.*>$", read(text), re.MULTILINE)
        libraries.write_text("\n".join(lines) + "\n", encoding="utf-8")
        made[text] = libraries.with_suffix(".pch")
        rest = "\0".join(own).replace(f"\0-Xclang\0-include\0-Xclang\0{text}", "").split("\0")
        compile_to(made[text], [*rest, "-fpch-instantiate-templates", "-x", "c++-header",
                                str(libraries)])
    return [*own[:1], "-Xclang", "-include-pch", "-Xclang", str(made[text]), *own[1:]]


class Cache:
    """One empty file for each source that was clean, named by all that this depends on.

    It lies where ccache has its own, so that another checkout on the machine need not look again.
    """

    KEPT_FOR = 30 * 24 * 3600  # Seconds since it was last asked for.

    def __init__(self, root, build):
        self.root, self.build = root, build
        place = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        self.folder = Path(place) / "posthorn" / "tidy"
        self.folder.mkdir(parents=True, exist_ok=True)
        self.deps = ninja_deps(build)
        self.contents = {}
        version = subprocess.run([TOOL, "--version"], capture_output=True).stdout
        self.common = version + (root / ".clang-tidy").read_bytes() + OWN_CODE.read_bytes()

    def key(self, sources, words, made):
        """None where Ninja has no record of what a file includes: such files are always run."""
        if not made.issubset(self.deps):
            return None
        ours, outputs = set(sources), list(made)
        while outputs:  # A precompiled header is an output with sources of its own.
            for path in self.deps[outputs.pop()]:
                if path.is_relative_to(self.root) and path not in ours:
                    if path in self.deps:
                        outputs.append(path)
                    elif path.suffix != ".pch":
                        ours.add(path)
        command = "\0".join(words).replace(str(self.root), ".")
        digest = hashlib.sha256(self.common + command.encode())
        for path in sorted(ours):
            digest.update(f"{path.relative_to(self.root)}\0{self.content(path)}\0".encode())
        return digest.hexdigest()

    def content(self, path):
        if path not in self.contents:
            known = path.is_file()
            text = path.read_bytes().replace(str(self.root).encode(), b".") if known else b""
            self.contents[path] = hashlib.sha256(text).hexdigest() if known else "gone"
        return self.contents[path]

    def is_clean(self, key):
        if key is None or not (self.folder / key).is_file():
            return False
        (self.folder / key).touch()
        return True

    def keep(self, key):
        if key is not None:
            (self.folder / key).touch()

    def forget_old(self):
        for entry in self.folder.iterdir():
            if entry.stat().st_mtime < time.time() - self.KEPT_FOR:
                entry.unlink(missing_ok=True)


def run_one(root, source, words, scope):
    """(what it printed or "", seconds)"""
    began = time.monotonic()
    run = subprocess.run([TOOL, "--quiet", f"--config-file={root / '.clang-tidy'}", *scope,
                          f"--header-filter={OURS}", str(source), "--", *words[1:],
                          "-Wno-shadow"],  # One file's names are not the next one's; the build looks.
                         capture_output=True, text=True, cwd=root)
    noise = re.compile(r"^\d+ warnings? .*generated\.$|^Suppressed \d+|^Use -header-filter",
                       re.MULTILINE)
    text = run.stdout + "\n".join(l for l in run.stderr.splitlines() if not noise.search(l))
    return (text.strip() or f"{TOOL} failed") if run.returncode else "", time.monotonic() - began


def check():
    parser = arguments(__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, required=True,
                        help="a build folder with its commands")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("files", nargs="*", help="only sources whose path contains one of these")
    options = parser.parse_args()
    root, build = options.root.resolve(), options.build.resolve()
    if not shutil.which(TOOL):
        raise SystemExit(f"{TOOL} is not installed; run: apt-get install {TOOL}")
    if not (build / "compile_commands.json").is_file():
        raise SystemExit(f"{build}: no compile_commands.json; run: cmake --preset release")

    cache = Cache(root, build)
    jobs = [(file, own, words, cache.key(own, words, outputs))
            for file, own, words, outputs in groups(root, build)
            if not options.files or any(part in str(each) for part in options.files for each in own)]
    due = [job for job in jobs if not cache.is_clean(job[3])]
    count = sum(len(job[1]) for job in jobs)
    print(f"{count} files, {count - sum(len(job[1]) for job in due)} unchanged since they were clean",
          flush=True)

    folder, libraries, bad = build / "tidy", {}, []
    scope = own_code(folder) if due else []
    due = [(file, own, with_libraries(words, folder, libraries) if scope else without_pch(words), key)
           for file, own, words, key in due]
    with ThreadPoolExecutor(options.jobs) as pool:
        runs = [(job, pool.submit(run_one, root, job[0], job[2], scope)) for job in due]
        for number, ((_, own, _, key), run) in enumerate(runs, 1):
            findings, seconds = run.result()
            name = f"{own[0].relative_to(root)}" + (f" and {len(own) - 1} more" if own[1:] else "")
            print(f"[{number}/{len(due)}] {name} ({seconds:.1f} s)", flush=True)
            if findings:
                bad.append(name)
                print(findings.replace(f"{root}/", ""), flush=True)
            else:
                cache.keep(key)
    cache.forget_old()
    if bad:
        print(f"findings in {len(bad)} group(s): mend them, or write // NOLINT(check): why")
        return 1
    print("ok: clang-tidy finds nothing")
    return 0


if __name__ == "__main__":
    main(check)
