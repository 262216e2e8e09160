/* Loading libcurl: why so, and what it saves, is in docs/adr/0010-libraries-on-demand.md. */
#include "io/curl_int.h"

#include <dlfcn.h>
#include <pthread.h>

/* The macros that check types name the functions themselves; here they come from a table. */
#undef curl_easy_setopt
#undef curl_easy_getinfo

static struct pl_curl table;
static bool is_loaded;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void load(void)
{
    void *library = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return;
    bool has_all = true;
#define X(name)                                                                                    \
    table.name = (__typeof__(table.name))dlsym(library, #name);                                    \
    has_all = has_all && table.name;
    PL_CURL_FUNCTIONS(X)
#undef X
    is_loaded = has_all && table.curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
}

enum pl_status pl_curl_load(const struct pl_curl **ret_curl, struct pl_error *err)
{
    pthread_once(&once, load);
    if (!is_loaded)
        return pl_fail(err, PL_IO, "libcurl is missing: install the package libcurl4");
    *ret_curl = &table;
    return PL_OK;
}
