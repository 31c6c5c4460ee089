#include "source/swap/nameless_kernels.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <tuple>

#include "base/hash.h"
#include "source/swap/pattern.h"

namespace cupilot::source {
namespace {

bool HasNameless(const SwapRequest& request) {
  return std::any_of(request.kernels.begin(), request.kernels.end(),
                     [](const SwappedKernel& swapped) { return IsNameless(swapped.kernel); });
}

// "image::map FviE" or "_Z3mapI...": of names and blanks alone.
bool IsInstance(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == ':' || c == ' ' ||
           c == '.' || c == '$';
  });
}

}  // namespace

bool IsNameless(const records::Kernel& kernel) { return !kernel.made_types.empty(); }

std::string MadeTypes(const SwapRequest& request) {
  std::set<std::tuple<std::vector<std::string>, std::string>> written;
  std::string text;
  for (const SwappedKernel& swapped : request.kernels) {
    for (const records::MadeType& type : swapped.kernel.made_types) {
      if (!written.emplace(type.namespaces, type.text).second) continue;
      std::string open, close;
      for (const std::string& scope : type.namespaces) {
        open += scope.empty() ? "namespace { " : "namespace " + scope + " { ";
        close += "} ";
      }
      // One of its own each: a namespace of one name in another and in an unnamed one inside of it
      // is ambiguous in what nvcc writes.
      const std::string own = base::Hasher().Add(request.unit).Add(open).Add(type.text).Hex();
      text += open + "inline namespace of_" + own.substr(0, 16) + " {\n" + type.text + "} " +
              close + "\n";
    }
  }
  if (text.empty()) return text;
  return text + "#if !defined(__CUDA_ARCH__)\n#include <ctype.h>\n#include <cxxabi.h>\n#endif\n";
}

base::Result<std::string> NamelessRows(const SwapRequest& request) {
  if (!HasNameless(request)) return std::string();
  std::string sizes, rows;
  for (std::size_t k = 0; k < request.kernels.size(); ++k) {
    const records::Kernel& kernel = request.kernels[k].kernel;
    if (!IsNameless(kernel)) continue;
    if (!IsInstance(kernel.instance)) {
      return base::Fail(base::InvalidArgument(kernel.name + ": '" + kernel.instance +
                                              "' names no instantiation"));
    }
    std::string list;
    for (const records::Parameter& parameter : kernel.parameters) {
      list += "sizeof(" + parameter.canonical + "), ";
    }
    const std::string number = std::to_string(k);
    sizes += "const unsigned long bytes_" + number + "[] = {" + list + "0};\n";
    rows += Filled("    {@0, \"@1\", @2, bytes_@0},\n",
                   {number, kernel.instance, std::to_string(kernel.parameters.size())});
  }
  return "#define CUPILOT_SWAP_NAMELESS\n"
         "struct nameless_row {\n  int kernel;\n  const char* instance;\n  unsigned count;\n"
         "  const unsigned long* bytes;  // of each parameter\n};\n" +
         sizes + "const nameless_row nameless[] = {\n" + rows + "};\n" +
         "enum { nameless_count = sizeof(nameless) / sizeof(nameless[0]) };\n" +
         R"hook(
const nameless_row* nameless_of(int kernel) {
  for (int i = 0; i < nameless_count; ++i) {
    if (nameless[i].kernel == kernel) return &nameless[i];
  }
  return 0;
}

// Whether the original's arguments are as large as those that variants take. A function object that we
// wrote has the captures in the compiler's order; were there another, it would mostly show here.
bool has_our_arguments(int kernel) {
  const nameless_row* row = nameless_of(kernel);
  if (row == 0) return true;
#if defined(CUPILOT_HOST_ABI_VERSION)
  return true;  // it was looked at before it got its place
#elif CUDART_VERSION >= 12040
  for (unsigned i = 0; i < row->count; ++i) {
    size_t offset = 0, bytes = 0;
    if (cudaFuncGetParamInfo(functions[kernel], i, &offset, &bytes) != cudaSuccess) {
      cudaGetLastError();
      return false;
    }
    if (bytes != row->bytes[i]) return false;
  }
  return true;
#else
  return false;
#endif
}
)hook";
}

std::string NamelessMachinery(const SwapRequest& request) {
  if (!HasNameless(request)) return {};
  return R"hook(
#if defined(CUPILOT_HOST_ABI_VERSION)
// A launcher function's own call, before its first launch.
void note_instance(const void* function, const char* kernel, const char* type,
                   const unsigned long* bytes, unsigned count) {
  const size_t length = strlen(kernel);
  for (int i = 0; i < nameless_count; ++i) {
    const nameless_row& row = nameless[i];
    if (strncmp(row.instance, kernel, length) != 0 || row.instance[length] != ' ' || type == 0 ||
        strcmp(row.instance + length + 1, type) != 0 || row.count != count ||
        memcmp(row.bytes, bytes, count * sizeof *bytes) != 0) {
      continue;
    }
    __atomic_store_n(&functions[row.kernel], function, __ATOMIC_RELEASE);
    resolve();
  }
}
#else
// "_INTERNAL_<file>::" is where the compiler has put what is internal to the file.
char* plain_name(const char* mangled) {
  int status = 0;
  char* name = abi::__cxa_demangle(mangled, 0, 0, &status);
  if (name == 0) return 0;
  char* to = name;
  for (const char* from = name; *from != 0; *to++ = *from++) {
    const bool within = from != name && (isalnum((unsigned char)from[-1]) || from[-1] == '_');
    const char* behind = !within && strncmp(from, "_INTERNAL_", 10) == 0 ? strstr(from, "::") : 0;
    if (behind != 0) from = behind + 2;
    if (*from == 0) break;
  }
  *to = 0;
  return name;
}

// While the object is registered, so before any launch. A second function of one name leaves none.
void note_registration(const void* function, const char* mangled) {
  static bool twice[nameless_count];
  if (strstr(mangled, "Ul") == 0) return;
  char* name = plain_name(mangled);
  for (int i = 0; name != 0 && i < nameless_count; ++i) {
    char* wanted = plain_name(nameless[i].instance);
    if (wanted != 0 && strcmp(name, wanted) == 0) {
      const void*& place = functions[nameless[i].kernel];
      twice[i] = twice[i] || (place != 0 && place != function);
      place = twice[i] ? 0 : function;
    }
    free(wanted);
  }
  free(name);
}
#endif
)hook";
}

std::string NamelessEpilogue(const SwapRequest& request, const std::string& hook) {
  if (!HasNameless(request)) return {};
  return Filled(R"hook(#if !defined(__CUDA_ARCH__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmissing-declarations"
#if defined(CUPILOT_HOST_ABI_VERSION)
extern "C" __attribute__((visibility("hidden"), used)) void
@0_instance(const void* function, const char* kernel, const char* type, const unsigned long* bytes,
    unsigned count) {
  cupilot_swap::note_instance(function, kernel, type, bytes, count);
}
#else
extern "C" void cupilot_real_register(void**, const char*, char*, const char*, int, uint3*, uint3*, dim3*,
                                      dim3*, int*) __asm__("__cudaRegisterFunction");
extern "C" __attribute__((visibility("hidden"), used)) void
@0_register(void** module, const char* function, char* address, const char* name, int threads,
    uint3* thread, uint3* block, dim3* block_size, dim3* grid_size, int* warp) {
  cupilot_swap::note_registration(function, name);
  cupilot_real_register(module, function, address, name, threads, thread, block, block_size, grid_size,
                        warp);
}
// The registration that the compiler writes behind this text calls it so.
extern "C" void __cudaRegisterFunction(void**, const char*, char*, const char*, int, uint3*, uint3*, dim3*,
                                       dim3*, int*) __asm__("@0_register");
#endif
#pragma GCC diagnostic pop
#endif
)hook",
                {hook});
}

}  // namespace cupilot::source
