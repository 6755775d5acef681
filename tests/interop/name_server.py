"""A name server of the tests' own: what a name means is decided anew for each question."""

import socket
import struct
import threading

ADDRESS = 1  # The type of a question for IPv4 addresses.


def question_of(packet):
    """The name that is asked for, the question's type, and the question as it was written."""
    labels, at = [], 12
    while packet[at]:
        labels.append(packet[at + 1:at + 1 + packet[at]].decode())
        at += 1 + packet[at]
    (kind,) = struct.unpack_from("!H", packet, at + 1)
    return ".".join(labels), kind, packet[12:at + 5]


class NameServer:
    """`means(name)` gives the IPv4 addresses of a name; there are none of IPv6."""

    def __init__(self, means):
        self.answers = []  # The addresses that were told, question by question.
        self.means = means
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self.socket.getsockname()[1]}"
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            packet, asker = self.socket.recvfrom(4096)
            if not packet:
                return self.socket.close()
            name, kind, question = question_of(packet)
            told = self.means(name) if kind == ADDRESS else []
            if kind == ADDRESS:
                self.answers.append(told)
            answer = packet[:2] + struct.pack("!HHHHH", 0x8180, 1, len(told), 0, 0) + question
            for each in told:
                answer += struct.pack("!HHHIH", 0xC00C, ADDRESS, 1, 0, 4) + socket.inet_aton(each)
            self.socket.sendto(answer, asker)

    def close(self):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as last:
            host, port = self.address.split(":")
            last.sendto(b"", (host, int(port)))
