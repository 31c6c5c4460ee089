#include "tests/bench/gate/gate_results.h"

#include <algorithm>
#include <sstream>

#include "base/file.h"
#include "base/hash.h"

namespace cupilot::gate {
namespace {

using records::Json;

// The design's figure for a finalist.
constexpr double kMostSeconds = 10;
constexpr double kMostOriginals = 40;

double VerifySeconds(const Json& line) {
  return line.value("seconds", Json::object()).value("verify", 0.0);
}

// Of the workload's cases together; 0: it did not come so far.
double OriginalSeconds(const Json& line) {
  const Json steps = line.value("steps", Json::object());
  return steps.value("fill workload", Json::object()).value("original_us", 0.0) * 1e-6;
}

double LimitFor(const Json& line) { return kMostSeconds + kMostOriginals * OriginalSeconds(line); }

struct Cost {
  double seconds = 0;
  std::int64_t launches = 0;
  int trials = 0;
  int catches = 0;  // of bad candidates

  void Add(const Json& step, bool caught_bad) {
    seconds += step.value("seconds", 0.0);
    launches += step.value("launches", std::int64_t{0});
    trials += 1;
    catches += caught_bad ? 1 : 0;
  }
  void Print(const std::string& name) const {
    std::printf("%-24s %8d %10.2f %10.2f %10.1f %8d\n", name.c_str(), trials, seconds,
                1000 * seconds / trials, static_cast<double>(launches) / trials, catches);
  }
};

double At(const std::vector<double>& sorted, double share) {
  if (sorted.empty()) return 0;
  const auto last = static_cast<double>(sorted.size() - 1);
  return sorted[static_cast<std::size_t>(share * last)];
}

}  // namespace

Results::Results(const Collection& collection, std::string device, const std::string& file)
    : collection_(collection), device_(std::move(device)) {
  for (const Candidate& candidate : collection_.candidates) {
    candidates_[candidate.name] = &candidate;
    digests_[candidate.name] = DigestOf(candidate);
  }
  if (file.empty()) return;
  std::istringstream known(base::ReadFile(file).value_or(std::string()));
  for (std::string text; std::getline(known, text);) {
    // The last line of a run that was cut off may be half a line.
    if (const auto line = records::ParseJson(text)) Take(*line);
  }
  file_ = std::fopen(file.c_str(), "a");
  if (file_ == nullptr) std::fprintf(stderr, "gate_bench: cannot write %s\n", file.c_str());
}

Results::~Results() {
  if (file_ != nullptr) std::fclose(file_);
}

std::string Results::DigestOf(const Candidate& candidate) const {
  base::Hasher hasher;
  hasher.Add(collection_.kernels.at(candidate.kernel)).Add(candidate.variant.dump());
  const auto workload = collection_.workloads.find(candidate.kernel);
  if (workload != collection_.workloads.end()) {
    hasher.Add(records::HashJson(records::ToJson(workload->second)));
  }
  for (const std::string& reason : candidate.expect) hasher.Add(reason);
  return hasher.Hex();
}

void Results::Take(const Json& line) {
  const std::string name = line.value("candidate", "");
  const auto digest = digests_.find(name);
  if (digest == digests_.end() || line.value("digest", "") != digest->second) return;
  if (line.value("device", "") != device_) return;
  lines_[{name, line.value("seed", std::uint64_t{0})}] = line;
}

bool Results::Has(const Trial& trial) const {
  return lines_.contains({trial.candidate->name, trial.seed});
}

void Results::Add(const Trial& trial, const Outcome& outcome) {
  const std::string wrong = Misjudged(*trial.candidate, outcome);
  if (!wrong.empty()) {
    std::printf("%s (seed %llu): %s\n", trial.candidate->name.c_str(),
                static_cast<unsigned long long>(trial.seed), wrong.c_str());
  }
  Json line = {{"candidate", trial.candidate->name},
               {"seed", trial.seed},
               {"device", device_},
               {"digest", digests_.at(trial.candidate->name)},
               {"passed", outcome.passed()},
               {"reason", outcome.reason},
               {"detail", outcome.detail.substr(0, 400)},
               {"misjudged", !wrong.empty()},
               {"steps", outcome.steps},
               {"seconds", outcome.seconds}};
  if (file_ != nullptr) {
    std::fprintf(file_, "%s\n", line.dump(-1, ' ', false, Json::error_handler_t::replace).c_str());
    std::fflush(file_);
  }
  Take(line);
}

// Below each step what ended verifications there: a check, or the reason of a run that failed. The
// time of a check by itself is not known; it is looked at after each launch.
void Results::PrintSteps() const {
  std::map<std::string, Cost> steps;
  std::map<std::string, std::map<std::string, Cost>> checks;  // by step
  double all = 0;
  for (const auto& [key, line] : lines_) {
    const bool bad = !candidates_.at(key.first)->good();
    const Json costs = line.value("steps", Json::object());
    for (const auto& [name, step] : costs.items()) {
      const std::string caught = step.value("caught", "");
      steps[name].Add(step, bad && !caught.empty());
      if (!caught.empty() && caught != name) checks[name][caught].Add(step, bad);
      all += step.value("seconds", 0.0);
    }
  }
  std::printf("\n%-24s %8s %10s %10s %10s %8s\n", "step, and check", "trials", "seconds", "ms each",
              "launches", "catches");
  for (const auto& [name, cost] : steps) {
    cost.Print(name);
    for (const auto& [check, of_check] : checks[name]) of_check.Print("  " + check);
  }
  std::printf("%-24s %8s %10.2f\n", "all", "", all);
}

// How many are over it.
int Results::PrintLimit() const {
  int over = 0;
  double closest = 0;
  std::string names;
  for (const auto& [key, line] : lines_) {
    const double share = VerifySeconds(line) / LimitFor(line);
    closest = std::max(closest, share);
    if (share <= 1) continue;
    ++over;
    char text[160];
    std::snprintf(text, sizeof text, " (seed %llu): %.2f s, and %.2f s is the limit\n",
                  static_cast<unsigned long long>(key.second), VerifySeconds(line), LimitFor(line));
    names += key.first + text;
  }
  std::printf(
      "limit of %.0f s and %.0f times the original's time: %.0f %% of it at most, %d over\n%s",
      kMostSeconds, kMostOriginals, 100 * closest, over, names.c_str());
  return over;
}

void Results::PrintVerdicts() const {
  std::map<std::string, int> reasons;
  for (const auto& [key, line] : lines_) {
    if (!candidates_.at(key.first)->good()) {
      reasons[line.value("passed", false) ? "(passed)" : line.value("reason", "")] += 1;
    }
  }
  std::printf("\nbad candidates end with\n");
  for (const auto& [reason, count] : reasons) std::printf("%8d %s\n", count, reason.c_str());
}

bool Results::PrintTable(bool shared) const {
  int good = 0, bad = 0, accepted = 0, refused = 0, other = 0, gaps = 0, unknown = 0;
  std::vector<double> seconds;
  std::string names;
  for (const auto& [key, line] : lines_) {
    const Candidate& candidate = *candidates_.at(key.first);
    (candidate.good() ? good : bad) += 1;
    if (VerifySeconds(line) > 0) seconds.push_back(VerifySeconds(line));
    if (!line.value("misjudged", false)) continue;
    names += key.first + " (seed " + std::to_string(key.second) +
             "): " + (line.value("passed", false) ? "passed" : line.value("reason", "")) + " " +
             line.value("detail", "") + "\n";
    (candidate.good() ? refused : line.value("passed", false) ? accepted : other) += 1;
    const bool known =
        collection_.gaps.contains(candidate.name) || collection_.by_luck.contains(candidate.name);
    (known ? gaps : unknown) += 1;
  }
  std::sort(seconds.begin(), seconds.end());
  PrintSteps();
  PrintVerdicts();
  std::printf("\n%d trials of bad candidates, %d of good ones\n", bad, good);
  std::printf("false accepts: %d, false refusals: %d, other reasons than expected: %d\n", accepted,
              refused, other);
  std::printf("of these %d are known gaps, %d are not\n%s", gaps, unknown, names.c_str());
  std::printf("verification of a candidate: median %.2f s, 95 %% below %.2f s, at most %.2f s\n",
              At(seconds, 0.5), At(seconds, 0.95), At(seconds, 1));
  // A processor is shared with the compilers of the other trials.
  const bool counts = device_ != "host" && !shared;
  const int over = PrintLimit();
  if (over > 0 && !counts)
    std::printf("which does not count on a device that others use as well\n");
  return unknown == 0 && (over == 0 || !counts);
}

}  // namespace cupilot::gate
