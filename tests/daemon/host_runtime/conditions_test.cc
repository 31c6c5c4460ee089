// Kernels whose threads run as loops, in programs/: many bodies against plain loops of the host.
#include "tests/daemon/host_runtime/host_program.h"

namespace cupilot::test {
namespace {

using HostLoops = HostProgram;

TEST_F(HostLoops, ConditionsAndPlacesInOddForms) { ExpectAllCasesHold("guards"); }
// What the compiler vectorises is as right as what it does not.
TEST_F(HostLoops, StoresThatAreVectorised) { ExpectAllCasesHold("loops", {"-O3"}); }

}  // namespace
}  // namespace cupilot::test
