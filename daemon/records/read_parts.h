// Reading of the structures that several formats contain; for reader.h's containers and for
// messages of other folders that hold them.
#pragma once

#include "records/compile_command.h"
#include "records/compiler_text.h"
#include "records/evaluation.h"
#include "records/kernel.h"
#include "records/reader.h"
#include "records/selection.h"
#include "records/variant.h"
#include "records/workload.h"

namespace cupilot::records {

void Read(const Json& json, const std::string& path, Fill& out, Reading& reading);
void Read(const Json& json, const std::string& path, Argument& out, Reading& reading);
void Read(const Json& json, const std::string& path, Buffer& out, Reading& reading);
void Read(const Json& json, const std::string& path, Global& out, Reading& reading);
void Read(const Json& json, const std::string& path, Case& out, Reading& reading);
void Read(const Json& json, const std::string& path, Tolerance& out, Reading& reading);
void Read(const Json& json, const std::string& path, Workload& out, Reading& reading);

void Read(const Json& json, const std::string& path, Strategy& out, Reading& reading);
void Read(const Json& json, const std::string& path, Variant& out, Reading& reading);

void Read(const Json& json, const std::string& path, CompileCommand& out, Reading& reading);
void Read(const Json& json, const std::string& path, CompilerSetup& out, Reading& reading);
void Read(const Json& json, const std::string& path, CompilerPass& out, Reading& reading);
void Read(const Json& json, const std::string& path, TextPiece& out, Reading& reading);
void Read(const Json& json, const std::string& path, PassSummary& out, Reading& reading);
Json ToJson(const CompilerSetup& value);
Json ToJson(const CompilerPass& value);
Json ToJson(const TextPiece& value);
Json ToJson(const PassSummary& value);
void Read(const Json& json, const std::string& path, Kernel& out, Reading& reading);
void Read(const Json& json, const std::string& path, ClosureRange& out, Reading& reading);

void Read(const Json& json, const std::string& path, DeviceIdentity& out, Reading& reading);
void Read(const Json& json, const std::string& path, CaseResult& out, Reading& reading);
void Read(const Json& json, const std::string& path, Check& out, Reading& reading);
void Read(const Json& json, const std::string& path, Evaluation& out, Reading& reading);
void Read(const Json& json, const std::string& path, Selection& out, Reading& reading);

Json ToJson(const Case& value);
Json ToJson(const Tolerance& value);
Json ToJson(const ClosureRange& value);
Json ToJson(const DeviceIdentity& value);
Json ToJson(const CaseResult& value);
Json ToJson(const Check& value);

// The inner structures of one format each.
void Read(const Json& json, const std::string& path, PointerInBytes& out, Reading& reading);
void Read(const Json& json, const std::string& path, LaunchAttributes& out, Reading& reading);
void Read(const Json& json, const std::string& path, Parameter& out, Reading& reading);
void Read(const Json& json, const std::string& path, Parameter::Member& out, Reading& reading);
void Read(const Json& json, const std::string& path, Tunable& out, Reading& reading);
void Read(const Json& json, const std::string& path, ClosureGlobal& out, Reading& reading);
void Read(const Json& json, const std::string& path, Launch& out, Reading& reading);
void Read(const Json& json, const std::string& path, Workspace& out, Reading& reading);
void Read(const Json& json, const std::string& path, StrategyStep& out, Reading& reading);
void Read(const Json& json, const std::string& path, Resources& out, Reading& reading);
void Read(const Json& json, const std::string& path, SelectedFile& out, Reading& reading);
void Read(const Json& json, const std::string& path, SelectedVariant& out, Reading& reading);
void Read(const Json& json, const std::string& path, SelectedKernel& out, Reading& reading);
Json ToJson(const PointerInBytes& value);
Json ToJson(const LaunchAttributes& value);
Json ToJson(const Fill& fill);
Json ToJson(const Argument& value);
Json ToJson(const Buffer& value);
Json ToJson(const Global& value);
Json ToJson(const Parameter& value);
Json ToJson(const Parameter::Member& value);
Json ToJson(const Tunable& value);
Json ToJson(const ClosureGlobal& value);
Json ToJson(const Launch& launch);
Json ToJson(const Workspace& workspace);
Json ToJson(const StrategyStep& step);
Json ToJson(const Resources& value);
Json ToJson(const SelectedFile& value);
Json ToJson(const SelectedVariant& value);
Json ToJson(const SelectedKernel& value);

// A size: an integer or an expression (checked in a strict reading), kept as text.
void ReadSize(const Json& json, const std::string& path, Size& out, Reading& reading);
// An expression as text; numbers are accepted. In a strict reading it must parse.
void ReadExpression(const Json& json, const std::string& path, std::string& out, Reading& reading);
// Exactly three expressions (of a grid, a block, a cluster).
void ReadThree(const Json& json, const std::string& path, std::vector<std::string>& out,
               Reading& reading);

}  // namespace cupilot::records
