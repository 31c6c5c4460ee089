// spaces_record KERNEL [--device host|cuda:N] ...: one kernel of this folder at points of its
// space.
//
//   --check    builds points and compares their results with the reference; nothing is timed
//   --serial   the baseline of rates: our own serial loop. Compile, then so many repeats, one
//              candidate after another in an order drawn at random, no early stop
//   --all      the space as a file (cupilot.measured/1): many processes compile ahead of the
//   device,
//              each result is compared with the reference, each point is timed so many times (slow
//              ones three times at least). What the file already has is not measured again
//
// Times are of warm repeats by the device's own clock. Exit 0: done; 1: a result is wrong; 2: wrong
// usage or bad input; 3: no such device or compiler.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <numeric>
#include <optional>
#include <thread>

#include "base/file.h"
#include "device/cuda/cuda_device.h"
#include "device/device_lock.h"
#include "search/measured.h"
#include "search/random_numbers.h"
#include "tests/bench/spaces/benchmark.h"
#include "tests/bench/spaces/builder.h"
#include "tests/bench/spaces/open_device.h"
#include "tests/bench/spaces/references.h"

namespace cupilot::spaces {
namespace {

constexpr const char* kSecondsLeft = "SPACES_RECORD_SECONDS_LEFT";  // of a run that starts again
constexpr double kBetweenWrites = 30;                               // seconds
// A recording times slow points less often: their mean is known well enough.
constexpr std::int64_t kFewestSamples = 3;
constexpr double kEnough = 50'000;  // microseconds of all samples

struct Options {
  std::string kernel, folder = CUPILOT_BENCH_SPACES, device = "host", compiler, toolkit;
  std::string architecture, out, work;
  bool small = false, check = false, serial = false, all = false;
  std::uint64_t sample = 0;  // points at most; 0: all
  double seconds = 0;        // at most; 0: no limit
  std::uint64_t seed = 1;
  std::int64_t repeats = 7;
  unsigned processes = std::thread::hardware_concurrency();
};

double Now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}
const double kProgramBegan = Now();

// To a thousandth: nanoseconds of times in microseconds, milliseconds of seconds. A file of many
// points need not hold more.
double Rounded(double number) { return std::round(number * 1e3) / 1e3; }

// What ptxas says of a block that no GPU of this kind can hold: points that the space does not
// exclude, and that are not there.
bool TooLarge(const std::string& log) {
  return log.find("too much shared data") != std::string::npos ||
         log.find("shared memory") != std::string::npos;
}

class Recorder {
 public:
  Recorder(Options options, Benchmark benchmark)
      : options_(std::move(options)), benchmark_(std::move(benchmark)) {}

  base::Result<bool> Run() {
    TRY(base::MakeFolders(options_.work));
    builder_ = {options_.compiler, options_.toolkit, options_.architecture, options_.work};
    own_ = OwnPoint(benchmark_);
    if (!options_.serial) {
      TRY_ASSIGN(auto pool,
                 BuildPool::Start(builder_, benchmark_.text, DefinesOf(benchmark_.space, own_),
                                  options_.processes));
      pool_.emplace(std::move(pool));
    }
    if (options_.device != "none") TRY(Open());
    TRY(ChooseOrder());
    if (options_.serial) return Serial();
    return Pooled();
  }

 private:
  base::Result<> Open() {
    TRY_ASSIGN(device_, OpenDevice(options_.device));
    TRY_ASSIGN(properties_, device_->Describe());
    if (!options_.check) {
      const std::string key = properties_.uuid.empty() ? "host" : properties_.uuid;
      TRY_ASSIGN(auto lock, device::DeviceLock::Acquire(device::DeviceLockPath(key),
                                                        std::chrono::seconds(60)));
      lock_.emplace(std::move(lock));
    }
    TRY_ASSIGN(auto memory, Memory::Make(benchmark_, *device_));
    memory_.emplace(std::move(memory));
    TRY_ASSIGN(auto check, ResultCheck::Make(benchmark_, *memory_));
    check_.emplace(std::move(check));
    return {};
  }

  // The source's own point, then others by chance; without those that the file has.
  base::Result<> ChooseOrder() {
    std::vector<std::uint64_t> numbers(benchmark_.space.size());
    std::iota(numbers.begin(), numbers.end(), std::uint64_t{0});
    std::mt19937_64 random(options_.seed);
    search::Shuffle(numbers, random);
    if (options_.all && base::FileExists(options_.out)) {
      TRY_ASSIGN(const std::string text, base::ReadFile(options_.out));
      TRY_ASSIGN(const search::MeasuredSpace before, search::ParseMeasured(text));
      rows_ = before.rows();
    }
    std::vector<bool> taken(numbers.size());
    for (const search::MeasuredRow& row : rows_)
      taken[*benchmark_.space.NumberOf(row.point)] = true;
    const auto take = [&](std::uint64_t number) {
      if (taken[number] || (options_.sample > 0 && order_.size() >= options_.sample)) return;
      taken[number] = true;
      order_.push_back(benchmark_.space.At(number));
    };
    take(*benchmark_.space.NumberOf(own_));
    for (const std::uint64_t number : numbers) take(number);
    return {};
  }

  // Nothing: the row says why.
  base::Result<std::optional<PointLaunch>> Load(const Built& built, search::MeasuredRow& row) {
    row.compile_seconds = Rounded(built.seconds);
    if (built.failed) {
      row.reason = "build_failed";
      detail_ = built.log;
      return std::nullopt;
    }
    device_->UnloadAll();
    device::ModuleInfo info;
    auto module = device_->Load(built.artifact, &info);
    if (!module) return Failure(module.error(), row);
    NoteResources(*module, info, row);
    auto launch = PointLaunch::Make(benchmark_, *memory_, row.point, *device_, *module, info);
    if (!launch) return Failure(launch.error(), row);
    return std::optional(std::move(*launch));
  }

  // What the compiler said of the module's kernels, of each number the most. Only a GPU tells.
  void NoteResources(device::ModuleId module, const device::ModuleInfo& info,
                     search::MeasuredRow& row) const {
    const auto* cuda = dynamic_cast<const device::cuda::CudaDevice*>(device_.get());
    if (cuda == nullptr) return;
    for (std::size_t i = 0; i < info.kernels.size(); ++i) {
      const auto said = cuda->ResourcesOf(module, static_cast<int>(i));
      row.registers = std::max<std::int64_t>(row.registers, said.registers);
      row.local_bytes = std::max<std::int64_t>(row.local_bytes, said.local_bytes);
      row.shared_bytes = std::max<std::int64_t>(row.shared_bytes, said.shared_bytes);
    }
  }

  std::optional<PointLaunch> Failure(const base::Error& error, search::MeasuredRow& row) {
    row.reason =
        error.code == base::ErrorCode::kInvalidArgument ? "invalid_launch" : "device_failed";
    detail_ = error.message;
    return std::nullopt;
  }

  // The row's reason says what is wrong, if anything is.
  base::Result<> Verify(PointLaunch& launch, search::MeasuredRow& row) {
    TRY(memory_->Reset(*device_));
    // Errors of a device come where it is waited for.
    const auto ran = device_->Time([&] { return launch.Launch(*device_); });
    if (!ran) {
      Failure(ran.error(), row);
      return {};
    }
    TRY_ASSIGN(detail_, check_->Look(*memory_, *device_));
    if (!detail_.empty()) row.reason = "wrong_values";
    return {};
  }

  void Time(PointLaunch& launch, search::MeasuredRow& row) {
    double sum = 0;
    while (row.samples < options_.repeats) {
      if (options_.all && row.samples >= kFewestSamples && sum > kEnough) break;
      const auto microseconds = device_->Time([&] { return launch.Launch(*device_); });
      if (!microseconds) {
        Failure(microseconds.error(), row);
        return;
      }
      sum += *microseconds;
      ++row.samples;
      row.times.push_back(Rounded(*microseconds));
    }
    row.microseconds = std::max(1e-3, Rounded(sum / static_cast<double>(row.samples)));
  }

  // An artifact is of no use any more, but on the host device, which cannot forget code.
  void Forget(const Built& built) const {
    if (!built.artifact.empty() && options_.device != "none")
      (void)base::RemoveTree(built.artifact);
  }

  base::Result<search::MeasuredRow> Measure(const search::Point& point, const Built& built,
                                            bool verify, bool time) {
    search::MeasuredRow row;
    row.point = point;
    const double began = Now();
    TRY_ASSIGN(auto launch, Load(built, row));
    const double verifying = Now();
    if (launch && verify) TRY(Verify(*launch, row));
    verify_seconds_ += Now() - verifying;
    if (launch && row.reason.empty() && time) Time(*launch, row);
    if (!row.reason.empty()) {
      row.microseconds.reset();
      row.samples = 0;
      row.times.clear();
    }
    row.measure_seconds = Rounded(Now() - began);
    Forget(built);
    return row;
  }

  void Note(const search::MeasuredRow& row) {
    ++evaluations_;
    compile_seconds_ += row.compile_seconds;
    if (!row.reason.empty()) ++failed_;
    const bool allowed =
        row.reason == "invalid_launch" || (row.reason == "build_failed" && TooLarge(detail_));
    const bool bad = !row.reason.empty() && !allowed;
    if (bad) ++bad_;
    if (bad || (options_.check && !row.reason.empty())) {
      std::printf("%s: %s: %s\n", benchmark_.space.TextOf(row.point).c_str(), row.reason.c_str(),
                  detail_.c_str());
    }
    detail_.clear();
    if (!row.microseconds) return;
    if (row.point == own_) {
      std::printf("own\t%.3f\t%s\n", *row.microseconds, benchmark_.space.TextOf(row.point).c_str());
    }
    if (best_ && *best_ <= *row.microseconds) return;
    best_ = row.microseconds;
    std::printf("curve\t%.3f\t%zu\t%.3f\t%s\n", Now() - began_, evaluations_, *best_,
                benchmark_.space.TextOf(row.point).c_str());
  }

  bool TimeIsUp() const { return options_.seconds > 0 && Now() - began_ >= options_.seconds; }

  base::Result<bool> Serial() {
    // The compiler's first call in a process and the device's are nobody's evaluation.
    TRY_ASSIGN(const Built first,
               Build(builder_, benchmark_.text, DefinesOf(benchmark_.space, own_),
                     options_.work + "/first"));
    TRY_ASSIGN(const auto warm, Measure(own_, first, true, true));
    if (!warm.reason.empty()) return base::Fail(base::ToolFailed(warm.reason + ": " + detail_));
    began_ = Now();
    std::printf("start\t%.3f\n", began_ - kProgramBegan - verify_seconds_);
    bool lost = false;
    for (std::size_t i = 0; i < order_.size() && !lost && !TimeIsUp(); ++i) {
      TRY_ASSIGN(const Built built,
                 Build(builder_, benchmark_.text, DefinesOf(benchmark_.space, order_[i]),
                       options_.work + "/" + std::to_string(i)));
      TRY_ASSIGN(auto row, Measure(order_[i], built, false, true));
      lost = row.reason == "device_failed";
      Note(row);
      rows_.push_back(std::move(row));
    }
    Summarise("serial");
    TRY(Write());
    return bad_ == 0;
  }

  base::Result<bool> Pooled() {
    if (const char* left = std::getenv(kSecondsLeft)) options_.seconds = std::atof(left);
    began_ = Now();
    std::size_t submitted = 0;
    double written = began_;
    std::deque<BuildPool::Done> ready;
    const std::size_t ahead = 2 * options_.processes;
    while (!TimeIsUp()) {
      while (submitted < order_.size() && pool_->HasIdle() && ready.size() < ahead) {
        TRY(pool_->Submit(submitted, DefinesOf(benchmark_.space, order_[submitted])));
        ++submitted;
      }
      TRY_ASSIGN(auto done, pool_->Collect(ready.empty()));
      for (BuildPool::Done& one : done) ready.push_back(std::move(one));
      if (ready.empty()) break;  // nothing is under way either
      const BuildPool::Done one = std::move(ready.front());
      ready.pop_front();
      TRY_ASSIGN(auto row, MeasureBuilt(order_[one.number], one.built));
      const bool lost = row.reason == "device_failed";
      Note(row);
      rows_.push_back(std::move(row));
      if (lost && options_.all) return StartAgain();
      if (lost) break;
      if (options_.all && Now() - written > kBetweenWrites) {
        TRY(Write());
        written = Now();
      }
    }
    Summarise(options_.check ? "check" : "all");
    if (options_.all) TRY(Write());
    return bad_ == 0;
  }

  base::Result<search::MeasuredRow> MeasureBuilt(const search::Point& point, const Built& built) {
    if (device_ != nullptr) return Measure(point, built, true, !options_.check);
    search::MeasuredRow row;
    row.point = point;
    row.compile_seconds = built.seconds;
    if (built.failed) {
      row.reason = "build_failed";
      detail_ = built.log;
    }
    return row;
  }

  // A process whose device has failed is of no use: another one goes on with what the file lacks.
  base::Result<bool> StartAgain() {
    TRY(Write());
    std::printf("the device has failed; going on in a new process\n");
    std::fflush(stdout);
    if (options_.seconds > 0) {
      const std::string left = std::to_string(options_.seconds - (Now() - began_));
      if (TimeIsUp()) return false;
      ::setenv(kSecondsLeft, left.c_str(), 1);
    }
    ::execv("/proc/self/exe", arguments_);
    return base::Fail(base::ToolFailed("starting again failed"));
  }

  void Summarise(const char* mode) const {
    const double seconds = std::max(1e-9, Now() - began_);
    std::printf(
        "%s %s: %zu evaluations in %.2f s, %.3f a second, %.0f %% of a thread's time compiling, "
        "%zu "
        "failed, best %.3f us, %s\n",
        mode, benchmark_.name.c_str(), evaluations_, seconds,
        static_cast<double>(evaluations_) / seconds, 100 * compile_seconds_ / seconds, failed_,
        best_.value_or(0), device_ == nullptr ? "no device" : properties_.name.c_str());
  }

  base::Result<> Write() const {
    if (options_.out.empty()) return {};
    search::MeasuredSpace::Parts parts;
    parts.name = benchmark_.name;
    parts.device = properties_.name;
    parts.architecture = properties_.architecture;
    parts.multiprocessors = properties_.sm_count;
    parts.space = SpaceWithLaunch(benchmark_);
    parts.rows = rows_;
    TRY_ASSIGN(const auto measured, search::MeasuredSpace::Make(std::move(parts)));
    return base::WriteFileAtomically(options_.out, search::TextOf(measured));
  }

 public:
  void SetArguments(char** arguments) { arguments_ = arguments; }

 private:
  Options options_;
  Benchmark benchmark_;
  BuilderOptions builder_;
  char** arguments_ = nullptr;
  search::Point own_;
  std::optional<BuildPool> pool_;
  std::unique_ptr<device::Device> device_;
  device::Properties properties_;
  std::optional<device::DeviceLock> lock_;
  std::optional<Memory> memory_;
  std::optional<ResultCheck> check_;
  std::vector<search::Point> order_;
  std::vector<search::MeasuredRow> rows_;
  std::string detail_;  // of the last failure
  double began_ = 0;
  std::size_t evaluations_ = 0, failed_ = 0, bad_ = 0;
  double compile_seconds_ = 0, verify_seconds_ = 0;
  std::optional<double> best_;
};

void Declare(CLI::App& app, Options& o) {
  app.add_option("KERNEL", o.kernel, "convolution, pnpoly, ...")->required();
  app.add_option("--folder", o.folder, "where kernels/ and workloads/ are");
  app.add_option("--device", o.device, "host, cuda:N, or none: points are built only");
  app.add_option("--compiler", o.compiler,
                 "an nvcc: the host toolkit's for host; else NVRTC builds");
  app.add_option("--toolkit", o.toolkit, "of NVRTC: /usr/local/cuda");
  app.add_option("--architecture", o.architecture, "sm_90; by default the device's");
  app.add_option("--out", o.out, "measured points, cupilot.measured/1");
  app.add_option("--work", o.work, "folder for what is built");
  app.add_flag("--small", o.small, "sizes for a processor");
  auto* check = app.add_flag("--check", o.check);
  auto* serial = app.add_flag("--serial", o.serial)->excludes(check);
  app.add_flag("--all", o.all)->excludes(check)->excludes(serial);
  app.add_option("--sample", o.sample, "points at most");
  app.add_option("--seconds", o.seconds, "at most");
  app.add_option("--seed", o.seed, "of the order of points");
  app.add_option("--repeats", o.repeats, "of each point")->check(CLI::PositiveNumber);
  app.add_option("--processes", o.processes, "that compile")->check(CLI::PositiveNumber);
}

int Main(Options options, char** arguments) {
  const auto fail = [](const base::Error& error) {
    std::fprintf(stderr, "spaces_record: %s\n", error.message.c_str());
    return error.code == base::ErrorCode::kInvalidArgument ? 2 : 3;
  };
  if (!options.check && !options.serial && !options.all) {
    std::fprintf(stderr, "spaces_record: --check, --serial or --all\n");
    return 2;
  }
  if (options.architecture.empty())
    options.architecture = options.device == "host" ? "host" : "sm_90";
  if (options.work.empty()) options.work = "spaces_work/" + options.kernel;
  options.work = base::AbsolutePath(options.work, std::filesystem::current_path().string());
  auto benchmark = ReadBenchmark(options.folder, options.kernel, options.small);
  if (!benchmark) return fail(benchmark.error());
  Recorder recorder(std::move(options), std::move(*benchmark));
  recorder.SetArguments(arguments);
  const auto ran = recorder.Run();
  if (!ran) return fail(ran.error());
  return *ran ? 0 : 1;
}

}  // namespace
}  // namespace cupilot::spaces

int main(int argc, char** argv) {
  using namespace cupilot::spaces;
  Options options;
  CLI::App app{"One kernel at points of its space"};
  Declare(app, options);
  CLI11_PARSE(app, argc, argv);
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  return Main(std::move(options), argv);
}
