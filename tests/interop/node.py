"""A real node in a process of its own, for tests."""

import atexit
import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import time
import urllib.request
from pathlib import Path


# What was out for long is tried once a minute. Less, where it is to fail.
PATIENCE = float(os.environ.get("POSTHORN_TEST_PATIENCE", 90))


def eventually(condition, seconds=PATIENCE):
    """Waits until the condition holds; gives what it gave last."""
    end = time.monotonic() + seconds
    while not (seen := condition()) and time.monotonic() < end:
        time.sleep(0.02)  # Between looks, not instead of one.
    return seen


def new_folder():
    """Gone when the tests end, unless POSTHORN_TEST_KEEP is set."""
    folder = tempfile.mkdtemp(prefix="posthorn-")
    if "POSTHORN_TEST_KEEP" not in os.environ:
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


class Node:
    """`posthorn serve` with a configuration; ports are chosen by the system."""

    def __init__(self, program, service, configuration, folder=None, environment=None,
                 listen=""):
        self.program, self.service = program, service
        self.folder = Path(folder or new_folder())
        self.database = self.folder / f"{service}.db"
        self.file = self.folder / f"{service}.toml"
        self.environment = os.environ | (environment or {})
        self.listen = listen  # More lines of that section.
        self.configure(configuration)

    def configure(self, configuration):
        self.write(f'[service]\nid = "{self.service}"\n'
                   f'[store]\nurl = "sqlite:{self.database}"\n'
                   f'[listen]\nhttp = "127.0.0.1:0"\nadmin = "127.0.0.1:0"\n{self.listen}'
                   f'[log]\nformat = "json"\n{configuration}')

    def write(self, configuration):
        """In one step: a node that reads it meanwhile sees no half of it."""
        new = self.file.with_suffix(".new")
        new.write_text(configuration)
        new.replace(self.file)

    def init(self):
        subprocess.run([self.program, "init", "--config", self.file], check=True,
                       stdout=subprocess.DEVNULL, env=self.environment)
        return self

    def start(self):
        self.log = open(self.folder / f"{self.service}.log", "ab")
        self.process = subprocess.Popen([self.program, "serve", "--config", self.file],
                                        stdout=subprocess.PIPE, stderr=self.log, text=True,
                                        env=self.environment)
        ports = []
        while len(ports) < 2:
            line = self.process.stdout.readline()
            if not line:
                raise RuntimeError(f"the node ended: {self.log_text()}")
            ports += [int(port) for port in re.findall(r"127\.0\.0\.1:(\d+)", line)]
        self.port, self.admin = ports[:2]
        return self

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        self.log.close()

    def stop(self, seconds=30):
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(seconds)
        self.process.stdout.close()
        self.log.close()
        return code

    def log_text(self):
        return (self.folder / f"{self.service}.log").read_text()

    def sql(self, statement, *values):
        with sqlite3.connect(self.database, timeout=120) as db:
            return db.execute(statement, values).fetchall()

    def number(self, statement, *values):
        return self.sql(statement, *values)[0][0]

    def get(self, path, key=None):
        request = urllib.request.Request(f"http://127.0.0.1:{self.admin}{path}")
        if key:
            request.add_header("Authorization", f"Bearer {key}")
        with urllib.request.urlopen(request, timeout=120) as answer:
            return answer.read().decode()

    def get_json(self, path, key=None):
        return json.loads(self.get(path, key))
