// Programs as users write them, on the host device. What is checked is in programs/NAME.cu.
#include "tests/daemon/host_runtime/host_program.h"

namespace cupilot::test {
namespace {

using HostRuntime = HostProgram;

TEST_F(HostRuntime, BlocksShareMemoryAndMeetAtBarriers) { ExpectAllCasesHold("blocks"); }
TEST_F(HostRuntime, WarpsExchangeValues) { ExpectAllCasesHold("warps"); }
TEST_F(HostRuntime, AtomicOperationsOfEveryKindAndType) { ExpectAllCasesHold("atomics"); }
TEST_F(HostRuntime, TheLanguageInItsForms) { ExpectAllCasesHold("language"); }
TEST_F(HostRuntime, LaunchesOfEveryGeometry) { ExpectAllCasesHold("launches"); }
TEST_F(HostRuntime, ConditionsAndPlacesInOddForms) { ExpectAllCasesHold("guards", {"-O3"}); }
TEST_F(HostRuntime, GroupsWaitAndExchange) { ExpectAllCasesHold("groups"); }
TEST_F(HostRuntime, HalfPrecision) { ExpectAllCasesHold("halves"); }
TEST_F(HostRuntime, CallsOfTheRuntime) { ExpectAllCasesHold("runtime"); }

}  // namespace
}  // namespace cupilot::test
