"""A service that a site calls, with an address for each target."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Erp:
    """Answers each target with what `says` has for it: a status, or several, for the attempts of each id one after
    the other; 200 else."""

    def __init__(self):
        self.says, self.seen = {}, []  # Of each request: target, id, body.
        self.on_answer = lambda target: None  # After an answer has left.
        self.gate = threading.Event()  # While it is cleared, nothing is answered.
        self.gate.set()
        self.lock = threading.Lock()
        erp = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                target = self.path.rsplit("/", 1)[1]
                id, said = self.headers["Idempotency-Key"], erp.says.get(target, 200)
                with erp.lock:
                    if isinstance(said, list):
                        said = said[min(sum(each[1] == id for each in erp.seen), len(said) - 1)]
                    erp.seen.append((target, id, body))
                erp.gate.wait(60)
                self.send_response(said)
                self.send_header("Content-Length", "0")
                self.end_headers()
                self.wfile.flush()
                erp.on_answer(target)

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/hook"
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    def ids(self, target):
        """Of the requests for a target, in their order."""
        with self.lock:
            return [id for where, id, _ in self.seen if where == target]

    def close(self):
        self.gate.set()
        self.server.shutdown()
        self.server.server_close()
