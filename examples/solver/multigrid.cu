#include "multigrid.h"
#include "reduction.h"

#ifndef SMOOTH_BLOCK_X
#define SMOOTH_BLOCK_X 16
#endif
#ifndef SMOOTH_BLOCK_Y
#define SMOOTH_BLOCK_Y 16
#endif

namespace solver {

constexpr int kSweeps = 2;  // before and after a coarser grid's correction
constexpr int kCoarsestSweeps = 8;
constexpr double kDamping = 0.8;

// The sum of a cell's four neighbours.
template <class Boundary, class Real>
__device__ Real neighbours(const Real* field, int x, int y, int nx, int ny) {
  int i = y * nx + x;
  Real wall = Boundary::Behind(field[i]);
  Real west = x > 0 ? field[i - 1] : wall;
  Real east = x < nx - 1 ? field[i + 1] : wall;
  Real south = y > 0 ? field[i - nx] : wall;
  Real north = y < ny - 1 ? field[i + nx] : wall;
  return west + east + south + north;
}

// One sweep of damped Jacobi. `area` is that of a cell.
// cupilot: tune
// cupilot: tunable SMOOTH_BLOCK_X = 16, 32, 64, 128, 256
// cupilot: tunable SMOOTH_BLOCK_Y = 1, 2, 4, 8, 16
// cupilot: require SMOOTH_BLOCK_X * SMOOTH_BLOCK_Y <= 1024
// cupilot: launch block=(SMOOTH_BLOCK_X,SMOOTH_BLOCK_Y) grid=(ceil_div(nx,SMOOTH_BLOCK_X),ceil_div(ny,SMOOTH_BLOCK_Y))
template <class Real, class Boundary>
__global__ void smooth(const Real* solution, const Real* source, Real* next, int nx, int ny,
                       Real area) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= nx || y >= ny) return;
  int i = y * nx + x;
  Real around = neighbours<Boundary>(solution, x, y, nx, ny);
  Real change = (around - 4 * solution[i] + area * source[i]) / 4;
  next[i] = solution[i] + Real(kDamping) * change;
}

// cupilot: tune
template <class Real, class Boundary>
__global__ void residual(const Real* solution, const Real* source, Real* result, int nx, int ny,
                         Real inverse_area) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= nx || y >= ny) return;
  int i = y * nx + x;
  Real around = neighbours<Boundary>(solution, x, y, nx, ny);
  result[i] = source[i] + (around - 4 * solution[i]) * inverse_area;
}

// The mean of the four cells that make a coarser one; nx and ny are the coarser grid's.
// cupilot: tune
template <class Real>
__global__ void restrict_to_coarse(const Real* fine, Real* coarse, int nx, int ny) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= nx || y >= ny) return;
  const Real* lower = fine + 2 * y * (2 * nx) + 2 * x;
  const Real* upper = lower + 2 * nx;
  coarse[y * nx + x] = (lower[0] + lower[1] + upper[0] + upper[1]) / 4;
}

// Adds the coarser grid's correction, interpolated linearly; nx and ny are the finer grid's.
// cupilot: tune
template <class Real, class Boundary>
__global__ void add_correction(const Real* coarse, Real* fine, int nx, int ny) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= nx || y >= ny) return;
  int coarse_nx = nx / 2, coarse_ny = ny / 2;
  int cx = x / 2, cy = y / 2;
  int beside = x % 2 == 0 ? cx - 1 : cx + 1;  // the coarse cells next to this one
  int above = y % 2 == 0 ? cy - 1 : cy + 1;
  bool has_beside = beside >= 0 && beside < coarse_nx;
  bool has_above = above >= 0 && above < coarse_ny;
  Real own = coarse[cy * coarse_nx + cx];
  Real side = has_beside ? coarse[cy * coarse_nx + beside] : Boundary::Behind(own);
  Real top = has_above ? coarse[above * coarse_nx + cx] : Boundary::Behind(own);
  Real corner = has_beside && has_above ? coarse[above * coarse_nx + beside]
                : has_beside            ? Boundary::Behind(side)
                                        : Boundary::Behind(top);
  fine[y * nx + x] += (9 * own + 3 * side + 3 * top + corner) / 16;
}

template <class Real, class Boundary>
Multigrid<Real, Boundary>::Level::Level(const Grid& its_grid)
    : grid(its_grid),
      scratch(its_grid.cells()),
      solution(its_grid.cells()),
      source(its_grid.cells()) {}

template <class Real, class Boundary>
Multigrid<Real, Boundary>::Multigrid(const Grid& grid) {
  levels_.emplace_back(grid);
  while (levels_.back().grid.nx % 2 == 0 && levels_.back().grid.ny % 2 == 0) {
    levels_.emplace_back(levels_.back().grid.Coarser());
  }
}

template <class Real, class Boundary>
void Multigrid<Real, Boundary>::Cycle(DeviceArray<Real>& solution,
                                      const DeviceArray<Real>& source) {
  Descend(0, solution, source);
}

template <class Real, class Boundary>
void Multigrid<Real, Boundary>::AddSquaredResidual(const DeviceArray<Real>& solution,
                                                   const DeviceArray<Real>& source, double* sum) {
  Residual(levels_[0], solution, source);
  AddSumOfSquares(levels_[0].scratch, sum);
}

template <class Real, class Boundary>
void Multigrid<Real, Boundary>::Descend(std::size_t number, DeviceArray<Real>& solution,
                                        const DeviceArray<Real>& source) {
  Level& level = levels_[number];
  if (number + 1 == levels_.size()) {
    Smooth(level, solution, source, kCoarsestSweeps);
    return;
  }
  Smooth(level, solution, source, kSweeps);
  Residual(level, solution, source);

  Level& coarser = levels_[number + 1];
  const dim3 block = CellBlock();
  const int coarse_nx = coarser.grid.nx, coarse_ny = coarser.grid.ny;
  restrict_to_coarse<Real><<<BlocksFor(coarse_nx, coarse_ny, block), block>>>(
      level.scratch.get(), coarser.source.get(), coarse_nx, coarse_ny);
  Check(cudaGetLastError(), "restrict_to_coarse");
  coarser.solution.Clear();
  Descend(number + 1, coarser.solution, coarser.source);

  const int nx = level.grid.nx, ny = level.grid.ny;
  add_correction<Real, Boundary>
      <<<BlocksFor(nx, ny, block), block>>>(coarser.solution.get(), solution.get(), nx, ny);
  Check(cudaGetLastError(), "add_correction");
  Smooth(level, solution, source, kSweeps);
}

template <class Real, class Boundary>
void Multigrid<Real, Boundary>::Smooth(Level& level, DeviceArray<Real>& solution,
                                       const DeviceArray<Real>& source, int sweeps) {
  const int nx = level.grid.nx, ny = level.grid.ny;
  const Real area = static_cast<Real>(level.grid.spacing * level.grid.spacing);
  const dim3 block(SMOOTH_BLOCK_X, SMOOTH_BLOCK_Y);
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    smooth<Real, Boundary><<<BlocksFor(nx, ny, block), block>>>(solution.get(), source.get(),
                                                                level.scratch.get(), nx, ny, area);
    Check(cudaGetLastError(), "smooth");
    std::swap(solution, level.scratch);
  }
}

template <class Real, class Boundary>
void Multigrid<Real, Boundary>::Residual(Level& level, const DeviceArray<Real>& solution,
                                         const DeviceArray<Real>& source) {
  const int nx = level.grid.nx, ny = level.grid.ny;
  const Real inverse_area = static_cast<Real>(1 / (level.grid.spacing * level.grid.spacing));
  const dim3 block = CellBlock();
  residual<Real, Boundary><<<BlocksFor(nx, ny, block), block>>>(
      solution.get(), source.get(), level.scratch.get(), nx, ny, inverse_area);
  Check(cudaGetLastError(), "residual");
}

template class Multigrid<float, Insulated>;
template class Multigrid<double, Insulated>;
template class Multigrid<double, Fixed>;

}  // namespace solver
