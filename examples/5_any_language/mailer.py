#!/usr/bin/env python3
"""A web service that knows nothing of Posthorn: mailer.py PORT FILE. Writes a line for each mail.

It may be called twice for one message, since it cannot commit together with the sidecar; the
Idempotency-Key header tells it so.
"""

import http.server
import json
import sys

port, mails = int(sys.argv[1]), sys.argv[2]
seen = set()


class Mailer(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        order = json.loads(self.rfile.read(int(self.headers["content-length"])))
        key = self.headers["idempotency-key"]
        if key not in seen:
            with open(mails, "a") as file:
                file.write(f"dear customer, {order['orderId']} is on its way\n")
            seen.add(key)
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        pass


http.server.ThreadingHTTPServer(("127.0.0.1", port), Mailer).serve_forever()
