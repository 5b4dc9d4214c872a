#!/usr/bin/env bash
# lengths.sh ROOT: no source file is too long to be read in one go.
set -euo pipefail
cd "$1"
find src -type f | sort | xargs awk -v most=500 '
  FNR == most + 1 { printf "%s: more than %d lines; one idea a file\n", FILENAME, most; bad = 1 }
  END { exit bad }'
