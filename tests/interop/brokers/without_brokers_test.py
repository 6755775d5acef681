#!/usr/bin/env python3
"""A build that leaves the brokers out needs none of their clients.

without_brokers_test.py SOURCE FOLDER
"""

import shutil
import subprocess
import sys
from pathlib import Path

source, folder = sys.argv[1], Path(sys.argv[2])
shutil.rmtree(folder, ignore_errors=True)


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}:\n{done.stdout}{done.stderr}")


run("cmake", "-S", source, "-B", folder, "-G", "Ninja", "-DCMAKE_CXX_COMPILER=clang++-19", "-DPOSTHORN_AMQP=OFF",
    "-DPOSTHORN_NATS=OFF", "-DPOSTHORN_KAFKA=OFF",
    "-DPOSTHORN_GRPC=OFF", "-DPOSTHORN_TESTS=OFF")
plan = (folder / "build.ninja").read_text()
for word in ("librabbitmq", "libnats", "rdkafka", "amqp_connection.cpp", "nats_connection.cpp"):
    if word in plan:
        sys.exit(f"{word} is a part of it")
transport = "src/CMakeFiles/posthorn_transport.dir/transport"
for name in ("amqp", "nats", "kafka"):
    for file in (f"without_{name}", f"{name}_address", f"{name}_rules"):
        run("ninja", "-C", folder, f"{transport}/{name}/{file}.cpp.o")
shutil.rmtree(folder)
