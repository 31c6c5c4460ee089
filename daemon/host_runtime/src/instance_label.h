// What people call an instantiation of a kernel template.
#pragma once

#include <string>

namespace cupilot_host {

// "image::blur<float, 4>" of "image::blur" and the compiler's description of the function, as GCC
// ("void image::blur(T*) [with T = float; int N = 4]") and clang ("... [T = float, N = 4]") write
// it; the name alone where there are no template arguments in it. Packs are written out.
std::string LabelOf(const std::string& name, const std::string& description);

}  // namespace cupilot_host
