# Sourced by ./run, ./test and tools/bench: packages, configuring, building. Everything that is
# written lies in build/; everything that is said goes to stderr, so that stdout holds only results.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

build_packages=(g++ cmake ninja-build ccache
  libhwy-dev nlohmann-json3-dev libcli11-dev libfmt-dev
  zlib1g-dev liblzma-dev libzstd-dev libutf8proc-dev libicu-dev libsentencepiece-dev libstb-dev
  libfreetype-dev libharfbuzz-dev libfontconfig-dev
  pkg-config)
test_packages=(libgtest-dev libbenchmark-dev libdnnl-dev clang-14 libclang-rt-14-dev clang-format-14
  chromium doxygen python3-dev libopenmpi-dev openmpi-bin xz-utils)

# The cache serves the consumer test, which builds the library again in another folder; CTest clears
# the locale for it, which would count as a difference.
export CCACHE_DIR=${CCACHE_DIR:-$root/build/ccache} CCACHE_NOHASHDIR=1 CCACHE_SLOPPINESS=locale

say() { printf 'fovea: %s\n' "$*" >&2; }
die() { say "$@"; exit 1; }

# install_missing PACKAGE...: asks dpkg first, as a machine that has everything needs no network.
install_missing() {
  command -v dpkg-query >/dev/null || return 0  # not Debian: CMake says what it does not find
  local package installed missing=() as_root=()
  installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "$@" 2>/dev/null || true)
  for package in "$@"; do
    grep -qxF "installed $package" <<<"$installed" || missing+=("$package")
  done
  ((${#missing[@]})) || return 0
  if ((EUID != 0)); then
    as_root=(sudo)
    [[ -t 0 ]] || as_root+=(-n)  # nobody is there to type a password
    "${as_root[@]}" true 2>/dev/null ||
      die "may not install what is missing; as root: apt-get install ${missing[*]}"
  fi
  say "installing ${missing[*]}"
  local apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq)
  {
    "${apt[@]}" update || true  # one broken source must not stop packages that another one has
    "${apt[@]}" install -y --no-install-recommends "${missing[@]}"
  } </dev/null >&2 || die "apt-get could not install the packages ${missing[*]}; its message is above."
}

# build PRESET TARGET [cmake options]: configures only when that was never done or the presets have
# changed since, or when tests are wanted and the folder was configured without (as ./run does).
build() {
  local preset=$1 target=$2 dir=$root/build/$1 lock
  shift 2
  mkdir -p "$root/build"
  exec {lock}>"$root/build/.lock" && flock "$lock"  # two starts at once take turns
  has() { grep -qsxF "$1" "$dir/CMakeCache.txt"; }
  # A copied checkout's build folder would go on to build the original.
  has "CMAKE_HOME_DIRECTORY:INTERNAL=$root" || rm -rf "$dir"
  if [[ ! $dir/build.ninja -nt $root/CMakePresets.json ]] ||
    { (($# == 0)) && ! has FOVEA_TESTS:BOOL=ON; }; then
    cmake -S "$root" --preset "$preset" "$@" >&2 || die "could not configure; the reason is above."
  fi
  cmake --build "$dir" --target "$target" 2>&1 | sed -u '/Re-checking globbed\|no work to do/d' >&2 ||
    die "could not build; the reason is above."
  exec {lock}>&-
}
