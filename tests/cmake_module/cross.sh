# A cross build by a toolchain file: variants from the lock file, nothing probed, registered or started.
. "$CASE_DIR/support.sh"

LOCK=$SOURCE/cupilot.lock
new_project
sed -i 's/cupilot_tune(app)/cupilot_tune(app LOCK cupilot.lock)/' "$SOURCE/CMakeLists.txt"
configure
build --target app
options=()
if [ -n "$ON_HOST" ]; then options=(--target "$HOST_TARGET"); fi
"$PUBLISH" --lock "$LOCK" "$SOURCE" "$(folder app)" 7 "$SOURCE/include/shared.h" "$SOURCE/beside.h" "${options[@]}"

# A compiler that lies elsewhere, and runs nothing of what it makes.
mkdir -p "$WORK/cross/bin" "$PREFIX/bin"
printf '#!/bin/sh\nexec "%s" "$@"\n' "$NVCC" >"$WORK/cross/bin/nvcc"
printf '#!/bin/sh\n: >"%s/started"\n' "$WORK" >"$PREFIX/bin/cupilotd"
chmod +x "$WORK/cross/bin/nvcc" "$PREFIX/bin/cupilotd"
cat >"$WORK/toolchain.cmake" <<END
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_CUDA_COMPILER "$WORK/cross/bin/nvcc")
END
cross() {
  unset CUPILOT_NO_SPAWN
  cmake -S "$SOURCE" -B "$BUILD" -G "$GENERATOR" -DCMAKE_PREFIX_PATH="$PREFIX" -DCMAKE_CUDA_ARCHITECTURES=80-real \
    --toolchain "$WORK/toolchain.cmake" >"$LOG" 2>&1 || fail "configure of the cross build"
  export CUPILOT_NO_SPAWN=1
}
BUILD=$WORK/cross/build
rm -rf "$XDG_STATE_HOME"
cross
[ ! -e "$XDG_STATE_HOME" ] || fail "the cross build is registered"
[ ! -e "$WORK/started" ] || fail "a daemon was started for a cross build"
grep -q 'kernels are built as they are' "$LOG" && fail "a note in spite of the lock file"
build --target app
expect_commands 1 1 "the cross build"
expect_swapped app 7 "the cross build"
grep -q '^cupilot:' "$LOG" && fail "something is said to be stale"

say "without a lock file: the originals, and a note"
rm "$LOCK"
cross
grep -q 'this is a cross build and .*cupilot.lock is not there: kernels are built as they are' "$LOG" || fail "no note"
build --target app
expect_original app "a cross build without a lock file"
