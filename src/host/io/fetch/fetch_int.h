/* Shared by the files that implement fetch.h: a URL that may be fetched, with its checked
 * addresses; name resolution; one hop. */
#ifndef PL_IO_FETCH_INT_H
#define PL_IO_FETCH_INT_H

#include "io/fetch/fetch.h"
#include "wire/url.h"

#define PL_FETCH_MAX_ADDRESSES 32

struct pl_addresses {
    struct pl_address list[PL_FETCH_MAX_ADDRESSES];
    size_t n;
    bool is_crowded; /* there are more than these */
};

struct pl_fetch_place {
    struct pl_url url;  /* arena */
    struct pl_str host; /* of url, without a dot at its end */
    int32_t port;
    bool is_allowed;               /* the operator has named it: it may be internal */
    struct pl_addresses addresses; /* connections go there and nowhere else; none: a name that is
                                      still to be looked up */
};

/* --- rules.c --------------------------------------------------------------------------- */

/* Reads `text` (relative to base, which may be NULL) and applies the rules; a host that is an
 * address is checked. Fails as pl_fetch_check does. */
enum pl_status pl_fetch_admit(struct pl_arena *arena, struct pl_str text, const struct pl_url *base,
                              const struct pl_fetch_rules *rules, struct pl_fetch_place *ret_place,
                              struct pl_error *err);
/* Asks the resolver once, and blocks as long as it takes. PL_NOT_FOUND, with the reason in err, or
 * PL_NOMEM. */
enum pl_status pl_fetch_resolve(struct pl_str host, const struct pl_fetch_rules *rules,
                                struct pl_addresses *ret_addresses, struct pl_error *err);
/* PL_INVALID: one of them is not a public address and is not allowed, or there are too many. */
enum pl_status pl_fetch_check_addresses(const struct pl_fetch_place *place, struct pl_error *err);
/* The same for a name that was resolved with this result; place->addresses are the found ones.
 * Unless the operator allowed the host, an unknown host is refused like a private one: PL_INVALID,
 * with the same words. Other errors are returned unchanged. */
enum pl_status pl_fetch_check_name(const struct pl_fetch_place *place, enum pl_status looked_up,
                                   struct pl_error *err);

/* --- lookup.c -------------------------------------------------------------------------- */

struct pl_lookup; /* owned by its starter until `done` or pl_lookup_leave */

typedef void pl_lookup_fn(void *ctx, enum pl_status status, const struct pl_addresses *addresses,
                          const struct pl_error *err);
/* pl_fetch_resolve in the lane of the workers that is for that; `done` is called on the loop. NULL
 * when out of memory. */
struct pl_lookup *pl_lookup_start(const struct pl_fetch_from *from, struct pl_str host,
                                  const struct pl_fetch_rules *rules, pl_lookup_fn *done,
                                  void *ctx);
/* The result is not wanted any more; it frees itself when the resolver has answered. Accepts
 * NULL. */
void pl_lookup_leave(struct pl_lookup *lookup);

/* --- hop.c ----------------------------------------------------------------------------- */

struct pl_hop; /* owned by its starter, until pl_hop_destroy */

struct pl_hop_ops {
    /* Bytes of the body of a 2xx, inflated. False ends the hop: they are too many. */
    bool (*on_bytes)(void *ctx, struct pl_str bytes);
    /* It is over, and waits to be destroyed; or err says why it failed. */
    void (*on_end)(void *ctx, enum pl_status status, const struct pl_error *err);
};

/* One request to a place that was admitted. No callback comes before this has returned. PL_NOMEM,
 * PL_IO (no libcurl). */
enum pl_status pl_hop_start(struct pl_loop *loop, const struct pl_fetch_place *place,
                            int64_t max_bytes, int64_t left_ms, const struct pl_fetch_how *how,
                            bool is_first, const struct pl_hop_ops *ops, void *ctx,
                            struct pl_hop **ret_hop, struct pl_error *err);
/* Closes the connection. Not within a callback of its own. Accepts NULL. */
void pl_hop_destroy(struct pl_hop *hop);
void pl_hop_pause(struct pl_hop *hop, bool is_paused);

/* Of a hop that is over: */
int pl_hop_status(const struct pl_hop *hop);
struct pl_str pl_hop_headers(const struct pl_hop *hop);      /* the hop's; where `how` takes any */
bool pl_hop_is_late(const struct pl_hop *hop);               /* its time was over */
struct pl_str pl_hop_location(const struct pl_hop *hop);     /* the hop's; ptr NULL: none */
struct pl_str pl_hop_content_type(const struct pl_hop *hop); /* the hop's; ptr NULL: none */

#endif
