# A lock file in a root that has module and launcher only: what it compiles in, what it does not, and what
# is compiled again when it changes.
. "$CASE_DIR/support.sh"

LOCK=$SOURCE/cupilot.lock
lock() { # TARGET MARK OPTIONS...: as `cupilot lock` writes it
  local target=$1
  shift
  local options=()
  if [ -n "$ON_HOST" ]; then options=(--target "$HOST_TARGET"); fi
  "$PUBLISH" --lock "$LOCK" "$SOURCE" "$(folder "$target")" "$@" "$SOURCE/include/shared.h" "$SOURCE/beside.h" \
    "${options[@]}" || fail "lock"
}
expect_note() { # COUNT TEXT: so many lines of the build's output say it
  [ "$(grep -cF "$2" "$LOG")" = "$1" ] || fail "$1 lines should say: $2"
}
expect_quiet() { expect_note 0 "cupilot:"; }

locked_project() {
  new_project
  sed -i 's/cupilot_tune(app)/cupilot_tune(app LOCK cupilot.lock)/
    s/APPLY manual/APPLY manual LOCK cupilot.lock/' "$SOURCE/CMakeLists.txt"
  echo 'target_compile_definitions(other PRIVATE OTHER=1)' >>"$SOURCE/CMakeLists.txt"
}
locked_project
configure
build
expect_original app "there is no lock file yet"
expect_noop "without a lock file"

say "a lock file that appears compiles the one object of which it speaks"
lock app 7
build
expect_commands 1 1 "first lock file"
expect_swapped app 7 "first lock file"
expect_original other "the other target"
expect_quiet
expect_noop "after the first lock file"
if [ -n "$ON_HOST" ]; then [ "$("$BUILD/app" | cut -d' ' -f5)" = 13 ] || fail "app prints $("$BUILD/app")"; fi

say "the same bytes as the daemon's swapped source for the same variant"
texts() { ls "$(folder app)"/swap.*.cu "$(folder app)"/variant.*.cu; }
locked_texts=$(texts)
rm "$(folder app)"/swap.*.cu "$(folder app)"/variant.*.cu
publish app 7 --quiet "$SOURCE/include/shared.h"
[ "$(texts)" = "$locked_texts" ] || fail "other texts than the daemon's"

say "deleted texts are written again"
rm "$(folder app)"/swap.*.cu "$(folder app)"/variant.*.cu
build
expect_swapped app 7 "texts that were deleted"
[ "$(texts)" = "$locked_texts" ] || fail "the texts were not written again"
expect_noop "after the texts were written again"

say "the lock file decides, not what is published"
publish app 9
build
expect_commands 1 1 "a publication beside a lock file"
expect_swapped app 7 "a publication beside a lock file"

say "another entry compiles the other object, another variant the first one"
lock other 3
build
expect_commands 1 1 "an entry for the other target"
expect_swapped other 3 "an entry for the other target"
lock app 8
build
expect_commands 1 1 "another variant"
expect_swapped app 8 "another variant"
expect_swapped other 3 "another variant"
expect_noop "after another variant"
printf '%s ' "$(cat "$LOCK")" >"$LOCK" # the same in other bytes
build
expect_commands 0 0 "a lock file that says the same"

say "an edit elsewhere keeps the variant"
sed -i 's/return 1;/return 2;/' "$SOURCE/main.cu"
build --target app
expect_commands 1 1 "edit elsewhere"
expect_swapped app 8 "edit elsewhere"
expect_quiet

say "an edit of the kernel drops it and says so; the build succeeds"
cp "$SOURCE/main.cu" "$WORK/main.cu"
sed -i 's/factor \* in\[i\]/in[i] * factor/' "$SOURCE/main.cu"
build --target app
expect_commands 1 1 "edit of the kernel"
expect_original app "edit of the kernel"
expect_note 1 'cupilot: kernel app::scale in cupilot.lock does not fit main.cu any more: its text has changed; run `cupilot lock`'
cp "$WORK/main.cu" "$SOURCE/main.cu"
build --target app
expect_swapped app 8 "the kernel as before"

say "so does a header that the kernel uses, and one that is found before it"
cp "$SOURCE/include/shared.h" "$WORK/shared.h"
echo '#define factor multiplier' >>"$SOURCE/include/shared.h"
build --target app
expect_original app "changed header"
expect_note 1 'cupilot: kernel app::scale in cupilot.lock does not fit main.cu any more'
cp "$WORK/shared.h" "$SOURCE/include/shared.h"

say "other flags and another compiler drop it"
configure -DCMAKE_CUDA_FLAGS=-DMORE=1
build --target app
expect_original app "another flag"
expect_note 1 'it was proven with other flags: -DMORE=1 is new'
configure -DCMAKE_CUDA_FLAGS=-Wno-unused
build --target app
expect_swapped app 8 "a flag that changes no code"
configure -DCMAKE_CUDA_FLAGS=
sed -i 's/"toolchain": ".*"/"toolchain": "nvcc 1.0"/' "$LOCK"
build
expect_original app "another compiler"
expect_note 2 'it was proven with nvcc 1.0, and this is '
rm "$LOCK"
build
lock app 8
build
expect_swapped app 8 "a new lock file"

say "what is wrong with the file is said, and the originals are compiled"
cp "$LOCK" "$WORK/good.lock"
wrong() {
  touch "$(folder app)/stamp.h"
  build --target app
  expect_original app "$1"
  expect_note 1 'cupilot: cupilot.lock is not used: '
}
for garbage in '{' '{"schema": "cupilot.lock/2", "kernels": []}' '{"schema": "cupilot.lock/1", "kernels": [{"source": "main.cu"}]}'; do
  printf '%s' "$garbage" >"$LOCK"
  wrong "the lock file '$garbage'"
  [ "$GENERATOR" = Ninja ] || break
done
# Text that would leave its place, and a variant that is not the one that was proven.
for change in 's/"canonical": "int"/"canonical": "int)>(0), evil((int"/' 's/factor \* in\[i\] + MARK/in[i] + MARK/'; do
  [ "$GENERATOR" = Ninja ] || break
  sed "$change" "$WORK/good.lock" >"$LOCK"
  ! cmp -s "$LOCK" "$WORK/good.lock" || fail "nothing was changed by $change"
  wrong "$change"
done
rm "$LOCK"

say "a variant that does not compile is said once for each build of the object, and not tried again"
lock app 5 --broken
build
expect_original app "broken variant"
expect_note 1 "is compiled as it is, without the lock file's variants: refused"
expect_noop "after the broken variant"
touch "$(folder app)/stamp.h"
build
expect_note 1 "refused before"
lock app 8
build
expect_swapped app 8 "after the broken one"

say "who takes LOCK out of the project compiles the original again"
sed -i 's/cupilot_tune(app LOCK cupilot.lock)/cupilot_tune(app)/' "$SOURCE/CMakeLists.txt"
rm -f "$(folder app)/selection.json"
build
expect_commands 1 1 "without LOCK"
expect_original app "without LOCK"

say "another checkout, CI, no home to write to, no daemon: the same variants"
mv "$SOURCE" "$WORK/elsewhere"
rm -rf "$BUILD"
SOURCE=$WORK/elsewhere BUILD=$WORK/out/of/source LOCK=$SOURCE/cupilot.lock
sed -i 's/cupilot_tune(app)/cupilot_tune(app LOCK cupilot.lock)/' "$SOURCE/CMakeLists.txt"
mkdir -p "$BUILD/CMakeFiles"
cp -r "$COMPILERS"/. "$BUILD/CMakeFiles/"
export CI=1
HOME=/proc XDG_STATE_HOME=/proc/none XDG_CACHE_HOME=/proc/none XDG_CONFIG_HOME=/proc/none configure
HOME=/proc XDG_STATE_HOME=/proc/none XDG_CACHE_HOME=/proc/none XDG_CONFIG_HOME=/proc/none build --target app
expect_swapped app 8 "another checkout"
expect_quiet
[ -z "$(ls "$WORK/state" 2>/dev/null | grep -v cupilot)" ] || fail "something was written to the home"
rm "$SOURCE/cupilot.lock"
configure
grep -q 'cuPilot: CI is set and .*cupilot.lock is not there' "$LOG" || fail "no note without a lock file"
build
expect_original app "CI without a lock file"
