#include <memory>
#include <optional>
#include <utility>

#include "base/file.h"
#include "base/hash.h"
#include "cache/memory_store.h"
#include "records/lock.h"
#include "service/kernel_workload.h"
#include "service/publisher.h"
#include "tests/integration/storage_faults/made_records.h"
#include "tests/integration/storage_faults/story.h"
#include "tests/support/fake_project.h"
#include "tests/support/manual_clock.h"

namespace cupilot::test {
namespace {

using service::Mark;

// A project's publisher, and what it chooses from.
class Press {
 public:
  explicit Press(const std::string& root) : root_(root), project_(root) {
    FakeWorkers workers;
    AnswerForFakeProjects(workers);
    const service::Object object{project_.object_folder(), "app", project_.command()};
    TakeStep("scan", [&]() -> base::Result<std::string> {
      base::Result<service::ObjectScan> scanned = base::Fail(base::Internal("nobody answered"));
      service::ScanObject(
          workers, clock_, object, "close",
          [&scanned](base::Result<service::ObjectScan> scan) { scanned = std::move(scan); });
      workers.RunAll();
      TRY_ASSIGN(scan_, std::move(scanned));
      return std::to_string(scan_.kernels.size());
    });
    evaluate::DeviceDescription host;
    host.device = {"a processor", "host-x86-64-v3", 2, 1024};
    places_ = service::HostPlaces(host, scan_.toolchain).places;
  }

  // A faster variant of the kernel of this place in the scan, not published yet.
  records::Variant Prove(std::size_t kernel, int number, double speedup) {
    const records::Kernel& of = scan_.kernels.at(kernel);
    records::Variant variant = NumberedVariant(of.name, number);
    const std::string workload = service::WorkloadHash(service::WorkloadAt(of, places_[0]));
    (void)catalog_.SaveVerdict(variant, AcceptedEvaluation(variant, of.key, workload, speedup),
                               scan_.toolchain);
    return variant;
  }
  Mark Reject(std::size_t kernel, const records::Variant& variant) {
    Mark mark{Mark::Kind::kRejected, scan_.kernels.at(kernel).key, variant.id, "", "", "2026"};
    (void)catalog_.SaveMark(mark);
    return mark;
  }
  void Allow(const Mark& mark) { (void)catalog_.DropMark(mark); }

  // Selection and lock file, as the daemon and `cupilot lock` write them.
  void PublishAll() {
    std::optional<service::Published> published;
    TakeStep("publish", [&]() -> base::Result<std::string> {
      TRY_ASSIGN(published, publisher_.Publish(scan_, places_));
      return published->selection;
    });
    TakeStep("stamp", [&]() -> base::Result<std::string> {
      TRY(publisher_.TouchStamp(scan_.object.folder));
      return std::string();
    });
    TakeStep("lock", [&]() -> base::Result<std::string> {
      service::Publisher::Locked locked = publisher_.Lock(
          scan_, places_, *published, {root_ + "/source", root_ + "/source", root_ + "/build"});
      if (!locked.problems.empty()) return base::Fail(base::IoError(locked.problems[0]));
      records::Lock lock;
      lock.kernels = std::move(locked.kernels);
      const std::string text = records::LockText(lock);
      TRY(base::WriteFileIfDifferent(root_ + "/source/locks/cupilot.lock", text));
      return base::HashHex(text);
    });
  }

 private:
  std::string root_;
  FakeProject project_;
  ManualClock clock_;
  cache::MemoryStore store_;
  service::Catalog catalog_{store_};
  service::PublishFiles files_;
  service::Publisher publisher_{catalog_, files_};
  service::ObjectScan scan_;
  std::vector<service::Place> places_;
};

}  // namespace

void PreparePublisher(const std::string& root) {
  const FakeProject project(root);
  if (base::FileExists(project.source())) return;
  project.WriteSource("kernel one a\nkernel two b\n");
  project.Configure();
  project.Compile();
}

void LiveWithPublisher(const std::string& root) {
  Press press(root);
  press.Prove(0, 1, 1.2);
  press.PublishAll();
  const records::Variant better = press.Prove(0, 2, 1.5);
  const records::Variant other = press.Prove(1, 3, 1.3);
  press.PublishAll();
  const Mark rejected = press.Reject(0, better);
  press.PublishAll();
  // What was published before, by files that are there already.
  press.Allow(rejected);
  press.PublishAll();
  press.Reject(1, other);
  press.PublishAll();
  press.Prove(0, 4, 1.9);
  press.Prove(1, 5, 1.4);
  press.PublishAll();
}

}  // namespace cupilot::test
