#include "search/portfolio/build_reports.h"

#include <algorithm>
#include <cmath>

namespace cupilot::search {
namespace {

double Logarithm(std::int64_t number) { return std::log1p(static_cast<double>(number)); }

std::int64_t Expected(const LearnedNumber& logarithm, const std::vector<float>& features) {
  return std::max<std::int64_t>(std::llround(std::expm1(logarithm.Of(features))), 0);
}

}  // namespace

void BuildReports::Learn(const Point& point, const BuildReport& report) {
  if (report.registers <= 0 || !known_.try_emplace(point, report).second) return;
  std::vector<float> features;
  features_.Of(point, features);
  // One of them is fitted at a time, so that no step takes as long as all.
  turn_ = (turn_ + 1) % 3;
  log_registers_.Learn(features, Logarithm(report.registers), turn_ == 0);
  log_local_.Learn(features, Logarithm(report.local_bytes), turn_ == 1);
  log_shared_.Learn(features, Logarithm(report.shared_bytes), turn_ == 2);
}

BuildReport BuildReports::Of(const Point& point, const std::vector<float>& features) const {
  const auto known = known_.find(point);
  if (known != known_.end()) return known->second;
  const bool all = log_registers_.IsFitted() && log_local_.IsFitted() && log_shared_.IsFitted();
  if (!all) return {};
  BuildReport report;
  report.registers = Expected(log_registers_, features);
  report.local_bytes = Expected(log_local_, features);
  report.shared_bytes = Expected(log_shared_, features);
  return report;
}

void BuildReports::Tell(const Point& point, std::vector<float>& features) const {
  const BuildReport report = Of(point, features);
  if (report.registers > 0) features_.SetBuild(point, report, features);
}

}  // namespace cupilot::search
