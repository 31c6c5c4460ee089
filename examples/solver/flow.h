// Incompressible flow in the unit square by projection. The velocity's components lie in the middle
// of the faces that they cross (a staggered grid): u[y * n + x] on the face west of a cell, v on
// the one south of it. Nothing crosses the walls; the first column of u and the first row of v stay
// zero.
#pragma once

#include <vector>

#include "device_array.h"
#include "grid.h"
#include "multigrid.h"

namespace solver {

// Fluid sticks to the walls; the one in the north moves.
struct NoSlip {
  template <class Real>
  __host__ __device__ static Real Behind(Real inside, Real speed) {
    return 2 * speed - inside;
  }
};

// Fluid glides along the walls.
struct FreeSlip {
  template <class Real>
  __host__ __device__ static Real Behind(Real inside, Real) {
    return inside;
  }
};

template <class Real>
struct Fluid {
  Real viscosity = 0;
  Real lid_speed = 0;
  Real time_step = 0;
  Real spacing = 0;  // the side of a cell
};

// The largest time step that is stable where no speed exceeds 1, with room to spare.
double StableTimeStep(int size, double viscosity);

template <class Real, class Wall>
class Flow {
 public:
  // A grid of size x size cells, in which the fluid rests. `max_steps` is what the history has room
  // for.
  Flow(int size, const Fluid<Real>& fluid, int max_steps);

  void SetVelocity(const std::vector<Real>& u, const std::vector<Real>& v);

  // One time step: advection and diffusion, then the pressure that makes the result free of
  // divergence, by `cycles` cycles of multigrid.
  void Step(int cycles);

  // How well a step's pressure was found.
  struct Record {
    double source = 0;    // rms of the pressure equation's source
    double residual = 0;  // and of what the cycles left of it
  };
  std::vector<Record> History() const;

  // The speed that half of all cells stayed below, over all steps; a multiple of 1 / 256.
  double MedianSpeed() const;

  std::vector<Real> U() const { return u_.Download(); }
  std::vector<Real> V() const { return v_.Download(); }
  std::vector<Real> Pressure() const;  // with mean zero

 private:
  Grid grid_;
  Fluid<Real> fluid_;
  int steps_ = 0;
  DeviceArray<Real> u_, v_, next_u_, next_v_, pressure_, source_;
  DeviceArray<double> history_;             // kSums values a step
  DeviceArray<unsigned long long> speeds_;  // cells by their speed, over all steps
  Multigrid<Real, Insulated> multigrid_;
};

}  // namespace solver
