#!/usr/bin/env bash
# pkg_config.sh ROOT PREFIX COMPILER [FLAG...]: what pkg-config says of the installed library is enough
# to build and run programs with the compiler alone.
set -euo pipefail
root=$1 prefix=$2 compiler=$3
shift 3
out=$(mktemp -d "$PWD/pkg_config.XXXXXX")
trap 'rm -rf "$out"' EXIT
PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name fovea.pc)")
export PKG_CONFIG_PATH LD_LIBRARY_PATH=${PKG_CONFIG_PATH%/pkgconfig}
for pair in fovea-core:core fovea:consumer; do
  read -ra said <<<"$(pkg-config --cflags --libs "${pair%:*}")"
  "$compiler" -std=c++20 "$@" "$root/examples/${pair#*:}/main.cpp" -o "$out/program" "${said[@]}"
  "$out/program"
done
