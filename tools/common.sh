# What ./run and ./test share: saying what happens, and installing what is missing.

say() { printf '\033[1m==>\033[0m %s\n' "$*" >&2; }
die() {
    printf '\033[1;31merror:\033[0m %s\n' "$*" >&2
    exit 1
}
# Without a terminal, plain lines.
[ -t 2 ] || {
    say() { printf '==> %s\n' "$*" >&2; }
    die() { printf 'error: %s\n' "$*" >&2; exit 1; }
}

# stage NAME COMMAND...: runs it and says how long it took, and what of the processors.
stage() {
    local name=$1 began=$SECONDS before after status=0
    shift
    before=$(processor_seconds)
    "$@" || status=$?
    after=$(processor_seconds)
    say "$name took $((SECONDS - began)) s, $((after - before)) s of processor time"
    return $status
}

# What the commands of this script that have ended have had of the processors.
processor_seconds() {
    local fields
    read -ra fields </proc/$$/stat
    echo $(((fields[15] + fields[16]) / $(getconf CLK_TCK)))
}

# What it takes to build Posthorn.
packages_build=(
    clang-19 lld-19 ninja-build ccache cmake pkg-config python3
    libboost1.81-dev libboost-json1.81-dev libfmt-dev libspdlog-dev libsqlite3-dev libsimdjson-dev libcli11-dev libtomlplusplus-dev
    libssl-dev libc-ares-dev libjemalloc-dev libpq-dev libgrpc++-dev libprotobuf-dev protobuf-compiler protobuf-compiler-grpc
    librabbitmq-dev libnats-dev librdkafka-dev
)
# What the tests need on top: GoogleTest, sanitizers, the style checks and what clang-tidy's own_code.cpp
# is compiled with, g++ for the consumer, promtool, which comes with Prometheus, a PostgreSQL with a
# pooler and brokers to run privately, and a browser.
packages_test=(
    libclang-rt-19-dev clang-format-19 clang-tidy-19 libclang-19-dev llvm-19-dev libgtest-dev libgmock-dev
    g++-12 git python3 python3-yaml dpkg-dev sqlite3 prometheus curl openssl valgrind postgresql-15 pgbouncer rabbitmq-server nats-server chromium
    fonts-dejavu-core
)
# A Node.js that did not come from Debian brings its own npm.
command -v npm >/dev/null || packages_test+=(nodejs npm)

installed() { dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null | grep -qx installed; }

# Installs those of the given packages that are missing; touches no network when none is.
install_packages() { stage "looking for packages" install_missing "$@"; }
install_missing() {
    local missing=() name
    for name in "$@"; do installed "$name" || missing+=("$name"); done
    [ ${#missing[@]} -eq 0 ] && return
    command -v apt-get >/dev/null || die "apt-get is missing: Posthorn builds on Debian 12; install by hand: ${missing[*]}"
    local as_root=()
    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo >/dev/null || die "run this as root, or install sudo, to install: ${missing[*]}"
        as_root=(sudo)
    fi
    say "installing from Debian's packages: ${missing[*]}"
    local log
    log=$(mktemp)
    if ! { "${as_root[@]}" apt-get update &&
        "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${missing[@]}"; } >"$log" 2>&1; then
        tail -n 20 "$log" >&2
        die "apt-get failed; the whole log is in $log"
    fi
    rm -f "$log"
}

# install_npm_packages FOLDER [PLACE]: installs the npm packages that a folder's lock file names into
# build/npm, or build/PLACE, unless they are there.
install_npm_packages() {
    local lock=$1/package-lock.json place=build/${2:-npm}
    cmp -s "$lock" "$place/package-lock.json" && [ -f "$place/done" ] && return
    say "installing from npm what $lock names"
    rm -rf "$place"
    mkdir -p "$place"
    cp "$1/package.json" "$place/"
    cp "$lock" "$place/"
    (cd "$place" && npm ci --no-audit --no-fund) >"$place.log" 2>&1 || {
        rm -rf "$place"
        tail -n 20 "$place.log" >&2
        die "npm failed; the whole log is in $place.log"
    }
    touch "$place/done"  # A run that was broken off leaves none.
}

# Configures a preset if that was not done yet, and builds it. Ninja shows its progress on a
# terminal; elsewhere only what went wrong is printed.
build() {
    local preset=$1
    shift
    if [ ! -f "build/$preset/build.ninja" ]; then
        say "configuring $preset"
        cmake --preset "$preset" >"build/$preset.log" 2>&1 || {
            cat "build/$preset.log" >&2
            die "configuring failed"
        }
    fi
    say "building $preset"
    stage "building $preset" compile "$preset" "$@"
}
compile() {
    local preset=$1
    shift
    if [ -t 1 ]; then
        cmake --build --preset "$preset" "$@" || die "the build failed"
    else
        cmake --build --preset "$preset" "$@" >"build/$preset.log" 2>&1 || {
            tail -n 100 "build/$preset.log" >&2
            die "the build failed"
        }
    fi
}
