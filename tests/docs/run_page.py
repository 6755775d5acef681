#!/usr/bin/env python3
"""Runs a page of the documentation word for word.

run_page.py PROGRAM PAGE [SERVER | BUILD]: every ```sh block goes to one shell, in order, in an empty folder. A
```text block after one is what it must print; such a block only looks, so it is repeated until it
prints that or half a minute is over. With SERVER, the tests' server.sh, psql finds a PostgreSQL of
the page's own. With BUILD, a folder, what was built there is installed, and pkg-config finds it.
"""

import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from urllib.parse import urlsplit

BLOCK = re.compile(r"^```(sh|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
MARK = "--- end of block "


class Shell:
    """One bash that keeps its jobs and variables from block to block."""

    def __init__(self, folder, program, variables):
        path = f"{Path(program).parent}:{os.environ['PATH']}"
        self.process = subprocess.Popen(["bash", "-m"], cwd=folder, text=True,
                                        env=os.environ | variables | {"PATH": path},
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def run(self, block):
        """What the block printed; an error if a command of it failed."""
        self.process.stdin.write(f"{{\n{block}}} </dev/null\necho '{MARK}'$?\n")
        self.process.stdin.flush()
        lines = []
        for line in self.process.stdout:
            if line.startswith(MARK):
                if line.strip() != f"{MARK.strip()} 0":
                    raise SystemExit(f"this failed:\n{block}\n{''.join(lines)}")
                return "".join(lines)
            lines.append(line)
        raise SystemExit(f"the shell ended in:\n{block}")

    def close(self):
        self.process.stdin.write("kill -9 $(jobs -p) 2>/dev/null\nexit\n")
        self.process.stdin.close()
        self.process.wait()


def expect(shell, block, wanted):
    end = time.monotonic() + 30
    while (seen := shell.run(block)) != wanted:
        if time.monotonic() > end:
            raise SystemExit(f"this printed\n{seen}instead of\n{wanted}{block}")
        time.sleep(0.05)  # Between looks, not instead of one.


class Server:
    """A PostgreSQL that lives as long as the page."""

    def __init__(self, script, folder):
        self.script, self.file = script, f"{folder}/url"
        subprocess.run([script, "start", self.file], check=True)
        url = urlsplit(Path(self.file).read_text().strip())
        self.variables = {"PGHOST": url.hostname, "PGPORT": str(url.port), "PGUSER": url.username,
                          "PGPASSWORD": url.password}

    def stop(self):
        subprocess.run([self.script, "stop", self.file], check=True)


def install(build, folder):
    """Installs into a folder; how its library is found."""
    subprocess.run(["cmake", "--install", build, "--prefix", folder], check=True, stdout=subprocess.DEVNULL)
    [found] = Path(folder).rglob("posthorn.pc")
    return {"PKG_CONFIG_PATH": str(found.parent)}


def main():
    program, page, *more = sys.argv[1:]
    script = [each for each in more if Path(each).is_file()]
    blocks = BLOCK.findall(Path(page).read_text())
    if not any(kind == "text" for kind, _ in blocks):
        raise SystemExit(f"{page} shows nothing that could be checked")
    with tempfile.TemporaryDirectory(prefix="posthorn-page-") as folder, \
            tempfile.TemporaryDirectory(prefix="posthorn-page-server-") as beside:
        server = Server(script[0], beside) if script else None
        variables = server.variables if server else {}
        for build in set(more) - set(script):
            variables |= install(build, f"{beside}/prefix")
        shell = Shell(folder, program, variables)
        try:
            for number, (kind, text) in enumerate(blocks):
                if kind != "sh":
                    continue
                following = blocks[number + 1] if number + 1 < len(blocks) else ("", "")
                if following[0] == "text":
                    expect(shell, text, following[1])
                else:
                    shell.run(text)
        finally:
            shell.close()
            if server:
                server.stop()
    print(f"{page}: {len(blocks)} blocks hold")


main()
