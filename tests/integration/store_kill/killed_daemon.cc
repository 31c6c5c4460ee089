// killed_daemon ROOT WHAT N: the daemon's service on a project in ROOT, with the real store and
// publisher and fake workers, through a user's day. It kills itself by SIGKILL
//   WHAT = writes   before or after a write of the store or of the publisher: at the N-th such
//   point WHAT = calls    in front of the N-th call of the C library that changes a file
// or, with N = 0, never; then it ends with 0 and prints how many points there were. Started again
// it goes on with the day where it was. ROOT/journal gets a line for each verdict that the store
// acknowledged; one that is evaluated once more ends the program with 3, and waiting in vain
// with 4.
#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/hash.h"
#include "cache/rocks_store.h"
#include "loop/timer.h"
#include "service/documents.h"
#include "service/service.h"
#include "source/swap/selection_check.h"
#include "tests/support/fake_evaluator.h"
#include "tests/support/fake_project.h"
#include "tests/support/manual_clock.h"

namespace {

struct Fault {
  std::string what;
  long point = 0;
  std::atomic<long> writes{0};
  std::atomic<long> calls{0};
  std::atomic<bool> counting{false};
  // A forked child has the counts, and libuv writes to its own pipe there.
  const pid_t daemon = ::getpid();
};
Fault fault;

void Die() {
  ::kill(::getpid(), SIGKILL);
  while (true) ::pause();
}
void AtWrite() {
  if (++fault.writes == fault.point && fault.what == "writes") Die();
}
void AtCall() {
  if (!fault.counting || ::getpid() != fault.daemon) return;
  if (++fault.calls == fault.point && fault.what == "calls") Die();
}

}  // namespace

// In place of the C library's: RocksDB and our own files come by here. Nothing waits for the disk,
// since what a killed process has written is there without that.
extern "C" {
ssize_t write(int file, const void* bytes, size_t count) {
  AtCall();
  return ::syscall(SYS_write, file, bytes, count);
}
ssize_t pwrite64(int file, const void* bytes, size_t count, off64_t offset) {
  AtCall();
  return ::syscall(SYS_pwrite64, file, bytes, count, offset);
}
int fsync(int file) {
  AtCall();
  return ::fcntl(file, F_GETFD) < 0 ? -1 : 0;
}
int fdatasync(int file) {
  AtCall();
  return ::fcntl(file, F_GETFD) < 0 ? -1 : 0;
}
int rename(const char* from, const char* to) noexcept {
  AtCall();
  return static_cast<int>(::syscall(SYS_rename, from, to));
}
int unlink(const char* path) noexcept {
  AtCall();
  return static_cast<int>(::syscall(SYS_unlink, path));
}
}

namespace cupilot {
namespace {

// What the user does is no write of the daemon's.
class Uncounted {
 public:
  Uncounted() : was_(fault.counting.exchange(false)) {}
  ~Uncounted() { fault.counting = was_; }

 private:
  bool was_;
};

// Acknowledges in the journal what the store said is written.
class FaultStore final : public cache::Store {
 public:
  FaultStore(cache::Store& store, std::string journal)
      : store_(store), journal_(std::move(journal)) {}

  base::Result<std::optional<std::string>> Get(cache::Table table, std::string_view key) override {
    return store_.Get(table, key);
  }
  base::Result<> Apply(const std::vector<cache::Write>& writes) override {
    AtWrite();
    TRY(store_.Apply(writes));
    for (const cache::Write& write : writes) {
      if (write.table == cache::Table::kVariants) Note(write.key);
    }
    AtWrite();
    return {};
  }
  base::Result<> Scan(
      cache::Table table, std::string_view prefix,
      const std::function<bool(std::string_view, std::string_view)>& visit) override {
    return store_.Scan(table, prefix, visit);
  }

 private:
  void Note(const std::string& key) const {
    const Uncounted uncounted;
    const int file = ::open(journal_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    const std::string line = key + "\n";
    if (::write(file, line.data(), line.size()) != static_cast<ssize_t>(line.size())) ::abort();
    ::close(file);
  }

  cache::Store& store_;
  std::string journal_;
};

class FaultFiles final : public service::PublishFiles {
 public:
  base::Result<bool> Write(const std::string& path, const std::string& bytes) override {
    AtWrite();
    auto written = PublishFiles::Write(path, bytes);
    AtWrite();
    return written;
  }
  base::Result<> Touch(const std::string& path) override {
    AtWrite();
    auto touched = PublishFiles::Touch(path);
    AtWrite();
    return touched;
  }
};

std::set<std::string> ReadJournal(const std::string& path) {
  std::set<std::string> lines;
  std::istringstream text(base::ReadFile(path).value_or(""));
  for (std::string line; std::getline(text, line);) lines.insert(line);
  return lines;
}

class Day {
 public:
  Day(const std::string& root, cache::Store& store)
      : root_(root),
        project_(root),
        journal_(ReadJournal(root + "/journal")),
        evaluator_([this](const evaluate::EvaluateRequest& request) { return Judge(request); }) {
    test::AnswerForFakeProjects(workers_);
    service::Settings settings;
    settings.quiet = std::chrono::milliseconds(0);
    settings.parallel = 2;
    service_ = std::make_unique<service::Service>(
        service::Service::Collaborators{loop_, clock_, store, workers_, evaluator_, files_},
        settings, root + "/state");
  }

  void Live() {
    int stage = std::atoi(base::ReadFile(root_ + "/stage").value_or("0").c_str());
    Prepare(stage);
    fault.counting = true;
    service_->Start();
    for (; stage < 4; ++stage) {
      Act(stage);
      WaitFor(stage);
      const Uncounted uncounted;
      (void)base::WriteFileAtomically(root_ + "/stage", std::to_string(stage + 1));
    }
    fault.counting = false;
    if (!project_.Compile()) Give("the last selection does not hold", 4);
  }

 private:
  base::Result<records::Evaluation> Judge(const evaluate::EvaluateRequest& request) {
    if (journal_.count(request.kernel.key + "/" + request.variant.id) != 0) {
      Give("evaluated again: " + request.variant.id, 3);
    }
    const auto& steps = request.variant.strategy->steps;
    const double speedup = steps.size() > 1                            ? 1.3
                           : steps[0].technique == "restrict_readonly" ? 1.5
                                                                       : 1.2;
    return test::MakeEvaluation(request, speedup);
  }

  [[noreturn]] static void Give(const std::string& reason, int code) {
    fault.counting = false;
    std::fprintf(stderr, "%s\n", reason.c_str());
    std::_Exit(code);
  }

  static const char* TextOf(int stage) {
    if (stage == 0) return "kernel one a\nkernel two b\n";
    if (stage == 1) return "something else\nkernel one a\nkernel two b\n";
    return "something else\nkernel one a\nkernel two c\n";
  }

  void Prepare(int stage) const {
    const Uncounted uncounted;
    if (stage == 0) {
      project_.SaveByRename(TextOf(0));
      project_.Configure();
      project_.Register(root_ + "/state");
      project_.Compile();
    }
  }

  // What the user does at the beginning of a stage, once more if we were killed in it.
  void Act(int stage) {
    const Uncounted uncounted;
    if (stage == 3) {
      // The best variant of the first kernel is one that does not compile.
      if (!base::FileExists(root_ + "/refused")) {
        (void)base::WriteFileAtomically(root_ + "/refused", project_.PublishedVariants().at(0));
      }
      refused_ = base::ReadFile(root_ + "/refused").value();
      if (HoldsRefused()) {
        project_.Compile(true, "error in " + records::VariantNamespace(refused_));
      }
      return;
    }
    project_.SaveByRename(TextOf(stage));
    project_.Compile();
  }

  bool HoldsRefused() const {
    const auto ids = project_.PublishedVariants();
    return std::find(ids.begin(), ids.end(), refused_) != ids.end();
  }

  bool Reached(int stage) {
    if (service_->IdleReason() != "done") return false;
    const records::Json list = service::ListDocument(*service_, "");
    for (const records::Json& row : list["kernels"]) {
      if (row["kernel"] != "two") continue;
      if (row["line"] != (stage == 0 ? 2 : 3) || row["published"] != true) return false;
      const auto place = service::FindKernel(*service_, "two", "");
      if (place->kernel->key != base::HashHex(stage < 2 ? "two b" : "two c")) return false;
      if (stage == 3 && HoldsRefused()) return false;
      return source::CheckSelection(project_.command()).holds;
    }
    return false;
  }

  void Drain() {
    for (int quiet = 0; quiet < 3; ++quiet) {
      loop_.RunOnce(false);
      while (workers_.RunOne() || evaluator_.AnswerOne()) quiet = 0;
    }
  }

  void WaitFor(int stage) {
    loop::Timer limit(loop_);
    limit.Start(std::chrono::seconds(60),
                [stage] { Give("stage " + std::to_string(stage) + " was not reached", 4); });
    Drain();
    while (!Reached(stage)) {
      loop_.RunOnce(true);
      Drain();
    }
  }

  std::string root_;
  test::FakeProject project_;
  std::set<std::string> journal_;
  std::string refused_;
  loop::Loop loop_;
  test::ManualClock clock_;
  test::FakeWorkers workers_;
  test::FakeEvaluator evaluator_;
  FaultFiles files_;
  std::unique_ptr<service::Service> service_;
};

int Main(int argc, char** argv) {
  if (argc != 4) return 2;
  const std::string root = argv[1];
  fault.what = argv[2];
  fault.point = std::atol(argv[3]);
  fault.counting = true;
  auto store = cache::RocksStore::Open(root + "/state/store");
  if (!store) {
    std::fprintf(stderr, "%s\n", store.error().message.c_str());
    return 5;
  }
  FaultStore faulty(**store, root + "/journal");
  {
    Day day(root, faulty);
    day.Live();
  }
  std::printf("%ld %ld\n", fault.writes.load(), fault.calls.load());
  return 0;
}

}  // namespace
}  // namespace cupilot

int main(int argc, char** argv) { return cupilot::Main(argc, argv); }
