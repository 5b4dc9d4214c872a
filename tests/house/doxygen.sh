#!/usr/bin/env bash
# doxygen.sh ROOT OUT: Doxygen finds nothing to complain about in the public headers: every thing
# that they declare has a sentence. Returns 77, "skipped", where there is no Doxygen.
set -euo pipefail
root=$1 out=$2
command -v doxygen >/dev/null || { echo "skipped: there is no doxygen (Debian's package)"; exit 77; }

mkdir -p "$out"
said=$(cd "$root" && { cat docs/Doxyfile; echo "OUTPUT_DIRECTORY = $out"; } | doxygen - 2>&1)
! grep . <<<"$said"
