# What the launcher says of the machine code that it shipped. With nvcc: the host device has none.
. "$CASE_DIR/support.sh"

shipped() { sed -n 's/.*"text":\[{"hash":"\([0-9a-f]\{40\}\)","target":"\([^"]*\)".*/\1 \2/p' "$(folder app)/applied.json"; }

new_project
configure
build --target app
[ -z "$(shipped)" ] || fail "the original names code of variants"

say "a swapped object names the code of its variant"
publish app 7
build --target app
expect_swapped app 7 "first"
first=$(shipped)
[[ $first =~ ^[0-9a-f]{40}\ compute_80,sm_80$ ]] || fail "applied.json: $(cat "$(folder app)/applied.json")"

say "another variant has other code, and the same one the same"
publish app 8
build --target app
second=$(shipped)
[ -n "$second" ] && [ "$second" != "$first" ] || fail "variant 8 has the code of variant 7"
publish app 7
build --target app
[ "$(shipped)" = "$first" ] || fail "variant 7 has other code than before"
