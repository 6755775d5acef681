#!/usr/bin/env python3
"""Which addresses a real node connects to for strangers, whose names mean what they like.

strangers_test.py PROGRAM [Strangers.test_…]
"""

import socket
import subprocess
import sys
import threading
import unittest

from name_server import NameServer
from node import Node, eventually

PROGRAM = sys.argv.pop(1)
ALLOWED, FORBIDDEN = "127.0.0.1", "127.0.0.2"


class Endpoint:
    """Counts connections, answers one request on each, and ends it."""

    def __init__(self, address, port=0):
        self.connections = 0
        self.listener = socket.create_server((address, port))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self.answer, args=(connection,), daemon=True).start()

    @staticmethod
    def answer(connection):
        with connection, connection.makefile("rb") as lines:
            length = 0
            for line in iter(lines.readline, b"\r\n"):
                if not line:
                    return
                name, _, value = line.partition(b":")
                if name.lower() == b"content-length":
                    length = int(value)
            lines.read(length)
            connection.sendall(b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n")

    def close(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()


class Strangers(unittest.TestCase):
    def setUp(self):
        self.allowed = Endpoint(ALLOWED)
        self.addCleanup(self.allowed.close)
        self.forbidden = Endpoint(FORBIDDEN, self.allowed.port)
        self.addCleanup(self.forbidden.close)

    def start(self, means):
        """A node with a subscriber whose name means that; none is tried twice."""
        self.names = NameServer(means)
        self.addCleanup(self.names.close)
        self.node = Node(PROGRAM, "shop", "[webhooks]\nplain_http = true\n"
                         f'allow = "{ALLOWED}"\nname_servers = "{self.names.address}"\n').init()
        self.node.start()
        self.addCleanup(self.node.kill)
        done = subprocess.run([PROGRAM, "webhooks", "add", "--to",
                               f"http://hook.example.com:{self.allowed.port}/", "--max-retries", "0",
                               "--config", self.node.file], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)

    def publish(self):
        """Until it is known what came of it."""
        event = self.node.sql("INSERT INTO outbox_messages (destination, endpoint, payload) VALUES"
                              " ('webhooks', 'order.paid', '{}') RETURNING message_id")[0][0]
        end = lambda: self.node.sql("SELECT status, last_error FROM outbox_messages WHERE parent_id = ?"
                                    " AND status <> 'Pending'", event)
        self.assertTrue(eventually(end), self.node.log_text()[-3000:])
        return end()[0]

    def test_a_name_that_changes_its_address_is_called_where_it_was_checked_and_nowhere_else(self):
        told = []

        def turns(_):
            told.append([FORBIDDEN] if len(told) % 2 else [ALLOWED])
            return told[-1]

        self.start(turns)
        for number in range(6):
            status, error = self.publish()
            self.assertEqual(status, "Dead" if number % 2 else "Sent", error)
        # A look-up for each of them, and a connection for each that was allowed: had it been asked
        # for once more after the check, the turns would not be these.
        self.assertEqual(self.names.answers, [[ALLOWED], [FORBIDDEN]] * 3)
        self.assertEqual((self.allowed.connections, self.forbidden.connections), (3, 0))

    def test_of_a_name_with_one_forbidden_address_none_is_called(self):
        self.start(lambda _: [ALLOWED, FORBIDDEN])
        status, error = self.publish()
        self.assertEqual(status, "Dead")
        self.assertIn(FORBIDDEN, error)
        self.assertEqual((self.allowed.connections, self.forbidden.connections), (0, 0))
        attempts = lambda: self.node.sql("SELECT error FROM webhook_attempts")
        self.assertTrue(eventually(attempts))
        self.assertEqual(attempts(), [("address not allowed",)])  # As the subscriber reads it.


if __name__ == "__main__":
    unittest.main()
