// A runner's runs under schedules of the host device.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <sstream>

#include "base/file.h"
#include "base/install_layout.h"
#include "records/json.h"
#include "tests/support/run_program.h"
#include "tests/support/temporary_folder.h"

namespace cupilot::worker {
namespace {

using records::Json;

constexpr std::int64_t kArena = 1 << 16;

// The order in which its blocks come, from `offset` on.
Json RunOf(const std::string& schedule, std::int64_t offset) {
  const auto pointer = [](std::int64_t to) {
    return Json{{"bytes", "0000000000000000"}, {"pointers", {{0, to}}}};
  };
  Json request = {{"op", "run"},
                  {"module", 0},
                  {"bytes", kArena},
                  {"program",
                   {{"globals", Json::array()},
                    {"steps",
                     {{{"kernel", "note"},
                       {"grid", {4, 1, 1}},
                       {"block", {1, 1, 1}},
                       {"shared_bytes", 0},
                       {"arguments", {pointer(offset), pointer(offset + 64)}},
                       {"fill_offset", 0},
                       {"fill_bytes", 0},
                       {"byte", 0}}}}}}};
  if (!schedule.empty()) request["schedule"] = schedule;
  return request;
}

TEST(RunnerSchedules, HoldForOneRunAndUnknownOnesAreRefused) {
  const test::TemporaryFolder folder;
  const std::string source = folder.Write("note.cu", R"(
__global__ void note(unsigned* next, int* order) {
  order[atomicAdd(next, 1u)] = blockIdx.x;
})");
  const std::string module = folder / "note.so";
  const auto built =
      test::RunProgram({base::HostToolkitFolder() + "/bin/nvcc", "--cupilot-candidate", "-shared",
                        "-cudart", "none", "-Xcompiler", "-fPIC", source, "-o", module});
  ASSERT_EQ(built.exit_code, 0) << built.errors;
  std::string lines =
      Json{{"op", "load"}, {"device", "host"}, {"arena_bytes", kArena}, {"modules", {module}}}
          .dump();
  lines += "\n" + RunOf("blocks-reversed", 1024).dump();
  lines += "\n" + RunOf("backwards", 2048).dump();
  lines += "\n" + RunOf("one-block threads-forward", 3072).dump() + "\n";
  const std::string arena = folder.Write("arena", std::string(kArena, '\0'));
  test::RunOptions options;
  options.environment["CUPILOT_HOST_SCHEDULE"] = "";
  const auto run = test::RunProgram(
      {"bash", "-c", "\"$0\" --kind run 3<>\"$1\" <\"$2\"",
       base::LibexecFolder() + "/cupilot-worker", arena, folder.Write("requests", lines)},
      options);
  EXPECT_EQ(run.exit_code, 0) << run.errors;
  std::vector<Json> replies;
  std::istringstream output(run.output);
  for (std::string line; std::getline(output, line);) replies.push_back(Json::parse(line));
  ASSERT_EQ(replies.size(), 4u) << run.output << run.errors;
  EXPECT_TRUE(replies[1].contains("microseconds")) << run.output;
  EXPECT_EQ(replies[2].value("error", ""), "no such schedule: backwards");
  EXPECT_TRUE(replies[3].contains("microseconds")) << run.output;
  const std::string memory = base::ReadFile(arena).value_or("");
  ASSERT_EQ(memory.size(), static_cast<std::size_t>(kArena));
  const auto order = [&](std::size_t offset) {
    std::vector<int> values(4);
    std::memcpy(values.data(), memory.data() + offset + 64, 4 * sizeof(int));
    return values;
  };
  EXPECT_EQ(order(1024), (std::vector<int>{3, 2, 1, 0}));
  EXPECT_EQ(order(2048), (std::vector<int>{0, 0, 0, 0}));
  EXPECT_EQ(order(3072), (std::vector<int>{0, 1, 2, 3}));
}

}  // namespace
}  // namespace cupilot::worker
