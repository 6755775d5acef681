#!/usr/bin/env python3
"""The subscribers' portal in Debian's Chromium: on its own by a link, and in a frame of the example's service,
against a real node and real receivers.

    portal_test.py PROGRAM NODE_MODULES [CASE...]
"""

import base64
import json
import sys
import threading
import time
import unittest
import urllib.request
from pathlib import Path

from desk_case import MARKUP, PROGRAM, DeskCase, admin_key
from node import Node, eventually, new_folder
from webhook_receiver import AnsweringReceiver

sys.path.insert(0, str(Path(__file__).parents[2] / "examples" / "14_webhook_portal"))
from account import Account, serve  # noqa: E402

ABSENT = "01890a5d-ac96-774b-bcce-b302099a8057"
SEALING = base64.b64encode(bytes(range(32))).decode()


class Portal(DeskCase):
    """A shop with the tenants acme and globex, and a service whose page shows the portal to acme."""

    SCRIPT = "portal.js"

    def setUp(self):
        key = admin_key("service", "--role", "operator", "--secrets")
        self.good, self.bad = AnsweringReceiver(200, f"thanks {MARKUP}"), AnsweringReceiver(500, "out of order")
        self.addCleanup(self.good.close)
        self.addCleanup(self.bad.close)
        self.account = Account("", key["key"], "")
        self.service = self.start_service(self.account)
        self.stranger = self.start_service(Account("", "", ""))
        self.shop = Node(PROGRAM, "shop", '[webhooks]\nplain_http = true\nallow = "127.0.0.1"\nretry_pauses = "20ms"\n'
                         'key = "env:SEALING"\nportal = true\n'
                         f'portal_embedders = "https://app.example, {self.service}"\n'
                         f'[admin]\nkeys = [{{ name = "service", role = "operator", hash = "{key["hash"]}", secrets = true }}]\n',
                         new_folder(), environment={"SEALING": SEALING}).init().start()
        self.addCleanup(self.shop.stop)
        self.portal = f"http://127.0.0.1:{self.shop.port}/webhooks/portal/"
        self.account.admin = f"http://127.0.0.1:{self.shop.admin}"
        self.account.portal = self.portal

    def start_service(self, account):
        """Gives the origin of its pages, which is another than the portal's."""
        server = serve(0, account)
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return f"http://127.0.0.1:{server.server_port}"

    def token(self, tenant="acme", rights="read,write", seconds=3600):
        return Account(self.account.admin, self.account.key, "", tenant, rights, seconds).token()

    def ended_token(self):
        token = self.token(seconds=1)
        until = json.loads(base64.b64decode(token.removeprefix("pht_").split(".")[0]))["until"]
        self.assertTrue(eventually(lambda: time.time() * 1000 > until))
        return token

    def browse(self, case, answer=None, **more):
        self.run_case(case, {"portal": self.portal, "service": self.service, "good": self.good.url,
                             "bad": self.bad.url, "markup": MARKUP, **more}, answer)

    def add(self, url, **more):
        request = urllib.request.Request(f"{self.account.admin}/_rf/webhooks",
                                         json.dumps({"url": url, **more}).encode(),
                                         {"Authorization": f"Bearer {self.account.key}"})
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.load(answer)["id"]

    def publish(self, payload, tenant="acme"):
        return self.shop.sql("INSERT INTO outbox_messages (destination, endpoint, payload, tenant)"
                             " VALUES ('webhooks', 'order.paid', ?, ?) RETURNING message_id",
                             json.dumps(payload), tenant)[0][0]

    def until_tried(self, number):
        tried = "SELECT count(*) FROM webhook_attempts"
        undone = "SELECT count(*) FROM outbox_messages WHERE status = 'Pending'"
        self.assertTrue(eventually(lambda: self.shop.number(tried) == number and self.shop.number(undone) == 0),
                        self.shop.log_text()[-3000:])

    def fail_once(self):
        """Of acme an endpoint that works and one that gave a delivery up; of globex one as well."""
        self.add(self.good.url, tenant="acme", description="the one that works")
        bad = self.add(self.bad.url, tenant="acme", maxRetries=0, headers={"Authorization": "Basic acmes-own"})
        other = self.add(f"{self.good.url}?of-globex", tenant="globex")
        self.publish({"amount": 7, "by": MARKUP})
        self.publish({"amount": 8, "by": "globex"}, "globex")
        self.until_tried(3)
        return bad, other

    def test_by_a_link_a_subscriber_makes_changes_and_deletes_their_endpoint(self):
        self.shop.sql("INSERT INTO webhook_event_types (name, description) VALUES ('order.paid', 'An order was paid')")
        token = self.token()
        self.browse("link", token=token)
        self.assertEqual([json.loads(each["body"])["type"] for each in self.good.requests], ["webhook.test"])
        self.assertEqual(self.shop.number("SELECT count(*) FROM webhook_subscriptions"), 0)
        self.assertNotIn(token, self.shop.log_text())

    def test_what_was_given_up_is_tried_again_one_by_one_and_all_together(self):
        bad, _ = self.fail_once()
        event = self.publish({"amount": 9})
        self.until_tried(5)
        self.bad.status = 200
        self.browse("again", id=bad, event=event, token=self.token())
        self.until_tried(7)
        self.assertEqual(self.bad.requests[2]["headers"]["webhook-id"], event)

    def test_nothing_of_another_tenant_is_shown_and_it_looks_as_what_never_was(self):
        _, other = self.fail_once()
        self.browse("others", other=other, absent=ABSENT, token=self.token())

    def test_who_may_only_look_is_offered_no_change(self):
        bad, _ = self.fail_once()
        self.browse("reader", id=bad, token=self.token(rights="read"))

    def test_in_a_frame_it_gets_its_token_from_the_page_around_it_and_another_when_that_ends(self):
        self.fail_once()

        def answer(said):
            self.assertEqual(said, "sign out")
            self.account.tenant = None

        self.browse("frame", answer, ended=self.ended_token())
        self.account.tenant = "globex"
        self.browse("frame_of_globex")

    def test_pages_that_are_not_named_neither_frame_it_nor_hand_it_anything(self):
        self.browse("strangers", stranger=self.stranger, token=self.token())

    def test_a_token_that_is_over_or_broken_is_told_in_words_and_the_next_one_goes_on(self):
        bad, _ = self.fail_once()
        self.browse("over", id=bad, ended=self.ended_token(), token=self.token(), next=self.token(seconds=3599), globex=self.token("globex"))

    def test_pages_are_accessible_narrow_dark_and_in_the_services_colours(self):
        bad, _ = self.fail_once()
        self.browse("looks", id=bad, token=self.token())


if __name__ == "__main__":
    unittest.main()
