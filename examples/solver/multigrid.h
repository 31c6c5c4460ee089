// A geometric multigrid solver of Poisson's equation on cells: -laplace(solution) = source.
#pragma once

#include <vector>

#include "device_array.h"
#include "grid.h"

namespace solver {

// What is known at the walls, as what lies behind them, half a cell away from the value before
// them. The solution is zero at the walls.
struct Fixed {
  template <class Real>
  __host__ __device__ static Real Behind(Real inside) {
    return -inside;
  }
};

// Its derivative across the walls is zero; it is found up to a constant.
struct Insulated {
  template <class Real>
  __host__ __device__ static Real Behind(Real inside) {
    return inside;
  }
};

template <class Real, class Boundary>
class Multigrid {
 public:
  // The sides of `grid` are powers of two, or small multiples of them: grids are halved for as long
  // as both sides are even.
  explicit Multigrid(const Grid& grid);

  // One V-cycle, which lets the residual fall about tenfold.
  void Cycle(DeviceArray<Real>& solution, const DeviceArray<Real>& source);

  // Adds the sum of the squares of source + laplace(solution) to *sum, which is memory of the
  // device.
  void AddSquaredResidual(const DeviceArray<Real>& solution, const DeviceArray<Real>& source,
                          double* sum);

 private:
  struct Level {
    explicit Level(const Grid& its_grid);
    Grid grid;
    DeviceArray<Real> scratch;  // the residual, or the next iterate
    // Of coarser levels: the correction of the next finer solution, and what it has to answer.
    DeviceArray<Real> solution, source;
  };

  void Descend(std::size_t level, DeviceArray<Real>& solution, const DeviceArray<Real>& source);
  void Smooth(Level& level, DeviceArray<Real>& solution, const DeviceArray<Real>& source,
              int sweeps);
  void Residual(Level& level, const DeviceArray<Real>& solution, const DeviceArray<Real>& source);

  std::vector<Level> levels_;
};

}  // namespace solver
