#!/usr/bin/env bash
# A private PostgreSQL for the tests: its own directory, a free port, the settings of a real one.
#
#   server.sh start FILE   starts one; FILE gets its connection URL
#   server.sh stop FILE    stops the one that FILE names, and removes it
#   server.sh crash FILE   kills it as a power cut would, and starts it again on the same files
#
# Safe to repeat. PostgreSQL refuses to run as root, so root runs it as `postgres` or `nobody`.
set -euo pipefail

die() { printf 'server.sh: %s\n' "$*" >&2; exit 1; }

what=${1:-} file=${2:-}
[ -n "$file" ] || die "usage: server.sh start|stop|crash FILE"

find_programs() {
    local folder
    for folder in /usr/lib/postgresql/15/bin "$(dirname "$(command -v initdb 2>/dev/null || echo /x)")"; do
        [ -x "$folder/initdb" ] && { echo "$folder"; return; }
    done
    die "PostgreSQL 15 is missing; ./test installs it (Debian: postgresql-15)"
}

# Whoever the server runs as; nothing to change unless we are root.
as_owner=()
owner=$(id -un)
if [ "$(id -u)" -eq 0 ]; then
    owner=nobody
    getent passwd postgres >/dev/null && owner=postgres
    as_owner=(setpriv --reuid="$owner" --regid="$(id -gn "$owner")" --clear-groups)
fi

stop() {
    [ -f "$file.place" ] || return 0
    local place
    place=$(cat "$file.place")
    if [ -d "$place/data" ]; then
        (cd "$place" && "${as_owner[@]}" "$programs/pg_ctl" -D "$place/data" -m immediate -w stop >/dev/null 2>&1) || true
        rm -rf "$place"
    fi
    rm -f "$file" "$file.place"
}

# A port may be taken between the look and the start, so it tries more than one.
launch() {
    local place=$1 tries port
    for tries in 1 2 3 4 5 6 7 8; do
        port=$((20000 + (RANDOM * 32768 + RANDOM) % 12000))
        [ -f "$place/port" ] && port=$(cat "$place/port")
        if (cd "$place" && "${as_owner[@]}" "$programs/pg_ctl" -D "$place/data" -w -t 60 -l "$place/log" \
            -o "-p $port -k $place" start >/dev/null 2>&1); then
            echo "$port" >"$place/port"
            printf 'postgresql://posthorn:posthorn@127.0.0.1:%s/posthorn\n' "$port" >"$file.new"
            mv "$file.new" "$file"
            return
        fi
        rm -f "$place/port"
    done
    tail -n 20 "$place/log" >&2
    die "PostgreSQL does not start"
}

start() {
    stop
    local place
    place=$(mktemp -d "${TMPDIR:-/tmp}/pg.XXXXXX")
    [ "$(id -u)" -ne 0 ] || chown "$owner" "$place"
    # Where the owner cannot get to, in a folder of root's alone.
    if ! "${as_owner[@]}" test -w "$place"; then
        rmdir "$place"
        place=$(mktemp -d /tmp/pg.XXXXXX)
        chown "$owner" "$place"
    fi
    echo "$place" >"$file.place"
    printf 'posthorn\n' >"$place/password"
    chmod 0644 "$place/password"
    (cd "$place" && "${as_owner[@]}" "$programs/initdb" -D "$place/data" -U posthorn --pwfile="$place/password" \
        -A scram-sha-256 -E UTF8 --locale=C.UTF-8 --no-instructions >"$place/initdb.log" 2>&1) ||
        { cat "$place/initdb.log" >&2; die "initdb failed"; }
    # fsync stays on: what is shown here is to hold on a real server.
    "${as_owner[@]}" tee -a "$place/data/postgresql.conf" >/dev/null <<'CONF'
listen_addresses = '127.0.0.1'
max_connections = 100
shared_buffers = 64MB
max_wal_size = 256MB
log_min_messages = warning
CONF
    launch "$place"
    (cd "$place" && PGPASSWORD=posthorn "$programs/psql" -q -h 127.0.0.1 -p "$(cat "$place/port")" -U posthorn -d postgres \
        -c 'CREATE DATABASE posthorn') || die "the server does not answer"
}

crash() {
    [ -f "$file.place" ] || die "no server is running"
    local place
    place=$(cat "$file.place")
    (cd "$place" && "${as_owner[@]}" "$programs/pg_ctl" -D "$place/data" -m immediate -w stop >/dev/null) || true
    launch "$place"
}

programs=$(find_programs)
case $what in
    start | stop | crash) "$what" ;;
    *) die "usage: server.sh start|stop|crash FILE" ;;
esac
