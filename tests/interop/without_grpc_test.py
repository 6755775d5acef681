#!/usr/bin/env python3
"""A build that leaves gRPC out needs neither gRPC nor protobuf.

without_grpc_test.py SOURCE FOLDER
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


# As if neither were installed.
run("cmake", "-S", source, "-B", folder, "-G", "Ninja", "-DCMAKE_CXX_COMPILER=clang++-19", "-DPOSTHORN_GRPC=OFF",
    "-DPOSTHORN_TESTS=OFF", "-DCMAKE_DISABLE_FIND_PACKAGE_gRPC=ON", "-DCMAKE_DISABLE_FIND_PACKAGE_Protobuf=ON")
plan = (folder / "build.ninja").read_text()
for word in ("grpc++", "protobuf", "protoc", "grpc_server.cpp", "grpc_channel.cpp"):
    if word in plan:
        sys.exit(f"{word} is a part of it")
run("ninja", "-C", folder, "src/CMakeFiles/posthorn_transport.dir/transport/grpc/without_grpc.cpp.o")
shutil.rmtree(folder)
