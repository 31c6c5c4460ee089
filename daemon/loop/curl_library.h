// libcurl, opened when something is to be asked over HTTP: it brings thirty libraries, which a
// daemon that asks nobody does without, and so does an archive of ours, which takes the machine's.
#pragma once

#include <curl/curl.h>

#include "base/result.h"

namespace cupilot::loop {

// The functions that are used, by their names without "curl_". The types are the header's own; what
// it has as macros are functions here.
struct CurlLibrary {
  decltype(&::curl_global_init) global_init;
  decltype(&::curl_free) free;
  decltype(&::curl_url) url;
  decltype(&::curl_url_cleanup) url_cleanup;
  decltype(&::curl_url_get) url_get;
  decltype(&::curl_url_set) url_set;
  decltype(&::curl_slist_append) slist_append;
  decltype(&::curl_slist_free_all) slist_free_all;
  decltype(&::curl_easy_init) easy_init;
  decltype(&::curl_easy_cleanup) easy_cleanup;
  decltype(&::curl_easy_getinfo) easy_getinfo;
  decltype(&::curl_easy_setopt) easy_setopt;
  decltype(&::curl_easy_strerror) easy_strerror;
  decltype(&::curl_multi_init) multi_init;
  decltype(&::curl_multi_cleanup) multi_cleanup;
  decltype(&::curl_multi_setopt) multi_setopt;
  decltype(&::curl_multi_assign) multi_assign;
  decltype(&::curl_multi_add_handle) multi_add_handle;
  decltype(&::curl_multi_remove_handle) multi_remove_handle;
  decltype(&::curl_multi_socket_action) multi_socket_action;
  decltype(&::curl_multi_info_read) multi_info_read;
};

// Opened and initialised by the first call, and then kept for as long as the process lives.
// kUnavailable: there is none, with what to install. Any thread.
const base::Result<CurlLibrary>& OpenCurl();

}  // namespace cupilot::loop
