# What the cases share. Sourced with: CASE_DIR (this folder), WORK (empty folder of this run), PREFIX
# (an installation of module and launcher), PUBLISH (the test's publisher), GENERATOR.
set -euo pipefail

export XDG_STATE_HOME=$WORK/state XDG_CONFIG_HOME=$WORK/config XDG_CACHE_HOME=$WORK/cache
export XDG_RUNTIME_DIR=$WORK/run CUPILOT_NO_SPAWN=1
unset CI CUPILOT CUDAFLAGS CUDA_COMPILER_LAUNCHER CMAKE_CUDA_COMPILER_LAUNCHER || true
mkdir -p "$XDG_RUNTIME_DIR"
SOURCE=$WORK/source
BUILD=$WORK/build
LOG=$WORK/log.txt

fail() {
  echo "FAILED: $*"
  [ -f "$LOG" ] && tail -40 "$LOG"
  exit 1
}
say() { echo "-- $*"; }

# A fresh copy of the project; CMake's findings about the compilers are taken from the first run.
new_project() {
  rm -rf "$SOURCE" "$BUILD"
  cp -r "$CASE_DIR/project" "$SOURCE"
  mkdir -p "$BUILD/CMakeFiles"
  if [ -d "$COMPILERS" ]; then cp -r "$COMPILERS"/. "$BUILD/CMakeFiles/"; fi
}

configure() {
  cmake -S "$SOURCE" -B "$BUILD" -G "$GENERATOR" -DCMAKE_PREFIX_PATH="$PREFIX" \
    -DCMAKE_CUDA_COMPILER="$NVCC" -DCMAKE_CUDA_ARCHITECTURES=80-real -DCMAKE_EXPORT_COMPILE_COMMANDS=ON "$@" >"$LOG" 2>&1 ||
    fail "configure"
  if [ ! -d "$COMPILERS" ]; then
    mkdir -p "$COMPILERS.$$"
    cp -r "$BUILD/CMakeFiles/"[0-9]* "$COMPILERS.$$/"
    mv -T "$COMPILERS.$$" "$COMPILERS" 2>/dev/null || rm -rf "$COMPILERS.$$"
  fi
}

build() { cmake --build "$BUILD" "$@" >"$LOG" 2>&1 || fail "build"; }
compiled() { grep -c 'Building CUDA object' "$LOG" || true; }
linked() { grep -c 'Linking' "$LOG" || true; }
expect_commands() { # COMPILES LINKS WHAT
  [ "$(compiled)" = "$1" ] && [ "$(linked)" = "$2" ] ||
    fail "$3: $1 compiles and $2 links expected, found $(compiled) and $(linked)"
}
expect_noop() {
  build
  expect_commands 0 0 "$1: a build with nothing to do"
  if [ "$GENERATOR" = Ninja ]; then grep -q 'no work to do' "$LOG" || fail "$1: ninja found work"; fi
}

# without_paths FILE...: their text but for this checkout's folders, whose names may have any word.
without_paths() {
  local text
  text=$(cat "$@") || fail "$* cannot be read"
  text=${text//"$WORK"/}
  printf '%s\n' "${text//"$SOURCES"/}"
}
object() { echo "$BUILD/CMakeFiles/$1.dir/main.cu.o"; }
folder() { echo "$BUILD/cupilot/$1/CMakeFiles/$1.dir/main.cu.o"; }
publish() { # TARGET MARK OPTIONS...
  local target=$1
  shift
  local options=()
  if [ -n "$ON_HOST" ]; then options=(--target "$HOST_TARGET"); fi
  "$PUBLISH" "$(folder "$target")" "$@" "${options[@]}" || fail "publish"
}
is_swapped() { # TARGET MARK
  grep -aq "\"title\":\"adds $2\"" "$(object "$1")"
}
expect_swapped() { is_swapped "$1" "$2" || fail "$3: $1 does not hold variant $2"; }
expect_original() {
  if grep -aq cupilot.inspect "$(object "$1")"; then fail "$2: $1 holds a variant"; fi
  grep -q '"selection":""' "$(folder "$1")/applied.json" || fail "$2: applied.json is wrong"
}
expect_reason() { # TARGET TEXT
  grep -qe "$2" "$(folder "$1")/applied.json" ||
    fail "the reason should say '$2': $(cat "$(folder "$1")/applied.json")"
}
