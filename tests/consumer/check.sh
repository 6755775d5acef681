#!/usr/bin/env bash
# usage: check.sh BUILD_DIR COMPILER cmake|pkg-config
# Installs Posthorn into a fresh prefix, builds the consumer against it and runs it.
set -euo pipefail
build=$1 compiler=$2 way=$3
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cmake --install "$build" --prefix "$work/prefix" >"$work/install.log" || { cat "$work/install.log"; exit 1; }
"$work/prefix/bin/posthorn" --version
for file in posthorn/posthorn.service posthorn/posthorn.example.toml posthorn/prometheus/posthorn.rules.yml \
    posthorn/grafana/posthorn.json bash-completion/completions/posthorn \
    man/man1/posthorn.1 zsh/site-functions/_posthorn fish/vendor_completions.d/posthorn.fish; do
    test -s "$work/prefix/share/$file" || { echo "share/$file was not installed"; exit 1; }
done
if [ "$way" = cmake ]; then
    cmake -S "$here" -B "$work/build" -G Ninja -DCMAKE_CXX_COMPILER="$compiler" \
        -DCMAKE_PREFIX_PATH="$work/prefix" >"$work/configure.log" || { cat "$work/configure.log"; exit 1; }
    cmake --build "$work/build"
    "$work/build/consumer"
else
    pc=$(dirname "$(find "$work/prefix" -name posthorn.pc)")
    # shellcheck disable=SC2046
    PKG_CONFIG_PATH=$pc "$compiler" -std=c++23 "$here/main.cpp" -o "$work/consumer" \
        $(PKG_CONFIG_PATH=$pc pkg-config --cflags --libs posthorn)
    "$work/consumer"
fi
