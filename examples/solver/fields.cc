#include "fields.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>

namespace solver {
namespace {

[[noreturn]] void Fail(const char* what, const std::string& path) {
  std::fprintf(stderr, "solver: %s %s\n", what, path.c_str());
  std::exit(3);
}

}  // namespace

template <class Real>
void WriteFields(const std::string& path, const std::vector<std::vector<Real>>& fields) {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  bool written = file != nullptr;
  for (const auto& field : fields) {
    written =
        written && std::fwrite(field.data(), sizeof(Real), field.size(), file) == field.size();
  }
  if (file != nullptr && std::fclose(file) != 0) written = false;
  if (!written) Fail("cannot write", path);
}

template <class Real>
std::vector<std::vector<Real>> ReadFields(const std::string& path,
                                          const std::vector<std::size_t>& sizes) {
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) Fail("cannot read", path);
  std::vector<std::vector<Real>> fields;
  bool fits = true;
  for (const std::size_t size : sizes) {
    fields.emplace_back(size);
    fits = fits && std::fread(fields.back().data(), sizeof(Real), size, file) == size;
  }
  fits = fits && std::fgetc(file) == EOF;
  std::fclose(file);
  if (!fits) Fail("another size or precision wrote", path);
  return fields;
}

template <class Real>
double Rms(const std::vector<Real>& values) {
  double sum = 0;
  for (const Real value : values) sum += static_cast<double>(value) * value;
  return std::sqrt(sum / values.size());
}

template <class Real>
Comparison Compare(const std::vector<Real>& a, const std::vector<Real>& b) {
  const double rms = std::max<double>(Rms(b), std::numeric_limits<Real>::min());
  Comparison result;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double difference = std::abs(static_cast<double>(a[i]) - b[i]);
    double relative = difference / std::max<double>(std::abs(b[i]), rms);
    if (!std::isfinite(relative)) relative = std::numeric_limits<double>::infinity();
    if (relative > result.largest) result = {relative, i};
  }
  return result;
}

template <class Real>
std::uint64_t Checksum(const std::vector<std::vector<Real>>& fields) {
  std::uint64_t hash = 14695981039346656037u;
  for (const auto& field : fields) {
    const auto* bytes = reinterpret_cast<const unsigned char*>(field.data());
    for (std::size_t i = 0; i < field.size() * sizeof(Real); ++i) {
      hash = (hash ^ bytes[i]) * 1099511628211u;
    }
  }
  return hash;
}

template void WriteFields(const std::string&, const std::vector<std::vector<float>>&);
template void WriteFields(const std::string&, const std::vector<std::vector<double>>&);
template std::vector<std::vector<float>> ReadFields(const std::string&,
                                                    const std::vector<std::size_t>&);
template std::vector<std::vector<double>> ReadFields(const std::string&,
                                                     const std::vector<std::size_t>&);
template Comparison Compare(const std::vector<float>&, const std::vector<float>&);
template Comparison Compare(const std::vector<double>&, const std::vector<double>&);
template double Rms(const std::vector<float>&);
template double Rms(const std::vector<double>&);
template std::uint64_t Checksum(const std::vector<std::vector<float>>&);
template std::uint64_t Checksum(const std::vector<std::vector<double>>&);

}  // namespace solver
