#!/usr/bin/env bash
# clang_warnings.sh PROJECT OUT [DONE]: clang compiles the library and the program without a warning,
# but for sources that match DONE, which another build compiles with clang (tests and benchmarks:
# `./test clang`). It only parses: in place of objects and programs there are empty ones, which is
# enough for Ninja to skip what is unchanged, and costs a fraction of a second build. What nearly all
# sources include from outside is parsed once.
set -euo pipefail
mkdir -p "$2"
headers=$(cd "$2" && pwd)/headers.h
# Flags that a precompiled header and its users must share; each source's own come before.
shared=(-fPIC -fvisibility=default -fno-openmp -Wno-source-uses-openmp -O1 -DNDEBUG)
[[ $(uname -m) != x86_64 ]] || shared+=(-march=x86-64-v2)
{
  printf '#include <%s>\n' algorithm cmath filesystem fstream functional iostream map memory numeric \
    optional ranges set span sstream string thread unordered_map variant vector
  printf '#if __has_include(<%s>)\n#include <%s>\n#endif\n' nlohmann/json.hpp nlohmann/json.hpp
} >"$headers"
clang++-14 -x c++-header -std=c++20 "${shared[@]}" -o "$headers.pch" "$headers"
cmake -S "$1" -B "$2" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_COMPILER=clang++-14 \
  -DCMAKE_COMPILE_WARNING_AS_ERROR=ON -DFOVEA_TESTS=OFF -DFOVEA_BENCH=OFF \
  -DCMAKE_CXX_STANDARD=20 -DCMAKE_CXX_EXTENSIONS=OFF -DCMAKE_CXX_COMPILER_LAUNCHER= -DFOVEA_CCACHE= \
  -DCMAKE_CXX_COMPILE_OBJECT="expr <SOURCE> : '${3:-/none}' >/dev/null || <CMAKE_CXX_COMPILER> <DEFINES> <INCLUDES> <FLAGS> ${shared[*]} -include-pch $headers.pch -fsyntax-only <SOURCE> && touch <OBJECT>" \
  -DCMAKE_CXX_LINK_EXECUTABLE='cp /bin/true <TARGET>' >/dev/null
cmake --build "$2" -- -k 0
