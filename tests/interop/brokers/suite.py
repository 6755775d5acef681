"""What the tests of brokers share: nodes before and behind one."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from broker import KINDS, Between  # noqa: E402
from node import Node, eventually  # noqa: E402

EFFECT = 'Placed = "sql:INSERT INTO effects (n) VALUES (:n)"\n'


class BrokerCase(unittest.TestCase):
    """`self.kind` is set by the program that runs the tests."""
    program = modules = kind = None

    def broker(self):
        one = KINDS[self.kind](self.modules)
        self.addCleanup(one.close)
        return one.start()

    def between(self, port):
        one = Between(port)
        self.addCleanup(one.close)
        return one

    def node(self, service, configuration, broker):
        one = Node(self.program, service, configuration, environment=broker.environment)
        one.init()
        self.addCleanup(lambda: one.process.poll() is None and one.kill())
        return one

    def sender(self, broker, place, port=None, more="", outbox=""):
        return self.node("shop", f"[outbox]\n{outbox}[routes]\n"
                                 f"broker = {broker.route(place, port, more)}\n", broker)

    def taker(self, broker, place, port=None, more="", handlers=EFFECT):
        one = self.node("stock", f"[handlers]\n{handlers}"
                                 f"[consume]\nsources = [{broker.source(place, port, more)}]\n", broker)
        one.sql("CREATE TABLE effects (n INTEGER, at INTEGER DEFAULT (unixepoch()))")
        return one

    def send(self, node, first, count, endpoint="Placed", **columns):
        names = ["destination", "endpoint", "payload", *columns]
        for n in range(first, first + count):
            node.sql(f"INSERT INTO outbox_messages ({', '.join(names)}) VALUES "
                     f"({', '.join('?' * len(names))})", "broker", endpoint, f'{{"n":{n}}}', *columns.values())

    def sent(self, node, count):
        seen = eventually(lambda: node.number(
            "SELECT count(*) FROM outbox_messages WHERE status = 'Sent'") == count)
        self.assertTrue(seen, (node.sql("SELECT status, last_error, count(*) FROM outbox_messages GROUP BY 1, 2"),
                               node.log_text()[-3000:]))

    def effects(self, node, count):
        """Each once: as many effects as there are numbers, and no other."""
        seen = eventually(lambda: node.number("SELECT count(DISTINCT n) FROM effects") == count)
        self.assertTrue(seen, (node.sql("SELECT count(*), count(DISTINCT n) FROM effects"),
                               node.log_text()[-3000:]))
        self.assertEqual(node.sql("SELECT n, count(*) FROM effects GROUP BY n HAVING count(*) > 1"), [])

    def error_of(self, node, text):
        found = eventually(lambda: [row[0] for row in node.sql(
            "SELECT last_error FROM outbox_messages WHERE last_error LIKE ?", f"%{text}%")])
        self.assertTrue(found, (node.sql("SELECT status, last_error FROM outbox_messages"), node.log_text()[-3000:]))
        return found[0]


def run(case):
    """PROGRAM MODULES KIND [case.test…]"""
    case.program, case.modules, case.kind = sys.argv[1], Path(sys.argv[2]), sys.argv[3]
    del sys.argv[1:4]
    unittest.main()
