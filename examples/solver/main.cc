// Flow in a lid-driven cavity: the fluid in a square box whose northern wall moves. Each time step
// advects and diffuses the velocity, then finds the pressure that makes it free of divergence, by
// multigrid. --help names the options.
#include "options.h"
#include "simulate.h"

int main(int argc, char** argv) {
  const solver::Options options = solver::ParseOptions(argc, argv);
  return options.check ? solver::CheckAgainstExactSolutions() : solver::Simulate(options);
}
