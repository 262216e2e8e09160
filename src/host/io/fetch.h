/* Fetching on somebody's word, guarded (security.md, 5): http and https only, the name resolved
 * once, every address of it global, the connection made to an address that was looked at, and all
 * of that again at each redirect. Blocking: on a worker. */
#ifndef PL_IO_FETCH_H
#define PL_IO_FETCH_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/status.h"

#define PL_FETCH_MAX_BYTES     (25u << 20)
#define PL_FETCH_MAX_REDIRECTS 3
#define PL_FETCH_CONNECT_MS    5000
#define PL_FETCH_TOTAL_MS      30000

struct pl_fetch_rules {
    /* Hosts that may be internal: "files.intranet", "10.0.0.5:8080", as the operator's
     * configuration names them; without a port any port of theirs. */
    const char *const *allowed;
    size_t n_allowed;
    /* Resolves a name in place of the system, for tests; NULL: the system. Appends addresses as
     * text, one per line. */
    enum pl_status (*resolve)(void *ctx, struct pl_str host, struct pl_buf *to,
                              struct pl_error *err);
    void *ctx;
    int64_t max_bytes; /* 0: PL_FETCH_MAX_BYTES; after inflating */
    int64_t total_ms;  /* 0: PL_FETCH_TOTAL_MS; redirects and all */
};

struct pl_fetched {
    int status;                 /* 200 … 299 */
    struct pl_str content_type; /* arena; empty: none was said */
    struct pl_str url;          /* arena; the last one */
    struct pl_buf *body;        /* borrowed; where the bytes were put */
};

/* PL_INVALID: this URL is not fetched (err says which rule, and which address); PL_NOT_FOUND: no
 * such host, or nobody listens; PL_LIMIT: too large, too slow, too many redirects; PL_IO: it broke
 * off, or the answer was no 2xx (err says the status); PL_NOMEM. */
enum pl_status pl_fetch(struct pl_arena *arena, struct pl_str url,
                        const struct pl_fetch_rules *rules, struct pl_buf *body,
                        struct pl_fetched *ret_fetched, struct pl_error *err);

/* Whether this can stand among the `allowed`: a host, perhaps with a port, and nothing else. */
bool pl_fetch_is_host(const char *entry);

/* Only the rules, nothing fetched: for what is stored now and fetched later. */
enum pl_status pl_fetch_check(struct pl_arena *arena, struct pl_str url,
                              const struct pl_fetch_rules *rules, struct pl_error *err);

#endif
