// What a model may say of a variant, and the reading of it: for the translator and the reviser.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "agents/roles/role.h"
#include "records/json.h"
#include "records/kernel.h"
#include "records/variant.h"

namespace cupilot::agents {

// Limits of what a model may write; beyond them is a complaint.
inline constexpr std::size_t kMostSource = 64 * 1024;  // bytes
inline constexpr std::size_t kMostExpression = 1024;   // bytes of a launch expression
inline constexpr std::size_t kMostLaunches = 16;
inline constexpr std::size_t kMostWorkspaces = 8;
inline constexpr std::size_t kMostTunables = 12;
inline constexpr std::size_t kMostTunableValues = 16;
inline constexpr std::size_t kMostRequire = 24;
inline constexpr std::size_t kMostIncludes = 16;
inline constexpr std::size_t kMostSteps = 12;

struct WrittenVariant {
  // kernel, id and template_arguments are the kernel's; strategy and parents are left to the
  // caller. values: the default of each tunable.
  records::Variant variant;
  // What the model says it did, with expected_gain in [1, 4]; may be empty. Words, and no evidence.
  std::vector<records::StrategyStep> steps;
};

inline constexpr const char* kVariantSchemaName = "cupilot_variant_1";
// The answer's schema, with limits; requests carry it without them (SentSchema).
const records::Json& VariantSchema();

// Checked: the document, the limits, that expressions parse and name what exists, that entries and
// workspaces are there, and that there is nothing in the source that is plainly no device code. All
// else is the whitelist's.
Answer<WrittenVariant> ReadVariant(const std::string& text, const records::Kernel& kernel);

// The form of an answer, as prompts show it.
extern const char* const kVariantForm;

// The part of a variant that a model may write, as data in a prompt: its plan as such a document,
// and its source as text.
std::string VariantText(const records::Variant& variant);

}  // namespace cupilot::agents
