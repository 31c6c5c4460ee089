// The injection library in processes that call a driver that is none.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <filesystem>
#include <thread>

#include "../../gpu/capture/recording.h"
#include "capture/cupti.h"
#include "fake_driver.h"
#include "recording/plan.h"
#include "support/temporary_folder.h"

namespace cupilot::capture {
namespace {

namespace fs = std::filesystem;

constexpr int kWords = 64;

struct Program {
  int* in = static_cast<int*>(fake::Allocate(kWords * sizeof(int)));
  int* out = static_cast<int*>(fake::Allocate(kWords * sizeof(int)));
  int add = 3;
  // void k(int* out, const int* in, int add)
  fake::Kernel kernel{"_Z1kPiPKii", {8, 8, 4}, {0, 8, 16}, [](void** arguments) {
                        int* to = *static_cast<int**>(arguments[0]);
                        const int* from = *static_cast<int**>(arguments[1]);
                        for (int i = 0; i < kWords; ++i) {
                          to[i] += from[i] + *static_cast<int*>(arguments[2]);
                        }
                      }};

  Program() {
    for (int i = 0; i < kWords; ++i) in[i] = i;
  }
  int Launch(unsigned blocks = 1, void* stream = nullptr, int result = 0) {
    void* arguments[] = {&out, &in, &add};
    return fake::Launch(kernel, blocks, arguments, nullptr, stream, result);
  }
};

class Injection : public ::testing::Test {
 protected:
  Injection() {
    plan_.folder = folder_.path();
    plan_.cupti = FAKE_DRIVER;
    plan_.launches = 2;
    PlannedKernel& kernel = plan_.kernels.emplace_back();
    kernel.signature = "_Z1kPiPKii";
    kernel.name = "k";
    kernel.parameters = {
        {ParameterKind::kPointer, 8}, {ParameterKind::kPointer, 8}, {ParameterKind::kScalar, 4}};
  }

  // The scenario in a process of its own that has the library injected; then what it recorded.
  template <class Scenario>
  Recording Run(Scenario scenario) {
    return Run(scenario, [] {});
  }
  // `before`: what the process does before its first call of CUDA.
  template <class Scenario, class Before>
  Recording Run(Scenario scenario, Before before) {
    const std::string path = folder_.path() + "/plan";
    std::FILE* file = std::fopen(path.c_str(), "w");
    std::fputs(PrintPlan(plan_).c_str(), file);
    std::fclose(file);
    ::setenv(kPlanVariable, path.c_str(), 1);
    std::fflush(nullptr);
    const pid_t child = ::fork();
    if (child == 0) {
      before();
      void* library = ::dlopen(CAPTURE_LIBRARY, RTLD_NOW | RTLD_LOCAL);
      if (library == nullptr) ::_exit(9);
      reinterpret_cast<int (*)()>(::dlsym(library, "InitializeInjection"))();
      Program program;
      std::exit(scenario(program));
    }
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    Recording recording;
    int files = 0;
    for (const auto& entry : fs::directory_iterator(folder_.path())) {
      if (entry.path().extension() != ".capture") continue;
      ++files;
      RecordingReader reader(entry.path());
      EXPECT_TRUE(reader.Read(recording));
    }
    EXPECT_EQ(files, 1);
    return recording;
  }

  static int FirstWord(const Recording& recording, std::uint32_t blob) {
    int word = -1;
    const std::string& bytes = recording.blobs.at(blob);
    std::memcpy(&word, bytes.data(), sizeof word);
    return word;
  }

  test::TemporaryFolder folder_;
  Plan plan_;
};

TEST_F(Injection, CountsTimesAndRecordsLaunches) {
  const Recording recording = Run([](Program& program) {
    for (int i = 0; i < 3; ++i) program.Launch();
    program.Launch(2);
    return program.out[0] == 12 ? 0 : 1;
  });
  EXPECT_TRUE(recording.ended);
  EXPECT_EQ(recording.seen, 4u);
  ASSERT_EQ(recording.counters.size(), 2u);
  EXPECT_EQ(recording.counters.at(0).calls, 3u);
  EXPECT_EQ(recording.counters.at(0).timed, 3u);
  EXPECT_DOUBLE_EQ(recording.counters.at(0).microseconds, 6);
  ASSERT_EQ(recording.launches.size(), 4u);
  for (const auto& [id, launch] : recording.launches) {
    ASSERT_EQ(launch.regions.size(), 2u);
    EXPECT_EQ(launch.regions[0].bytes, kWords * sizeof(int));
    EXPECT_EQ(FirstWord(recording, launch.regions[0].before), static_cast<int>(3 * id));
    EXPECT_EQ(FirstWord(recording, launch.regions[0].after), static_cast<int>(3 * id + 3));
    EXPECT_EQ(launch.regions[1].before, launch.regions[1].after);
  }
}

// Many have that never use it. Whether they do nobody can ask; the driver serves theirs alone.
TEST_F(Injection, UsesTheCuptiThatTheProgramHasLoadedAndSaysSo) {
  const test::TemporaryFolder libraries;
  const std::string cupti = libraries / "libcupti.so.12";
  fs::copy_file(FAKE_DRIVER, cupti);
  const Recording recording = Run(
      [](Program& program) {
        program.Launch();
        return fake::Subscribed() ? 1 : 0;  // to the other one
      },
      [&] {
        if (::dlopen(cupti.c_str(), RTLD_NOW) == nullptr) ::_exit(8);
      });
  ASSERT_EQ(recording.notes.size(), 1u);
  EXPECT_NE(recording.notes[0].find("has loaded CUPTI itself"), std::string::npos)
      << recording.notes[0];
  EXPECT_NE(recording.notes[0].find(cupti), std::string::npos);
}

TEST(LoadedCupti, IsNoneWhereNobodyHasLoadedOne) { EXPECT_EQ(LoadedCupti(), ""); }

TEST_F(Injection, ReadsPackedArguments) {
  const Recording recording = Run([](Program& program) {
    struct {
      int *out, *in;
      int add;
    } packed = {program.out, program.in, 5};
    std::size_t bytes = sizeof packed;
    void* extra[] = {reinterpret_cast<void*>(1), &packed, reinterpret_cast<void*>(2), &bytes,
                     nullptr};
    fake::Launch(program.kernel, 1, nullptr, extra);
    return program.out[1] == 6 ? 0 : 1;
  });
  ASSERT_EQ(recording.launches.size(), 1u);
  const RecordedLaunch& launch = recording.launches.at(0);
  EXPECT_EQ(launch.arguments[2], std::string("\5\0\0\0", 4));
  EXPECT_EQ(FirstWord(recording, launch.regions[0].after), 5);
}

TEST_F(Injection, AFailedLaunchIsNotRecordedAndItsErrorIsTheProgramsOwn) {
  const Recording recording =
      Run([](Program& program) { return program.Launch(1, nullptr, 701) == 701 ? 0 : 1; });
  EXPECT_TRUE(recording.launches.empty());
  EXPECT_EQ(recording.counters.at(0).timed, 0u);
}

TEST_F(Injection, GraphsAreCountedByWhatRan) {
  const Recording recording = Run([](Program& program) {
    int stream = 0;
    fake::BeginCapture(&stream);
    program.Launch(4, &stream);
    fake::EndCapture();
    fake::GraphRan(program.kernel, 4);
    fake::GraphRan(program.kernel, 4);
    program.Launch(1);
    return 0;
  });
  ASSERT_EQ(recording.counters.size(), 2u);
  EXPECT_EQ(recording.counters.at(0).grid[0], 1u);
  EXPECT_EQ(recording.counters.at(1).grid[0], 4u);
  EXPECT_EQ(recording.counters.at(1).calls, 2u);
  EXPECT_EQ(recording.counters.at(1).kernel, recording.counters.at(0).kernel);
  EXPECT_EQ(recording.launches.size(), 1u);
  ASSERT_EQ(recording.notes.size(), 1u);
  EXPECT_NE(recording.notes[0].find("graphs"), std::string::npos);
}

TEST_F(Injection, NothingIsRecordedWhileAnotherStreamIsCaptured) {
  const Recording recording = Run([](Program& program) {
    int stream = 0, other = 0;
    fake::BeginCapture(&stream);
    program.Launch(1, &other);
    fake::EndCapture();
    return 0;
  });
  EXPECT_EQ(recording.counters.at(0).calls, 1u);
  EXPECT_TRUE(recording.launches.empty());
}

TEST_F(Injection, OtherThreadsWaitForARecording) {
  const Recording recording = Run([](Program& program) {
    std::thread other;
    std::atomic<bool> written{false};
    const auto body = program.kernel.body;
    program.kernel.body = [&](void** arguments) {
      body(arguments);
      other = std::thread([&] {
        fake::Call("cuMemsetD8_v2", [&] {
          program.out[0] = 77;
          written = true;
        });
      });
      for (int i = 0; i < 400 && !written; ++i) std::this_thread::yield();
    };
    program.Launch();
    other.join();
    return program.out[0] == 77 ? 0 : 1;
  });
  ASSERT_EQ(recording.launches.size(), 1u);
  EXPECT_EQ(FirstWord(recording, recording.launches.at(0).regions[0].after), 3);
}

TEST_F(Injection, ALaunchIsItsDevicesAndSeesWhatAllOfThemHaveDone) {
  const Recording recording = Run([](Program& program) {
    fake::MakeContext(0);
    fake::MakeContext(1);
    fake::Begin([&] { program.in[0] = 50; });
    fake::UseDevice(0);
    program.Launch(1);  // adds 50 + 3
    fake::Begin([&] { program.in[0] = 70; });
    fake::UseDevice(1);
    program.Launch(2);  // adds 70 + 3
    return program.out[0] == 126 ? 0 : 1;
  });
  ASSERT_EQ(recording.launches.size(), 2u);
  for (std::uint32_t i = 0; i < 2; ++i) {
    const RecordedLaunch& launch = recording.launches.at(i);
    EXPECT_EQ(launch.device, i);
    ASSERT_EQ(launch.regions.size(), 2u);
    EXPECT_EQ(FirstWord(recording, launch.regions[1].before), i == 0 ? 50 : 70);
    EXPECT_EQ(FirstWord(recording, launch.regions[0].after), i == 0 ? 53 : 126);
  }
}

TEST_F(Injection, MappingsThatTouchEachOtherAreOneRegion) {
  const Recording recording = Run([](Program& program) {
    char* mapped = fake::Map(4096, 6, 1);
    program.out = reinterpret_cast<int*>(mapped + 3 * 4096 - 8);
    program.Launch();
    return fake::Handles();
  });
  ASSERT_EQ(recording.launches.size(), 1u);
  const RecordedRegion& region = recording.launches.at(0).regions[0];
  EXPECT_EQ(region.bytes, 4u * 4096);
  const std::string& after = recording.blobs.at(region.after);
  EXPECT_EQ(after[4096 - 8], 3);
}

TEST_F(Injection, VariablesAreFoundByTheirQualifiedNames) {
  plan_.kernels[0].globals = {{"app::bias", true, 4}};
  const Recording recording = Run([](Program& program) {
    int bias = 41;
    fake::SetGlobal("_ZN3app4biasE", &bias, sizeof bias);
    program.Launch();
    return 0;
  });
  ASSERT_EQ(recording.launches.size(), 1u);
  ASSERT_EQ(recording.launches.at(0).globals.size(), 1u);
  EXPECT_EQ(FirstWord(recording, recording.launches.at(0).globals[0].before), 41);
}

TEST_F(Injection, AForkedChildWritesNothing) {
  const Recording recording = Run([](Program& program) {
    program.Launch();
    std::fflush(nullptr);
    const pid_t child = ::fork();
    if (child == 0) {
      program.Launch(7);
      std::exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    program.Launch();
    return status;
  });
  EXPECT_EQ(recording.seen, 2u);
  EXPECT_EQ(recording.counters.size(), 1u);
}

TEST_F(Injection, AProgramWithCuptiOfItsOwnIsLeftAlone) {
  fake::SetSubscribeResult(39);
  const Recording recording = Run([](Program& program) {
    program.Launch();
    return fake::Subscribed() ? 1 : 0;
  });
  fake::SetSubscribeResult(0);
  EXPECT_EQ(recording.seen, 0u);
  ASSERT_EQ(recording.notes.size(), 1u);
  EXPECT_NE(recording.notes[0].find("uses CUPTI itself"), std::string::npos);
}

}  // namespace
}  // namespace cupilot::capture
