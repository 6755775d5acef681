#!/usr/bin/env bash
# compile.sh ROOT CCACHE COMPILER ARGUMENTS...
#
# Compiles through ccache such that every checkout on this machine finds what another has compiled.
# ccache does so for paths it recognises. Two things of CMake's precompiled headers it does not: their
# names behind -Xclang are made relative here, and a header that is precompiled, which holds the paths
# of its checkout, is known by what it was made of (the .sum beside it) rather than by its bytes.
set -euo pipefail

root=$1 ccache=$2
shift 2
line=() after=
for word in "$@"; do
    [ "$after" != -Xclang ] || word=${word#"$PWD/"}
    line+=("$word")
    after=$word
done

case " ${line[*]} " in
*" -emit-pch "*) ;;
*)
    export CCACHE_BASEDIR=$root CCACHE_NOHASHDIR=1 CCACHE_PCH_EXTSUM=1
    export CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
    exec "$ccache" "${line[@]}"
    ;;
esac

"${line[@]}"
output= list= before=
for word in "${line[@]}"; do
    case $before in -o) output=$word ;; -MF) list=$word ;; esac
    before=$word
done
# Each file that it includes, and how it was compiled.
{
    "${line[0]}" --version
    printf '%s\n' "${line[@]//"$root"/}"
    tr -d '\\\n' <"$list" | cut -d: -f2- | xargs -- cat
} | sha256sum >"$output.sum"
