#!/usr/bin/env bash
# shared_install.sh ROOT OUT CMAKE-OPTION...: builds the shared libraries in OUT/build and installs them
# to OUT/prefix, under the names that a package would expect.
set -euo pipefail
root=$1 out=$2
shift 2
cmake -S "$root" -B "$out/build" -G Ninja -DBUILD_SHARED_LIBS=ON -DFOVEA_APP=OFF -DFOVEA_TESTS=OFF \
  "$@" >/dev/null
cmake --build "$out/build"
rm -rf "$out/prefix"
cmake --install "$out/build" --prefix "$out/prefix" >/dev/null
for name in fovea fovea_core; do
  library=$(readlink -f "$(find "$out/prefix" -name "lib$name.so")")
  readelf -d "$library" | grep -qE "SONAME.*\[lib$name\.so\.[0-9]+\.[0-9]+\]" ||
    { echo "$library: its SONAME is not lib$name.so.MAJOR.MINOR"; exit 1; }
done
