#include "source/rewrite/technique.h"

#include "source/rewrite/mechanical.h"

namespace cupilot::source {

std::span<const RewriteTechnique> RewriteTechniques() {
  static constexpr RewriteTechnique kTechniques[] = {
      {"block_size", &ProposeBlockSize, &ApplyBlockSize},
      {"thread_coarsening", &ProposeCoarsening, &ApplyCoarsening},
  };
  return kTechniques;
}

}  // namespace cupilot::source
