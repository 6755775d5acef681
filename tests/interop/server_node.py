"""A real node on either store, for tests that hold on both."""

import os
import re
import subprocess
import uuid
from pathlib import Path

from node import Node


def quoted(value):
    if value is None:
        return "NULL"
    return str(value) if isinstance(value, int) else "'" + str(value).replace("'", "''") + "'"


class ServerNode(Node):
    """On the private PostgreSQL of the tests, in a schema of its own."""

    def configure(self, configuration):
        self.url = Path(os.environ["POSTHORN_TEST_POSTGRES"]).read_text().strip()
        self.schema = f"t{uuid.uuid4().hex}"
        self.write(f'[service]\nid = "{self.service}"\n'
                   f'[store]\nurl = "{self.url}"\nschema = "{self.schema}"\n'
                   f'[listen]\nhttp = "127.0.0.1:0"\nadmin = "127.0.0.1:0"\n{self.listen}'
                   f'[log]\nformat = "json"\n{configuration}')

    def sql(self, statement, *values):
        given = iter(values)
        text = re.sub(r"\?", lambda _: quoted(next(given)), statement)
        done = subprocess.run(["psql", self.url, "-qtA", "-F", "\t", "-v", "ON_ERROR_STOP=1",
                               "-c", f"SET search_path = {self.schema}", "-c", text],
                              capture_output=True, text=True, check=True)
        return [tuple(int(each) if each.lstrip("-").isdigit() else each for each in line.split("\t"))
                for line in done.stdout.splitlines()]


def node_of_this_run(*arguments, **more):
    """On PostgreSQL where the run names a server, else on SQLite."""
    made = ServerNode if os.environ.get("POSTHORN_TEST_POSTGRES") else Node
    return made(*arguments, **more)
