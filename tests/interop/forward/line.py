"""A line between two nodes that can be cut and mended."""

import socket
import threading


class Line:
    """Forwards to a port on this machine, which may be given later; cut, it ends what is open and what comes."""

    def __init__(self, port=None):
        self.target, self.is_cut = port, False
        self.swallows_answers = False  # What is asked arrives, and no answer comes back.
        self.open = set()
        self.lock = threading.Lock()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self):
        with self.lock:
            self.is_cut = True
            ends, self.open = self.open, set()
        for each in ends:
            _end(each)

    def mend(self):
        with self.lock:
            self.is_cut = False

    def close(self):
        self.cut()
        self.listener.close()

    def _accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self._join, args=(client,), daemon=True).start()

    def _join(self, client):
        try:
            server = None if self.is_cut else socket.create_connection(("127.0.0.1", self.target), timeout=10)
        except OSError:
            server = None
        with self.lock:
            if server is None or self.is_cut:
                _end(client)
                return
            self.open |= {client, server}
        threading.Thread(target=self._pass, args=(client, server, False), daemon=True).start()
        self._pass(server, client, True)

    def _pass(self, source, sink, are_answers):
        try:
            while piece := source.recv(1 << 16):
                if are_answers and self.swallows_answers:
                    break
                sink.sendall(piece)
        except OSError:
            pass
        with self.lock:
            self.open -= {source, sink}
        _end(source)
        _end(sink)


def _end(one):
    try:
        one.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass
    one.close()
