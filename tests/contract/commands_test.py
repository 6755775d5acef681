#!/usr/bin/env python3
"""What the command line can ask and change of a node, a program can over HTTP: every command has its route, or
says here why it has none.

commands_test.py PROGRAM
"""

import json
import re
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "interop"))
from node import Node

PROGRAM = sys.argv.pop(1)

# Written down on purpose: a command that is new has no line here, and fails.
ROUTES = {
    "outbox": {"list": "GET /_rf/outbox", "show": "GET /_rf/outbox/{messageId}", "stats": "GET /_rf/outbox/stats",
               "lanes": "GET /_rf/outbox/lanes", "pause": "POST /_rf/outbox/lanes/{destination}/pause",
               "resume": "POST /_rf/outbox/lanes/{destination}/resume",
               "try": "POST /_rf/outbox/lanes/{destination}/try", "replay": "POST /_rf/outbox/replay"},
    "dead": {"list": "GET /_rf/dead", "groups": "GET /_rf/dead/groups", "show": "GET /_rf/dead/{messageId}",
             **{verb: f"POST /_rf/dead/{verb}" for verb in ("requeue", "resolve", "reopen", "delete")},
             "edit": "POST /_rf/dead/{messageId}/edit"},
    "inbox": {"list": "GET /_rf/inbox", "show": "GET /_rf/inbox/{messageId}", "stats": "GET /_rf/inbox/stats",
              "failed": "GET /_rf/inbox/failed", "refused": "GET /_rf/inbox/refused"},
    "": {"stats": "GET /_rf/outbox/stats", "health": "GET /_rf/health", "top": "GET /_rf/live"},
    "standby": {"status": "GET /_rf/standby", "switch": "POST /_rf/standby/switch"},
    "backup": {"list": "GET /_rf/store"},
    "keys": {"list": "GET /_rf/keys"},
    "queue": {"stats": "GET /_rf/queue", "list": "GET /_rf/queue/jobs", "show": "GET /_rf/queue/jobs/{seq}",
              "retry": "POST /_rf/queue/jobs/{seq}/retry", "retry-all": "POST /_rf/queue/retry",
              "finish": "POST /_rf/queue/jobs/{seq}/finish"},
    "audit": {"list": "GET /_rf/audit"},
    "nodes": {"list": "GET /_rf/nodes", "history": "GET /_rf/nodes/{node}", "search": "GET /_rf/search",
              "life": "GET /_rf/life/{messageId}"},
    "webhooks": {"list": "GET /_rf/webhooks", "endpoints": "GET /_rf/webhooks/endpoints", "add": "POST /_rf/webhooks",
                 "show": "GET /_rf/webhooks/{id}", "missed": "GET /_rf/webhooks/{id}/recover",
                 "deliveries": "GET /_rf/webhooks/{id}/deliveries", "event": "GET /_rf/webhooks/events/{event}",
                 "event-recover": "POST /_rf/webhooks/events/{event}/recover",
                 "attempts": "GET /_rf/webhooks/events/{event}/attempts", "types": "GET /_rf/webhooks/types",
                 "type-set": "POST /_rf/webhooks/types", "type-remove": "POST /_rf/webhooks/types/{name}/remove",
                 "portal-token": "POST /_rf/webhooks/portal-tokens",
                 **{verb: f"POST /_rf/webhooks/{{id}}/{verb}" for verb in (
                     "edit", "pause", "resume", "disable", "enable", "rotate", "test", "recover", "remove")}},
    "workflow": {"list": "GET /_rf/workflows", "show": "GET /_rf/workflows/{workflow}/{id}",
                 "history": "GET /_rf/workflows/{workflow}/{id}/history", "versions": "GET /_rf/workflow-versions",
                 "upgrade": "POST /_rf/workflow-versions/{workflow}/upgrade",
                 **{verb: f"POST /_rf/workflows/{{workflow}}/{{id}}/{verb}" for verb in (
                     "signal", "cancel", "terminate", "pause", "resume")}},
    "centre": {what: f"GET /_rf/centre/{what}" for what in ("sites", "calls", "notifications")},
    "forward": {"stats": "GET /_rf/forward", "replays": "GET /_rf/forward/replays", "list": "GET /_rf/forward/messages",
                "parked": "GET /_rf/forward/parked", "show": "GET /_rf/forward/messages/{id}",
                "retry": "POST /_rf/forward/messages/{id}/retry", "discard": "POST /_rf/forward/messages/{id}/discard",
                "track": "GET /_rf/forward/tracking/{id}", "attempts": "GET /_rf/forward/tracking/{id}/attempts"},
}
# They ask no node for anything: why not.
WITHOUT = {
    "it is, or ends, a node of its own": ["serve", "drain", "function", "demo", "bench"],
    "it makes, copies or replaces files of this machine": [
        "init", "backup", "backup verify", "restore", "compact", "migrate", "standby follow", "standby rejoin"],
    "the primary is gone when it is used, and the standby answers nothing yet": ["standby promote"],
    "it looks at this machine; what a node can look for itself is at GET /_rf/store": ["doctor"],
    "keys are files and lines of the configuration": ["keys new", "keys rotate", "keys revoke", "keys admin new"],
    "it reads a configuration": ["config check", "config show"],
    "it reads what programs publish": ["contracts export", "contracts import", "contracts diff"],
    "it tells of the program itself": ["completion", "version", "help"],
    "a message is a service's own, sent in its transaction; this is for trials on a database": ["send"],
}


def all_commands():
    """Every command, those that only hold others left out."""
    script = subprocess.run([PROGRAM, "completion", "fish"], check=True, capture_output=True, text=True).stdout
    [line] = [each for each in script.splitlines() if "contains -- $next" in each]
    names = re.findall(r"'([^']+)'", line)
    excused = {name for some in WITHOUT.values() for name in some}
    return {name for name in names
            if name in excused or not any(other.startswith(name + " ") for other in names)}


class Commands(unittest.TestCase):
    def test_every_command_has_its_route_or_a_reason(self):
        node = Node(PROGRAM, "stock", '[desk]\nnodes = [{ name = "other", url = "http://127.0.0.1:1" }]\n').init().start()
        self.addCleanup(node.stop)
        known = set(node.get_json("/_rf")["routes"])
        of_command = {f"{group} {name}".strip(): route for group, some in ROUTES.items() for name, route in some.items()}
        excused = [name for some in WITHOUT.values() for name in some]
        self.assertEqual(sorted([*of_command, *excused]), sorted(all_commands()))
        self.assertEqual({name: route for name, route in of_command.items() if route not in known}, {})
        described = json.loads(node.get("/_rf/openapi.json"))["paths"]
        for name, route in of_command.items():
            method, path = route.split(" ")
            self.assertIn(method.lower(), described[path], name)


if __name__ == "__main__":
    unittest.main()
