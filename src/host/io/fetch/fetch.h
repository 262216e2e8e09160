/* Fetching on somebody's word, guarded (security.md, 5): http and https only, the name resolved
 * once, every address of it global, the connection made to an address that was looked at, and all
 * of that again at each redirect. On the loop: nothing blocks, and all of it, the name included,
 * ends at its time. */
#ifndef PL_IO_FETCH_H
#define PL_IO_FETCH_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/status.h"
#include "io/workers.h"

#define PL_FETCH_MAX_BYTES     (25u << 20)
#define PL_FETCH_MAX_REDIRECTS 3
#define PL_FETCH_CONNECT_MS    5000
#define PL_FETCH_TOTAL_MS      30000

/* More than a plain GET. */
struct pl_fetch_how {
    const char *method; /* "POST"; NULL: GET */
    struct pl_str body; /* empty: none */
    const char *const
        *headers; /* "Name: value", ended by NULL; for the first host only; may be NULL */
    /* Whether a URL may be asked, at the first hop and at each redirect; may be NULL. */
    bool (*may)(void *ctx, struct pl_str url);
    /* Any status is an answer, with its body; redirects of other methods than GET and HEAD too. */
    bool takes_any;
};

struct pl_fetch_rules {
    /* Hosts that may be internal: "files.intranet", "10.0.0.5:8080", as the operator's
     * configuration names them; without a port any port of theirs. */
    const char *const *allowed;
    size_t n_allowed;
    /* Resolves a name in place of the system, for tests; NULL: the system. Appends addresses as
     * text, one per line. On a worker. */
    enum pl_status (*resolve)(void *ctx, struct pl_str host, struct pl_buf *to,
                              struct pl_error *err);
    void *ctx;
    int64_t max_bytes;              /* 0: PL_FETCH_MAX_BYTES; after inflating */
    int64_t total_ms;               /* 0: PL_FETCH_TOTAL_MS; redirects and all */
    const struct pl_fetch_how *how; /* NULL: a plain GET */
};

struct pl_fetched {
    int status;                 /* 200 … 299 */
    struct pl_str content_type; /* empty: none was said */
    struct pl_str url;          /* the last one */
    struct pl_str headers;      /* with takes_any: the lines of the head */
    bool is_late;               /* of a failure: its time was over */
};

/* Where it happens, and for whom. */
struct pl_fetch_from {
    struct pl_loop *loop;       /* borrowed */
    struct pl_workers *workers; /* borrowed; for names */
    uint64_t owner;             /* of their jobs */
};

struct pl_fetch; /* owned by its starter, until on_end or pl_fetch_cancel */

struct pl_fetch_ops {
    /* Some of the body. It may pause the fetch, but not cancel it. */
    void (*on_bytes)(void *ctx, struct pl_str bytes);
    /* With PL_OK *fetched, whose strings last as long as the call; else *err, and of *fetched only
     * is_late. The fetch is gone.
     *
     * PL_INVALID: this URL is not fetched (err says which rule), or there is no such host;
     * PL_NOT_FOUND: nobody listens there; PL_LIMIT: too large, too slow, too many redirects; PL_IO:
     * it broke off, or the answer was no 2xx (err says the status), or there is no libcurl;
     * PL_NOMEM. No error names an address that the URL does not, or tells a name that is internal
     * from one that is unknown. */
    void (*on_end)(void *ctx, enum pl_status status, const struct pl_fetched *fetched,
                   const struct pl_error *err);
};

/* On the loop's thread. `url` is copied; the rules, and what they name, outlive the fetch. No
 * callback comes before this has returned. NULL when out of memory. */
struct pl_fetch *pl_fetch_start(const struct pl_fetch_from *from, struct pl_str url,
                                const struct pl_fetch_rules *rules, const struct pl_fetch_ops *ops,
                                void *ctx);
/* No more callbacks. Not within on_bytes. Accepts NULL. */
void pl_fetch_cancel(struct pl_fetch *fetch);
/* Back-pressure: soon no more bytes come, but the deadline remains. */
void pl_fetch_pause(struct pl_fetch *fetch, bool is_paused);

/* The status of the answer that is being read, from the first on_bytes on. */
int pl_fetch_status(const struct pl_fetch *fetch);
struct pl_str pl_fetch_headers(const struct pl_fetch *fetch);
/* The declared content type, from the first on_bytes on; empty: none. */
struct pl_str pl_fetch_content_type(const struct pl_fetch *fetch);

/* Whether this is a valid entry of `allowed`: a host, perhaps with a port, and nothing else. */
bool pl_fetch_is_host(const char *entry);

/* Checks the rules without fetching: for URLs that are stored now and fetched later. Resolves the
 * name: blocking, on a worker. */
enum pl_status pl_fetch_check(struct pl_arena *arena, struct pl_str url,
                              const struct pl_fetch_rules *rules, struct pl_error *err);

#endif
