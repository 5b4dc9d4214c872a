#!/usr/bin/env bash
# format.sh ROOT: every C++ file is as clang-format leaves it (to mend: clang-format-14 -i FILE).
set -euo pipefail
cd "$1"
find src tests bench examples -name '*.h' -o -name '*.cpp' | sort |
  xargs clang-format-14 --dry-run -Werror
