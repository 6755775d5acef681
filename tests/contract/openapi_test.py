#!/usr/bin/env python3
"""What a node says of its admin routes in OpenAPI, held against what others make of it and what it answers.

openapi_test.py PROGRAM NODE_MODULES
"""

import http.client
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "interop"))
from node import Node, eventually

PROGRAM, MODULES = sys.argv.pop(1), sys.argv.pop(1)
HERE = Path(__file__).parent
SECRET = "base64:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="


def run(*command, **more):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True,
                          env=os.environ | {"NODE_PATH": MODULES}, **more)
    return done.returncode, done.stdout + done.stderr


class OpenApi(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        made = json.loads(subprocess.run([PROGRAM, "keys", "admin", "new", "--role", "operator", "--json"],
                                         check=True, capture_output=True, text=True).stdout)
        cls.key = made["key"]
        cls.stock = Node(PROGRAM, "stock", f'[secrets]\norders = "{SECRET}"\n[handlers]\nShip = "queue"\n'
                         'Charge = "sql:INSERT INTO missing VALUES (1)"\n'
                         '[consume]\nsources = [{ name = "in", url = "amqp://127.0.0.1:1", queue = "in" }]\n'
                         f'[admin]\nkeys = [{{ name = "boss", role = "operator", hash = "{made["hash"]}", '
                         'payloads = true, secrets = true }]\n').init().start()
        cls.addClassCleanup(cls.stock.stop)
        cls.orders = Node(PROGRAM, "orders", f'[secrets]\nstock = "{SECRET}"\n'
                          f'[routes]\nstock = "http://127.0.0.1:{cls.stock.port}"\n'
                          '[outbox]\nmax_retries = 0\n[webhooks]\nportal = true\nkey = "env:SEALING_KEY"\n'
                          f'[desk]\nnodes = [{{ name = "stock", url = "http://127.0.0.1:{cls.stock.admin}", '
                          'key = "env:STOCK_KEY" }]\n'
                          f'[admin]\nkeys = [{{ name = "boss", role = "operator", hash = "{made["hash"]}", '
                          'payloads = true, secrets = true }]\n', environment={"STOCK_KEY": cls.key, "SEALING_KEY": SECRET}).init().start()
        cls.addClassCleanup(cls.orders.stop)
        cls.stock.sql("INSERT INTO outbox_messages (destination, endpoint, payload) VALUES ('crm', 'A', '{}')")
        for endpoint in ["Ship"] * 3 + ["Charge"] * 3:
            cls.orders.sql("INSERT INTO outbox_messages (destination, endpoint, payload) VALUES ('stock', ?, '{}')",
                           endpoint)
        cls.orders.sql("INSERT INTO outbox_messages (destination, endpoint, payload) VALUES ('crm', 'A', '{}')")
        count = "SELECT count(*) FROM outbox_messages WHERE status = ?"
        assert eventually(lambda: cls.orders.number(count, "Dead") == 3), cls.orders.log_text()
        assert eventually(lambda: cls.orders.number(count, "Sent") == 3), cls.orders.log_text()
        cls.document = json.loads(cls.ask(cls.orders, "GET", "/_rf/openapi.json")["body"])

    @classmethod
    def ask(cls, node, method, path, body=None, route=None):
        """An answer with the route that gave it."""
        connection = http.client.HTTPConnection("127.0.0.1", node.admin, timeout=120)
        connection.request(method, path, body=None if body is None else json.dumps(body),
                           headers={"Authorization": f"Bearer {cls.key}"})
        answer = connection.getresponse()
        # What does not end is known by its beginning.
        is_stream = answer.getheader("Content-Type").startswith("text/event-stream")
        text = json.dumps(answer.readline().decode()) if is_stream else answer.read().decode()
        connection.close()
        return {"method": method.lower(), "route": route or path.split("?")[0], "path": path,
                "status": answer.status, "type": answer.getheader("Content-Type").split(";")[0], "body": text}

    def webhooks_of(self, node):
        """Every route of a subscription, in the course of one's life."""
        added = self.ask(node, "POST", "/_rf/webhooks", {
            "url": "https://127.0.0.1:1/hook", "headers": {"X-A": "b"}, "filter": {"/data/a": [1]}, "tenant": "t",
            "maxRetries": 0})
        one, route = f"/_rf/webhooks/{json.loads(added['body'])['id']}", "/_rf/webhooks/{id}"
        [(event,)] = node.sql("INSERT INTO outbox_messages (destination, endpoint, payload, tenant)"
                              " VALUES ('webhooks', 'x', '{\"a\": 1}', 't') RETURNING message_id")
        attempts = "SELECT max(seq) FROM webhook_attempts"
        self.assertTrue(eventually(lambda: node.number(attempts)), node.log_text()[-3000:])
        tried = f"/deliveries/{node.number(attempts)}"
        given_up = "SELECT count(*) FROM outbox_messages WHERE destination LIKE 'webhook:%' AND status = 'Dead'"
        self.assertTrue(eventually(lambda: node.number(given_up) == 1), node.log_text()[-3000:])
        return [added, self.ask(node, "POST", f"{one}{tried}/retry", None, route + "/deliveries/{seq}/retry"),
                self.ask(node, "GET", f"{one}{tried}?payload=true", route=route + "/deliveries/{seq}"),
                self.ask(node, "GET", "/_rf/webhooks"), self.ask(node, "GET", one, route=route),
                self.ask(node, "GET", "/_rf/webhooks/endpoints"),
                self.ask(node, "POST", "/_rf/webhooks/portal-tokens", {"tenant": "t"}),
                self.ask(node, "GET", f"/_rf/webhooks/events/{event}", route="/_rf/webhooks/events/{event}"),
                self.ask(node, "GET", f"/_rf/webhooks/events/{event}/attempts",
                         route="/_rf/webhooks/events/{event}/attempts"),
                self.ask(node, "POST", f"/_rf/webhooks/events/{event}/recover", None,
                         "/_rf/webhooks/events/{event}/recover"),
                self.ask(node, "POST", "/_rf/webhooks/types", {"name": "x", "schema": {}, "example": [1]}),
                self.ask(node, "GET", "/_rf/webhooks/types"),
                self.ask(node, "POST", "/_rf/webhooks/types/x/remove", None, "/_rf/webhooks/types/{name}/remove"),
                *(self.ask(node, "GET", f"{one}/{what}", route=f"{route}/{what}") for what in ("health", "recover")),
                self.ask(node, "POST", one + "/edit", {"description": "d"}, route + "/edit"),
                *(self.ask(node, "POST", f"{one}/{verb}", None, f"{route}/{verb}") for verb in (
                    "pause", "resume", "disable", "enable", "rotate", "test", "recover")),
                self.ask(node, "GET", one + "/deliveries?limit=5", route=route + "/deliveries"),
                self.ask(node, "POST", one + "/remove", None, route + "/remove")]

    def forwards_of(self, node):
        """Every route of store-and-forward; no handler of this node takes what is held."""
        ids = [node.sql("INSERT INTO sf_messages (category, target, payload_json, origin_instance)"
                        " VALUES (0, 'erp', '{}', 'line 3')") or
               node.sql("SELECT id FROM forward_messages ORDER BY seq DESC LIMIT 1")[0][0] for _ in range(2)]
        node.sql("UPDATE outbox_messages SET status = 'Dead', last_error = 'no paper'"
                 " WHERE destination = 'forward:ExternalSystem/erp'")
        one, route = f"/_rf/forward/messages/{ids[0]}", "/_rf/forward/messages/{id}"
        return [self.ask(node, "GET", "/_rf/forward"), self.ask(node, "GET", "/_rf/forward/messages?limit=1"),
                self.ask(node, "GET", "/_rf/forward/parked?limit=1"),
                self.ask(node, "GET", "/_rf/forward/replays"),
                self.ask(node, "GET", one, route=route),
                self.ask(node, "POST", f"{one}/retry", None, f"{route}/retry"),
                self.ask(node, "POST", f"/_rf/forward/messages/{ids[1]}/discard", None, f"{route}/discard"),
                self.ask(node, "GET", f"/_rf/forward/tracking/{ids[1]}", route="/_rf/forward/tracking/{id}"),
                self.ask(node, "GET", f"/_rf/forward/tracking/{ids[1]}/attempts",
                         route="/_rf/forward/tracking/{id}/attempts")]

    def consumed_of(self, node):
        """Every route of what brokers gave, where none is."""
        for number in range(2):
            node.sql("INSERT INTO posthorn_consume_dead (source, fingerprint, message_id, endpoint, about, body, reason,"
                     " deliveries, dead_at) VALUES ('in', ?, 'm1', 'Ship', ?, '{}', 'no handler', 2, 1000)", str(number),
                     json.dumps({"id": "m1", "contentType": "application/json", "address": "in",
                                 "headers": [["rf-endpoint", "Ship"], ["x-a", "b"]]}))
        one, two = (f"/_rf/consume/dead/{row[0]}" for row in node.sql("SELECT seq FROM posthorn_consume_dead"))
        route = "/_rf/consume/dead/{seq}"
        return [self.ask(node, "GET", "/_rf/consume"), self.ask(node, "GET", "/_rf/consume/dead?source=in&limit=1"),
                self.ask(node, "GET", one, route=route),
                self.ask(node, "POST", f"{one}/requeue", None, f"{route}/requeue"),
                self.ask(node, "POST", f"{two}/discard", None, f"{route}/discard")]

    def centres_of(self, node):
        """Every route of a centre that has heard of one site."""
        now = "2026-01-01T00:00:00.000Z"
        node.sql("INSERT INTO centre_sites (Service, SiteId, FirstSeenUtc) VALUES ('plant', 'plant 7', ?)", now)
        node.sql("INSERT INTO centre_notifications (NotificationId, SourceSiteId, SourceInstanceId, SourceService,"
                 " PayloadJson, ReceivedAtUtc) VALUES ('a', 'plant 7', 'press', 'plant', '{}', ?)", now)
        node.sql("INSERT INTO SiteCalls (SourceService, TrackedOperationId, SourceSite, Kind, Status, LastError, HttpStatus,"
                 " CreatedAtUtc, UpdatedAtUtc, ReceivedAtUtc) VALUES ('plant', 'b', 'plant 7', 'ExternalSystem', 'Parked',"
                 " 'no paper', 500, ?, ?, ?)", now, now, now)
        return [self.ask(node, "GET", "/_rf/centre/sites"), self.ask(node, "GET", "/_rf/centre/calls?limit=1"),
                self.ask(node, "GET", "/_rf/centre/notifications?limit=1")]

    def workflows_of(self, node):
        """Every route of a workflow, which no code of this node runs."""
        node.sql("INSERT INTO workflow_instances (workflow, id, status, version, arguments)"
                 " VALUES ('Approve', 'o1', 'running', 1, '[1]')")
        node.sql("INSERT INTO workflow_history (instance, run, step, at, version, cause, command, payload, did, state)"
                 " SELECT instance, 1, 1, 0, 1, 'start', 0, '', '{\"commands\":[{\"kind\":\"call\",\"name\":\"Charge\","
                 "\"sum\":1}],\"dropped\":[2],\"status\":\"running\",\"result\":\"\"}', '{\"a\":1}'"
                 " FROM workflow_instances")
        node.sql("INSERT INTO workflow_calls SELECT instance, 1, 'billing', 'Charge', 0 FROM workflow_instances")
        one, route = "/_rf/workflows/Approve/o1", "/_rf/workflows/{workflow}/{id}"
        node.sql("INSERT INTO workflow_instances (workflow, id, status, version, reason) VALUES"
                 " ('Approve', 'o2', 'quarantined', 1, 'step 1: recorded sleep, the code now calls Charge')")
        node.sql("INSERT INTO workflow_instances (workflow, id, status, version, parent, fate)"
                 " SELECT 'Ship', 's1', 'paused', 1, instance, 'cancel' FROM workflow_instances WHERE id = 'o1'")
        node.sql("INSERT INTO workflow_watches SELECT p.instance, 3, c.instance FROM workflow_instances p,"
                 " workflow_instances c WHERE p.id = 'o1' AND c.id = 's1'")
        node.sql("INSERT INTO workflow_versions VALUES ('Approve', 1, 1, 1000), ('Approve', 2, 1, 2000)")
        return [self.ask(node, "GET", "/_rf/workflows?status=running&limit=1"),
                self.ask(node, "GET", "/_rf/workflows/counts"),
                self.ask(node, "GET", "/_rf/workflows/Approve/o2", route=route),
                self.ask(node, "GET", one, route=route), self.ask(node, "GET", one + "?at=1", route=route),
                self.ask(node, "GET", one + "?diff=true", route=route),
                self.ask(node, "GET", one + "/history", route=route + "/history"),
                self.ask(node, "POST", one + "/signal", {"signal": "Decided", "payload": {"a": 1}}, route + "/signal"),
                self.ask(node, "POST", one + "/cancel", {"reason": "enough"}, route + "/cancel"),
                self.ask(node, "POST", one + "/pause", None, route + "/pause"),
                self.ask(node, "POST", one + "/resume", None, route + "/resume"),
                self.ask(node, "GET", "/_rf/workflows?workflow=Ship&version=1"),
                self.ask(node, "POST", "/_rf/workflows/Ship/s1/terminate", {"reason": "by mistake"},
                         route + "/terminate"),
                self.ask(node, "GET", "/_rf/workflow-versions"),
                self.ask(node, "POST", "/_rf/workflow-versions/Approve/upgrade",
                         {"from": 7, "to": 8, "dryRun": True}, "/_rf/workflow-versions/{workflow}/upgrade")]

    def test_no_route_is_missing_and_none_is_made_up(self):
        listed = json.loads(self.ask(self.orders, "GET", "/_rf")["body"])["routes"]
        described = [f"{method.upper()} {path}" for path, operations in self.document["paths"].items()
                     for method in operations]
        self.assertEqual(sorted(described), sorted(listed))
        self.assertIn("POST /_rf/queue/{endpoint}/take", described)  # Of a feature.

    def test_another_validator_finds_nothing_wrong_with_it(self):
        check = ["node", HERE / "validate_openapi.mjs", MODULES]
        code, said = run(*check, input=json.dumps(self.document))
        self.assertEqual(code, 0, said)
        broken = json.loads(json.dumps(self.document))
        del broken["paths"]["/_rf/outbox"]["get"]["responses"]
        broken["paths"]["/_rf/outbox"]["get"]["parameters"][0]["in"] = "body"
        code, said = run(*check, input=json.dumps(broken))
        self.assertNotEqual(code, 0)

    def test_a_real_node_answers_as_it_says(self):
        dead = self.orders.sql("SELECT message_id FROM outbox_messages WHERE status = 'Dead' ORDER BY seq")
        one, two, three = (row[0] for row in dead)
        o, s = self.orders, self.stock
        answers = [self.ask(o, "GET", path) for path, operations in self.document["paths"].items()
                   if "get" in operations and "{" not in path and path != "/_rf/outbox/replay"]
        replay = "/_rf/outbox/replay?since=2020-02-14T12:00:00Z&destination=nowhere"
        answers += [self.ask(o, method, replay) for method in ["GET", "POST"]]
        answers += [self.ask(s, "GET", path) for path in
                    ["/_rf/queue", "/_rf/queue/jobs", "/_rf/inbox", "/_rf/inbox/stats", "/_rf/inbox/handlers",
                     "/_rf/inbox/failed", "/_rf/audit"]]
        answers += [self.ask(s, "GET", "/_rf/queue/jobs/1?payload=true", route="/_rf/queue/jobs/{seq}")]
        answers += [self.ask(o, "GET", f"/_rf/{kind}/{one}?payload=true", route=f"/_rf/{kind}/{{messageId}}")
                    for kind in ["outbox", "dead"]]
        answers += [self.ask(o, "GET", f"/_rf/links/{one}", route="/_rf/links/{messageId}")]
        taken = s.sql("SELECT message_id FROM inbox_messages LIMIT 1")[0][0]
        answers += [self.ask(s, "GET", f"/_rf/{kind}/{taken}", route=f"/_rf/{kind}/{{messageId}}")
                    for kind in ["inbox", "links"]]
        others = s.sql("SELECT message_id FROM outbox_messages LIMIT 1")[0][0]
        answers += [self.ask(o, "GET", "/_rf/nodes/stock", route="/_rf/nodes/{node}"),
                    self.ask(o, "GET", "/_rf/search?destination=crm&until=2020-02-14T12:00:00Z"),
                    self.ask(o, "GET", f"/_rf/life/{taken}?cause={one}", route="/_rf/life/{messageId}"),
                    self.ask(o, "GET", f"/_rf/nodes/stock/outbox/{others}",
                             route="/_rf/nodes/{node}/outbox/{messageId}")]
        lane = "/_rf/outbox/lanes/{destination}/"
        answers += [self.ask(o, "POST", f"/_rf/outbox/lanes/stock/{verb}", route=lane + verb)
                    for verb in ["pause", "resume", "try"]]
        answers += [self.ask(o, "POST", f"/_rf/dead/{one}/requeue", {}, "/_rf/dead/{messageId}/requeue"),
                    self.ask(o, "POST", f"/_rf/dead/{two}/edit", {"maxRetries": 1}, "/_rf/dead/{messageId}/edit"),
                    self.ask(o, "POST", f"/_rf/dead/{two}/resolve", {"reason": "x"}, "/_rf/dead/{messageId}/resolve"),
                    self.ask(o, "POST", f"/_rf/outbox/{three}/retry", None, "/_rf/outbox/{messageId}/retry"),
                    self.ask(o, "POST", "/_rf/dead/requeue?all=true", {}),
                    self.ask(o, "POST", "/_rf/dead/resolve?destination=nowhere", {"reason": "x"}),
                    self.ask(o, "POST", "/_rf/dead/delete?destination=nowhere"),
                    self.ask(o, "POST", f"/_rf/dead/{two}/reopen", None, "/_rf/dead/{messageId}/reopen"),
                    self.ask(o, "POST", "/_rf/dead/reopen?destination=nowhere"),
                    self.ask(o, "POST", f"/_rf/dead/{two}/delete", None, "/_rf/dead/{messageId}/delete")]
        take, retry = "/_rf/queue/{endpoint}/take", "/_rf/queue/jobs/{seq}/retry"
        answers += [self.ask(s, "POST", "/_rf/queue/Ship/take", {"owner": "w", "limit": 2}, take),
                    self.ask(s, "POST", "/_rf/queue/ack", {"owner": "w", "seqs": [1], "response": {"a": 1}}),
                    self.ask(s, "POST", "/_rf/queue/release", {"owner": "w", "seqs": [2], "giveUp": True}),
                    self.ask(s, "GET", "/_rf/queue/jobs"),
                    self.ask(s, "POST", "/_rf/queue/retry", {"endpoint": "Ship"}),
                    self.ask(s, "POST", "/_rf/queue/jobs/3/retry", None, retry),
                    self.ask(s, "POST", "/_rf/queue/jobs/3/finish", {}, "/_rf/queue/jobs/{seq}/finish"),
                    self.ask(s, "POST", "/_rf/session", {"key": self.key}),
                    self.ask(s, "DELETE", "/_rf/session")]
        answers += self.webhooks_of(o)
        answers += self.workflows_of(o)
        answers += self.forwards_of(o)
        answers += self.centres_of(o)
        answers += self.consumed_of(s)
        refused = [self.ask(o, "GET", "/_rf/outbox?status=Odd"),
                   self.ask(o, "POST", "/_rf/webhooks", {"url": "nope"}), self.ask(o, "POST", "/_rf/session", {"key": "no"}),
                   self.ask(o, "GET", "/_rf/workflows?status=odd"),
                   self.ask(o, "GET", "/_rf/workflows/A/b", route="/_rf/workflows/{workflow}/{id}"),
                   self.ask(o, "GET", "/_rf/dead/0", route="/_rf/dead/{messageId}"),
                   self.ask(o, "POST", "/_rf/standby/switch")]
        self.assertEqual([(each["path"], each["body"]) for each in answers if each["status"] != 200], [])
        # A node that changed its role would answer nothing more: it has no standby, and says so.
        asked = {(each["method"], each["route"]) for each in [*answers, refused[-1]]}
        described = {(method, path) for path, operations in self.document["paths"].items() for method in operations}
        self.assertEqual(described - asked, set())
        code, said = run("node", HERE / "answers_as_described.js",
                         input=json.dumps({"document": self.document, "answers": answers + refused}))
        self.assertEqual(code, 0, said)
        answers[0]["body"] = "[]"
        code, _ = run("node", HERE / "answers_as_described.js",
                      input=json.dumps({"document": self.document, "answers": answers}))
        self.assertNotEqual(code, 0)

    def test_a_client_with_types_made_of_it_compiles_and_works(self):
        folder = Path(tempfile.mkdtemp(prefix="posthorn-"))
        self.addCleanup(shutil.rmtree, folder)
        (folder / "openapi.json").write_text(json.dumps(self.document))
        (folder / "package.json").write_text('{"type": "module"}')
        shutil.copy(HERE / "openapi_client.ts", folder / "client.ts")
        code, said = run("node", Path(MODULES) / "openapi-typescript/bin/cli.js", folder / "openapi.json",
                         "-o", folder / "api.ts")
        self.assertEqual(code, 0, said)
        compiler = ["node", Path(MODULES) / "typescript/bin/tsc", "--strict", "--target", "es2022", "--module",
                    "es2022", "--moduleResolution", "bundler", "--lib", "es2022,dom"]
        code, said = run(*compiler, folder / "client.ts")
        self.assertEqual(code, 0, said)
        code, said = run("node", folder / "client.js", f"http://127.0.0.1:{self.orders.admin}", self.key)
        self.assertEqual((code, said), (0, "crm Pending\n"))
        text = (folder / "client.ts").read_text()
        (folder / "wrong.ts").write_text(text.replace("each.destination", "each.destinatoin"))
        code, said = run(*compiler, folder / "wrong.ts")
        self.assertNotEqual(code, 0)
        self.assertIn("destinatoin", said)


if __name__ == "__main__":
    unittest.main()
