#!/usr/bin/env python3
"""Traces and metrics of real nodes, read by OpenTelemetry's own decoder from npm.

otlp_test.py PROGRAM NODE_MODULES [Otlp.test_…]
"""

import base64
import gzip
import json
import os
import subprocess
import sys
import threading
import unittest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from node import Node, eventually
from webhook_receiver import AnsweringReceiver

PROGRAM = sys.argv.pop(1)
MODULES = sys.argv.pop(1)
HERE = Path(__file__).parent
SECRET_TEXT = "base64:" + base64.b64encode(os.urandom(32)).decode()
HASTE = '[outbox]\npoll_interval = "50ms"\nretry_delay_base = "50ms"\n'
TRACE, CALLER = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"


class Collector:
    """Takes what is sent over HTTP; `status` says what it answers."""

    def __init__(self):
        self.requests, self.status, self.headers = [], 200, {}
        collector = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if self.headers.get("Content-Encoding") == "gzip":
                    body = gzip.decompress(body)
                collector.requests.append((self.path, dict(self.headers), body))
                self.send_response(collector.status)
                for name, value in collector.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    def decoded(self, kind):
        bodies = [base64.b64encode(body).decode() for path, _, body in list(self.requests)
                  if path.endswith(f"/v1/{kind}")]
        done = subprocess.run(["node", HERE / "decode_otlp.js"], text=True, capture_output=True, timeout=120,
                              input=json.dumps({"kind": kind, "bodies": bodies}),
                              env=os.environ | {"NODE_PATH": MODULES})
        if done.returncode != 0:
            raise RuntimeError(done.stderr)
        return json.loads(done.stdout)

    def spans(self):
        found = []
        for request in self.decoded("traces"):
            for resource in request["resourceSpans"]:
                service = texts(resource["resource"]["attributes"])["service.name"]
                for scope in resource["scopeSpans"]:
                    for span in scope.get("spans", []):
                        found.append({"service": service, "scope": scope["scope"]["name"], "name": span["name"],
                                      "trace": hexed(span["traceId"]), "id": hexed(span["spanId"]),
                                      "parent": hexed(span.get("parentSpanId", "")), "kind": span["kind"],
                                      "said": texts(span.get("attributes", [])),
                                      "links": [hexed(link["spanId"]) for link in span.get("links", [])],
                                      "began": int(span["startTimeUnixNano"]),
                                      "ended": int(span["endTimeUnixNano"])})
        return found

    def span(self, service, name):
        """The one span of that service with that name, once it has come."""
        found = eventually(lambda: [one for one in self.spans()
                                    if (one["service"], one["name"]) == (service, name)])
        if len(found) != 1:
            raise AssertionError(f"{service} has {len(found)} of {name}: {self.spans()}")
        return found[0]


def hexed(text):
    return base64.b64decode(text).hex()


def texts(attributes):
    return {one["key"]: next(iter(one["value"].values())) for one in attributes}


class Otlp(unittest.TestCase):
    def setUp(self):
        self.collector = Collector()
        self.addCleanup(self.collector.close)

    def node(self, service, configuration="", otlp="", environment=None):
        section = f'[otlp]\nendpoint = "{self.collector.url}"\ndelay = "50ms"\ninterval = "200ms"\n{otlp}'
        node = Node(PROGRAM, service, HASTE + configuration + section, environment=environment).init()
        self.addCleanup(lambda: node.process.poll() is None and node.kill())
        return node

    def pair(self, otlp=""):
        stock = self.node("stock", f'[secrets]\norders = "{SECRET_TEXT}"\n'
                          '[handlers]\nReserve = "sql:SELECT 1 AS n"\n', otlp).start()
        orders = self.node("orders", f'[routes]\nstock = "http://127.0.0.1:{stock.port}"\n'
                           f'[secrets]\nstock = "{SECRET_TEXT}"\n'
                           '[responses]\nReserve = "sql:SELECT 1 AS n"\n', otlp).start()
        stock.configure(HASTE + f'[routes]\norders = "http://127.0.0.1:{orders.port}"\n'
                        f'[secrets]\norders = "{SECRET_TEXT}"\n[handlers]\nReserve = "sql:SELECT 1 AS n"\n'
                        f'[otlp]\nendpoint = "{self.collector.url}"\ndelay = "50ms"\ninterval = "200ms"\n{otlp}')
        stock.process.send_signal(1)  # SIGHUP: now it knows where to answer.
        return orders, stock

    def send(self, node, headers="NULL", kind="Command"):
        node.sql("INSERT INTO outbox_messages (destination, endpoint, message_type, payload, headers)"
                 f" VALUES ('stock', 'Reserve', '{kind}', '{{\"sku\":\"a\"}}', {headers})")

    def test_one_trace_goes_through_two_services_and_back(self):
        orders, _ = self.pair()
        self.send(orders, f"'{{\"traceparent\":\"00-{TRACE}-{CALLER}-01\"}}'")
        there = self.collector.span("orders", "outbox.deliver")
        self.assertEqual((there["trace"], there["parent"]), (TRACE, CALLER))
        handled = self.collector.span("stock", "inbox.handle")
        self.assertEqual((handled["trace"], handled["parent"]), (TRACE, there["id"]))
        answered = self.collector.span("stock", "outbox.publish")
        self.assertEqual((answered["trace"], answered["parent"]), (TRACE, handled["id"]))
        back = self.collector.span("stock", "outbox.deliver")
        self.assertEqual((back["trace"], back["parent"]), (TRACE, answered["id"]))
        taken = self.collector.span("orders", "inbox.handle")
        self.assertEqual((taken["trace"], taken["parent"]), (TRACE, back["id"]))
        self.assertEqual([one["kind"] for one in (answered, there, handled)],
                         ["SPAN_KIND_PRODUCER", "SPAN_KIND_CLIENT", "SPAN_KIND_CONSUMER"])
        self.assertEqual(there["said"]["messaging.destination.name"], "stock")
        self.assertEqual(handled["said"]["messaging.operation.type"], "process")
        self.assertEqual({one["scope"] for one in self.collector.spans()}, {"posthorn"})
        for one in self.collector.spans():
            self.assertLessEqual(one["began"], one["ended"], one)

    def test_a_message_without_a_trace_begins_one_where_it_is_sent(self):
        orders, _ = self.pair()
        self.send(orders, kind="Signal")
        there = self.collector.span("orders", "outbox.deliver")
        handled = self.collector.span("stock", "inbox.handle")
        self.assertEqual(there["parent"], "")
        self.assertEqual((handled["trace"], handled["parent"]), (there["trace"], there["id"]))
        batch = self.collector.span("orders", "outbox.process_batch")
        self.assertEqual(batch["said"]["messaging.batch.message_count"], "1")

    def test_a_trace_that_is_not_recorded_is_told_to_no_one(self):
        orders, stock = self.pair()
        self.send(orders, f"'{{\"traceparent\":\"00-{TRACE}-{CALLER}-00\"}}'", kind="Signal")
        self.assertTrue(eventually(lambda: stock.number("SELECT count(*) FROM inbox_messages") == 1))
        orders.stop()
        stock.stop()
        self.assertEqual([one for one in self.collector.spans() if one["trace"] == TRACE], [])

    def test_an_event_is_followed_to_the_request_of_its_webhook(self):
        endpoint = AnsweringReceiver(204, "")
        self.addCleanup(endpoint.close)
        shop = self.node("shop", '[webhooks]\nplain_http = true\nallow = "127.0.0.1"\n', 'profile = "outboxnet"\n')
        shop.start()
        subprocess.run([PROGRAM, "webhooks", "add", "--config", shop.file, "--type", "order.*", "--to",
                        endpoint.url], check=True, capture_output=True)
        shop.sql("INSERT INTO outbox_messages (destination, endpoint, payload, headers) VALUES"
                 f" ('webhooks', 'order.placed', '{{}}', '{{\"traceparent\":\"00-{TRACE}-{CALLER}-01\"}}')")
        fan = self.collector.span("shop", "webhook.fan_out")
        self.assertEqual((fan["trace"], fan["parent"], fan["scope"]), (TRACE, CALLER, "OutboxNet"))
        sent = self.collector.span("shop", "outbox.deliver_webhook")
        self.assertEqual((sent["trace"], sent["parent"]), (TRACE, fan["id"]))
        said = sent["said"]
        self.assertEqual((said["outbox.event_type"], said["http.status_code"], said["outbox.delivery.success"]),
                         ("order.placed", "204", True))
        self.assertEqual(said["outbox.webhook_url"], endpoint.url.removesuffix("/hook"))
        self.assertIn("outbox.subscription_id", said)
        self.assertEqual(endpoint.requests[0]["headers"]["traceparent"], f"00-{TRACE}-{sent['id']}-01")

    def test_metrics_have_the_names_of_outboxnet_where_they_are_asked_for(self):
        endpoint = AnsweringReceiver(204, "")
        self.addCleanup(endpoint.close)
        shop = self.node("shop", '[webhooks]\nplain_http = true\nallow = "127.0.0.1"\nmetrics = "outboxnet"\n',
                         'profile = "outboxnet"\ncompression = "gzip"\n').start()
        subprocess.run([PROGRAM, "webhooks", "add", "--config", shop.file, "--type", "*", "--to", endpoint.url],
                       check=True, capture_output=True)
        shop.sql("INSERT INTO outbox_messages (destination, endpoint, payload) VALUES ('webhooks', 'order.placed', '{}')")
        self.assertTrue(eventually(lambda: endpoint.requests))

        def metrics():
            seen = {}
            for request in self.collector.decoded("metrics"):
                for scope in request["resourceMetrics"][0]["scopeMetrics"]:
                    self.assertEqual(scope["scope"]["name"], "OutboxNet")
                    seen |= {one["name"]: one for one in scope["metrics"]}
            return seen

        counted = lambda seen, name: seen[name]["sum"]["dataPoints"][0]["asDouble"] if name in seen else 0
        self.assertTrue(eventually(lambda: counted(metrics(), "outbox.delivery.successes") == 1))
        seen = metrics()
        point = seen["outbox.delivery.attempts"]["sum"]["dataPoints"][0]
        self.assertEqual((point["asDouble"], texts(point["attributes"])), (1, {"event_type": "order.placed"}))
        self.assertTrue(seen["outbox.messages.processed"]["sum"]["isMonotonic"])
        self.assertEqual(seen["outbox.delivery.duration_ms"]["unit"], "ms")
        took = seen["outbox.delivery.duration_ms"]["histogram"]["dataPoints"][0]
        self.assertEqual(texts(took["attributes"]), {"event_type": "order.placed"})
        # What /metrics says once more for Prometheus is not exported with the rest.
        self.assertIn("outbox_messages_processed_total", shop.get("/metrics"))
        self.assertEqual([name for name in seen if name.startswith("outbox_")], [])
        self.assertEqual(int(seen["outbox.batch.size"]["histogram"]["dataPoints"][0]["count"]) > 0, True)
        self.assertIn("posthorn_working", seen)

    def test_what_is_sent_is_read_to_the_last_byte(self):
        orders, _ = self.pair('compression = "gzip"\n')
        self.send(orders)
        self.collector.span("stock", "inbox.handle")
        self.assertTrue(eventually(lambda: self.collector.decoded("metrics")))
        for request in self.collector.decoded("metrics"):
            self.assertEqual(request["bytesRead"], request["bytesAgain"])
        # That release of the decoder does not know the flags of a span, which take six bytes.
        for request in self.collector.decoded("traces"):
            spans = sum(len(scope["spans"]) for one in request["resourceSpans"] for scope in one["scopeSpans"])
            self.assertEqual(request["bytesRead"], request["bytesAgain"] + 6 * spans)

    def test_variables_stand_in_for_what_the_file_leaves_out(self):
        node = Node(PROGRAM, "plain", HASTE + '[routes]\nnowhere = "http://127.0.0.1:1"\n', environment={
            "OTEL_EXPORTER_OTLP_ENDPOINT": self.collector.url, "OTEL_SERVICE_NAME": "by-variable",
            "OTEL_EXPORTER_OTLP_HEADERS": "api-key=s%20t", "OTEL_BSP_SCHEDULE_DELAY": "50",
            "OTEL_METRIC_EXPORT_INTERVAL": "100", "OTEL_TRACES_SAMPLER": "sometimes",
            "OTEL_RESOURCE_ATTRIBUTES": "team=blue"}).init()
        self.addCleanup(node.kill)
        node.start()
        self.assertTrue(eventually(lambda: self.collector.requests))
        path, headers, _ = self.collector.requests[0]
        self.assertEqual((path, headers["api-key"]), ("/v1/metrics", "s t"))
        said = texts(self.collector.decoded("metrics")[0]["resourceMetrics"][0]["resource"]["attributes"])
        self.assertEqual((said["service.name"], said["team"]), ("by-variable", "blue"))
        self.assertIn("OTEL_TRACES_SAMPLER", node.log_text())
        status = node.get_json("/_rf/otlp")
        self.assertIn("OTEL_TRACES_SAMPLER", status["warnings"][0])
        self.assertNotIn("s t", json.dumps(status) + node.log_text())

    def test_a_collector_that_is_gone_holds_nothing_up(self):
        self.collector.close()
        orders, stock = self.pair("spans_held = 5\nbatch = 5\n")
        for _ in range(50):
            self.send(orders, kind="Signal")
        self.assertTrue(eventually(lambda: stock.number("SELECT count(*) FROM inbox_messages") == 50))
        told = eventually(lambda: orders.get_json("/_rf/otlp").get("spansDropped", 0) > 0)
        self.assertTrue(told)
        self.assertIn("trouble", orders.get_json("/_rf/otlp"))
        self.assertIn("posthorn_otlp_spans_dropped_total", orders.get("/metrics"))
        self.assertEqual(orders.get_json("/_rf/health")["status"], "green")
        self.assertEqual(orders.stop(), 0)

    def test_a_stop_sends_the_last_spans(self):
        stock = Node(PROGRAM, "stock", f'[secrets]\norders = "{SECRET_TEXT}"\n'
                     '[handlers]\nReserve = "sql:SELECT 1 AS n"\n'
                     f'[otlp]\nendpoint = "{self.collector.url}"\ndelay = "1h"\nmetrics = false\n').init()
        stock.start()
        orders = Node(PROGRAM, "orders", HASTE + f'[routes]\nstock = "http://127.0.0.1:{stock.port}"\n'
                      f'[secrets]\nstock = "{SECRET_TEXT}"\n').init().start()
        self.addCleanup(orders.kill)
        self.send(orders, kind="Signal")
        self.assertTrue(eventually(lambda: stock.number("SELECT count(*) FROM inbox_messages") == 1))
        self.assertEqual(self.collector.requests, [])
        self.assertEqual(stock.stop(), 0)
        self.assertEqual([one["name"] for one in self.collector.spans()], ["inbox.handle"])


if __name__ == "__main__":
    unittest.main()
