// The mechanical techniques, each in a file of its own; technique.h says what the two functions do.
#pragma once

#include "source/rewrite/technique.h"

namespace cupilot::source {

base::Result<std::vector<records::Json>> ProposeBlockSize(const Draft& draft);
base::Result<std::string> ApplyBlockSize(Draft& draft, const records::Json& parameters);

base::Result<std::vector<records::Json>> ProposeCoarsening(const Draft& draft);
base::Result<std::string> ApplyCoarsening(Draft& draft, const records::Json& parameters);

base::Result<std::vector<records::Json>> ProposePrivateAtomics(const Draft& draft);
base::Result<std::string> ApplyPrivateAtomics(Draft& draft, const records::Json& parameters);

base::Result<std::vector<records::Json>> ProposeUnrolling(const Draft& draft);
base::Result<std::string> ApplyUnrolling(Draft& draft, const records::Json& parameters);

base::Result<std::vector<records::Json>> ProposeInterchange(const Draft& draft);
base::Result<std::string> ApplyInterchange(Draft& draft, const records::Json& parameters);

base::Result<std::vector<records::Json>> ProposeRestrict(const Draft& draft);
base::Result<std::string> ApplyRestrict(Draft& draft, const records::Json& parameters);

base::Result<std::vector<records::Json>> ProposeLaunchBounds(const Draft& draft);
base::Result<std::string> ApplyLaunchBounds(Draft& draft, const records::Json& parameters);

base::Result<std::vector<records::Json>> ProposePadding(const Draft& draft);
base::Result<std::string> ApplyPadding(Draft& draft, const records::Json& parameters);

base::Result<std::vector<records::Json>> ProposeGridStride(const Draft& draft);
base::Result<std::string> ApplyGridStride(Draft& draft, const records::Json& parameters);

base::Result<std::vector<records::Json>> ProposeStaging(const Draft& draft);
base::Result<std::string> ApplyStaging(Draft& draft, const records::Json& parameters);

base::Result<std::vector<records::Json>> ProposeTiling(const Draft& draft);
base::Result<std::string> ApplyTiling(Draft& draft, const records::Json& parameters);

base::Result<std::vector<records::Json>> ProposeJoinedBlocks(const Draft& draft);
base::Result<std::string> ApplyJoinedBlocks(Draft& draft, const records::Json& parameters);

base::Result<std::vector<records::Json>> ProposeFullUnrolling(const Draft& draft);
base::Result<std::string> ApplyFullUnrolling(Draft& draft, const records::Json& parameters);

base::Result<std::vector<records::Json>> ProposeReciprocalRoot(const Draft& draft);
base::Result<std::string> ApplyReciprocalRoot(Draft& draft, const records::Json& parameters);

base::Result<std::string> ApplySizeClass(Draft& draft, const records::Json& parameters);

base::Result<std::vector<records::Json>> ProposeVectorizedAccess(const Draft& draft);
base::Result<std::string> ApplyVectorizedAccess(Draft& draft, const records::Json& parameters);

}  // namespace cupilot::source
