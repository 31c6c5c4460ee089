#include "records/json.h"
#include "source/swap/entry_bodies.h"
#include "source/swap/pieces.h"
#include "source/swap/swapped_source.h"
#include "source/swap/variant_file.h"
#include "source/swap/variant_text.h"
#include "tests/fuzz/fuzz_targets.h"
#include "tests/support/make_records.h"

namespace cupilot::fuzz {
namespace {

// A kernel as the source worker describes one; only variants come from outside.
records::Kernel SomeKernel() {
  records::Kernel kernel;
  kernel.name = "app::scale";
  kernel.namespaces = {"app"};
  kernel.parameters = {
      test::MakeParameter("factor", "float", records::ParameterKind::kFloating, 4),
      test::MakeParameter("in", "const float *", records::ParameterKind::kPointer, 8),
      test::MakeParameter("out", "float *", records::ParameterKind::kPointer, 8),
      test::MakeParameter("n", "int", records::ParameterKind::kInteger, 4)};
  return kernel;
}

std::string TextIn(const records::Json& json, const char* key, const char* otherwise) {
  const auto it = json.find(key);
  return it != json.end() && it->is_string() ? it->get<std::string>() : otherwise;
}

std::string OpenBraces(const std::string& text) {
  const std::vector<source::Token> tokens = source::Lex(text);
  int depth = 0;
  for (const source::Token& token : tokens) {
    if (token.kind != source::TokenKind::kPunctuator) continue;
    const std::string_view word = source::Spelling(text, token);
    if (word == "{") ++depth;
    if (word == "}") --depth;
    if (depth < 0) return "a brace closes what it did not open: " + text;
  }
  return depth == 0 ? "" : "braces are not closed: " + text;
}

// The variant's text stands in its one namespace, all brackets are closed.
std::string WhatIsWrong(const std::string& text, const records::Variant& variant) {
  const source::Pieces pieces = source::SplitIntoPieces(text);
  const std::string wanted = "namespace " + records::VariantNamespace(variant.id);
  int opened = 0;
  for (const source::Piece& piece : pieces.pieces) {
    const std::vector<std::string>& path = pieces.scopes[piece.scope];
    if (piece.kind == source::Piece::Kind::kScope && path.back() == wanted) ++opened;
  }
  // What only a compiler can read (a digraph in a variant, say) is the compiler's to refuse; its
  // brackets close all the same.
  if (pieces.readable) return opened == 1 ? "" : "it has not one namespace: " + text;
  return OpenBraces(text);
}

std::vector<std::string> SpellingsOf(const std::string& text) {
  std::vector<std::string> words;
  for (const source::Token& token : source::Lex(text)) {
    words.emplace_back(source::Spelling(text, token));
  }
  return words;
}

void ReplaceAll(std::string& text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at)) {
    text.replace(at, from.size(), to);
    at += to.size();
  }
}

// What nvcc's host pass sees of it, without what names the variant by its content.
std::string HostPass(const source::SwappedSource& swapped, const std::string& id) {
  std::string text = swapped.text;
  const std::size_t begin = text.find("#if defined(__CUDA_ARCH__) ||");
  const std::size_t end = text.find("\n#else\n", begin);
  if (begin == std::string::npos || end == std::string::npos) return "no host pass: " + text;
  text.erase(begin, end - begin);
  for (const std::string& name : {records::VariantNamespace(id), id, swapped.hook}) {
    ReplaceAll(text, name, "@");
  }
  return text;
}

// The same kernels without what they do: the host pass must be the same.
std::string DependsOnBodies(source::SwapRequest request, const source::SwappedSource& swapped) {
  records::Variant& variant = request.kernels[0].variants[0].variant;
  const std::string pass = HostPass(swapped, variant.id);
  const auto bodies = source::FindEntryBodies(variant.source);
  if (!bodies) return "it is written, though its brackets do not match";
  for (auto body = bodies->rbegin(); body != bodies->rend(); ++body) {
    if (body->end == 0) continue;
    variant.source.replace(body->begin, body->end - body->begin, "{}");
  }
  variant.id = records::VariantId(variant);
  const auto bare = source::WriteSwappedSource(request);
  if (!bare) return "without bodies it is not written: " + bare.error().message;
  return HostPass(*bare, variant.id) == pass ? "" : "its host pass depends on bodies: " + pass;
}

}  // namespace

// {"variant": a variant's document, "target": "...", "guard": "..."}
std::string SwappedSource(std::string_view bytes) {
  const auto json = records::ParseJson(bytes);
  if (!json || !json->is_object() || !json->contains("variant")) return {};
  auto variant = records::ParseVariant((*json)["variant"]);
  if (!variant) return {};
  source::SwappedKernel kernel{SomeKernel(), {}};
  kernel.variants = {{*variant,
                      TextIn(*json, "target", "compute_90,sm_90"),
                      {},
                      TextIn(*json, "guard", ""),
                      TextIn(*json, "title", "title"),
                      1.5}};
  const source::SwapRequest request{"/p/main.cu", "/b/main.o", {kernel}};
  const auto swapped = source::WriteSwappedSource(request);
  if (!swapped) return {};
  const auto again = source::WriteSwappedSource(request);
  if (!again || again->Files() != swapped->Files()) return "it is written in two ways";
  if (source::VariantFilesOf(swapped->text).size() != 1) return "it is included not once";
  if (std::string wrong = WhatIsWrong(swapped->variants[0].text, *variant); !wrong.empty()) {
    return wrong;
  }
  if (std::string wrong = OpenBraces(swapped->text); !wrong.empty()) return wrong;
  if (std::string wrong = DependsOnBodies(request, *swapped); !wrong.empty()) return wrong;
  const auto alone = source::VariantText(request.kernels[0].kernel, *variant,
                                         {request.kernels[0].variants[0].target}, request.unit);
  if (!alone || SpellingsOf(swapped->variants[0].text) != SpellingsOf(*alone)) {
    return "its head is more than a comment: " + swapped->variants[0].text;
  }
  return {};
}

}  // namespace cupilot::fuzz
