#include "simulate.h"

#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <cstdio>

#include "fields.h"
#include "flow.h"

namespace solver {
namespace {

template <class Real>
int CompareWithFile(const Options& options, const std::vector<std::vector<Real>>& fields) {
  static constexpr const char* kNames[] = {"u", "v", "pressure"};
  std::vector<std::size_t> sizes;
  for (const auto& field : fields) sizes.push_back(field.size());
  const auto expected = ReadFields<Real>(options.compare, sizes);
  int code = 0;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const Comparison comparison = Compare(fields[i], expected[i]);
    const bool within = comparison.largest <= options.tolerance;
    std::printf("%-8s differs by %.3e at cell (%zu, %zu)%s\n", kNames[i], comparison.largest,
                comparison.at % options.size, comparison.at / options.size,
                within ? "" : ", which is more than the tolerance");
    if (!within) code = 1;
  }
  return code;
}

template <class Real>
int Run(const Options& options) {
  const double viscosity = 1 / options.reynolds;
  Fluid<Real> fluid;
  fluid.viscosity = static_cast<Real>(viscosity);
  fluid.lid_speed = 1;
  fluid.time_step = static_cast<Real>(StableTimeStep(options.size, viscosity));
  Flow<Real, NoSlip> flow(options.size, fluid, options.steps);
  for (int step = 0; step < options.steps; ++step) flow.Step(options.cycles);
  Check(cudaDeviceSynchronize(), "simulation");

  const std::vector<std::vector<Real>> fields = {flow.U(), flow.V(), flow.Pressure()};
  double worst = 0;  // of all steps
  for (const auto& record : flow.History()) {
    worst = std::max(worst, record.residual / record.source);
  }
  const double norm = std::hypot(Rms(fields[0]), Rms(fields[1]));
  std::printf(
      "size %d steps %d time %.6f median speed %.4f residual %.3e norm %.9e checksum %016" PRIx64
      "\n",
      options.size, options.steps, options.steps * static_cast<double>(fluid.time_step),
      flow.MedianSpeed(), worst, norm, Checksum(fields));
  if (!std::isfinite(norm)) {
    std::fprintf(stderr, "solver: the flow is not finite\n");
    return 1;
  }
  if (!options.output.empty()) WriteFields(options.output, fields);
  return options.compare.empty() ? 0 : CompareWithFile(options, fields);
}

}  // namespace

int Simulate(const Options& options) {
  return options.in_double ? Run<double>(options) : Run<float>(options);
}

}  // namespace solver
