"""The rules of the layout as data. check_structure.py applies them; change them here."""

import re
from pathlib import Path

# --- Which folder of src/ may include which. Its own files, include/posthorn and the standard
# library are open to every folder; a subfolder (store/sqlite) belongs to its first folder.
BASE = {"base"}
PURE = BASE | {"message"}
WIRE = PURE | {"security", "transport"}
BOTH = WIRE | {"store"}
LEASED = BOTH | {"lease"}
BOXES = LEASED | {"outbox", "inbox"}
SEAM = BOXES | {"feature"}
# A line in the list of features is all that a new one needs.
LIST = Path(__file__).parents[2] / "src" / "app" / "features.cpp"
FEATURES = set(re.findall(r'^#include "([a-z_]+)/\1_feature\.hpp"$', LIST.read_text(), re.MULTILINE))
ABOVE = SEAM | FEATURES | {"workflow"}

LAYERS = {
    "base": set(),
    "message": BASE,
    "security": PURE,
    "store": PURE,
    "transport": PURE | {"security"},
    "lease": PURE | {"store"},
    "outbox": LEASED,
    "inbox": LEASED,
    "workflow": PURE | {"security"},
    "feature": BOXES,
    **{name: SEAM | ({"workflow"} if name == "engine" else set()) for name in FEATURES},
    "operations": ABOVE,
    "admin": ABOVE | {"operations"},
    "desk": WIRE,
    "measure": BASE,
    "app": ABOVE | {"operations", "admin", "desk", "measure"},
}

# --- Rooms inside a folder, lowest first; "." are the files that lie beside them. A file may include
# its own room and those before it.
ROOMS = {
    "base": [".", "text", "time", "async", "log", "trace", "run"],
    "message": [".", "wire"],
    "store": [".", "rows", "statements", "rules", "commit", "upkeep", "sqlite", "postgres"],
    "store/sqlite": ["driver", "schema", "tables", "upkeep", "commit"],
    "store/postgres": ["driver", "schema", "tables", "commit", "upkeep"],
    "transport": [".", "dns", "wire", "http", "inprocess", "unix", "pipe", "grpc", "link",
                  "broker", "amqp", "nats", "kafka"],
    "transport/http": [".", "guarded"],
    "outbox": ["rules", "relay", "lane", "upkeep", "dispatch"],
    "inbox": [".", "configured"],
    "workflow": [".", "binary", "runner"],
    "engine": ["rows", "steps", "routes", "."],
    "admin": ["access", "."],
    "app": [".", "config", "store", "doctor", "node", "rounds", "cli"],
    "app/cli": ["kit", "keys", "messages", "store", "top", "contracts", "bench", "demo", "."],
}

# --- A folder with more files than this wants rooms; what a fuzzer found is no source.
FILES_MAX = 40
FILES_UNCOUNTED = ["tests/fuzz/corpus/*", "docs/adr/*", "docs/reference/errors/*"]

# The same for the folders beside src/: which folders of src/ their files may include.
OUTSIDE = {
    "tests": set(LAYERS),
    "bench": set(LAYERS) - {"app"},
    "examples": set(),  # They show what a user writes, so the public headers must do.
}

# --- A heavy dependency stays in one folder: (name, regex on the include's path, where, advice).
# tests/unit mirrors src/, so tests/unit/X may include what src/X may.
HEAVY = [
    ("SQLite", r"sqlite3(?:ext)?\.h", ["src/store/sqlite/*", "src/measure/*", "tests/*", "examples/*", "bench/*"],
     "go through store/, or forward-declare `struct sqlite3;`"),
    ("Boost.Beast", r"boost/beast\b.*", ["src/transport/http/*", "src/admin/*"],
     "go through transport/http"),
    ("toml++", r"toml\+\+/.*|toml\.hpp", ["src/app/*"], "take parsed options as a struct"),
    ("CLI11", r"CLI/.*", ["src/app/cli/*"], "parse the command line in app/cli"),
    ("spdlog", r"spdlog/.*", ["src/base/*"], "log through base/"),
    ("prometheus-cpp", r"prometheus/.*", ["src/admin/*"],
     "count in plain structs that admin/ reads"),
    ("OpenSSL", r"openssl/.*|boost/asio/ssl\b.*",
     ["src/security/*", "src/transport/*", "tests/fuzz/canonical_target.cpp", "bench/limit/*",
      "examples/11_webhook_receiver/verify.cpp"],
     "go through security/"),
    ("libpq", r"libpq-fe\.h|libpq/.*", ["src/store/postgres/*", "tests/*", "examples/*", "bench/*"],
     "go through store/, or forward-declare `struct pg_conn;`"),
    ("gRPC", r"(?:grpc|grpcpp|grpc\+\+|google/protobuf)/.*", ["src/transport/grpc/*"],
     "go through transport/"),
    ("librabbitmq", r"amqp(?:_\w+)?\.h", ["src/transport/amqp/*", "bench/*"], "go through transport/broker"),
    ("librdkafka", r"librdkafka/.*", ["src/transport/kafka/*", "tests/*", "bench/*"], "go through transport/broker"),
    ("libnats", r"nats/.*", ["src/transport/nats/*", "bench/*"], "go through transport/broker"),
    ("c-ares", r"ares(?:_\w+)?\.h", ["src/transport/dns/*"], "go through transport/dns"),
    ("simdjson", r"simdjson(?:\.h|/.*)", ["src/message/*", "bench/*"],
     "use the codecs of message/"),
]

# --- What touches the operating system does so in its seam: (what, regex on code, where, advice).
SEAMS = [
    ("reads a clock",
     r"\b(?:system|steady|utc|file|tai|gps)_clock::now\b|\bhigh_resolution_clock\b"
     r"|\busing\s+\w+\s*=\s*(?:std::)?(?:chrono::)?(?:system|steady)_clock\s*;"
     r"|(?<![\w.>:])(?:std::|::)?time\s*\(\s*(?:nullptr|NULL|0|&\w+)\s*\)"
     r"|\bstd::clock\s*\(|\b(?:gettimeofday|clock_gettime|timespec_get)\s*\(",
     ["src/base/time/clock*", "src/measure/pace*", "tests/support/*", "tests/unit/base/time/clock*", "bench/*"],
     "take a `clock&` (base/time/clock.hpp), which tests replace"),
    ("draws entropy",
     r"\brandom_device\b|(?<![\w.>:])(?:std::|::)?s?rand\s*\(|\b[dl]rand48\s*\("
     r"|\b(?:getrandom|getentropy|arc4random\w*|RAND_bytes|uuid_generate\w*)\s*\(",
     ["src/base/random*", "tests/support/*"],
     "take a `random&` (base/random.hpp), which tests seed"),
    ("makes its own random engine",
     r"\bmt19937(?:_64)?\b|\bdefault_random_engine\b|\bminstd_rand0?\b|\branlux\d+\w*|\bknuth_b\b",
     ["src/base/random*", "tests/*", "bench/*"],
     "take a `random&` (base/random.hpp), which tests seed"),
    ("opens a socket",
     r"(?<![\w.>:])(?:::)?socket(?:pair)?\s*\(|(?<![\w>])::(?:connect|bind|listen|accept4?)\s*\("
     r"|\bip::(?:tcp|udp)\b|\b(?:tcp|udp)::(?:socket|acceptor|resolver)\b"
     r"|\blocal::(?:stream_protocol|datagram_protocol|connect_pair)\b|\bgetaddrinfo\s*\("
     r"|\bbasic_(?:stream|datagram|raw)_socket\b|<sys/(?:socket|un)\.h>|<netinet/",
     ["src/transport/*", "tests/support/*", "tests/unit/transport/*", "tests/integration/*",
      "tests/conformance/*", "tests/postgres/*", "tests/fuzz/http_target.cpp", "bench/*"],
     "go through the transport interface (src/transport/)"),
    ("starts a thread",
     r"\bstd::(?:jthread|async)\b|\bstd::thread\b(?!::)|\bpthread_create\b|\basio::thread_pool\b"
     r"|\bthrd_create\b",
     ["src/base/async/executor*.hpp", "src/base/async/executor*.cpp", "src/base/async/io_threads*",
      "src/base/async/deep_thread.cpp", "src/measure/load*", "tests/*", "bench/*"],
     "run the work on an executor (base/async/executor.hpp)"),
    ("makes a timer",
     r"\b(?:steady_timer|system_timer|high_resolution_timer|deadline_timer|basic_waitable_timer)\b"
     r"|\btimerfd_create\b|\btimer_create\b|\bsetitimer\b",
     ["src/base/async/timer*.cpp", "src/base/time/clock*"],
     "wait on the `timer` (base/async/timer.hpp), which follows virtual time in tests"),
    ("sleeps",
     # Members called sleep_for belong to our own `timer`, which is the seam.
     r"\bthis_thread::sleep_\w+|\busing\s+namespace\s+std::this_thread\b|(?<![\w>])::sleep\s*\("
     r"|(?<![\w.>:])sleep\s*\(\s*\d|\busleep\s*\(|\b(?:clock_)?nanosleep\s*\(",
     ["src/base/async/timer*.cpp", "src/base/time/clock*", "src/base/async/executor.cpp", "src/measure/pace*"],
     "wait on a condition, or on virtual time"),
    ("detaches work",
     r"\basio::detached\b|<boost/asio/detached\.hpp>|\.\s*detach\s*\(\s*\)",
     ["src/base/async/task_group.*"],
     "spawn it in a `task_group` (base/async/task_group.hpp), which joins it"),
    ("spawns a coroutine",
     r"\bco_spawn\b",
     ["src/base/async/task_group.*", "src/base/async/with_timeout*", "tests/*", "bench/*"],
     "spawn it in a `task_group` (base/async/task_group.hpp), which joins it"),
]

# --- How long a file may be: (folder, lines); the first that fits counts.
LINES_MAX = [("tests/", 600), ("src/", 500), ("", 400)]
