#include "loop/curl_library.h"

#include <dlfcn.h>

#include <string>

namespace cupilot::loop {
namespace {

// OpenSSL's and GnuTLS's flavour: the same interface.
constexpr const char* kCurlNames[] = {"libcurl.so.4", "libcurl-gnutls.so.4"};

base::Result<CurlLibrary> OpenIt() {
  void* library = nullptr;
  std::string why;
  for (const char* name : kCurlNames) {
    library = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (library != nullptr) break;
    if (why.empty()) why = ::dlerror();
  }
  if (library == nullptr) {
    return base::Fail(base::Unavailable("asking over HTTP needs libcurl, which cannot be loaded (" +
                                        why +
                                        "); please install it (on Debian and Ubuntu: libcurl4)"));
  }
  CurlLibrary curl = {};
  std::string missing;
  const auto find = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::decay_t<decltype(function)>>(::dlsym(library, name));
    if (function == nullptr) missing += std::string(missing.empty() ? "" : ", ") + name;
  };
  find(curl.global_init, "curl_global_init");
  find(curl.free, "curl_free");
  find(curl.url, "curl_url");
  find(curl.url_cleanup, "curl_url_cleanup");
  find(curl.url_get, "curl_url_get");
  find(curl.url_set, "curl_url_set");
  find(curl.slist_append, "curl_slist_append");
  find(curl.slist_free_all, "curl_slist_free_all");
  find(curl.easy_init, "curl_easy_init");
  find(curl.easy_cleanup, "curl_easy_cleanup");
  find(curl.easy_getinfo, "curl_easy_getinfo");
  find(curl.easy_setopt, "curl_easy_setopt");
  find(curl.easy_strerror, "curl_easy_strerror");
  find(curl.multi_init, "curl_multi_init");
  find(curl.multi_cleanup, "curl_multi_cleanup");
  find(curl.multi_setopt, "curl_multi_setopt");
  find(curl.multi_assign, "curl_multi_assign");
  find(curl.multi_add_handle, "curl_multi_add_handle");
  find(curl.multi_remove_handle, "curl_multi_remove_handle");
  find(curl.multi_socket_action, "curl_multi_socket_action");
  find(curl.multi_info_read, "curl_multi_info_read");
  if (!missing.empty()) {
    return base::Fail(
        base::Unavailable("the libcurl of this machine is too old: it has no " + missing));
  }
  if (curl.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
    return base::Fail(base::Unavailable("libcurl cannot be initialised"));
  }
  return curl;
}

}  // namespace

const base::Result<CurlLibrary>& OpenCurl() {
  static const base::Result<CurlLibrary>& opened = *new base::Result<CurlLibrary>(OpenIt());
  return opened;
}

}  // namespace cupilot::loop
