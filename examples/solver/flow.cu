#include "flow.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "reduction.h"

namespace solver {

constexpr int kBins = 256;
constexpr int kSums = 2;  // a step: squares of the source, and of the residual

// Components of the velocity, also where they lie on a wall or behind it.
template <class Wall, class Real>
__device__ Real u_at(const Real* u, int x, int y, int nx, int ny, Real lid_speed) {
  if (x <= 0 || x >= nx) return 0;
  if (y < 0) return Wall::Behind(u[x], Real(0));
  if (y >= ny) return Wall::Behind(u[(ny - 1) * nx + x], lid_speed);
  return u[y * nx + x];
}

template <class Wall, class Real>
__device__ Real v_at(const Real* v, int x, int y, int nx, int ny) {
  if (y <= 0 || y >= ny) return 0;
  if (x < 0) return Wall::Behind(v[y * nx], Real(0));
  if (x >= nx) return Wall::Behind(v[y * nx + nx - 1], Real(0));
  return v[y * nx + x];
}

// A component of the velocity after a time step of advection and diffusion: central differences in
// space, one explicit step in time. The component here and at its four neighbours, and the speeds
// with which the fluid crosses the faces between them.
template <class Real>
__device__ Real advance(Real here, Real west, Real east, Real south, Real north, Real west_speed,
                        Real east_speed, Real south_speed, Real north_speed,
                        const Fluid<Real>& fluid) {
  Real half_per_length = Real(0.5) / fluid.spacing;
  Real advection = ((here + east) * east_speed - (west + here) * west_speed +
                    (here + north) * north_speed - (south + here) * south_speed) *
                   half_per_length;
  Real laplace = (west + east + south + north - 4 * here) / (fluid.spacing * fluid.spacing);
  return here + fluid.time_step * (fluid.viscosity * laplace - advection);
}

// cupilot: tune
// cupilot: tolerance relative=1e-5
template <class Real, class Wall>
__global__ void predict_u(const Real* u, const Real* v, Real* next, int nx, int ny,
                          Fluid<Real> fluid) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= nx || y >= ny) return;
  Real here = u_at<Wall>(u, x, y, nx, ny, fluid.lid_speed);
  Real west = u_at<Wall>(u, x - 1, y, nx, ny, fluid.lid_speed);
  Real east = u_at<Wall>(u, x + 1, y, nx, ny, fluid.lid_speed);
  Real south = u_at<Wall>(u, x, y - 1, nx, ny, fluid.lid_speed);
  Real north = u_at<Wall>(u, x, y + 1, nx, ny, fluid.lid_speed);
  Real south_speed = (v_at<Wall>(v, x - 1, y, nx, ny) + v_at<Wall>(v, x, y, nx, ny)) / 2;
  Real north_speed = (v_at<Wall>(v, x - 1, y + 1, nx, ny) + v_at<Wall>(v, x, y + 1, nx, ny)) / 2;
  Real after = advance(here, west, east, south, north, (west + here) / 2, (here + east) / 2,
                       south_speed, north_speed, fluid);
  next[y * nx + x] = x > 0 ? after : 0;
}

// cupilot: tune
// cupilot: tolerance relative=1e-5
template <class Real, class Wall>
__global__ void predict_v(const Real* u, const Real* v, Real* next, int nx, int ny,
                          Fluid<Real> fluid) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= nx || y >= ny) return;
  Real here = v_at<Wall>(v, x, y, nx, ny);
  Real west = v_at<Wall>(v, x - 1, y, nx, ny);
  Real east = v_at<Wall>(v, x + 1, y, nx, ny);
  Real south = v_at<Wall>(v, x, y - 1, nx, ny);
  Real north = v_at<Wall>(v, x, y + 1, nx, ny);
  Real lid = fluid.lid_speed;
  Real west_speed = (u_at<Wall>(u, x, y - 1, nx, ny, lid) + u_at<Wall>(u, x, y, nx, ny, lid)) / 2;
  Real east_speed =
      (u_at<Wall>(u, x + 1, y - 1, nx, ny, lid) + u_at<Wall>(u, x + 1, y, nx, ny, lid)) / 2;
  Real after = advance(here, west, east, south, north, west_speed, east_speed, (south + here) / 2,
                       (here + north) / 2, fluid);
  next[y * nx + x] = y > 0 ? after : 0;
}

// The source of the pressure equation, -laplace(p) = -divergence / time step.
// cupilot: tune
template <class Real>
__global__ void pressure_source(const Real* u, const Real* v, Real* source, int nx, int ny,
                                Real scale) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= nx || y >= ny) return;
  int i = y * nx + x;
  Real east = x < nx - 1 ? u[i + 1] : 0;
  Real north = y < ny - 1 ? v[i + nx] : 0;
  source[i] = -(east - u[i] + north - v[i]) * scale;
}

// Takes the pressure's gradient from the velocity.
// cupilot: tune
template <class Real>
__global__ void project(const Real* pressure, Real* u, Real* v, int nx, int ny, Real scale) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= nx || y >= ny) return;
  int i = y * nx + x;
  if (x > 0) u[i] -= (pressure[i] - pressure[i - 1]) * scale;
  if (y > 0) v[i] -= (pressure[i] - pressure[i - nx]) * scale;
}

// Counts the cells by their speed, one bin for each 1 / 256 and the last for all beyond.
// cupilot: tune
template <class Real>
__global__ void count_speeds(const Real* u, const Real* v, unsigned long long* bins, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  Real speed = sqrt(u[i] * u[i] + v[i] * v[i]);
  unsigned char bin = static_cast<unsigned char>(min(speed * 256, Real(255)));
  atomicAdd(&bins[bin], 1ull);
}

double StableTimeStep(int size, double viscosity) {
  const double spacing = 1.0 / size;
  return 0.2 * std::min({spacing, spacing * spacing / viscosity, 2 * viscosity});
}

template <class Real, class Wall>
Flow<Real, Wall>::Flow(int size, const Fluid<Real>& fluid, int max_steps)
    : grid_{size, size, 1.0 / size},
      fluid_(fluid),
      u_(grid_.cells()),
      v_(grid_.cells()),
      next_u_(grid_.cells()),
      next_v_(grid_.cells()),
      pressure_(grid_.cells()),
      source_(grid_.cells()),
      history_(static_cast<std::size_t>(kSums) * max_steps),
      speeds_(kBins),
      multigrid_(grid_) {
  fluid_.spacing = static_cast<Real>(grid_.spacing);
}

template <class Real, class Wall>
void Flow<Real, Wall>::SetVelocity(const std::vector<Real>& u, const std::vector<Real>& v) {
  u_.Upload(u);
  v_.Upload(v);
}

template <class Real, class Wall>
void Flow<Real, Wall>::Step(int cycles) {
  const int nx = grid_.nx, ny = grid_.ny;
  const dim3 block = CellBlock(), blocks = BlocksFor(nx, ny, block);
  double* sums = history_.get() + static_cast<std::size_t>(kSums) * steps_++;

  predict_u<Real, Wall><<<blocks, block>>>(u_.get(), v_.get(), next_u_.get(), nx, ny, fluid_);
  predict_v<Real, Wall><<<blocks, block>>>(u_.get(), v_.get(), next_v_.get(), nx, ny, fluid_);
  Check(cudaGetLastError(), "predict");
  std::swap(u_, next_u_);
  std::swap(v_, next_v_);

  const Real source_scale = 1 / (fluid_.spacing * fluid_.time_step);
  pressure_source<Real><<<blocks, block>>>(u_.get(), v_.get(), source_.get(), nx, ny, source_scale);
  Check(cudaGetLastError(), "pressure_source");
  AddSumOfSquares(source_, sums);
  for (int cycle = 0; cycle < cycles; ++cycle) multigrid_.Cycle(pressure_, source_);
  multigrid_.AddSquaredResidual(pressure_, source_, sums + 1);

  const Real gradient_scale = fluid_.time_step / fluid_.spacing;
  project<Real><<<blocks, block>>>(pressure_.get(), u_.get(), v_.get(), nx, ny, gradient_scale);
  Check(cudaGetLastError(), "project");

  const int cells = static_cast<int>(grid_.cells());
  count_speeds<Real><<<(cells + 255) / 256, 256>>>(u_.get(), v_.get(), speeds_.get(), cells);
  Check(cudaGetLastError(), "count_speeds");
}

template <class Real, class Wall>
std::vector<typename Flow<Real, Wall>::Record> Flow<Real, Wall>::History() const {
  const std::vector<double> sums = history_.Download();
  const double cells = static_cast<double>(grid_.cells());
  std::vector<Record> records;
  for (int step = 0; step < steps_; ++step) {
    const double* of_step = &sums[static_cast<std::size_t>(kSums) * step];
    records.push_back({std::sqrt(of_step[0] / cells), std::sqrt(of_step[1] / cells)});
  }
  return records;
}

template <class Real, class Wall>
double Flow<Real, Wall>::MedianSpeed() const {
  const std::vector<unsigned long long> bins = speeds_.Download();
  const auto all = std::accumulate(bins.begin(), bins.end(), 0ull);
  int bin = 0;
  for (auto below = bins[0]; below < (all + 1) / 2; below += bins[bin]) ++bin;
  return (bin + 1) / static_cast<double>(kBins);
}

template <class Real, class Wall>
std::vector<Real> Flow<Real, Wall>::Pressure() const {
  std::vector<Real> values = pressure_.Download();
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / values.size();
  for (Real& value : values) value = static_cast<Real>(value - mean);
  return values;
}

template class Flow<float, NoSlip>;
template class Flow<double, NoSlip>;
template class Flow<double, FreeSlip>;

}  // namespace solver
