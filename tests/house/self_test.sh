#!/usr/bin/env bash
# self_test.sh CHECK [ARGUMENT...]: the check passes on a small clean tree and finds each fault that is
# planted in it. The arguments are those that the check itself gets.
set -euo pipefail
check=$1 here=$(cd "$(dirname "$0")" && pwd)
shift
tree=$(mktemp -d "$PWD/self_test.XXXXXX")
trap 'rm -rf "$tree"' EXIT

write() { mkdir -p "$tree/$(dirname "$1")" && printf '%b' "$2" >"$tree/$1"; }  # write FILE TEXT
passes() {
  run_check >"$tree/said" 2>&1 && return
  echo "the check refused a clean tree:" && cat "$tree/said" && exit 1
}
finds() {  # finds WORDS FILE TEXT: plants the file, expects these words, takes it out again
  write "$2" "$3"
  if run_check >"$tree/said" 2>&1; then echo "not found: $1 ($2)" && exit 1; fi
  grep -qF "$1" "$tree/said" || { echo "found, but not as '$1':" && cat "$tree/said" && exit 1; }
  rm "$tree/$2"
}

run_check() { "$here/$check.sh" "$tree"; }
case $check in
  includes)
    write src/op/good.h '#include "fovea/op/tape.h"\n#include "fovea/tensor/tensor.h"\n#include <map>\n'
    write src/kernel/good-inl.h '#include <hwy/highway.h>\n'
    write src/kernel/good.cpp '#include "fovea/kernel/good-inl.h"\nFOVEA_DISPATCH(f)();\n'
    write src/core.h '#include "fovea/train/trainer.h"\n'
    write src/fovea.h '#include "fovea/task/task.h"\n#include "fovea/core.h"\n'
    write src/app/cli/good.cpp '#include "fovea/fovea.h"\n'
    passes
    finds 'op may not include fovea/nn/linear.h' src/op/bad.h '#include "fovea/nn/linear.h"\n'
    finds 'op may not include fovea/nn/linear.h' src/op/bad.cpp ' # include <fovea/nn/linear.h>\n'
    finds 'kernel may not include fovea/tensor' src/kernel/bad.h '#include "fovea/tensor/tensor.h"\n'
    finds 'train may not include fovea/model' src/train/bad.cpp '#include "fovea/model/seq.h"\n'
    finds 'task may not include fovea/app' src/task/bad.cpp '#include "fovea/app/cli/cli.h"\n'
    finds 'task may not include fovea/fovea.h' src/task/bad.cpp '#include "fovea/fovea.h"\n'
    finds 'src/op/bad.cpp:2: only src/kernel' src/op/bad.cpp '\n#include <hwy/highway.h>\n'
    finds 'only src/kernel' src/nn/bad.cpp '#include "hwy/base.h"\n'
    finds 'loads oneDNN when it runs' src/kernel/bad.cpp '#include <oneapi/dnnl/dnnl.h>\n'
    finds 'core.h may not include fovea/task' src/core.h '#include "fovea/task/solver.h"\n'
    finds 'write FOVEA_DISPATCH' src/kernel/bad.cpp 'HWY_DYNAMIC_DISPATCH(f)();\n'
    finds 'an installed header' src/kernel/bad.h '#include <hwy/base.h>\n'
    finds 'an installed header' src/kernel/bad.h '#include "fovea/kernel/good-inl.h"\n'
    finds 'write the include as' src/op/bad.cpp '#include "tape.h"\n'
    finds 'no such folder' src/op/bad.cpp '#include "fovea/ops/tape.h"\n'
    finds 'has no place' src/misc/bad.cpp '\n'
    ;;
  lengths)
    write src/op/good.cpp "$(printf '\\n%.0s' {1..500})"
    passes
    finds 'src/op/bad.cpp: more than' src/op/bad.cpp "$(printf '\\n%.0s' {1..501})"
    ;;
  temporaries)
    mkdir "$tree"/{tests,bench,examples}
    write src/good.cpp 'void f() {\n  for (float x : t.read()) g(h(x).read());\n  for (auto i = s(t).read()[0]; i;) k(i);\n  const auto m = p.value().read<int>();\n}\n'
    passes
    finds 'src/bad.cpp:2: the loop outlives' src/bad.cpp '\nfor (float x : f(t).read()) g(x);\n'
    finds 'src/bad.cpp:1: the loop outlives' src/bad.cpp 'for (double x :\n     t.to(f64).read<double>()) g(x);\n'
    finds 'tests/bad.h:1: the loop outlives' tests/bad.h 'for (auto& x : f(g(1)).write()) x = 0;\n'
    finds 'src/bad.cpp:1: what is read from is gone' src/bad.cpp 'const auto x = f(t).read();\n'
    finds 'src/bad.cpp:1: the loop outlives' src/bad.cpp 'for (float z : f(t).read().first(3)) g(z);\n'
    for bad in 'const auto x = Tensor::of({3}, v).read<int>();' 'const auto y = f({1}).read();' \
      'const float* p = f(t).read().data();' 'void f() {\n  std::span<float> s = g(t).write().first(2);'; do
      finds 'what is read from is gone' src/bad.cpp "$bad\n"
    done
    finds 'src/bad.cpp:2: what is read from is gone' src/bad.cpp 'auto a = b.read(),\n     x = t.f().read<int32_t>();\n'
    ;;
  format)
    cp "$1/.clang-format" "$tree"
    mkdir "$tree"/{tests,bench,examples}
    write src/good.cpp 'int main() { return 0; }\n'
    passes
    finds 'src/bad.cpp:1' src/bad.cpp 'int main(){return 0;}\n'
    finds 'tests/bad.h:1' tests/bad.h 'int*  x;\n'
    ;;
  clang_warnings)
    run_check() { "$here/$check.sh" "$tree" "$tree/out"; }
    write CMakeLists.txt 'cmake_minimum_required(VERSION 3.25)\nproject(small LANGUAGES CXX)
      file(GLOB sources CONFIGURE_DEPENDS *.cpp)\nadd_compile_options(-Wall)
      add_library(part ${sources})\nadd_executable(whole good.cpp)'
    write good.cpp '#include "header.h"\nint main() { return 0; }\n'
    write header.h '\n'
    passes
    finds 'unused variable' bad.cpp 'void bad() { int left = 1; }\n'
    passes
    finds 'header.h:1' header.h 'void bad() { int left = 1; }\n'
    ;;
  headers)
    compilers=("${@:2}")
    run_check() { "$here/$check.sh" "$tree" "${compilers[@]}"; }
    mkdir "$tree/include" && ln -s ../src "$tree/include/fovea"
    write src/base/good.h '#pragma once\n#include <vector>\ninline std::vector<int> f() { return {1}; }\n'
    write src/fovea.h '#pragma once\n#include "fovea/base/good.h"\n'
    passes
    finds 'fovea/base/bad.h: does not compile alone' src/base/bad.h '#pragma once\nstd::string f();\n'
    finds 'bad.h:2' src/base/bad.h '#pragma once\ninline int f(long x) { return x; }\n'
    finds 'bad.h:2' src/tensor/bad.h '#pragma once\ninline unsigned f(int x) { return x; }\n'
    finds 'bad.h:2' src/train/bad.h '#pragma once\ninline int f(int x) { { int x = 1; return x; } }\n'
    ;;
  doxygen)
    command -v doxygen >/dev/null || { echo "skipped: there is no doxygen"; exit 77; }
    run_check() { "$here/$check.sh" "$tree" "$tree/out"; }
    mkdir "$tree/include" && ln -s ../src "$tree/include/fovea"
    mkdir "$tree/docs" && cp "$1"/docs/{Doxyfile,doxygen_filter.awk} "$tree/docs"
    write src/tensor/good.h '// A box.\n#pragma once\n\nstruct Box {\n  // Its sides.\n  int a, b;\n  int c;  // deep\n  const int &d, *e{};  // seen, and\n                       // owned\n  int f = g(), h = 1;  // made\n};\n'
    passes
    finds 'bad.h:4: warning: Member f()' src/tensor/bad.h '// Bad.\n#pragma once\n\nint f();\n'
    finds 'bad.h:4: warning: Compound Two' src/tensor/bad.h '// Bad.\n#pragma once\nstruct One {};\nstruct Two {\n  int a;\n};\n'
    finds 'Member b (variable)' src/tensor/bad.h '// Bad.\n#pragma once\n\nstruct One {\n  int a;  // one\n  int b;\n};\n'
    ;;
  core_binary)
    run_check() { "$here/$check.sh" "$tree/program" "$limit"; }
    limit=100000 word=
    for word in '' '-Wl,--no-as-needed -lz'; do
      g++ -x c++ - -o "$tree/program" $word <<<'int main() {}'
      [[ $word ]] || passes
    done
    finds 'libz.so' note ''
    limit=10
    finds 'bytes stripped, more than 10' note ''
    ;;
  documents)
    options=("${@:3}")
    run_check() { "$here/$check.sh" "$tree" "$tree/out" "${options[@]}"; }
    program='#include <fovea/base/error.h>\nint main() {'
    finds 'show no program' docs/part.md '```cpp\nint f();\n```\n'
    write README.md "# One\n\`\`\`cpp\n$program fovea::check(true, 1); }\n\`\`\`\n\`\`\`cpp\npart;\n\`\`\`\n"
    passes
    finds 'docs/bad.md:3' docs/bad.md "\`\`\`cpp\n$program return fovea::nothing; }\n\`\`\`\n"
    finds 'bad_1 (Failed)' docs/bad.md "\`\`\`cpp\n$program return 1; }\n\`\`\`\n"
    ;;
  tour)
    fovea=$2
    run_check() { "$here/$check.sh" "$tree" "$fovea"; }
    shown() { printf '# Tour\n\n```sh\n%s\n```\n```text\nno such command\n```\n```sh\n%s\n```\n' "$@"; }
    write docs/tour.md "$(shown 'fovea --version >made' 'test -s made\nfalse || true')"
    passes
    finds 'shows no command' docs/tour.md '# Tour\n```text\nfovea\n```\n'
    finds 'docs/tour.md:4: failed: fovea trian' docs/tour.md "$(shown 'fovea trian' true)"
    finds 'docs/tour.md:11: failed' docs/tour.md "$(shown true 'true\nfalse | true\ntrue')"
    finds 'docs/tour.md: line 10: nothing' docs/tour.md "$(shown true 'echo $nothing')"
    ;;
  *) echo "no self-test for $check" && exit 1 ;;
esac
