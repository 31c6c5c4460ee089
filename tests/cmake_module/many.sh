# A project of 200 CUDA objects: a build with nothing to do runs no command at all. The compiles themselves are a
# stand-in's, which only makes the files that a compiler makes.
. "$CASE_DIR/support.sh"

cat >"$WORK/stand_in" <<'END'
#!/bin/sh
echo . >>"$STAND_IN_LOG"
while [ $# -gt 0 ]; do
  case "$1" in -o) out=$2 ;; -MF) deps=$2 ;; -include) stamp=$2 ;; -c) source=$2 ;; esac
  shift
done
: >"$out"
escaped() { printf '%s' "$1" | sed 's/ /\\ /g'; }
[ -z "$deps" ] || printf '%s: %s %s\n' "$(escaped "$out")" "$(escaped "$source")" "$(escaped "$stamp")" >"$deps"
END
chmod +x "$WORK/stand_in"
export STAND_IN_LOG=$WORK/compiles
compiles() { if [ -f "$STAND_IN_LOG" ]; then wc -l <"$STAND_IN_LOG"; else echo 0; fi; }

new_project
rm -rf "${SOURCE:?}"/*
for i in $(seq 200); do echo "// cupilot: tune" >"$SOURCE/k$i.cu"; done
cat >"$SOURCE/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.25)
project(many LANGUAGES CXX CUDA)
find_package(CuPilot REQUIRED)
file(GLOB sources "*.cu")
add_library(kernels OBJECT ${sources})
set_target_properties(kernels PROPERTIES CUDA_COMPILER_LAUNCHER "${STAND_IN}")
cupilot_tune(kernels)
END
configure -DSTAND_IN="$WORK/stand_in"
build -j2
[ "$(compiles)" = 200 ] || fail "the first build: 200 compiles expected, found $(compiles)"
[ "$(find "$BUILD/cupilot" -name command.json | wc -l)" = 200 ] || fail "not every compile was recorded"

say "a build with nothing to do runs no command"
for again in 1 2; do
  expect_noop "200 objects"
  [ "$(compiles)" = 200 ] || fail "build $again with nothing to do compiled"
done
if [ "$GENERATOR" = Ninja ]; then
  ninja -C "$BUILD" -n >"$LOG" && grep -q 'no work to do' "$LOG" || fail "ninja -n finds work"
fi
configure -DSTAND_IN="$WORK/stand_in"
build
[ "$(compiles)" = 200 ] || fail "a second configure made it compile again"

say "one touched stamp is one compile"
find "$BUILD/cupilot" -path '*/k7.cu.o/stamp.h' -exec touch {} +
build
[ "$(compiles)" = 201 ] || fail "a touched stamp: one compile expected, found $(($(compiles) - 200))"
