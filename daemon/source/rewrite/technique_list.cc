#include "source/rewrite/technique.h"

#include "source/rewrite/mechanical.h"

namespace cupilot::source {

std::span<const RewriteTechnique> RewriteTechniques() {
  static constexpr RewriteTechnique kTechniques[] = {
      {"block_size", &ProposeBlockSize, &ApplyBlockSize},
      {"thread_coarsening", &ProposeCoarsening, &ApplyCoarsening},
      {"grid_stride", &ProposeGridStride, &ApplyGridStride},
      {"vectorized_access", &ProposeVectorizedAccess, &ApplyVectorizedAccess},
      {"joined_blocks", &ProposeJoinedBlocks, &ApplyJoinedBlocks},
      {"private_atomics", &ProposePrivateAtomics, &ApplyPrivateAtomics},
      {"unrolling", &ProposeUnrolling, &ApplyUnrolling},
      {"full_unrolling", &ProposeFullUnrolling, &ApplyFullUnrolling},
      {"reciprocal_root", &ProposeReciprocalRoot, &ApplyReciprocalRoot},
      {"loop_interchange", &ProposeInterchange, &ApplyInterchange},
      {"restrict_readonly", &ProposeRestrict, &ApplyRestrict},
      {"launch_bounds", &ProposeLaunchBounds, &ApplyLaunchBounds},
      {"shared_padding", &ProposePadding, &ApplyPadding},
      {"shared_staging", &ProposeStaging, &ApplyStaging},
      {"shared_tiling", &ProposeTiling, &ApplyTiling},
      {"size_class", nullptr, &ApplySizeClass},
  };
  return kTechniques;
}

}  // namespace cupilot::source
