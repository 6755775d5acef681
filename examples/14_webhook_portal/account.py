#!/usr/bin/env python3
"""A service whose customers see to their webhooks on a page of its own: it mints tokens of the portal
and shows the portal in a frame.

    POSTHORN_KEY=pha_… account.py 8080 http://127.0.0.1:7401 http://127.0.0.1:7400/webhooks/portal/

The second argument is the node's admin listener, which customers do not reach; the third is the
portal as their browsers reach it, whose node has http://127.0.0.1:8080 among
`webhooks.portal_embedders`.
"""

import html
import http.server
import json
import os
import sys
import urllib.request
from pathlib import Path

SCRIPT = Path(__file__).with_name("account.js")
PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Your account</title>
<h1>Your webhooks</h1>
<iframe id="portal" title="Webhooks" src="{portal}" allow="clipboard-write"
        style="width: 100%; height: 85vh; border: 0"></iframe>
<script src="/account.js"></script>
</html>
"""


# [mint]
def mint_token(admin, key, tenant, rights="read,write", seconds=3600):
    """On your server, for a customer who has signed in: `tenant` comes from their session, and never
    from what their browser says. The key has the role operator and the right to secrets."""
    asked = json.dumps({"tenant": tenant, "rights": rights, "forSeconds": seconds})
    request = urllib.request.Request(f"{admin}/_rf/webhooks/portal-tokens", asked.encode(),
                                     {"Authorization": f"Bearer {key}"})
    with urllib.request.urlopen(request, timeout=10) as answer:
        return json.load(answer)["token"]
# [/mint]


class Account:
    """What a session would know of a customer; this example has one, who is signed in."""

    def __init__(self, admin, key, portal, tenant="acme", rights="read,write", seconds=3600):
        self.admin, self.key, self.portal = admin, key, portal
        self.tenant, self.rights, self.seconds = tenant, rights, seconds

    def token(self):
        return mint_token(self.admin, self.key, self.tenant, self.rights, self.seconds)


def handler_of(account):
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            if self.path == "/":
                self.answer("text/html; charset=utf-8", PAGE.format(portal=html.escape(account.portal)))
            elif self.path == "/account.js":
                self.answer("text/javascript; charset=utf-8", SCRIPT.read_text())
            else:
                self.send_error(404)

        def do_POST(self):
            # A POST from your own pages alone: with cookies, let them be SameSite=Lax or Strict.
            if self.path != "/portal-token":
                self.send_error(404)
            elif account.tenant is None:
                self.send_error(401)  # Not signed in any more.
            else:
                self.answer("application/json", json.dumps({"token": account.token()}))

        def answer(self, kind, text):
            body = text.encode()
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Cache-Control", "no-store")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    return Handler


def serve(port, account):
    return http.server.ThreadingHTTPServer(("127.0.0.1", port), handler_of(account))


if __name__ == "__main__":
    serve(int(sys.argv[1]), Account(sys.argv[2], os.environ["POSTHORN_KEY"], sys.argv[3])).serve_forever()
