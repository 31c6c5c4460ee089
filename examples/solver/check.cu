// Whether the methods converge as they should, against exact solutions.
#include <cmath>
#include <cstdio>
#include <functional>
#include <string>
#include <type_traits>

#include "fields.h"
#include "flow.h"
#include "multigrid.h"
#include "reduction.h"
#include "simulate.h"

namespace solver {
namespace {

constexpr double kPi = 3.14159265358979323846;

// Of errors on a grid and on one twice as fine: 4 is second order.
constexpr double kLeastRatio = 3.6, kMostRatio = 4.5;
// A cycle multiplies the residual's norm by at most this.
constexpr double kMostLeft = 0.2;

bool Report(const char* what, double value, double low, double high) {
  const bool holds = value >= low && value <= high;
  std::printf("%-52s %8.4f, from %g to %g: %s\n", what, value, low, high, holds ? "ok" : "FAILED");
  return holds;
}

std::vector<double> Sample(int n, double shift_x, double shift_y,
                           const std::function<double(double, double)>& function) {
  std::vector<double> values;
  for (int y = 0; y < n; ++y) {
    for (int x = 0; x < n; ++x) values.push_back(function((x + shift_x) / n, (y + shift_y) / n));
  }
  return values;
}

double RmsDifference(std::vector<double> a, const std::vector<double>& b) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] -= b[i];
  return Rms(a);
}

// Of -laplace(s) = f with a known s.
struct Solved {
  double error = 0;        // rms
  double worst_cycle = 0;  // the largest factor by which a cycle changed the residual's norm
};

template <class Boundary>
Solved SolvePoisson(int n, const std::function<double(double, double)>& exact,
                    const std::function<double(double, double)>& source) {
  constexpr int kCycles = 8;
  const Grid grid{n, n, 1.0 / n};
  Multigrid<double, Boundary> multigrid(grid);
  DeviceArray<double> solution(grid.cells()), right_side(grid.cells()), squares(kCycles + 1);
  right_side.Upload(Sample(n, 0.5, 0.5, source));
  multigrid.AddSquaredResidual(solution, right_side, squares.get());
  for (int cycle = 1; cycle <= kCycles; ++cycle) {
    multigrid.Cycle(solution, right_side);
    multigrid.AddSquaredResidual(solution, right_side, squares.get() + cycle);
  }
  Solved solved;
  const std::vector<double> sums = squares.Download();
  for (int cycle = 1; cycle <= kCycles; ++cycle) {
    solved.worst_cycle = std::max(solved.worst_cycle, std::sqrt(sums[cycle] / sums[cycle - 1]));
  }
  std::vector<double> values = solution.Download();
  double mean = 0;  // of which there is none in the exact solution of insulated walls
  for (const double value : values) mean += value / values.size();
  if (std::is_same_v<Boundary, Insulated>) {
    for (double& value : values) value -= mean;
  }
  solved.error = RmsDifference(values, Sample(n, 0.5, 0.5, exact));
  return solved;
}

template <class Boundary>
bool CheckPoisson(const std::string& walls, const std::function<double(double, double)>& exact,
                  const std::function<double(double, double)>& source) {
  bool holds = true;
  double coarser_error = 0;
  for (const int n : {32, 64, 128}) {
    const Solved solved = SolvePoisson<Boundary>(n, exact, source);
    const std::string of_size = ", " + walls + ", " + std::to_string(n) + " cells a side";
    holds &=
        Report(("residual left by a cycle" + of_size).c_str(), solved.worst_cycle, 0, kMostLeft);
    if (coarser_error > 0) {
      holds &= Report(("error ratio" + of_size).c_str(), coarser_error / solved.error, kLeastRatio,
                      kMostRatio);
    }
    coarser_error = solved.error;
  }
  return holds;
}

// Taylor and Green's vortex, which decays in a box of walls without friction.
double VortexError(int n) {
  constexpr double kViscosity = 0.05, kEnd = 0.1;
  const int steps =
      n * n / 16;  // an error of the time step's order is one of the square of spacing's
  Fluid<double> fluid;
  fluid.viscosity = kViscosity;
  fluid.time_step = kEnd / steps;
  Flow<double, FreeSlip> flow(n, fluid, steps);
  const auto u = [](double x, double y) { return std::sin(kPi * x) * std::cos(kPi * y); };
  const auto v = [](double x, double y) { return -std::cos(kPi * x) * std::sin(kPi * y); };
  std::vector<double> exact_u = Sample(n, 0, 0.5, u), exact_v = Sample(n, 0.5, 0, v);
  flow.SetVelocity(exact_u, exact_v);
  for (int step = 0; step < steps; ++step) flow.Step(2);
  const double decay = std::exp(-2 * kPi * kPi * kViscosity * kEnd);
  for (double& value : exact_u) value *= decay;
  for (double& value : exact_v) value *= decay;
  return std::hypot(RmsDifference(flow.U(), exact_u), RmsDifference(flow.V(), exact_v));
}

}  // namespace

int CheckAgainstExactSolutions() {
  bool holds = CheckPoisson<Fixed>(
      "fixed", [](double x, double y) { return std::sin(kPi * x) * std::sin(2 * kPi * y); },
      [](double x, double y) { return 5 * kPi * kPi * std::sin(kPi * x) * std::sin(2 * kPi * y); });
  holds &= CheckPoisson<Insulated>(
      "insulated", [](double x, double y) { return std::cos(kPi * x) * std::cos(2 * kPi * y); },
      [](double x, double y) { return 5 * kPi * kPi * std::cos(kPi * x) * std::cos(2 * kPi * y); });
  const double coarse = VortexError(16), middle = VortexError(32), fine = VortexError(64);
  holds &= Report("error ratio, decaying vortex, 32 cells a side", coarse / middle, kLeastRatio,
                  kMostRatio);
  holds &= Report("error ratio, decaying vortex, 64 cells a side", middle / fine, kLeastRatio,
                  kMostRatio);
  std::printf("check: %s\n", holds ? "ok" : "FAILED");
  return holds ? 0 : 1;
}

}  // namespace solver
