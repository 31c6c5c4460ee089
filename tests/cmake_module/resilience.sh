# A build with parts of ours broken, missing or frozen works like one without us.
. "$CASE_DIR/support.sh"

new_project
configure
build --target app

say "a swapped compile that fails falls back, is refused, and is not tried again"
publish app 7 --broken
build --target app
expect_commands 1 1 "broken variant"
expect_original app "broken variant"
expect_reason app "refused"
grep -q not_declared "$(folder app)/refused.json" || fail "refused.json has no log"
if grep -q not_declared "$LOG"; then fail "the swapped compile's errors were shown"; fi
touch "$(folder app)/stamp.h"
build --target app
expect_reason app "refused"
publish app 8
build --target app
expect_swapped app 8 "after the refused one"

say "a compile error of the user's is the compiler's own"
cp "$SOURCE/main.cu" "$WORK/main.cu"
echo 'int broken = ;' >>"$SOURCE/main.cu"
if cmake --build "$BUILD" --target app >"$LOG" 2>&1; then fail "a broken source was built"; fi
grep -q 'main.cu' "$LOG" || fail "the compiler's message is not shown"
cp "$WORK/main.cu" "$SOURCE/main.cu"
build --target app

say "CUPILOT=0 builds the original once"
publish app 9
CUPILOT=0 build --target app
expect_commands 1 1 "CUPILOT=0"
expect_original app "CUPILOT=0"
expect_reason app "CUPILOT=0"
touch "$(folder app)/stamp.h"
build --target app
expect_swapped app 9 "without CUPILOT=0"

say "a daemon that is frozen while it holds the build lock keeps nobody waiting"
exec 9>>"$BUILD/cupilot/build.lock"
flock -x 9
touch "$(folder app)/stamp.h"
build --target app 9>&-
expect_swapped app 9 "with a frozen daemon"
exec 9>&-

say "garbage in our files is the original"
for garbage in '' '{' '[]' '{"schema":"cupilot.selection/2"}' 'x'; do
  printf '%s' "$garbage" >"$(folder app)/selection.json"
  touch "$(folder app)/stamp.h"
  build --target app
  expect_original app "selection '$garbage'"
done
publish app 10
printf '{' >"$(folder app)/refused.json"
touch "$(folder app)/stamp.h"
build --target app
expect_swapped app 10 "garbage in refused.json"

say "a folder that cannot be written is a plain build"
mv "$BUILD/cupilot/app" "$WORK/kept"
: >"$BUILD/cupilot/app"
build --target app
grep -aq cupilot.inspect "$(object app)" && fail "no folder, but a variant"
rm "$BUILD/cupilot/app"
mv "$WORK/kept" "$BUILD/cupilot/app"
build --target app

say "an uninstalled cuPilot: the copy in the build tree goes on"
mv "$PREFIX" "$PREFIX.away"
touch "$(folder app)/stamp.h"
status=0
cmake --build "$BUILD" --target app >"$LOG" 2>&1 || status=$?
mv "$PREFIX.away" "$PREFIX"
# CMake by itself does not link with a toolkit in a folder with a blank (blanks.sh): there it gets as far as that.
[[ $status -eq 0 || ($NVCC == *" "* && $(<"$LOG") == *"cannot find -lcudart_static"*) ]] || fail "uninstalled"

say "device debugging and sanitizers are left alone"
configure "-DCMAKE_CUDA_FLAGS=$DEBUG_FLAG"
build --target app
grep -aq cupilot.inspect "$(object app)" && fail "$DEBUG_FLAG was swapped"
[ ! -f "$(folder app)/command.json" ] || fail "$DEBUG_FLAG was recorded"
expect_reason app "$DEBUG_FLAG"
configure -DCMAKE_CUDA_FLAGS=
build --target app
[ -f "$(folder app)/command.json" ] || fail "the command was not recorded again"

say "a launcher that was there before stays, behind ours"
printf '#!/bin/sh\necho "$@" >>"%s/previous.txt"\nexec "$@"\n' "$WORK" >"$WORK/previous"
chmod +x "$WORK/previous"
configure "-DPREVIOUS_LAUNCHER=$WORK/previous"
touch "$(folder app)/stamp.h"  # make does not look at launchers
build --target app
grep -q "main.cu" "$WORK/previous.txt" || fail "the previous launcher did not run"
publish app 12
build --target app
expect_swapped app 12 "with a previous launcher"
grep -q "swap\." "$WORK/previous.txt" || fail "the previous launcher did not see the swap"

say "a swapped compile that this machine ended says nothing about the variant"
cat >"$WORK/previous" <<END
#!/bin/sh
case "\$*" in
  *swap.*) [ ! -f "$WORK/no_memory" ] || { echo "nvcc error : 'cicc' died due to signal 9 (Kill signal)" >&2; exit 9; } ;;
esac
exec "\$@"
END
publish app 13
rm -f "$(folder app)/refused.json"  # of an earlier case
touch "$WORK/no_memory"
build --target app
expect_original app "without memory"
expect_reason app "no memory"
[ ! -f "$(folder app)/refused.json" ] || fail "the variant was refused for good"
rm "$WORK/no_memory"
touch "$(folder app)/stamp.h"
build --target app
expect_swapped app 13 "with memory again"

say "a build folder behind a symbolic link"
rm -rf "$BUILD"
mkdir "$BUILD"
ln -s "$BUILD" "$WORK/link"
BUILD=$WORK/link
configure
build --target app
[ -f "$(folder app)/command.json" ] || fail "the object's folder lies elsewhere: $(find "$BUILD/cupilot" -name command.json)"
publish app 14
build --target app
expect_swapped app 14 "behind a link"
