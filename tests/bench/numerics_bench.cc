// The table of the gate's rule: how far each candidate of each emulated kernel is from the limits,
// over many seeds, and which fill says so. Exit 1 where a verdict is not what it should be.
//
//   numerics_bench [SEEDS [LARGEST]]    20 seeds; sums of up to 2^LARGEST values (26)
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>

#include "tests/daemon/worker/numerics/rule_table.h"

namespace cupilot::worker::numerics {
namespace {

class Table {
 public:
  // All processors share the subjects; their rows are printed in order.
  bool Print(const std::vector<Subject>& subjects, const TableSettings& settings) {
    std::vector<std::vector<Row>> rows(subjects.size());
    std::atomic<std::size_t> next = 0;
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < std::max(1u, std::thread::hardware_concurrency()); ++i) {
      threads.emplace_back([&] {
        for (std::size_t s = next++; s < subjects.size(); s = next++) {
          rows[s] = RowsOf(subjects[s], settings);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    bool right = true;
    for (const auto& of_subject : rows) {
      for (const Row& row : of_subject) {
        std::printf("%s\n", row.Text().c_str());
        if (row.quality != Quality::kGood)
          std::printf("%24s%s\n", "refused by: ", row.Refusing().c_str());
        right = right && row.Right();
      }
    }
    std::fflush(stdout);
    return right;
  }
};

bool PrintGoodData(Table& table, TableSettings settings) {
  bool right = true;
  for (const GoodData& data : DataWhereHalfIsAsGood()) {
    std::printf("\n-- the workload's own values: %s\n", data.name);
    settings.workload = data.fill;
    right = table.Print({SumsOf(1 << 16)[1], SumsOf(1 << 20)[1]}, settings) && right;
  }
  return right;
}

int Main(int argc, char** argv) {
  TableSettings settings;
  if (argc > 1) settings.seeds = std::atoi(argv[1]);
  const int largest = argc > 2 ? std::atoi(argv[2]) : 26;
  Table table;
  std::printf("-- the reference's kernels (swap_and_gate.md, 1.6), %d seeds\n", settings.seeds);
  bool right = table.Print(ReferenceSubjects(), settings);
  std::printf("\n-- other types and ways\n");
  right = table.Print(FurtherSubjects(), settings) && right;
  right = PrintGoodData(table, settings) && right;
  std::printf("\n-- sums of few and of many\n");
  for (const int count : {1, 2, 3, 31, 32, 33, 1000, 4097}) {
    right = table.Print(SumsOf(count), settings) && right;
  }
  for (int power = 16; power <= largest; power += 2) {
    // Beyond a size each seed is minutes.
    if (power > 20) settings.seeds = std::min(settings.seeds, power > 24 ? 1 : 3);
    right = table.Print(SumsOf(std::int64_t{1} << power), settings) && right;
  }
  std::printf("\n%s\n", right ? "all as they should be" : "WRONG verdicts");
  return right ? 0 : 1;
}

}  // namespace
}  // namespace cupilot::worker::numerics

int main(int argc, char** argv) { return cupilot::worker::numerics::Main(argc, argv); }
