#!/usr/bin/env bash
# A private PostgreSQL for the tests: its own directory, a free port, the settings of a real one.
#
#   server.sh start FILE   starts one; FILE gets its connection URL
#   server.sh stop FILE    stops the one that FILE names, and removes it
#   server.sh crash FILE   kills it as a power cut would, and starts it again on the same files
#   server.sh halt FILE    stops it, and keeps its files
#   server.sh again FILE   starts it again on them
#   server.sh standby FILE OF   starts a standby of the one that OF names
#   server.sh pooler FILE OF MODE   starts PgBouncer before the one that OF names
#
# Safe to repeat. PostgreSQL refuses to run as root, so root runs it as `postgres` or `nobody`.
set -euo pipefail

die() { printf 'server.sh: %s\n' "$*" >&2; exit 1; }

what=${1:-} file=${2:-}
[ -n "$file" ] || die "usage: server.sh start|stop|crash|halt|again|standby|pooler FILE ..."

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
    if [ -f "$place/pooler.pid" ]; then
        kill "$(cat "$place/pooler.pid")" 2>/dev/null || true
        rm -rf "$place"
    elif [ -d "$place/data" ]; then
        (cd "$place" && "${as_owner[@]}" "$programs/pg_ctl" -D "$place/data" -m immediate -w -t 600 stop >/dev/null 2>&1) || true
        echo "stopped after $SECONDS s"
        rm -rf "$place"  # Tens of thousands of files, on a disk that other tests sync to.
        echo "removed after $SECONDS s"
    fi
    rm -f "$file" "$file.place"
}

# A port may be taken between the look and the start, so it tries more than one.
launch() {
    local place=$1 tries port
    for tries in 1 2 3 4 5 6 7 8; do
        port=$((20000 + (RANDOM * 32768 + RANDOM) % 12000))
        [ -f "$place/port" ] && port=$(cat "$place/port")
        if (cd "$place" && "${as_owner[@]}" "$programs/pg_ctl" -D "$place/data" -w -t 300 -l "$place/log" \
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

# A folder for the owner alone; sets `place`.
make_place() {
    place=$(mktemp -d "${TMPDIR:-/tmp}/pg.XXXXXX")
    [ "$(id -u)" -ne 0 ] || chown "$owner" "$place"
    # Where the owner cannot get to, in a folder of root's alone.
    if ! "${as_owner[@]}" test -w "$place"; then
        rmdir "$place"
        place=$(mktemp -d /tmp/pg.XXXXXX)
        chown "$owner" "$place"
    fi
    echo "$place" >"$file.place"
}

start() {
    stop
    local place
    make_place
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

halt() {
    [ -f "$file.place" ] || die "no server is running"
    local place
    place=$(cat "$file.place")
    (cd "$place" && "${as_owner[@]}" "$programs/pg_ctl" -D "$place/data" -m immediate -w stop >/dev/null) || true
}

again() { launch "$(cat "$file.place")"; }

crash() { halt && again; }

standby() {
    stop
    local place
    make_place
    (cd "$place" && "${as_owner[@]}" "$programs/pg_basebackup" -D "$place/data" -R -c fast -d "$(cat "$1")" >"$place/copy.log" 2>&1) ||
        { cat "$place/copy.log" >&2; die "no standby was made"; }
    launch "$place"
}

pooler() {
    command -v /usr/sbin/pgbouncer >/dev/null || die "PgBouncer is missing; ./test installs it (Debian: pgbouncer)"
    stop
    local place tries port
    make_place
    for tries in 1 2 3 4 5 6 7 8; do
        port=$((20000 + (RANDOM * 32768 + RANDOM) % 12000))
        "${as_owner[@]}" tee "$place/pooler.ini" >/dev/null <<CONF
[databases]
* = host=127.0.0.1 port=$(cat "$(cat "$1.place")/port") user=posthorn password=posthorn
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = $port
unix_socket_dir =
auth_type = any
pool_mode = $2
ignore_startup_parameters = extra_float_digits,options
logfile = $place/log
pidfile = $place/pooler.pid
CONF
        if (cd "$place" && "${as_owner[@]}" /usr/sbin/pgbouncer -q -d "$place/pooler.ini" >/dev/null 2>&1); then
            for ((tries = 0; tries < 100; ++tries)); do  # It goes into the background before it listens.
                "$programs/pg_isready" -q -h 127.0.0.1 -p "$port" && break
                sleep 0.1
            done
            printf 'postgresql://posthorn@127.0.0.1:%s/posthorn\n' "$port" >"$file"
            return
        fi
    done
    die "PgBouncer does not start"
}

programs=$(find_programs)
case $what in
    start | stop | crash | halt | again) "$what" ;;
    standby | pooler) "$what" "${@:3}" ;;
    *) die "usage: server.sh start|stop|crash|halt|again|standby|pooler FILE ..." ;;
esac
