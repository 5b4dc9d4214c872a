#!/usr/bin/env bash
# What `fovea --version` costs: time, memory, and the size of the program without its symbols.
set -euo pipefail
source "$(dirname "$(readlink -f "$0")")/setup.sh"

install_missing "${build_packages[@]}" "${test_packages[@]}"
build release fovea
build release bench_startup
program=$root/build/release/fovea
"$root/build/release/bench/startup" 50 "$program" --version 3>&1 >/dev/null 2>&3
strip -o "$program.stripped" "$program"
stat -c '%s' "$program.stripped" | awk '{ printf "stripped size: %.1f MB\n", $1 / 1e6 }'
rm "$program.stripped"
