"""A site and a centre as real nodes, with a line between them, on the store of the run."""

import base64
import json
import os
import subprocess
import uuid

from line import Line
from node import eventually
from server_node import node_of_this_run

SECRET = os.urandom(32)
SECRET_TEXT = "base64:" + base64.b64encode(SECRET).decode()


class Centre:
    """The node of a centre that knows these services, each behind a line of its own."""

    def __init__(self, program, services, more=""):
        self.program = program
        self.lines = {each: Line() for each in services}
        made = json.loads(subprocess.run([program, "keys", "admin", "new", "--name", "o", "--role", "operator",
                                          "--json"], check=True, capture_output=True, text=True).stdout)
        self.key = made["key"]
        routes = "".join(f'{name} = {{ url = "http://127.0.0.1:{line.port}", timeout = "5s" }}\n'
                         for name, line in self.lines.items())
        secrets = "".join(f'{name} = "{SECRET_TEXT}"\n' for name in (*services, "stranger"))
        self.node = node_of_this_run(
            program, "hq", f'[centre]\nenabled = true\nrelay_timeout = "5s"\n[routes]\n{routes}[secrets]\n{secrets}'
            f'[admin]\nkeys = [{{ name = "o", role = "operator", hash = "{made["hash"]}" }}]\n{more}').init().start()

    def ask(self, *command, fails=False):
        """What `posthorn COMMAND` prints, as JSON, or what it says when it fails."""
        done = subprocess.run([self.program, *command, "--json", "--url", f"http://127.0.0.1:{self.node.admin}"],
                              capture_output=True, text=True, env=os.environ | {"POSTHORN_ADMIN_KEY": self.key})
        assert (done.returncode != 0) == fails, (done.returncode, done.stdout, done.stderr)
        return done.stderr if fails else json.loads(done.stdout)

    def notifications(self):
        return self.node.sql("SELECT NotificationId, SourceSiteId, SourceInstanceId FROM Notifications")

    def call(self, id):
        """Status and attempts of a call as the mirror has it."""
        found = self.node.sql("SELECT Status, Attempts FROM SiteCalls WHERE TrackedOperationId = ?", id)
        return found[0] if found else None

    def close(self):
        self.node.kill()
        for each in self.lines.values():
            each.close()


class Site:
    """The node of a site, with a line to its centre; its ERP is at an address."""

    def __init__(self, program, service, name, centre_port, erp_url, more=""):
        self.line = Line(centre_port)
        name = f'site = "{name}"\n' if name is not None else ""
        self.node = node_of_this_run(
            program, service, f'[forward]\n{name}central = "hq"\ncentral_timeout = "5s"\nretry_interval = "1s"\n'
            f'max_retries = 2\n{more}categories = [{{ name = "ExternalSystem", to = "{erp_url}/{{target}}",'
            f' max_retries = 2, retry_seconds = 1 }}]\n[routes]\nhq = "http://127.0.0.1:{self.line.port}"\n'
            f'[secrets]\nhq = "{SECRET_TEXT}"\nstranger = "{SECRET_TEXT}"\n').init().start()

    def hold(self, category, payload, target="x", **more):
        names = ["id", "category", "target", "payload_json", *more]
        id = str(uuid.uuid4())
        self.node.sql(f"INSERT INTO sf_messages ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})",
                      id, category, target, payload if isinstance(payload, str) else json.dumps(payload),
                      *more.values())
        return id

    def call(self, payload=None, **more):
        return self.hold(0, payload or {"order": 1}, "orders", **more)

    def notify(self, payload, **more):
        return self.hold(1, payload, "ops", **more)

    def tracked(self, id):
        return self.node.sql("SELECT Status FROM OperationTracking WHERE TrackedOperationId = ?", id)[0][0]

    def comes_to(self, id, status):
        return eventually(lambda: self.tracked(id) == status)

    def held(self):
        return self.node.number("SELECT count(*) FROM sf_messages")

    def close(self):
        self.node.kill()
        self.line.close()
