#!/usr/bin/env bash
# python.sh ROOT OUT CMAKE-OPTION...: the module of examples/python builds against the shared core, and
# Python can use it. Returns 77, "skipped", where Python's headers are missing.
set -euo pipefail
root=$1 out=$2
shift 2
header=$(python3 -c 'import sysconfig; print(sysconfig.get_path("include") + "/Python.h")' || true)
[[ -f $header ]] || { echo "skipped: there is no Python.h (Debian's package python3-dev)"; exit 77; }
cmake -S "$root/examples/python" -B "$out" -G Ninja "$@" >/dev/null
cmake --build "$out"
ctest --test-dir "$out" --output-on-failure --no-tests=error
