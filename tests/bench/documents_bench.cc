// documents_bench: what the daemon's loop spends on a question about a kernel of which 500
// candidates were measured, each beside its limit: at 2,000 a second half of the loop's time is
// left. Requests and service are the product's; workers, evaluator and store are those of its
// tests. Exit 1: a limit is exceeded.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include "service/requests.h"
#include "tests/daemon/service/service_fixture.h"

namespace cupilot::service {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kCandidates = 500;
constexpr int kQuestions = 200;
constexpr double kMostMs = 0.25;

class DocumentsBench final : public ServiceTest {
 public:
  // Whether all limits hold.
  bool Measure() {
    Prepare("kernel k a loops=3\nkernel l b\n");
    Start();
    Drain();
    Fill();
    Requests requests(*service_, state(), [] {});
    bool fine = true;
    for (const char* verb : {"ping", "status", "list", "best", "explain", "history"}) {
      fine = MeasureVerb(requests, verb) && fine;
    }
    return fine;
  }

 private:
  void TestBody() override {}

  void Fill() {
    const auto place = FindKernel(*service_, "k", "");
    const Place& where = place->object->places.places.at(0);
    const records::Workload workload = WorkloadAt(*place->kernel, where);
    for (int i = 0; i < kCandidates; ++i) {
      records::Variant variant;
      variant.kernel = "k";
      variant.entry = "v";
      variant.source = "// " + std::to_string(i) + std::string(3000, 'x');
      variant.strategy.emplace();
      variant.strategy->title = "candidate " + std::to_string(i);
      variant.strategy->steps.resize(2);
      variant.strategy->steps[0].technique = "launch_bounds";
      variant.strategy->steps[1].technique = "unroll";
      variant.id = records::VariantId(variant);
      evaluate::EvaluateRequest request;
      request.kernel = *place->kernel;
      request.workload = workload;
      request.variant = variant;
      records::Evaluation evaluation = test::MakeEvaluation(request, test::SpeedupOf(variant.id));
      evaluation.target = where.target;
      evaluation.device = where.identity;
      (void)service_->catalog().SaveVerdict(variant, evaluation, where.toolchain);
    }
  }

  static bool MeasureVerb(Requests& requests, const std::string& verb) {
    const std::string message =
        R"({"id": 1, "verb": ")" + verb + R"(", "params": {"kernel": "k", "from": 0}})";
    std::size_t bytes = requests.Handle("peer", message).size();
    std::vector<double> times;
    for (int i = 0; i < kQuestions; ++i) {
      const auto begin = Clock::now();
      bytes = requests.Handle("peer", message).size();
      times.push_back(std::chrono::duration<double, std::milli>(Clock::now() - begin).count());
    }
    std::sort(times.begin(), times.end());
    const double median = times[times.size() / 2];
    std::printf("%-10s %8zu bytes %10.3f ms   limit %g%s\n", verb.c_str(), bytes, median, kMostMs,
                median <= kMostMs ? "" : "  FAILED");
    return median <= kMostMs;
  }
};

}  // namespace
}  // namespace cupilot::service

int main() {
  cupilot::service::DocumentsBench bench;
  return bench.Measure() ? 0 : 1;
}
