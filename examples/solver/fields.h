// Fields in host memory and in files: numbers one after another, as the machine holds them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace solver {

struct Comparison {
  double largest =
      0;  // |a - b| / max(|b|, rms of b), the largest of all; infinite where one is no number
  std::size_t at = 0;  // where
};

// The errors of these end the program with exit code 3.
template <class Real>
void WriteFields(const std::string& path, const std::vector<std::vector<Real>>& fields);
// Fields of these sizes; a file of another size is an error.
template <class Real>
std::vector<std::vector<Real>> ReadFields(const std::string& path,
                                          const std::vector<std::size_t>& sizes);

template <class Real>
Comparison Compare(const std::vector<Real>& a, const std::vector<Real>& b);

template <class Real>
double Rms(const std::vector<Real>& values);

// Of all bits (FNV-1a).
template <class Real>
std::uint64_t Checksum(const std::vector<std::vector<Real>>& fields);

}  // namespace solver
