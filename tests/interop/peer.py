"""A service that is not a Posthorn, whose answers a test decides; written from docs/reference/wire.md."""

import http.server
import json
import threading

from wire import is_signed, sign


def took_effect(_message):
    return 200, {"acknowledged": True, "duplicateDetected": False, "payload": None, "error": None}


def refused(status, error="no"):
    """What answers every message with this status."""
    return lambda _message: (status, {"acknowledged": False, "duplicateDetected": False,
                                      "payload": None, "error": error})


class Peer:
    """Takes batches, or single messages alone; `decide` gives status and answer of each message."""

    def __init__(self, service, source, secret, decide=took_effect, batches=True):
        self.service, self.source, self.secret = service, source, secret
        self.decide, self.batches = decide, batches
        self.requests = []  # A list of messages for each.
        self.at_once = self.at_once_max = 0
        self.lock = threading.Lock()
        self.open = threading.Event()  # While it is not set, requests wait for their answers.
        self.open.set()
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                outer.answer(self, self.rfile.read(int(self.headers["content-length"])))

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.open.set()
        self.server.shutdown()
        self.server.server_close()

    def messages(self):
        return [message for request in list(self.requests) for message in request]

    def answer(self, request, body):
        is_batch = request.path == "/_rf/receive-batch"
        if is_batch and not self.batches:
            return self.reply(request, 404, b"")
        if not is_signed(self.secret, request.headers, self.source, self.service, "request",
                         request.path, body, request.headers["content-type"]):
            return self.reply(request, 401, b"")
        document = json.loads(body)
        messages = document["messages"] if is_batch else [document]
        with self.lock:
            self.requests.append(messages)
            self.at_once += 1
            self.at_once_max = max(self.at_once_max, self.at_once)
        self.open.wait()
        with self.lock:
            self.at_once -= 1
        answers = [self.decide(message) for message in messages]
        if is_batch:
            status = 200
            document = {"results": [{"messageId": message["messageId"], "status": code} | answer
                                    for message, (code, answer) in zip(messages, answers)]}
        else:
            status, document = answers[0]
        text = json.dumps(document).encode()
        self.reply(request, status, text,
                   sign(self.secret, self.service, self.source, "answer", request.path, text,
                        request_hmac=request.headers["rf-hmac"], status=status))

    def reply(self, request, status, body, headers=None):
        request.send_response(status)
        for name, value in (headers or {}).items():
            request.send_header(name, value)
        request.send_header("content-type", "application/json")
        request.send_header("content-length", str(len(body)))
        try:
            request.end_headers()
            request.wfile.write(body)
        except ConnectionError:  # The sender has given up.
            request.close_connection = True
