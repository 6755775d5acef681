"""A TCP proxy between two nodes that can do harm at a chosen moment."""

import socket
import threading


class Proxy:
    """Forwards to a port on this machine. Set `rule` to one of the functions below."""

    def __init__(self, port):
        self.target = port
        self.rule = forward
        self.connections = 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self):
        self.listener.close()

    def _accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client):
        """One connection; the rule is asked anew for each piece that arrives."""
        with client:
            upstream = None
            try:
                while request := client.recv(1 << 16):
                    if upstream is None:
                        upstream = self.rule(self, client, request)
                        if upstream is None:
                            return
                        threading.Thread(target=self._answer, args=(upstream, client),
                                         daemon=True).start()
                    upstream.sendall(request)
            except OSError:
                pass
            finally:
                if upstream is not None:
                    upstream.close()

    def _answer(self, upstream, client):
        try:
            while answer := upstream.recv(1 << 16):
                if not self.pass_answer(answer):
                    break
                client.sendall(answer)
        except OSError:
            pass
        finally:
            for one in (client, upstream):
                try:
                    one.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass

    def pass_answer(self, _):
        return True


def forward(proxy, _client, _request):
    return socket.create_connection(("127.0.0.1", proxy.target), timeout=10)


def drop(_proxy, _client, _request):
    """The network fails once the request is on its way."""
    return None
