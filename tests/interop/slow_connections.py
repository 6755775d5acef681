"""A crowd that takes up connections and has next to nothing to say."""
import itertools
import multiprocessing
import socket


class SlowConnections:
    """Connections that send a byte of a request each second, from a process of their own. Each has
    its own moment of the second: all at once would be a burst, which is another attack."""

    def __init__(self, port, number):
        self.pipe, theirs = multiprocessing.Pipe()
        self.process = multiprocessing.Process(target=self.dribble, args=(theirs, port, number))
        self.process.start()
        self.pipe.recv()  # All are connected.

    @staticmethod
    def dribble(pipe, port, number):
        slow = []
        for _ in range(number):
            one = socket.create_connection(("127.0.0.1", port), timeout=120)
            one.sendall(b"POST /_rf/receive HTTP/1.1\r\n")
            one.setblocking(False)
            slow.append(one)
        pipe.send("ready")
        for turn in itertools.count():
            for one in slow[turn % 100::100]:
                try:
                    one.send(b"x")
                except OSError:
                    pass
            if pipe.poll(0.01):
                break
        shed = 0
        for one in slow:
            try:
                shed += one.recv(1024) == b""
            except BlockingIOError:
                pass
            except OSError:
                shed += 1
            one.close()
        pipe.send(shed)

    def close(self):
        """How many were shed."""
        self.pipe.send("end")
        shed = self.pipe.recv()
        self.process.join()
        return shed
