/* Guarded fetching of URLs that users or models name: only http and https; the
 * name is resolved once; every address must be global; the connection goes to a checked address;
 * and each redirect passes all these checks again. Runs on the loop: nothing blocks, and one
 * deadline covers all of it, name resolution included. */
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

/* Options beyond a plain GET. */
struct pl_fetch_how {
    const char *method; /* "POST"; NULL: GET */
    struct pl_str body; /* empty: no body */
    const char *const
        *headers; /* "Name: value", ended by NULL; for the first host only; may be NULL */
    /* Decides whether a URL may be requested, at the first hop and at each redirect; may be
     * NULL. */
    bool (*may)(void *ctx, struct pl_str url);
    /* Accepts any status, with its body, and redirects that answer a method other than GET or
     * HEAD. */
    bool takes_any;
};

struct pl_fetch_rules {
    /* Hosts that may be internal: "files.intranet", "10.0.0.5:8080", as in the operator's
     * configuration. An entry without a port allows every port. */
    const char *const *allowed;
    size_t n_allowed;
    /* Replaces the system's resolver, for tests; NULL: the system. Appends addresses as text, one
     * per line. Runs on a worker. */
    enum pl_status (*resolve)(void *ctx, struct pl_str host, struct pl_buf *to,
                              struct pl_error *err);
    void *ctx;
    int64_t max_bytes;              /* 0: PL_FETCH_MAX_BYTES; after decompression */
    int64_t total_ms;               /* 0: PL_FETCH_TOTAL_MS; includes redirects */
    const struct pl_fetch_how *how; /* NULL: a plain GET */
};

struct pl_fetched {
    int status;                 /* 200 … 299 */
    struct pl_str content_type; /* empty: not declared */
    struct pl_str url;          /* the URL of the last hop */
    struct pl_str headers;      /* with takes_any: the header lines */
    bool is_late;               /* after a failure: the deadline has passed */
};

/* The loop and workers that a fetch uses, and the owner of its jobs. */
struct pl_fetch_from {
    struct pl_loop *loop;       /* borrowed */
    struct pl_workers *workers; /* borrowed; for name resolution */
    uint64_t owner;             /* of the worker jobs */
};

struct pl_fetch; /* owned by its starter, until on_end or pl_fetch_cancel */

struct pl_fetch_ops {
    /* A part of the body. The callee may pause the fetch, but not cancel it. */
    void (*on_bytes)(void *ctx, struct pl_str bytes);
    /* On PL_OK, *fetched is set; its strings are valid during the call. Otherwise *err is set, and
     * of *fetched only is_late. The fetch no longer exists.
     *
     * PL_INVALID: a rule forbids this URL (err says which), or there is no such host; PL_NOT_FOUND:
     * no connection to the host, or a host in `allowed` does not exist; PL_LIMIT: too large, too
     * slow, too many redirects; PL_IO: the connection broke, the status is not 2xx (err has it), or
     * libcurl is missing; PL_NOMEM. No error contains an address that the URL does not, or reveals
     * whether a name is internal or unknown. */
    void (*on_end)(void *ctx, enum pl_status status, const struct pl_fetched *fetched,
                   const struct pl_error *err);
};

/* Called on the loop's thread. `url` is copied; the rules and their members outlive the fetch. No
 * callback comes before this has returned. NULL when out of memory. */
struct pl_fetch *pl_fetch_start(const struct pl_fetch_from *from, struct pl_str url,
                                const struct pl_fetch_rules *rules, const struct pl_fetch_ops *ops,
                                void *ctx);
/* No more callbacks. Not allowed within on_bytes. Accepts NULL. */
void pl_fetch_cancel(struct pl_fetch *fetch);
/* Back-pressure: soon no more bytes come. The deadline still counts. */
void pl_fetch_pause(struct pl_fetch *fetch, bool is_paused);

/* The status of the current answer; valid from the first on_bytes on. */
int pl_fetch_status(const struct pl_fetch *fetch);
struct pl_str pl_fetch_headers(const struct pl_fetch *fetch);
/* The declared content type; valid from the first on_bytes on; empty: not declared. */
struct pl_str pl_fetch_content_type(const struct pl_fetch *fetch);

/* Whether this is a valid entry of `allowed`: a host, optionally with a port. */
bool pl_fetch_is_host(const char *entry);

/* Checks the rules without fetching, for URLs that are stored now and fetched later. Resolves the
 * name and blocks: call it on a worker. */
enum pl_status pl_fetch_check(struct pl_arena *arena, struct pl_str url,
                              const struct pl_fetch_rules *rules, struct pl_error *err);

#endif
