/* Loads libcurl. docs/adr/0010-libraries-on-demand.md has the reasons. */
#include "io/upstream/curl_int.h"
#include "io/system/library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <strings.h>

/* curl's type-checking macros refer to the functions by name; here they come from a table. */
#undef curl_easy_setopt
#undef curl_easy_getinfo
#undef curl_multi_setopt

static struct pl_curl table;
static bool is_loaded;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void load(void)
{
#define X(name) {#name, &table.name},
    static const struct pl_library_function functions[] = {PL_CURL_FUNCTIONS(X)};
#undef X
    void *library = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
    is_loaded = pl_library_fill(library, functions, sizeof functions / sizeof *functions) &&
                table.curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
}

enum pl_status pl_curl_load(const struct pl_curl **ret_curl, struct pl_error *err)
{
    pthread_once(&once, load);
    if (!is_loaded)
        return pl_fail(err, PL_IO, "libcurl is missing: install the package libcurl4");
    *ret_curl = &table;
    return PL_OK;
}

void pl_curl_set_basics(const struct pl_curl *curl, CURL *easy, const char *url,
                        curl_write_callback on_bytes, void *ctx)
{
    curl->curl_easy_setopt(easy, CURLOPT_URL, url);
    curl->curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl->curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl->curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_bytes);
    curl->curl_easy_setopt(easy, CURLOPT_WRITEDATA, ctx);
}

bool pl_curl_header(struct pl_str line, const char *name, struct pl_str *ret_value)
{
    size_t n_name = strlen(name);
    if (line.len <= n_name || line.ptr[n_name] != ':' || strncasecmp(line.ptr, name, n_name) != 0)
        return false;
    struct pl_str value = pl_str_slice(line, n_name + 1, line.len);
    while (value.len && (value.ptr[0] == ' ' || value.ptr[0] == '\t'))
        value = pl_str_slice(value, 1, value.len);
    while (value.len && (unsigned char)value.ptr[value.len - 1] <= ' ')
        value.len--;
    *ret_value = value;
    return true;
}
