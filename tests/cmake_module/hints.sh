# The line at the end of a build, for users who ask for it.
. "$CASE_DIR/support.sh"

wants_hints() {
  mkdir -p "$XDG_CONFIG_HOME/cupilot"
  echo "{\"hints\": $1}" >"$XDG_CONFIG_HOME/cupilot/config.json"
}
expect_hint() { # TEXT WHAT
  grep -qF "cupilot: $1" "$LOG" || fail "$2: '$1' is not said"
}
expect_silence() { if grep -q 'faster since' "$LOG"; then fail "$1: something is said"; fi; }

say "without the setting nothing is said, noted or added"
new_project
configure
build
publish app 7
build
expect_swapped app 7 "without the setting"
expect_silence "without the setting"
[ ! -e "$(folder app)/speedups" ] || fail "something is noted"
if [ "$GENERATOR" = Ninja ]; then ! grep -q -- --hints "$BUILD/build.ninja" || fail "a command was added"; fi

say "with it, once, of kernels that became faster"
new_project
wants_hints true
configure
build
expect_silence "the first build"
expect_noop "after the first build"
publish app 7
build
expect_commands 1 1 "a publication"
expect_hint "1 kernel is faster since the last build: app::scale (" "a publication"
expect_hint_end=$(grep -c "faster since" "$LOG")
[ "$expect_hint_end" = 1 ] || fail "it is said $expect_hint_end times"
expect_noop "after a publication"
expect_silence "a build with nothing to do"
echo '// edited' >>"$SOURCE/helper.cpp"
build
expect_silence "a build that only links"

say "another variant that is as fast is no news"
publish app 9
build
expect_swapped app 9 "as fast"
expect_silence "as fast"

say "nothing of it breaks a build"
publish other 9
mkdir "$BUILD/cupilot/hints.new"
build
expect_swapped other 9 "notes that cannot be written"
rm -rf "$BUILD"/cupilot/hints.[0-9n]*
echo 'not JSON' >"$XDG_CONFIG_HOME/cupilot/config.json"
configure
build
expect_noop "settings that cannot be read"
[ ! -e "$BUILD/cupilot/hints" ] || fail "settings that cannot be read ask for hints"

say "asked for no more"
wants_hints true
configure
build
wants_hints false
configure
build
publish app 11
build
expect_swapped app 11 "asked for no more"
expect_silence "asked for no more"
