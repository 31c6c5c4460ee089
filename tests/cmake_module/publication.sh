# What a publication rebuilds, and what it does not.
. "$CASE_DIR/support.sh"

new_project
configure
build
expect_commands 2 2 "first build"
expect_noop "after the first build"
expect_original app "nothing is published"
grep -q '"no selection"' "$(folder app)/applied.json" || fail "applied.json has no reason"

say "compile_commands.json names the user's file and the compiler"
grep -qF "\"file\": \"$SOURCE/main.cu\"" "$BUILD/compile_commands.json" || fail "other file"
grep -q 'stamp\.h\|swap\.' <<<"$(without_paths "$BUILD/compile_commands.json" | grep '"command"')" && fail "our text in it"

say "one publication rebuilds one object and links one program"
publish app 7
build
expect_commands 1 1 "publication"
expect_swapped app 7 "publication"
expect_original other "the other target"
expect_noop "after a publication"

say "the header beside the source wins, and __FILE__ is the user's"
for target in app other; do
  grep -aq 'beside the source' "$(object $target)" || fail "$target: another header was included"
  grep -aq 'on the include path' "$(object $target)" && fail "$target: the wrong header was included"
  grep -aqF "$SOURCE/main.cu" "$(object $target)" || fail "$target: __FILE__"
done
if [ -n "$ON_HOST" ]; then
  expected="beside the source helper"
  [ "$("$BUILD/app")" = "$expected 13 1 $SOURCE/main.cu" ] || fail "app prints $("$BUILD/app")"
  [ "$(CUPILOT_DISABLE=1 "$BUILD/app")" = "$expected 6 1 $SOURCE/main.cu" ] || fail "CUPILOT_DISABLE"
  [ "$("$BUILD/other")" = "$expected 6 1 $SOURCE/main.cu" ] || fail "other prints $("$BUILD/other")"
  # Not by a pipe into grep -q: it ends at the first match, and the program by SIGPIPE.
  statistics="$(CUPILOT_STATS=1 "$BUILD/app" 2>&1)"
  case "$statistics" in *"app::scale: 1 launches tuned, 0"*) ;; *) fail "CUPILOT_STATS: $statistics" ;; esac
  CUPILOT_STATS="$BUILD/counts" "$BUILD/app" >/dev/null
  [ "$(cat "$BUILD/counts")" = "$(printf 'app::scale\t1\t0\t0\thost')" ] || fail "a file of counts: $(cat "$BUILD/counts")"
  [ "$(CUPILOT_DISABLE=app::scale "$BUILD/app")" = "$expected 6 1 $SOURCE/main.cu" ] || fail "a kernel that is named"
fi

say "the same source in the other target has its own"
publish other 9
build
expect_commands 1 1 "second publication"
expect_swapped app 7 "second publication"
expect_swapped other 9 "second publication"
expect_noop "after the second publication"

say "the dependency file names the user's header: its edit rebuilds both"
echo '// edited' >>"$SOURCE/include/shared.h"
build
expect_commands 2 2 "header edit"
expect_noop "after the header edit"

say "a publication during a compile is not lost"
publish app 11 --quiet
applied=$(cat "$(folder app)/applied.json")
build
expect_commands 0 0 "the stamp was not touched"
publish app 11
build
expect_swapped app 11 "published during a compile"
[ "$applied" != "$(cat "$(folder app)/applied.json")" ] || fail "applied.json was not renewed"

say "deleting our folder heals"
rm -rf "$BUILD/cupilot/app" "$BUILD/cupilot/other"
build
expect_commands 2 2 "after the deletion"
expect_original app "after the deletion"
expect_noop "after the deletion"
rm -rf "$BUILD/cupilot"
build
expect_commands 2 2 "after the deletion of all of it"
expect_original app "after the deletion of all of it"
[ -f "$BUILD/cupilot/project.json" ] || fail "the project's file did not come back"
expect_noop "after the deletion of all of it"

say "the build lock is held during a compile only"
flock -n -x "$BUILD/cupilot/build.lock" true || fail "the build lock is still held"
