#!/usr/bin/env python3
"""Sites and their centre as real processes, on SQLite, or on the server that POSTHORN_TEST_POSTGRES names.

centre_test.py PROGRAM [Centre.test_…]
"""

import json
import sys
import unittest
import uuid
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from node import eventually
from peer import Peer
from site_and_centre import SECRET, Centre as CentreNode, Site
from webhook_receiver import AnsweringReceiver
from wire import Sender, envelope

PROGRAM = sys.argv.pop(1)


def acknowledging(ack):
    """A centre of the test's own that gives this ack."""
    return lambda message: (200, {"acknowledged": True, "duplicateDetected": False, "payload": ack(message["payload"]),
                                  "error": None})


class Centre(unittest.TestCase):
    def setUp(self):
        self.erp = AnsweringReceiver(200, "thanks")
        self.addCleanup(self.erp.close)

    def centre(self, services=("plant",), more=""):
        self.hq = CentreNode(PROGRAM, services, more)
        self.addCleanup(self.hq.close)
        return self.hq

    def site(self, service="plant", name="plant 7", centre_port=None, more=""):
        made = Site(PROGRAM, service, name, centre_port or self.hq.node.port, self.erp.url, more)
        self.addCleanup(made.close)
        if centre_port is None:
            self.hq.lines[service].target = made.node.port
        return made

    def send(self, node, endpoint, payload, source="stranger"):
        """One message of a service that is not the one that should send it."""
        sender = Sender(node.port, source, node.service, SECRET)
        status, answer, _ = sender.post("/_rf/receive", envelope(source, endpoint, payload))
        return status, answer

    def park(self, plant):
        self.erp.status, self.erp.body = 404, ""
        id = plant.call(origin_instance="press")
        self.assertTrue(plant.comes_to(id, "Parked"), plant.node.log_text()[-2000:])
        self.assertTrue(eventually(lambda: self.hq.call(id) == ("Parked", 1)))
        self.erp.status = 200
        return id

    def test_a_notification_becomes_one_row_with_the_sites_own_word_on_where_it_comes_from(self):
        self.centre()
        plant = self.site()
        id = plant.notify({"Subject": "hot", "SourceSiteId": "plant 8", "SourceInstanceId": "x"},
                          origin_instance="press")
        self.assertTrue(eventually(lambda: self.hq.notifications() == [(id, "plant 7", "press")]),
                        (self.hq.notifications(), plant.node.log_text()[-2000:]))
        self.assertTrue(eventually(lambda: plant.held() == 0))
        [(payload,)] = self.hq.node.sql("SELECT PayloadJson FROM Notifications")
        self.assertEqual(json.loads(payload)["Subject"], "hot")
        [listed] = self.hq.ask("centre", "notifications")["notifications"]
        self.assertEqual((listed["id"], listed["site"], listed["service"]), (id, "plant 7", "plant"))

    def test_the_id_that_a_script_gave_is_the_one_key_and_a_repeat_is_acknowledged_again(self):
        self.centre()
        plant = self.site()
        own = str(uuid.uuid4())
        for _ in range(2):
            plant.notify({"NotificationId": own.replace("-", "").upper()})
            self.assertTrue(eventually(lambda: plant.held() == 0), plant.node.log_text()[-2000:])
        self.assertEqual([row[0] for row in self.hq.notifications()], [own])

    def test_one_whose_ack_is_lost_is_sent_again_and_is_there_once(self):
        self.centre()
        plant = self.site()
        plant.line.swallows_answers = True
        id = plant.notify({"Subject": "hot"})
        self.assertTrue(eventually(lambda: len(self.hq.notifications()) == 1))
        self.assertEqual(plant.held(), 1)
        plant.line.swallows_answers = False
        self.assertTrue(eventually(lambda: plant.held() == 0), plant.node.log_text()[-2000:])
        self.assertEqual([row[0] for row in self.hq.notifications()], [id])

    def test_while_the_line_is_cut_the_site_goes_on_and_afterwards_nothing_is_missing(self):
        self.centre()
        plant = self.site()
        plant.line.cut()
        told = {plant.notify({"n": n}) for n in range(10)}
        calls = [plant.call({"order": n}) for n in range(5)]
        for each in calls:
            self.assertTrue(plant.comes_to(each, "Delivered"))  # Known at the site, with its centre out.
        self.assertEqual(len(self.hq.notifications()), 0)
        self.assertEqual(plant.node.number("SELECT sum(retry_count) FROM sf_messages"), 0)
        plant.line.mend()
        self.assertTrue(eventually(lambda: plant.held() == 0), plant.node.log_text()[-2000:])
        self.assertEqual({row[0] for row in self.hq.notifications()}, told)
        for each in calls:
            self.assertTrue(eventually(lambda: self.hq.call(each) == ("Delivered", 1)))

    def test_an_ack_that_does_not_accept_it_is_tried_again_and_counts(self):
        acks = {"another": lambda _: {"NotificationId": str(uuid.uuid4()), "Accepted": True},
                "refused": lambda said: {"NotificationId": said["NotificationId"], "Accepted": False, "Error": "no"},
                "unreadable": lambda _: "yes"}
        hq = Peer("hq", "plant", SECRET, acknowledging(lambda said: acks[said["how"]](said)))
        self.addCleanup(hq.close)
        plant = self.site(centre_port=hq.port)
        for how, why in (("another", "about another notification"), ("refused", "does not accept it: no"),
                         ("unreadable", "cannot be read")):
            id = plant.notify({"how": how})
            self.assertTrue(eventually(lambda: plant.node.sql(
                "SELECT status, retry_count FROM sf_messages WHERE id = ?", id) == [(2, 2)]), how)
            self.assertIn(why, plant.node.sql("SELECT last_error FROM sf_messages WHERE id = ?", id)[0][0])

    def test_a_centre_that_takes_too_long_costs_no_retry(self):
        hq = Peer("hq", "plant", SECRET,
                  acknowledging(lambda said: {"NotificationId": said["NotificationId"], "Accepted": True}))
        self.addCleanup(hq.close)
        hq.open.clear()
        plant = self.site(centre_port=hq.port, more='')
        plant.notify({"Subject": "hot"})
        self.assertTrue(eventually(lambda: len(hq.requests) >= 2))  # The first was given up after its time.
        self.assertEqual(plant.node.sql("SELECT status, retry_count FROM sf_messages"), [(0, 0)])
        hq.open.set()
        self.assertTrue(eventually(lambda: plant.held() == 0), plant.node.log_text()[-2000:])

    def test_one_that_cannot_be_read_is_parked_with_a_warning_or_dropped_where_that_is_set(self):
        self.centre(("plant", "depot"))
        plant = self.site()
        depot = self.site("depot", "depot", more="discard_unreadable = true\n")
        for text in ("[1]", '{"NotificationId":7}'):
            id = plant.notify(text)
            self.assertTrue(eventually(lambda: plant.node.sql(
                "SELECT status, retry_count FROM sf_messages WHERE id = ?", id)[0][0] == 2))
            depot.notify(text)
            self.assertTrue(eventually(lambda: depot.held() == 0))
        self.assertEqual(self.hq.notifications(), [])
        self.assertIn("cannot be read and is parked", plant.node.log_text())
        self.assertIn("cannot be read and is discarded", depot.node.log_text())

    def test_the_mirror_follows_each_attempt_and_what_a_person_does_exactly_once(self):
        self.centre()
        plant = self.site()
        self.erp.status, self.erp.body = 500, "no paper"
        id = plant.call(origin_instance="press", source_script="ship.lua", execution_id="e1")
        self.assertTrue(eventually(lambda: self.hq.call(id) == ("Parked", 2)), self.hq.call(id))
        row = self.hq.node.sql(
            "SELECT SourceSite, Kind, TargetSummary, RetryCount, LastError, HttpStatus, SourceInstanceId, SourceScript,"
            " Channel, Outcome, ExecutionId FROM SiteCalls")
        self.assertEqual(row, [("plant 7", "ExternalSystem", "orders", 2, "HTTP 500: no paper", 500, "press",
                                "ship.lua", "ApiOutbound", "ParkedMaxRetries", "e1")])
        self.assertEqual(self.hq.ask("forward", "retry", id, "--site", "plant 7"), {"id": id, "retried": True})
        self.assertTrue(eventually(lambda: self.hq.call(id) == ("Parked", 4)), self.hq.call(id))
        self.assertEqual(self.hq.ask("forward", "discard", id, "--site", "plant 7"), {"id": id, "discarded": True})
        self.assertTrue(eventually(lambda: self.hq.call(id) == ("Discarded", 4)), self.hq.call(id))
        self.assertEqual(plant.tracked(id), "Discarded")
        self.assertEqual(len(self.erp.requests), 4)

    def test_what_is_parked_at_a_site_is_found_and_retried_from_the_centre_with_an_id_of_either_form(self):
        self.centre()
        plant = self.site()
        id = self.park(plant)
        unreadable = plant.notify("[]")
        self.assertTrue(eventually(lambda: len(self.hq.ask("forward", "parked", "--site", "plant 7")["messages"]) == 2))
        page = self.hq.ask("forward", "parked", "--site", "plant 7", "--limit", "1")
        [one] = page["messages"]
        self.assertEqual((one["id"], one["category"], one["lastError"], one["originInstance"], page["mirror"]),
                         (id, "ExternalSystem", "HTTP 404", "press", False))
        [two] = self.hq.ask("forward", "parked", "--site", "plant 7", "--after", str(page["next"]))["messages"]
        self.assertEqual((two["id"], two["category"]), (unreadable, "Notification"))
        self.hq.ask("forward", "retry", id.replace("-", "").upper(), "--site", "plant 7")
        self.assertTrue(plant.comes_to(id, "Delivered"))
        self.assertTrue(eventually(lambda: self.hq.call(id) == ("Delivered", 2)))
        self.assertIn("nothing is parked", self.hq.ask("forward", "retry", id, "--site", "plant 7", fails=True))
        self.assertIn("no site plant 9", self.hq.ask("forward", "parked", "--site", "plant 9", fails=True))

    def test_for_a_site_that_is_down_the_mirror_answers_and_says_so(self):
        self.centre()
        plant = self.site()
        id = self.park(plant)
        self.hq.lines["plant"].cut()
        page = self.hq.ask("forward", "parked", "--site", "plant 7")
        self.assertEqual(([each["id"] for each in page["messages"]], page["mirror"]), ([id], True))
        self.assertIn("plant 7 does not answer", page["note"])
        self.assertIn("plant 7", self.hq.ask("forward", "discard", id, "--site", "plant 7", fails=True))
        self.assertEqual((plant.tracked(id), self.hq.call(id)), ("Parked", ("Parked", 1)))

    def test_a_command_is_answered_by_a_response_too(self):
        self.centre(more='[responses]\nRetryParkedOperation = "queue"\nDiscardParkedOperation = "queue"\n')
        plant = self.site()
        id = self.park(plant)
        for endpoint, key in (("RetryParkedOperation", id.replace("-", "")), ("DiscardParkedOperation", id)):
            self.hq.node.sql("INSERT INTO outbox_messages (message_type, destination, endpoint, payload)"
                             " VALUES ('Command', 'plant', ?, ?)", endpoint, json.dumps({"TrackedOperationId": key}))
            self.assertTrue(eventually(lambda: self.hq.node.number(
                "SELECT count(*) FROM posthorn_queue WHERE endpoint = ?", endpoint) == 1), plant.node.log_text()[-2000:])
        answers = [json.loads(payload) for payload, in self.hq.node.sql("SELECT payload FROM posthorn_queue ORDER BY seq")]
        self.assertEqual(answers[0], {"TrackedOperationId": id, "Accepted": True})
        self.assertEqual((answers[1]["TrackedOperationId"], answers[1]["Accepted"]), (id, False))

    def test_another_service_than_the_centre_is_refused_by_the_site(self):
        self.centre()
        plant = self.site()
        id = self.park(plant)
        for endpoint, payload in (("ParkedMessageQueryRequest", {}), ("ParkedMessageRetryRequest", {"MessageId": id}),
                                  ("ParkedMessageDiscardRequest", {"MessageId": id}),
                                  ("RetryParkedOperation", {"TrackedOperationId": id}),
                                  ("DiscardParkedOperation", {"TrackedOperationId": id})):
            status, answer = self.send(plant.node, endpoint, payload)
            self.assertEqual(status, 422)
            self.assertIn("from its centre alone", answer["error"])
        self.assertEqual(plant.tracked(id), "Parked")
        self.assertEqual(self.send(plant.node, "RetryParkedOperation", {"TrackedOperationId": "x"}, "hq")[0], 422)

    def test_a_service_cannot_speak_for_a_site_that_is_anothers(self):
        self.centre()
        plant = self.site()
        first = plant.notify({"Subject": "hot"})
        self.assertTrue(eventually(lambda: len(self.hq.notifications()) == 1))
        id = self.park(plant)
        status, answer = self.send(self.hq.node, "NotificationSubmit",
                                   {"NotificationId": str(uuid.uuid4()), "SourceSiteId": "plant 7"})
        self.assertEqual((status, answer["payload"]["Accepted"]), (200, False))
        self.assertIn("plant 7 belongs to another service", answer["payload"]["Error"])
        status, answer = self.send(self.hq.node, "NotificationSubmit", {"NotificationId": first, "SourceSiteId": "mine"})
        self.assertEqual((status, answer["payload"]["Accepted"]), (200, False))
        forged = {"TrackedOperationId": id, "SourceSite": "plant 7", "Snapshot": {"Kind": "x", "Status": "Delivered"}}
        self.assertEqual(self.send(self.hq.node, "CachedCallTelemetry", forged)[0], 422)
        self.assertEqual(self.send(self.hq.node, "CachedCallTelemetry", forged | {"SourceSite": "mine"})[0], 200)
        self.assertEqual(self.send(self.hq.node, "CachedCallTelemetry",
                                   forged | {"SourceSite": "mine", "Snapshot": {"Status": "Gone"}})[0], 422)
        self.assertEqual(self.hq.node.sql("SELECT Status FROM SiteCalls WHERE SourceService = 'plant'"), [("Parked",)])
        self.assertEqual(self.hq.notifications(), [(first, "plant 7", "")] if self.on_server() else
                         [(first, "plant 7", None)])

    def on_server(self):
        return not hasattr(self.hq.node, "database") or type(self.hq.node).__name__ == "ServerNode"

    def test_sites_without_a_name_are_not_merged(self):
        self.centre(("plant", "depot"))
        sites = [self.site("plant", None), self.site("depot", "  ")]
        ids = [self.park(each) for each in sites]
        known = self.hq.ask("centre", "sites")["sites"]
        self.assertEqual([(each["site"], each["service"], each["parked"]) for each in known],
                         [("$unknown-site", "depot", 1), ("$unknown-site", "plant", 1)])
        self.assertIn("stands for several sites",
                      self.hq.ask("forward", "parked", "--site", "$unknown-site", fails=True))
        [one] = self.hq.ask("forward", "parked", "--site", "depot")["messages"]
        self.assertEqual(one["id"], ids[1])

    def test_three_sites_over_lines_that_are_cut_and_flap_lose_nothing_and_double_nothing(self):
        names = ("north", "south", "west")
        self.centre(names)
        sites = [self.site(each, each) for each in names]
        told, called = set(), []
        for round_number in range(6):
            for index, each in enumerate(sites):
                if (round_number + index) % 2:
                    each.line.cut()
                    self.hq.lines[names[index]].cut()
                else:
                    each.line.mend()
                    self.hq.lines[names[index]].mend()
                told |= {each.notify({"n": n}) for n in range(3)}
                called += [(each, each.call({"n": n})) for n in range(2)]
            if round_number == 3:  # And one of them dies meanwhile.
                sites[0].node.kill()
                sites[0].node.start()
                self.hq.lines["north"].target = sites[0].node.port
        for each in sites:
            each.line.mend()
        for each in sites:
            self.assertTrue(eventually(lambda: each.held() == 0), each.node.log_text()[-2000:])
        self.assertEqual(sorted(row[0] for row in self.hq.notifications()), sorted(told))
        for each, id in called:
            self.assertEqual(each.tracked(id), "Delivered")
            self.assertTrue(eventually(lambda: self.hq.call(id) is not None and self.hq.call(id)[0] == "Delivered"))
        counted = {each["site"]: (each["calls"], each["notifications"]) for each in self.hq.ask("centre", "sites")["sites"]}
        self.assertEqual(counted, {name: (12, 18) for name in names})


if __name__ == "__main__":
    unittest.main()
