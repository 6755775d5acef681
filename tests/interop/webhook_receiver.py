"""An endpoint of a subscriber's, for tests."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class AnsweringReceiver:
    """Answers as it is told, and keeps what it was sent."""

    def __init__(self, status, body):
        self.status, self.body, self.requests = status, body, []
        self.gate = threading.Event()  # While it is cleared, nothing is answered.
        self.gate.set()
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                receiver.requests.append({"headers": dict(self.headers), "body": body.decode()})
                receiver.gate.wait(60)
                self.send_response(receiver.status)
                self.send_header("Content-Length", str(len(receiver.body.encode())))
                self.end_headers()
                self.wfile.write(receiver.body.encode())

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/hook"
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()
