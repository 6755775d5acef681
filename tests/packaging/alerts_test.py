#!/usr/bin/env python3
"""The alert rules and the dashboard that are shipped: each alert fires when it should and not when
all is well, by Prometheus' own judgement, and a real node has every metric that they name."""

import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
import urllib.request
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]
RULES = ROOT / "packaging/prometheus/posthorn.rules.yml"
DASHBOARD = ROOT / "packaging/grafana/posthorn.json"
PAGE = ROOT / "docs/operating/alerts.md"
PROGRAM = sys.argv.pop(1) if len(sys.argv) > 1 else None

NODE = 'job="posthorn",instance="a:7401"'
# Of each alert: its series, what it is like when the alert fires, and when it must not. Values are as
# promtool writes them, one a minute: `0x60` is zero for an hour.
CASES = {
    "PosthornNodeGone": [("up", "1x5 0x60", "1x65"), ("posthorn_working", "1x5 _x60", "1x65")],
    "PosthornNotWorking": [("posthorn_working", "0x60", "1x60")],
    "PosthornRed": [('posthorn_health{status="red"}', "1x60", "0x60")],
    "PosthornYellow": [('posthorn_health{status="yellow"}', "1x60", "1x10 0x50")],
    "PosthornDeadLetters": [("rf_outbox_failed_count", "3x60", "0x60")],
    "PosthornUndeliverable": [("posthorn_outbox_undeliverable", "1x60", "0x60")],
    "PosthornExpired": [("rf_outbox_expired_count", "1x60", "0x60")],
    "PosthornBlocked": [("posthorn_outbox_blocked_messages", "1x60", "0x60")],
    "PosthornBacklogOld": [("posthorn_outbox_backlog_age_seconds", "121x60", "120x60")],
    "PosthornBacklogVeryOld": [("posthorn_outbox_backlog_age_seconds", "3601x60", "3600x60")],
    "PosthornDestinationShut": [('posthorn_outbox_lane_shut{destination="s"}', "1x60", "1x9 0 1x5 0x45")],
    "PosthornOutcomesUnrecorded": [("posthorn_outbox_unrecorded", "1x60", "0x60")],
    # Its own time beside Prometheus', which begins at zero here.
    "PosthornClockOff": [("posthorn_clock_timestamp_seconds", "40+60x60", "20+60x60")],
    "PosthornDiskScarce": [('posthorn_disk_state{state="scarce"}', "1x60", "0x60")],
    "PosthornDiskFull": [('posthorn_disk_state{state="low"}', "1x60", "0x60")],
    "PosthornJobsGivenUp": [('posthorn_queue_given_up{queue="Ship"}', "1x60", "0x60")],
    "PosthornQueueWaits": [('posthorn_queue_oldest_waiting_seconds{queue="Ship"}', "301x60", "300x60")],
    "PosthornBackupFailed": [("posthorn_backup_failures_total", "0x30 1x30", "1x60")],
    "PosthornBackupOld": [("posthorn_backup_newest_timestamp_seconds", "-90000x60", "0x60")],
    "PosthornStandbyLost": [('posthorn_standby_state{state="following"}', "0x60", "1x60")],
    "PosthornStandbyBehind": [("posthorn_standby_lag_seconds", "61x60", "60x60")],
    "PosthornArchiveFailing": [("posthorn_archive_failing", "1x60", "0x60")],
    "PosthornArchiveBehind": [("posthorn_archive_behind_seconds", "601x60", "600x60")],
    "PosthornArchiveGap": [("posthorn_archive_gaps", "0x30 1x30", "1x60")],
    "PosthornArchiveFilesLost": [("posthorn_archive_lost_files", "1x60", "0x60")],
    "PosthornSourceApart": [("posthorn_consume_connected", "0x60", "1x60")],
    "PosthornNotDurable": [("posthorn_store_durable", "0x60", "1x60")],
    "PosthornBadSignatures": [("posthorn_bad_signatures_total", "0+60x60", "0+1x60")],
    "PosthornConflicts": [("posthorn_inbox_conflicts_total", "0x50 1x10", "1x60")],
}
# Functions, operators and labels that are not metrics.
METRIC = re.compile(r"\b(?:posthorn|rf)_[a-z_]+\b")


def rules():
    return [rule for group in yaml.safe_load(RULES.read_text())["groups"] for rule in group["rules"]]


def with_node(series):
    name, _, rest = series.partition("{")
    return f"{name}{{{NODE}{',' + rest if rest else '}'}"


class Alerts(unittest.TestCase):
    def judge(self, groups):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "test.yml"
            file.write_text(yaml.safe_dump({"rule_files": [str(RULES)], "tests": groups}))
            done = subprocess.run(["promtool", "test", "rules", str(file)], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def group(self, alert, which):
        fires = which == 1
        found = [{"labels": "{}", "value": 1}] if fires else []
        return {"interval": "1m",
                "name": f"{alert} {'fires' if fires else 'is quiet'}",
                "input_series": [{"series": with_node(one[0]), "values": one[which]} for one in CASES[alert]],
                "promql_expr_test": [
                    {"expr": f'count(ALERTS{{alertname="{alert}",alertstate="firing"}})',
                     "eval_time": "60m", "exp_samples": found}]}

    def test_promtool_takes_the_rules(self):
        done = subprocess.run(["promtool", "check", "rules", str(RULES)], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_every_alert_has_a_case(self):
        self.assertEqual(sorted(CASES), sorted(rule["alert"] for rule in rules()))

    def test_each_fires_when_it_should(self):
        self.judge([self.group(alert, 1) for alert in CASES])

    def test_none_fires_when_all_is_well(self):
        self.judge([self.group(alert, 2) for alert in CASES])

    def test_each_says_what_it_is_and_what_to_do_and_is_on_the_page(self):
        page = PAGE.read_text()
        for rule in rules():
            self.assertIn(rule["labels"]["severity"], ("critical", "warning"), rule["alert"])
            self.assertTrue(rule["annotations"]["summary"] and rule["annotations"]["description"])
            self.assertIn(f"| `{rule['alert']}` |", page)


class Dashboard(unittest.TestCase):
    def setUp(self):
        self.board = json.loads(DASHBOARD.read_text())
        self.panels = [panel for panel in self.board["panels"] if panel["type"] != "row"]

    def expressions(self):
        return [target["expr"] for panel in self.panels for target in panel["targets"]]

    def test_can_be_imported(self):
        self.assertIsNone(self.board["id"], "an id of our own would overwrite another's dashboard")
        self.assertTrue(self.board["uid"] and self.board["title"])
        self.assertGreaterEqual(self.board["schemaVersion"], 36)
        ids = [panel["id"] for panel in self.board["panels"]]
        self.assertEqual(len(ids), len(set(ids)))
        for panel in self.panels:
            self.assertEqual(panel["datasource"], {"type": "prometheus", "uid": "${datasource}"})
            self.assertTrue(panel["title"] and panel["targets"], panel["id"])

    def test_panels_do_not_overlap_and_stay_within_the_page(self):
        taken = set()
        for panel in self.board["panels"]:
            at = panel["gridPos"]
            self.assertLessEqual(at["x"] + at["w"], 24)
            cells = {(x, y) for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])}
            self.assertFalse(cells & taken, panel["title"])
            taken |= cells

    def test_is_narrowed_to_nodes_and_destinations(self):
        names = [variable["name"] for variable in self.board["templating"]["list"]]
        self.assertEqual(names, ["datasource", "node", "destination"])
        for expression in self.expressions():
            self.assertIn('instance=~"$node"', expression)
            if "destination" in expression:
                self.assertIn('destination=~"$destination"', expression)

    def test_promtool_takes_its_expressions(self):
        ours = [{"record": f"panel:{i}", "expr": re.sub(r"\$__rate_interval", "5m", expression)}
                for i, expression in enumerate(self.expressions())]
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "panels.yml"
            file.write_text(yaml.safe_dump({"groups": [{"name": "panels", "rules": ours}]}))
            done = subprocess.run(["promtool", "check", "rules", str(file)], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


@unittest.skipUnless(PROGRAM, "needs the program")
class Node(unittest.TestCase):
    def test_a_node_has_every_metric_that_they_name(self):
        named = set(METRIC.findall(RULES.read_text() + DASHBOARD.read_text()))
        with tempfile.TemporaryDirectory() as folder:
            names = self.names_of_a_node(folder)
        # Of a histogram the file has three names for one.
        self.assertEqual(sorted(named - names), [])

    def names_of_a_node(self, folder):
        def run(*words):
            done = subprocess.run([PROGRAM, *words], cwd=folder, capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)

        (Path(folder) / "posthorn.toml").write_text(
            '[service]\nid = "orders"\n[handlers]\nShip = "queue"\n[backup]\nfolder = "backups"\n'
            '[routes]\nstock = "http://127.0.0.1:1"\n'
            '[consume]\nsources = [{ name = "in", url = "amqp://127.0.0.1:1", queue = "in" }]\n'
            '[standby]\nto = "127.0.0.1:1"\nmode = "async"\nkey = "env:PAIR_KEY"\narchive = "archive"\n'
            '[secrets]\nstock = "base64:MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="\n')
        run("init")
        run("send", "stock", "Take", "{}")
        node = subprocess.Popen([PROGRAM, "serve", "--config", "posthorn.toml", "--listen", "127.0.0.1:0",
                                 "--admin", "127.0.0.1:0"], cwd=folder, stdout=subprocess.PIPE,
                                stderr=subprocess.DEVNULL, text=True, env=os.environ | {
                                    "PAIR_KEY": "base64:MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="})
        try:
            node.stdout.readline()
            admin = re.search(r"http://\S+", node.stdout.readline()).group()
            # A lane is there once the first message was taken up: ask until it is.
            while True:
                with urllib.request.urlopen(admin + "/metrics") as answer:
                    text = answer.read().decode()
                if "posthorn_outbox_lane_shut{" in text:
                    return set(re.findall(r"^([a-z_]+)[ {]", text, re.MULTILINE))
                self.assertIsNone(node.poll(), "the node has ended")
        finally:
            node.terminate()
            node.wait()
            node.stdout.close()


if __name__ == "__main__":
    unittest.main()
