#!/usr/bin/env bash
# clang_warnings.sh PROJECT OUT: clang compiles the project without a warning. It only parses: in place
# of objects and programs there are empty files, which is enough for Ninja to skip what is unchanged,
# and costs a fraction of a second build.
set -euo pipefail
cmake -S "$1" -B "$2" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_COMPILER=clang++-14 \
  -DCMAKE_COMPILE_WARNING_AS_ERROR=ON -DFOVEA_TESTS=ON -DFOVEA_BENCH=ON \
  -DCMAKE_CXX_COMPILER_LAUNCHER= -DFOVEA_CCACHE= \
  -DCMAKE_CXX_COMPILE_OBJECT='<CMAKE_CXX_COMPILER> <DEFINES> <INCLUDES> <FLAGS> -fsyntax-only <SOURCE> && touch <OBJECT>' \
  -DCMAKE_CXX_LINK_EXECUTABLE='touch <TARGET>' \
  -DCMAKE_GTEST_DISCOVER_TESTS_DISCOVERY_MODE=PRE_TEST >/dev/null
cmake --build "$2" -- -k 0
