#include "compare.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <vector>

namespace {

std::vector<char> Read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

template <class T>
std::vector<T> ReadAs(const std::string& path) {
  const std::vector<char> bytes = Read(path);
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
  return values;
}

struct Rho {
  double rms = 0;
  double max = 0;
};

Rho RhoOf(const std::vector<float>& y, const double* d, const double* unit) {
  Rho rho;
  double sum = 0;
  for (std::size_t i = 0; i < y.size(); ++i) {
    const double r = std::isfinite(y[i]) ? std::fabs(y[i] - d[i]) / unit[i] : INFINITY;
    rho.max = std::max(rho.max, r);
    sum += r * r;
  }
  rho.rms = std::sqrt(sum / static_cast<double>(y.size()));
  return rho;
}

}  // namespace

Agreement CompareOutputs(const std::string& before, const std::string& after,
                         const std::string& reference) {
  if (!std::ifstream(reference)) {
    const std::vector<char> a = Read(before), b = Read(after);
    if (a.empty()) return {false, "no output of the first program"};
    return {a == b, a == b ? "bitwise equal" : "bytes differ"};
  }
  const auto o = ReadAs<float>(before), c = ReadAs<float>(after);
  const auto file = ReadAs<double>(reference);
  if (o.empty() || o.size() != c.size() || file.size() != 2 + 2 * o.size()) {
    return {false, "outputs have different sizes"};
  }
  const double m = file[0];
  const double *d = file.data() + 2, *unit = d + o.size();
  const Rho ro = RhoOf(o, d, unit), rc = RhoOf(c, d, unit);
  const double rms_limit = std::max({16.0, 4 * ro.rms, std::sqrt(m) / 2});
  const double max_limit = std::max({128.0, 4 * ro.max, 4 * std::sqrt(m)});
  char text[200];
  std::snprintf(text, sizeof text, "rms error %.3g of %.3g, largest %.3g of %.3g allowed", rc.rms,
                rms_limit, rc.max, max_limit);
  return {rc.rms <= rms_limit && rc.max <= max_limit, text};
}
