/* The functions of libcurl, which is loaded on first use. */
#ifndef PL_IO_CURL_INT_H
#define PL_IO_CURL_INT_H

#include "base/status.h"

#include <curl/curl.h>

/* X(function): the functions of the library that we use. */
#define PL_CURL_FUNCTIONS(X)                                                                       \
    X(curl_global_init)                                                                            \
    X(curl_easy_init)                                                                              \
    X(curl_easy_setopt)                                                                            \
    X(curl_easy_perform)                                                                           \
    X(curl_easy_getinfo)                                                                           \
    X(curl_easy_strerror)                                                                          \
    X(curl_easy_cleanup)                                                                           \
    X(curl_easy_reset)                                                                             \
    X(curl_easy_pause)                                                                             \
    X(curl_multi_init)                                                                             \
    X(curl_multi_cleanup)                                                                          \
    X(curl_multi_setopt)                                                                           \
    X(curl_multi_add_handle)                                                                       \
    X(curl_multi_remove_handle)                                                                    \
    X(curl_multi_socket_action)                                                                    \
    X(curl_multi_info_read)                                                                        \
    X(curl_share_init)                                                                             \
    X(curl_share_setopt)                                                                           \
    X(curl_share_cleanup)                                                                          \
    X(curl_slist_append)                                                                           \
    X(curl_slist_free_all)

struct pl_curl {
#define X(name) __typeof__(&(name)) name;
    PL_CURL_FUNCTIONS(X)
#undef X
};

/* Options of every call: URL, only http and https, no signals, the callback for the body. */
void pl_curl_set_basics(const struct pl_curl *curl, CURL *easy, const char *url,
                        curl_write_callback on_bytes, void *ctx);

/* Whether a header line of an answer is "NAME: value"; *ret_value is trimmed. */
bool pl_curl_header(struct pl_str line, const char *name, struct pl_str *ret_value);

/* Everybody gets the same table. PL_IO when the library is not installed. Any thread. */
enum pl_status pl_curl_load(const struct pl_curl **ret_curl, struct pl_error *err);

#endif
