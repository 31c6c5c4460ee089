// A grid of square cells, and the launch that has one thread a cell.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

namespace solver {

struct Grid {
  int nx = 0, ny = 0;
  double spacing = 0;  // the side of a cell

  std::size_t cells() const { return static_cast<std::size_t>(nx) * ny; }
  Grid Coarser() const { return {nx / 2, ny / 2, 2 * spacing}; }
};

// The block of kernels that do not say their own.
inline dim3 CellBlock() { return dim3(16, 16); }

inline dim3 BlocksFor(int nx, int ny, dim3 block) {
  return dim3((nx + block.x - 1) / block.x, (ny + block.y - 1) / block.y);
}

}  // namespace solver
