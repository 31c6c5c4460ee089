# Which edits drop a variant.
. "$CASE_DIR/support.sh"

new_project
configure
build
publish_app() { publish app "$1" "$SOURCE/include/shared.h" "$SOURCE/beside.h"; }
publish_app 7
build
expect_swapped app 7 "first"

say "an edit of the kernel drops it at once, the daemon's look brings one back"
sed -i 's/factor \* in\[i\]/in[i] * factor/' "$SOURCE/main.cu"
build --target app
expect_commands 1 1 "edit of the kernel"
expect_original app "edit of the kernel"
expect_reason app "main.cu has changed"
publish_app 8
build --target app
expect_commands 1 1 "published again"
expect_swapped app 8 "published again"

say "an edit elsewhere in the file keeps it, at once"
sed -i 's/return 1;/return 2;/' "$SOURCE/main.cu"
build --target app
expect_commands 1 1 "edit elsewhere"
expect_swapped app 8 "edit elsewhere"
sed -i 's|^int Elsewhere|// A comment.\nint Elsewhere|' "$SOURCE/main.cu"
build --target app
expect_swapped app 8 "comment"

say "the daemon writes the selection again; the object is known by what was compiled"
known_by() { sed -n 's/.*"compiled":"\([0-9a-f]*\)".*/\1/p' "$(folder app)/applied.json"; }
before=$(known_by) selection=$(cksum <"$(folder app)/selection.json")
[ -n "$before" ] || fail "applied.json does not say what was compiled"
publish app 8 --quiet "$SOURCE/include/shared.h" "$SOURCE/beside.h"
[ "$selection" != "$(cksum <"$(folder app)/selection.json")" ] || fail "the selection was not written again"
build --target app
expect_commands 0 0 "published again after an edit elsewhere"
touch "$(folder app)/stamp.h"
build --target app
[ "$before" = "$(known_by)" ] || fail "the same object has another name"

say "an overload of the kernel drops it"
sed -i 's|^int Elsewhere|void scale(int);\nint Elsewhere|' "$SOURCE/main.cu"
build --target app
expect_original app "overload"
expect_reason app "main.cu has changed"
publish_app 8
build --target app
expect_swapped app 8 "overload, published again"

say "a header's macro that the kernel does not use may change"
sed -i 's/3.0f/4.0f/' "$SOURCE/include/shared.h"
build --target app
expect_swapped app 8 "changed macro of a header"

say "a changed header drops it"
echo '#define factor multiplier' >>"$SOURCE/include/shared.h"
build --target app
expect_original app "changed header"
expect_reason app "shared.h has changed"
publish_app 9
build --target app
expect_swapped app 9 "changed header, published again"

say "a file that was only touched keeps it"
touch "$SOURCE/include/shared.h"
build --target app
expect_commands 1 1 "touched header"
expect_swapped app 9 "touched header"

say "a changed flag drops it"
configure -DCMAKE_CUDA_FLAGS=-DOTHER=1
build --target app
expect_original app "changed flag"
expect_reason app "the command has changed"
publish_app 10
build --target app
expect_swapped app 10 "changed flag, published again"

say "an environment variable that the compiler reads drops it"
echo '// again' >>"$SOURCE/helper.cpp"
touch "$(folder app)/stamp.h"
CPATH=$WORK build --target app
expect_original app "changed environment"
touch "$(folder app)/stamp.h"
build --target app
expect_swapped app 10 "environment as before"

say "a variant's own file that was deleted leads to the original, and heals"
rm "$(folder app)"/variant.*.cu
build --target app
expect_original app "no variant's file"
expect_reason app "is missing"
[ ! -f "$(folder app)/refused.json" ] || fail "the variant was refused for a missing file"
build --target app
expect_commands 0 0 "no variant's file, again"
publish_app 10
build --target app
expect_swapped app 10 "the variant's file came back"

say "a swapped source that is not the published one is not compiled"
echo '// tampered' >>"$(ls "$(folder app)"/swap.*.cu | head -1)"
for swap in "$(folder app)"/swap.*.cu; do echo '// tampered' >>"$swap"; done
touch "$(folder app)/stamp.h"
build --target app
expect_original app "tampered"
expect_reason app "is not the one that was published"
