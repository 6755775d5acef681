"""Real brokers of Debian's, each private to one test, and a foreign client at their other end."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from node import eventually, new_folder  # noqa: E402

PEER = Path(__file__).with_name("broker_peer.js")


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def accepts(port):
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=1):
            return True
    except OSError:
        return False


class Broker:
    """A server on a port of its own, with its files in a folder of its own."""

    def __init__(self, modules):
        self.modules = modules
        self.folder = Path(new_folder())
        self.port = free_port()
        self.tls_port = None  # Where it speaks TLS, from the next start on.
        self.certificate = self.key = None
        self.process = None

    def spawn(self, command, environment=None):
        log = open(self.folder / "server.log", "ab")
        return subprocess.Popen(command, stdout=log, stderr=log, cwd=self.folder, start_new_session=True,
                                env=os.environ | (environment or {}))

    def start(self):
        self.process = self.launch()
        if not eventually(self.is_ready, 300):  # RabbitMQ takes a minute on a busy machine.
            raise RuntimeError(f"{self.kind} does not start: {(self.folder / 'server.log').read_text()[-2000:]}")
        return self

    def kill(self):
        """As a power cut would, but for what the system still holds."""
        if self.process:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
            self.process = None

    def tls_url(self, host="localhost"):
        return f"{self.scheme}s://guest@{host}:{self.tls_port}"

    def hang(self):
        """It takes nothing and says nothing, but its connections stand."""
        os.killpg(self.process.pid, signal.SIGSTOP)

    def go_on(self):
        os.killpg(self.process.pid, signal.SIGCONT)

    def close(self):
        self.kill()

    def peer(self, *words, lines=None, check=True, port=None):
        """Runs the foreign client; gives the objects that it prints."""
        done = subprocess.run(["node", PEER, self.kind, str(port or self.port), *map(str, words)],
                              input="".join(json.dumps(line) + "\n" for line in lines or []),
                              capture_output=True, text=True, timeout=120,
                              env=os.environ | {"NODE_PATH": str(self.modules)})
        if check and done.returncode != 0:
            raise RuntimeError(f"{words}: {done.stdout}{done.stderr}")
        return [json.loads(line) for line in done.stdout.splitlines()]

    def take(self, place, count, seconds=60):
        """As many messages as are wanted, or fewer if no more come; each is acknowledged."""
        return self.peer("take", place, count, seconds)


class RabbitMq(Broker):
    kind = "rabbit"
    scheme = "amqp"
    environment = {"BROKER_PASSWORD": "guest"}

    def __init__(self, modules):
        super().__init__(modules)
        self.names_port = free_port()
        self.between = free_port()
        self.names = self.spawn(["epmd", "-port", str(self.names_port)])

    def use_tls(self, certificate, key):
        self.tls_port, self.certificate, self.key = free_port(), certificate, key

    def launch(self):
        place = self.folder
        if self.certificate:
            (place / "tls.conf").write_text(
                f"listeners.ssl.1 = 127.0.0.1:{self.tls_port}\n"
                f"ssl_options.certfile = {self.certificate}\nssl_options.keyfile = {self.key}\n"
                "ssl_options.verify = verify_none\nssl_options.fail_if_no_peer_cert = false\n")
        return self.spawn(["/usr/lib/rabbitmq/bin/rabbitmq-server"], {
            "HOME": str(place), "ERL_EPMD_PORT": str(self.names_port),
            "RABBITMQ_NODENAME": f"test{self.names_port}@localhost", "RABBITMQ_NODE_IP_ADDRESS": "127.0.0.1",
            "RABBITMQ_NODE_PORT": str(self.port), "RABBITMQ_DIST_PORT": str(self.between),
            "RABBITMQ_MNESIA_BASE": str(place / "data"), "RABBITMQ_LOG_BASE": str(place / "log"),
            "RABBITMQ_PID_FILE": str(place / "pid"), "RABBITMQ_CONFIG_FILE": str(place / ("tls.conf" if self.certificate else "none")),
            "RABBITMQ_CONF_ENV_FILE": str(place / "none.env"),
            "RABBITMQ_ENABLED_PLUGINS_FILE": str(place / "plugins"),
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "+S 1:1 +sbwt none"})

    def is_ready(self):
        return accepts(self.port) and not subprocess.run(
            ["node", PEER, self.kind, str(self.port), "look"], capture_output=True,
            env=os.environ | {"NODE_PATH": str(self.modules)}).returncode

    def close(self):
        super().close()
        self.names.kill()
        self.names.wait()

    def declare(self, place, **more):
        self.peer("declare", place, *(f"{name}={value}" for name, value in more.items()))

    def route(self, place, port=None, more=""):
        """Of a node: to the exchange that leads to the queue of that name."""
        return (f'{{ url = "amqp://guest@127.0.0.1:{port or self.port}", exchange = "x.{place}", '
                f'key = "{{endpoint}}", password = "env:BROKER_PASSWORD"{more} }}')

    def source(self, place, port=None, more=""):
        return (f'{{ name = "{place}", url = "amqp://guest@127.0.0.1:{port or self.port}", queue = "{place}", '
                f'password = "env:BROKER_PASSWORD"{more} }}')


class Nats(Broker):
    kind = "nats"
    scheme = "nats"
    environment = {"BROKER_PASSWORD": "s3cret-of-nats"}

    def use_tls(self, certificate, key):
        """In place of plain text, which the foreign client speaks."""
        self.tls_port, self.certificate, self.key = self.port, certificate, key

    def launch(self):
        tls = f'tls {{ cert_file: "{self.certificate}", key_file: "{self.key}" }}\n'
        (self.folder / "nats.conf").write_text(
            f'listen: "127.0.0.1:{self.port}"\n{tls if self.certificate else ""}'
            f'jetstream {{ store_dir: "{self.folder}/store" }}\n'
            'authorization { user: "guest", password: "s3cret-of-nats" }\n')
        return self.spawn(["nats-server", "-c", str(self.folder / "nats.conf")])

    def is_ready(self):
        if self.certificate:
            return accepts(self.port)
        return accepts(self.port) and not subprocess.run(
            ["node", PEER, self.kind, str(self.port), "look"], capture_output=True,
            env=os.environ | {"NODE_PATH": str(self.modules)}).returncode

    def declare(self, place, **more):
        self.peer("declare", place, *(f"{name}={value}" for name, value in more.items()))

    def route(self, place, port=None, more=""):
        return (f'{{ url = "nats://guest@127.0.0.1:{port or self.port}", subject = "{place}.{{endpoint}}", '
                f'password = "env:BROKER_PASSWORD"{more} }}')

    def source(self, place, port=None, more=""):
        return (f'{{ name = "{place}", url = "nats://guest@127.0.0.1:{port or self.port}", stream = "{place}", '
                f'password = "env:BROKER_PASSWORD"{more} }}')


class Between:
    """A way to a broker that can lose what goes one way, and can be cut."""

    def __init__(self, port):
        self.to = port
        self.loses = set()  # "answers", "requests"
        self.pairs = []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                near, _ = self.listener.accept()
            except OSError:
                return
            try:
                far = socket.create_connection(("127.0.0.1", self.to), timeout=5)
            except OSError:
                near.close()
                continue
            far.settimeout(None)
            self.pairs.append((near, far))
            for name, take, give in (("requests", near, far), ("answers", far, near)):
                threading.Thread(target=self.carry, args=(name, take, give), daemon=True).start()

    def carry(self, name, take, give):
        try:
            while data := take.recv(65536):
                if name not in self.loses:
                    give.sendall(data)
        except OSError:
            pass
        for one in (take, give):
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def lose(self, *what):
        self.loses = set(what)

    def cut(self):
        """All connections end; new ones carry everything again."""
        pairs, self.pairs = self.pairs, []
        self.loses = set()
        for near, far in pairs:
            for one in (near, far):
                try:
                    one.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass
                one.close()

    def close(self):
        self.listener.close()
        self.cut()


KINDS = {"RabbitMq": RabbitMq, "Nats": Nats}


def installed():
    return shutil.which("rabbitmq-server") and shutil.which("nats-server") and shutil.which("node")
