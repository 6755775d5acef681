"""Certificates of one authority, a service each, for tests; made by the openssl program."""

import socket
import ssl
import subprocess
import threading
from pathlib import Path

from node import new_folder

FOLDER = Path(new_folder())


def run(*command):
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def make_certificate(name, common_name=None, alternatives="IP:127.0.0.1", days=2):
    """Signed by the one authority, for this machine; with -1 days it has expired."""
    key, request, made = (FOLDER / f"{name}.{end}" for end in ("key", "csr", "crt"))
    run("openssl", "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
        "-subj", f"/CN={common_name or name}", "-keyout", key, "-out", request)
    extensions = FOLDER / f"{name}.ext"
    extensions.write_text(f"subjectAltName={alternatives}\n")
    run("openssl", "x509", "-req", "-in", request, "-CA", FOLDER / "authority.crt", "-CAkey",
        FOLDER / "authority.key", "-days", str(days), "-extfile", extensions, "-out", made)


def make_all():
    run("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
        "-days", "2", "-subj", "/CN=authority", "-keyout", FOLDER / "authority.key",
        "-out", FOLDER / "authority.crt")
    for name in ("stock", "shop", "mallory", "crm"):
        make_certificate(name)
    # Of no authority but itself.
    run("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
        "-days", "2", "-subj", "/CN=shop", "-keyout", FOLDER / "stranger.key", "-out", FOLDER / "stranger.crt")


def files_of(name):
    """Authority, certificate, key."""
    return FOLDER / "authority.crt", FOLDER / f"{name}.crt", FOLDER / f"{name}.key"


def tls_of(name):
    """The section of a node's configuration."""
    authority, certificate, key = files_of(name)
    return (f'[tls]\ncertificate = "{certificate}"\nkey = "{key}"\nauthority = "{authority}"\n'
            'mutual = true\n')


class ExpiredServer:
    """A server whose certificate has expired: no node starts with one, but one may run on with it."""

    def __init__(self, name):
        make_certificate(name, days=-1)
        _, certificate, key = files_of(name)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.context = context
        self.accepting = threading.Thread(target=self.accept, daemon=True)
        self.accepting.start()

    def accept(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return  # It is closed.
            try:
                self.context.wrap_socket(connection, server_side=True).close()
            except OSError:
                connection.close()

    def close(self):
        if self.listener.fileno() == -1:
            return
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.accepting.join()
