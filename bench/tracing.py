#!/usr/bin/env python3
"""What tracing every message costs: `posthorn bench` with and without a collector, by turns.

tracing.py PROGRAM [PAIRS [SECONDS]]

The collector is a few lines of Node.js that take what they are sent, on the same machine.
"""

import json
import os
import statistics
import subprocess
import sys

SINK = """
let spans = 0;
const server = require("http").createServer((request, response) => {
  request.on("data", (some) => { spans += some.length; });
  request.on("end", () => response.end());
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
process.on("SIGTERM", () => { console.log(spans); process.exit(0); });
"""


def run(program, seconds, endpoint=None):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("OTEL_")}
    if endpoint:
        environment |= {"OTEL_EXPORTER_OTLP_ENDPOINT": endpoint, "OTEL_METRICS_EXPORTER": "none",
                        "OTEL_BSP_MAX_QUEUE_SIZE": "100000", "OTEL_BSP_SCHEDULE_DELAY": "200"}
    done = subprocess.run([program, "bench", "--seconds", str(seconds), "--json"], env=environment,
                          capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def main():
    program = sys.argv[1]
    pairs = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    seconds = float(sys.argv[3]) if len(sys.argv) > 3 else 5
    sink = subprocess.Popen(["node", "-e", SINK], stdout=subprocess.PIPE, text=True)
    endpoint = f"http://127.0.0.1:{sink.stdout.readline().strip()}"
    ratios = []
    for _ in range(pairs):
        plain, traced = run(program, seconds), run(program, seconds, endpoint)
        ratios.append(traced["per_second"] / plain["per_second"])
        print(f"{plain['per_second']:.0f} a second without, {traced['per_second']:.0f} with: {ratios[-1]:.3f};"
              f" {plain['cpu_us']:.1f} and {traced['cpu_us']:.1f} us of processor time a message", flush=True)
    sink.terminate()
    taken = sink.stdout.read().strip()
    print(f"median {statistics.median(ratios):.3f}; the collector took {taken} bytes")


if __name__ == "__main__":
    main()
