#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "records/element_values.h"
#include "worker/checks/check.h"

namespace cupilot::worker {
namespace {

using records::ElementValue;

// One output of one run.
struct Output {
  const Observation& seen;
  const Region& region;
  const ReferenceOutput& reference;
  const Rho& original_error;
  const std::byte* candidate;

  double Candidate(std::size_t i) const { return Read(candidate, i); }
  double Original(std::size_t i) const { return Read(reference.bytes.data(), i); }
  std::size_t count() const { return static_cast<std::size_t>(region.count * region.type.lanes); }
  std::string Place(std::size_t component) const {
    return Where(region, component / static_cast<std::size_t>(region.type.lanes));
  }

 private:
  double Read(const std::byte* data, std::size_t i) const {
    return device::ReadNumber(data, static_cast<std::int64_t>(i), region.type);
  }
};

// Of the original's finite values, among those that it writes.
double RmsOf(const Output& output) {
  const std::vector<bool>& unwritten = output.reference.unwritten;
  const auto lanes = static_cast<std::size_t>(output.region.type.lanes);
  double squares = 0;
  std::size_t written = 0;
  for (std::size_t i = 0; i < output.count(); ++i) {
    if (!unwritten.empty() && unwritten[i / lanes]) continue;
    ++written;
    const double o = output.Original(i);
    if (std::isfinite(o)) squares += o * o;
  }
  return std::sqrt(squares / static_cast<double>(std::max<std::size_t>(written, 1)));
}

Finding ByBits(const Output& output) {
  const auto size = static_cast<std::size_t>(output.region.type.size());
  const std::vector<std::byte>& expected = output.reference.bytes;
  const auto byte = static_cast<std::size_t>(
      std::mismatch(expected.begin(), expected.end(), output.candidate).first - expected.begin());
  const std::size_t element = byte / size;
  const auto component = static_cast<std::int64_t>(element) * output.region.type.lanes;
  const std::string values =
      records::ExpectedGot(device::ShowNumber(expected.data(), component, output.region.type),
                           device::ShowNumber(output.candidate, component, output.region.type));
  return {"wrong_values", Where(output.region, element) + ": " + values +
                              ", bitwise equality is demanded" + FillName(output.seen)};
}

// Both as sets: elements that the original leaves alone have no part in it.
Finding AsSets(const Output& output) {
  const std::vector<bool>& unwritten = output.reference.unwritten;
  const auto expected = SortedElements(output.region, output.reference.bytes.data(), unwritten);
  const auto got = SortedElements(output.region, output.candidate, unwritten);
  const auto differ = std::mismatch(expected.begin(), expected.end(), got.begin(), got.end());
  if (differ.first == expected.end()) return {};
  const auto show = [&](std::string_view element) {
    return device::ShowNumber(reinterpret_cast<const std::byte*>(element.data()), 0,
                              output.region.type);
  };
  return {"wrong_values", "'" + output.region.name +
                              "', whose order is free: among its elements in ascending order of "
                              "bytes, number " +
                              std::to_string(differ.first - expected.begin()) + ": " +
                              records::ExpectedGot(show(*differ.first), show(*differ.second)) +
                              FillName(output.seen)};
}

// Element by element of all of them side by side, in ascending order.
std::vector<std::string> SortedRows(const Observation& seen,
                                    const std::vector<std::size_t>& outputs, bool of_candidate) {
  const std::vector<bool>& unwritten = seen.reference.outputs[outputs[0]].unwritten;
  const auto count = seen.original.layout.regions[outputs[0]].count;
  std::vector<std::string> rows;
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
    if (!unwritten.empty() && unwritten[i]) continue;
    std::string row;
    for (const std::size_t r : outputs) {
      const Region& region = seen.original.layout.regions[r];
      const auto size = static_cast<std::size_t>(region.type.size());
      const std::byte* data =
          of_candidate ? seen.after.data() + region.offset : seen.reference.outputs[r].bytes.data();
      row.append(reinterpret_cast<const char*>(data) + i * size, size);
    }
    rows.push_back(std::move(row));
  }
  std::sort(rows.begin(), rows.end());
  return rows;
}

// Outputs whose order is free and which are equally long say several things of the same elements (a
// value, and where it was found): those have to stay together, in whatever order.
Finding AsRows(const Observation& seen) {
  const std::vector<Region>& regions = seen.original.layout.regions;
  std::vector<std::size_t> together;
  for (std::size_t r = 0; r < regions.size(); ++r) {
    if (!regions[r].output || !regions[r].order_free) continue;
    if (seen.reference.outputs[r].bytes.empty()) continue;
    const bool alike = together.empty() || (regions[r].count == regions[together[0]].count &&
                                            seen.reference.outputs[r].unwritten ==
                                                seen.reference.outputs[together[0]].unwritten);
    if (alike) together.push_back(r);
  }
  if (together.size() < 2) return {};
  const auto expected = SortedRows(seen, together, false), got = SortedRows(seen, together, true);
  if (expected == got) return {};
  std::string names;
  for (const std::size_t r : together) {
    names += (names.empty() ? "'" : ", '") + regions[r].name + "'";
  }
  const auto differ = std::mismatch(expected.begin(), expected.end(), got.begin());
  return {"wrong_values", names +
                              ", whose order is free: each has the elements of the original's, but "
                              "not those together that are there; the first of " +
                              std::to_string(expected.size()) + " in ascending order of bytes: " +
                              std::to_string(differ.first - expected.begin()) + FillName(seen)};
}

Finding ByTolerance(const Output& output) {
  const records::Tolerance& tolerance = *output.seen.set.workload.tolerance;
  const double limit = tolerance.relative.value_or(0), absolute = tolerance.absolute.value_or(0);
  const double rms = RmsOf(output);
  for (std::size_t i = 0; i < output.count(); ++i) {
    const double c = output.Candidate(i), o = output.Original(i);
    const bool same_class = std::isfinite(o) == std::isfinite(c);
    const double error = std::fabs(c - o) / std::max({std::fabs(o), rms, 1e-300});
    const bool close = same_class && (error <= limit || std::fabs(c - o) <= absolute);
    if (c == o || (std::isnan(o) && std::isnan(c)) || close) continue;
    char text[80];
    std::snprintf(text, sizeof text, "; relative error %.3g of %.3g", error, limit);
    return {error <= 0.01 ? "precision_loss" : "wrong_values",
            output.Place(i) + ": " +
                records::ExpectedGot(ElementValue::Of(o), ElementValue::Of(c)) + text +
                FillName(output.seen)};
  }
  return {};
}

Finding ByErrorRule(const Output& output, Errors& errors) {
  const Rho& of_original = output.original_error;
  const Rho rho = RhoOf(output.candidate, output.reference.bytes.data(), output.region.type,
                        *output.reference.expected);
  const double inputs = InputsOfOneOutput(output.seen.original.layout, *output.reference.expected);
  const Limits limits =
      LimitsOf(of_original, inputs, output.seen.dense, output.reference.expected->narrow);
  errors.candidate = std::max(errors.candidate, rho.rms);
  errors.original = std::max(errors.original, of_original.rms);
  if (Passes(rho, limits)) return {};
  const double o = output.Original(rho.worst), c = output.Candidate(rho.worst);
  const double scale = std::max(std::fabs(o), RmsOf(output));
  const bool close = std::isfinite(o) && std::isfinite(c) && std::fabs(c - o) <= 0.01 * scale;
  const std::string values =
      records::ExpectedGotExact(ElementValue::Of(o), ElementValue::Of(c),
                                ElementValue::Of(output.reference.expected->exact[rho.worst]));
  char text[200];
  std::snprintf(text, sizeof text,
                "; error %.3g units, rms %.3g; allowed %.3g and rms %.3g; the original has %.3g "
                "and rms %.3g",
                rho.max, rho.rms, limits.max, limits.rms, of_original.max, of_original.rms);
  return {close ? "precision_loss" : "wrong_values",
          output.Place(rho.worst) + ": " + values + text + FillName(output.seen)};
}

Finding CheckOutput(const Output& output, Errors& errors) {
  const Equality equality = EqualityOf(output.seen.set, output.region, output.reference);
  if (equality == Equality::kSet) return AsSets(output);
  if (equality == Equality::kErrorRule) {
    errors.original = std::max(errors.original, output.reference.original_rho.rms);
  }
  const std::vector<std::byte>& expected = output.reference.bytes;
  if (expected.empty() || std::memcmp(expected.data(), output.candidate, expected.size()) == 0) {
    // The original's own bits have the original's own error, which is within every limit.
    errors.candidate = std::max(errors.candidate, output.reference.original_rho.rms);
    return {};
  }
  switch (equality) {
    case Equality::kTolerance:
      return ByTolerance(output);
    case Equality::kErrorRule:
      return ByErrorRule(output, errors);
    case Equality::kSet:
    case Equality::kBits:
      break;
  }
  return ByBits(output);
}

}  // namespace

std::vector<std::string_view> SortedElements(const Region& region, const std::byte* data,
                                             const std::vector<bool>& left_out) {
  const auto size = static_cast<std::size_t>(region.type.size());
  std::vector<std::string_view> elements;
  for (std::size_t i = 0; i < static_cast<std::size_t>(region.count); ++i) {
    if (!left_out.empty() && left_out[i]) continue;
    elements.emplace_back(reinterpret_cast<const char*>(data) + i * size, size);
  }
  std::sort(elements.begin(), elements.end());
  return elements;
}

Equality EqualityOf(const protocol::CandidateSet& set, const Region& region,
                    const ReferenceOutput& reference) {
  if (region.order_free) return Equality::kSet;
  const bool bitwise = set.workload.tolerance && set.workload.tolerance->bitwise;
  if (bitwise || !region.type.floating()) return Equality::kBits;
  if (DeclaresTolerance(set.workload)) return Equality::kTolerance;
  return reference.expected ? Equality::kErrorRule : Equality::kBits;
}

bool NeedsTwin(const Observation& seen) {
  if (!seen.reference.twin_waits) return false;
  const bool bitwise = seen.set.workload.tolerance && seen.set.workload.tolerance->bitwise;
  if (bitwise || DeclaresTolerance(seen.set.workload)) return false;
  for (std::size_t r = 0; r < seen.original.layout.regions.size(); ++r) {
    const Region& region = seen.original.layout.regions[r];
    const std::vector<std::byte>& expected = seen.reference.outputs[r].bytes;
    if (!region.output || !region.type.floating() || region.order_free || expected.empty())
      continue;
    if (std::memcmp(expected.data(), seen.after.data() + region.offset, expected.size()) != 0) {
      return true;
    }
  }
  return false;
}

Finding CheckValues(const Observation& seen, Errors& errors) {
  for (std::size_t r = 0; r < seen.original.layout.regions.size(); ++r) {
    const Region& region = seen.original.layout.regions[r];
    if (!region.output) continue;
    const ReferenceOutput& reference = seen.reference.outputs[r];
    const Rho& error =
        seen.original_errors == nullptr ? reference.original_rho : (*seen.original_errors)[r];
    const Finding finding =
        CheckOutput({seen, region, reference, error, seen.after.data() + region.offset}, errors);
    if (!finding.reason.empty()) return finding;
  }
  return AsRows(seen);
}

}  // namespace cupilot::worker
