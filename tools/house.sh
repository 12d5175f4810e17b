# What ./start and ./test share: how to get the packages, configure, build, and say what is going on. Sourced by bash.
set -euo pipefail

cores=$(nproc)

# Each Debian package the house is built with, and a file or command by which one sees that it is there.
needs=(
  g++                  g++
  cmake                cmake
  ninja-build          ninja
  pkg-config           pkg-config
  libhwy-dev           /usr/include/hwy/highway.h
  libfmt-dev           /usr/include/fmt/format.h
  nlohmann-json3-dev   /usr/include/nlohmann/json.hpp
  libtomlplusplus-dev  /usr/include/toml++/toml.h
  libxxhash-dev        /usr/include/xxhash.h
  libboost-math-dev    /usr/include/boost/math/distributions/students_t.hpp
  libminizip-dev       /usr/include/minizip/zip.h
  zlib1g-dev           /usr/include/zlib.h
  libgtest-dev         /usr/include/gtest/gtest.h
  libgmock-dev         /usr/include/gmock/gmock.h
)

say() { printf '\n== %s\n' "$*"; }
fail() { printf '\n%s\n' "$*" >&2; exit 1; }

# timed WORDS COMMAND...: says what it does, does it, says how long it took.
timed() {
  local words=$1 began=$EPOCHREALTIME
  shift
  say "$words"
  "$@"
  awk -v a="$began" -v b="$EPOCHREALTIME" 'BEGIN { printf "   done in %.1f s\n", b - a }'
}

missing_packages() {
  local i
  for ((i = 0; i < ${#needs[@]}; i += 2)); do
    command -v "${needs[i + 1]}" >/dev/null || [[ -f ${needs[i + 1]} ]] || printf '%s\n' "${needs[i]}"
  done
}

install_packages() {
  local as_root=()
  command -v apt-get >/dev/null || fail "Please install what corresponds to these Debian packages, then run this again: $*"
  if ((EUID != 0)); then
    command -v sudo >/dev/null || fail "Please run this as root, then run this again: apt-get install $*"
    as_root=(sudo)
  fi
  "${as_root[@]}" apt-get -qq update
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get -qq -o Dpkg::Use-Pty=0 install --yes --no-install-recommends "$@" >/dev/null
}

# Installs what is missing; calls no package manager when nothing is.
ensure_packages() {
  local missing
  mapfile -t missing < <(missing_packages)
  ((${#missing[@]} == 0)) || timed "Installing with apt-get: ${missing[*]}" install_packages "${missing[@]}"
}

# configure FOLDER PRESET: only where it was not done yet, for this place and these presets.
configure() {
  local folder=$1 preset=$2
  if [[ -f $folder/CMakeCache.txt ]] && ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$PWD" "$folder/CMakeCache.txt"; then
    say "$folder was made at another place; beginning it anew"
    rm -rf -- "$folder"
  fi
  [[ $folder/build.ninja -nt CMakePresets.json ]] && return
  timed "Configuring $folder" quietly "$folder.log" cmake --preset "$preset"
}

# quietly LOG COMMAND...: its output is shown only if it fails.
quietly() {
  local log=$1
  shift
  "$@" >"$log" 2>&1 && { rm -f -- "$log"; return; }
  cat -- "$log"
  rm -f -- "$log"
  fail "Failed: $*"
}

# build FOLDER TARGET...: with progress on a terminal, only the faults elsewhere.
build() {
  local folder=$1 quiet=()
  shift
  [[ -t 1 ]] || quiet=(--quiet)
  NINJA_STATUS='   [%f/%t, %e s] ' ninja -C "$folder" "${quiet[@]}" -j "$cores" "$@" ||
    fail "The build of $folder failed."
}

# run_tests FOLDER...: the cases labelled ci of all these builds in one ctest run, whose summary and exit code are the end.
run_tests() {
  say "Running the tests of $*"
  local together=build/all-tests
  mkdir -p "$together"
  printf 'subdirs("%s")\n' "${@/#/$PWD/}" >"$together/CTestTestfile.cmake"
  exec ctest --test-dir "$together" --label-regex '^ci$' --parallel "$cores" --output-on-failure --no-label-summary
}
