#!/usr/bin/env python3
"""What a node offers, published, exported from a program that does not run, imported and used.

contracts_test.py PROGRAM OFFERING NODE_MODULES BUILD COMPILER
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
import urllib.request
from pathlib import Path

PROGRAM, OFFERING, MODULES, BUILD, COMPILER = (sys.argv.pop(1) for _ in range(5))
HERE = Path(__file__).parent
ROOT = HERE.parent.parent


def run(*command, **more):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True,
                          timeout=200, **more)
    return done.returncode, done.stdout, done.stderr


class Contracts(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="posthorn-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.node = subprocess.Popen([OFFERING, self.folder], stdin=subprocess.PIPE,
                                     stdout=subprocess.PIPE, text=True)
        self.url = self.node.stdout.readline().strip()
        self.addCleanup(self.end)

    def end(self):
        if self.node.poll() is None:
            self.node.stdin.close()
            self.node.wait(30)
        self.node.stdout.close()

    def published(self):
        with urllib.request.urlopen(self.url + "/_workflow/metadata", timeout=120) as answer:
            return answer.read().decode()

    def test_published_metadata_is_what_its_schema_says(self):
        schema = ROOT / "docs/reference/metadata.schema.json"
        validator = ["node", HERE / "validate_metadata.js", schema]
        environment = os.environ | {"NODE_PATH": MODULES}
        code, out, err = run(*validator, input=self.published(), env=environment)
        self.assertEqual((code, out), (0, "4\n"), err)
        code, _, _ = run(*validator, input='{"metadata":1,"service":"hr"}', env=environment)
        self.assertEqual(code, 1)
        document = json.loads(self.published())
        self.assertEqual(document["service"], "hr")
        self.assertEqual([one["endpoint"] for one in document["interfaces"][0]["messages"]],
                         ["emp/v3/Hire", "emp/v3/Moved", "emp/v3/Counted"])

    def test_a_program_that_does_not_run_tells_the_same(self):
        copy = self.folder / "copy"
        shutil.copyfile(OFFERING, copy)  # Which nobody may execute.
        code, out, err = run(PROGRAM, "contracts", "export", copy)
        self.assertEqual(code, 0, err)
        self.assertEqual(json.loads(out)["interfaces"], json.loads(self.published())["interfaces"])
        code, out, err = run(PROGRAM, "contracts", "diff", copy, self.url)
        self.assertEqual((code, out), (0, "nothing has changed\n"), err)

    def test_another_project_sends_typed_messages_and_builds_with_the_node_gone(self):
        prefix, cache = self.folder / "prefix", self.folder / "kept" / "hr.json"
        self.assertEqual(run("cmake", "--install", BUILD, "--prefix", prefix)[0], 0)

        def build(name):
            configured = run("cmake", "-S", HERE / "link", "-B", self.folder / name, "-G", "Ninja",
                             f"-DCMAKE_CXX_COMPILER={COMPILER}", f"-DCMAKE_PREFIX_PATH={prefix}",
                             f"-DHR_URL={self.url}", f"-DHR_CACHE={cache}")
            self.assertEqual(configured[0], 0, configured)
            code, out, err = run("cmake", "--build", self.folder / name)
            self.assertEqual(code, 0, out + err)
            return out + err

        said = build("online")
        self.assertNotIn("stale", said)
        contract = json.dumps(json.loads(self.published())["interfaces"][0])
        code, out, err = run(self.folder / "online" / "desk", self.url, self.folder)
        self.assertEqual(code, 0, err)
        seen, sent = out.splitlines()
        self.assertEqual(json.dumps(json.loads(seen)), contract)  # The header says it all.
        self.assertEqual(sent, "sent")
        self.end()
        said = build("offline")
        self.assertIn("which may be stale", said)
        code, out, err = run(self.folder / "offline" / "desk")
        self.assertEqual((code, json.dumps(json.loads(out))), (0, contract), err)


class Headers(unittest.TestCase):
    def test_compile_whatever_their_author_named_things(self):
        folder = Path(tempfile.mkdtemp(prefix="posthorn-"))
        self.addCleanup(shutil.rmtree, folder)
        def of(**fields):
            return {"type": "object", "properties": fields, "required": list(fields)}

        text, color = {"type": "string"}, {"enum": ["red", "Red", "class", "7"]}
        request = of(who=of(name=text), hireWho=text, hire=of(hire=text), hire_who=text, std=text, errno=text,
                     many={"type": "array", "items": of(many=text)}, time=color, Time=color)
        messages = [{"name": name, "endpoint": f"time/v1/{name}", "type": "Command", "request": request,
                     "response": of(hireResponse=of(a=text))} for name in ("Hire", "hire", "Service")]
        document = {"metadata": 1, "service": "time", "version": "0", "endpoints": [], "interfaces": [
            {"name": "signal", "version": 1, "interface": "signal/v1", "messages": messages}]}
        metadata, header = folder / "time.json", folder / "time.hpp"
        metadata.write_text(json.dumps(document))
        code, _, err = run(PROGRAM, "contracts", "import", metadata, "--out", header)
        self.assertEqual(code, 0, err)
        main = folder / "main.cpp"
        main.write_text('#include <ctime>\n#include <csignal>\n#include "time.hpp"\n'
                        'using offered = time_service::signal_v1::service;\n'
                        'time_service::signal_v1::hire one{.hire_who_field = "a"};\n')
        for compiler in ("clang++-19", "g++-12"):
            code, _, err = run(compiler, "-std=c++23", "-fsyntax-only", "-I", ROOT / "include", main)
            self.assertEqual(code, 0, header.read_text() + err)


if __name__ == "__main__":
    unittest.main(verbosity=2)
