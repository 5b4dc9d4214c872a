#!/usr/bin/env bash
# host_install.sh BUILD: `cmake --install` of a project that has the library as a subfolder installs
# nothing of the library's.
set -euo pipefail
out=$(mktemp -d "$PWD/host_install.XXXXXX")
trap 'rm -rf "$out"' EXIT
cmake --install "$1" --prefix "$out" >/dev/null
! find "$out" -type f | grep . || { echo "the host's install took these along"; exit 1; }
