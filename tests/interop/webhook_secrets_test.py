#!/usr/bin/env python3
"""What signs webhooks, and who is shown secrets: a real node, on SQLite, or on the server that
POSTHORN_TEST_POSTGRES names.

webhook_secrets_test.py PROGRAM [WebhookSecrets.test_…]
"""

import base64
import hashlib
import hmac
import http.client
import itertools
import json
import subprocess
import sys
import unittest
from pathlib import Path

from node import eventually, new_folder
from server_node import node_of_this_run
from webhook_receiver import AnsweringReceiver

PROGRAM = sys.argv.pop(1)
SETTINGS = '[webhooks]\nplain_http = true\nallow = "127.0.0.1"\nretry_pauses = "20ms"\n'


def secret_of(letter):
    return "whsec_" + base64.b64encode(letter.encode() * 32).decode()


def signs(secret, request):
    headers = request["headers"]
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.{request['body']}".encode()
    mine = hmac.new(base64.b64decode(secret.removeprefix("whsec_")), signed, hashlib.sha256).digest()
    return headers["webhook-signature"] == "v1," + base64.b64encode(mine).decode()


def verified_by(public_key, request):
    """Of each signature, in their order."""
    body = base64.b64encode(request["body"].encode()).decode()
    done = subprocess.run(["node", Path(__file__).with_name("verify_ed25519.js"), public_key], check=True,
                          input=json.dumps({"headers": request["headers"], "body": body}),
                          capture_output=True, text=True)
    return json.loads(done.stdout)


class WebhookSecrets(unittest.TestCase):
    def setUp(self):
        self.endpoint = AnsweringReceiver(200, "thanks")
        self.addCleanup(self.endpoint.close)
        self.numbers = itertools.count()
        self.keys, entries = {}, []
        for name, rights in (("boss", ["--payloads", "--secrets"]), ("reader", ["--payloads"])):
            role = "operator" if name == "boss" else "viewer"
            made = subprocess.run([PROGRAM, "keys", "admin", "new", "--name", name, "--role", role,
                                   *rights, "--json"], check=True, capture_output=True, text=True)
            made = json.loads(made.stdout)
            self.keys[name] = made["key"]
            entries.append(f'{{ name = "{name}", role = "{role}", payloads = true,'
                           f' secrets = {str(name == "boss").lower()}, hash = "{made["hash"]}" }}')
        self.admin = f"[admin]\nkeys = [{', '.join(entries)}]\n"

    def start(self, settings="", environment=None):
        self.node = node_of_this_run(PROGRAM, "shop", SETTINGS + settings + self.admin,
                                     environment=environment).init().start()
        self.addCleanup(self.node.kill)

    def ask(self, method, path, body=None, who="boss", port=None, token=None):
        connection = http.client.HTTPConnection("127.0.0.1", port or self.node.admin, timeout=120)
        connection.request(method, path, None if body is None else json.dumps(body),
                           {"Authorization": f"bearer {token}" if token else f"Bearer {self.keys[who]}"})
        answer = connection.getresponse()
        told = json.loads(answer.read())
        connection.close()
        self.assertEqual(answer.status, 200, told)
        return told

    def add(self, **more):
        return self.ask("POST", "/_rf/webhooks", {"url": self.endpoint.url, **more})

    def publish(self, tenant=None):
        """The request that came of it: one of before may come again after the node was killed."""
        mark = f"paid-{next(self.numbers)}"
        self.node.sql("INSERT INTO outbox_messages (destination, endpoint, payload, tenant)"
                      " VALUES ('webhooks', 'order.paid', ?, ?)", json.dumps({"mark": mark}), tenant)
        came = lambda: [each for each in self.endpoint.requests if mark + '"' in each["body"]]
        self.assertTrue(eventually(came), self.node.log_text()[-3000:])
        return came()[0]

    def test_a_key_pair_signs_and_its_public_half_verifies_also_while_it_is_changed(self):
        self.start()
        made = self.add(secret="ed25519")
        self.assertNotIn("secret", made)
        self.assertEqual(verified_by(made["publicKey"], self.publish()), [True])
        one = f"/_rf/webhooks/{made['id']}"
        self.assertEqual(self.ask("GET", one, who="reader")["publicKey"], made["publicKey"])
        fresh = self.ask("POST", one + "/rotate")["publicKey"]
        request = self.publish()
        self.assertEqual(verified_by(fresh, request), [True, False])
        self.assertEqual(verified_by(made["publicKey"], request), [False, True])
        shared = self.ask("POST", one + "/rotate", {"secret": secret_of("s")})
        self.assertEqual(shared["secret"], secret_of("s"))
        self.assertEqual(verified_by(fresh, self.publish()), [False, True])

    def test_tenants_have_secrets_of_their_own_in_files_and_else_the_stored_one_counts(self):
        folder = Path(new_folder())
        for tenant in ("acme", "ajax"):
            (folder / f"{tenant}.hook").write_text(secret_of(tenant[1]) + "\n")
        self.start(f'tenant_secrets = "file:{folder}/{{tenant}}.hook"\n')
        stored = {tenant: self.add(tenant=tenant)["secret"] for tenant in ("acme", "ajax", "other", "../acme")}
        self.assertTrue(signs(secret_of("c"), self.publish("acme")))
        self.assertTrue(signs(secret_of("j"), self.publish("ajax")))
        self.assertTrue(signs(stored["other"], self.publish("other")))
        self.assertTrue(signs(stored["../acme"], self.publish("../acme")))
        # It is kept for five minutes.
        (folder / "acme.hook").write_text(secret_of("n"))
        self.assertTrue(signs(secret_of("c"), self.publish("acme")))
        self.node.kill()
        self.node.write(self.node.file.read_text().replace("[webhooks]\n", '[webhooks]\nsecret_cache = "0s"\n'))
        self.node.start()
        self.assertTrue(signs(secret_of("n"), self.publish("acme")))
        (folder / "acme.hook").write_text(secret_of("m"))
        self.assertTrue(signs(secret_of("m"), self.publish("acme")))

    def test_a_secret_may_be_what_a_command_prints(self):
        entry = f'{{ url = "{self.endpoint.url}", secret = "command:printf %s \\"$HOOK\\"" }}'
        self.start(f"subscribers = [{entry}]\n", {"HOOK": secret_of("h")})
        self.assertTrue(signs(secret_of("h"), self.publish()))
        self.node.kill()
        self.node.write(self.node.file.read_text().replace("command:printf", "command:false; exit 3; printf"))
        done = subprocess.run([PROGRAM, "config", "check", "--config", self.node.file], capture_output=True,
                              text=True, env=self.node.environment)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("did not print it and end well", done.stdout + done.stderr)

    def test_headers_of_an_endpoint_are_shown_to_those_who_may_see_secrets(self):
        key = base64.b64encode(bytes(32)).decode()
        self.start('portal = true\nkey = "env:HOOK_KEY"\n', {"HOOK_KEY": key})
        made = self.add(tenant="acme", headers={"Authorization": "Basic c2VjcmV0"})
        self.publish("acme")
        listed = lambda: self.node.number("SELECT count(*) FROM webhook_attempts")
        self.assertTrue(eventually(listed))
        (attempt,) = self.ask("GET", f"/_rf/webhooks/{made['id']}/deliveries")["deliveries"]
        tokens = {rights: self.ask("POST", "/_rf/webhooks/portal-tokens",
                                   {"tenant": "acme", "rights": rights})["token"]
                  for rights in ("read", "read,write")}

        def shown(**who):
            base = "/webhooks/portal" if "token" in who else "/_rf/webhooks"
            who |= {"port": self.node.port} if "token" in who else {}
            one = f"{base}/{made['id']}"
            return [self.ask("GET", one, **who)["headers"]["Authorization"],
                    self.ask("GET", base + "/endpoints", **who)["endpoints"][0]["headers"]["Authorization"],
                    self.ask("GET", f"{one}/deliveries/{attempt['seq']}?payload=true",
                             **who)["request"]["headers"]["Authorization"]]

        for who, expected in (({"who": "boss"}, "Basic c2VjcmV0"), ({"who": "reader"}, "(hidden)"),
                              ({"token": tokens["read,write"]}, "Basic c2VjcmV0"),
                              ({"token": tokens["read"]}, "(hidden)")):
            self.assertEqual(shown(**who), [expected] * 3, who)


if __name__ == "__main__":
    unittest.main()
