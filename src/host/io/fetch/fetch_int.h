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
    bool is_crowded; /* there are more addresses than the list holds */
};

struct pl_fetch_place {
    struct pl_url url;  /* arena */
    struct pl_str host; /* of url, without a trailing dot */
    int32_t port;
    bool is_allowed;               /* the operator has allowed this host: it may be internal */
    struct pl_addresses addresses; /* the only addresses we connect to; empty: the name is not
                                      resolved yet */
};

/* --- rules.c --------------------------------------------------------------------------- */

/* Reads `text` (relative to base, which may be NULL) and applies the rules. If the host is a
 * literal address, it is checked. Fails as pl_fetch_check does. */
enum pl_status pl_fetch_admit(struct pl_arena *arena, struct pl_str text, const struct pl_url *base,
                              const struct pl_fetch_rules *rules, struct pl_fetch_place *ret_place,
                              struct pl_error *err);
/* Asks the resolver once, and blocks until it answers. PL_NOT_FOUND, with the reason in err, or
 * PL_NOMEM. */
enum pl_status pl_fetch_resolve(struct pl_str host, const struct pl_fetch_rules *rules,
                                struct pl_addresses *ret_addresses, struct pl_error *err);
/* PL_INVALID: an address is neither public nor allowed, or there are too many. */
enum pl_status pl_fetch_check_addresses(const struct pl_fetch_place *place, struct pl_error *err);
/* The same for a name; `looked_up` is the result of resolving it, place->addresses its addresses.
 * Unless the operator allowed the host, an unknown host is refused like a private one: PL_INVALID,
 * with the same message. Other errors are returned unchanged. */
enum pl_status pl_fetch_check_name(const struct pl_fetch_place *place, enum pl_status looked_up,
                                   struct pl_error *err);

/* --- lookup.c -------------------------------------------------------------------------- */

struct pl_lookup; /* owned by its starter until `done` or pl_lookup_leave */

typedef void pl_lookup_fn(void *ctx, enum pl_status status, const struct pl_addresses *addresses,
                          const struct pl_error *err);
/* Runs pl_fetch_resolve in the workers' LOOKUP lane; `done` is called on the loop. NULL when out of
 * memory. */
struct pl_lookup *pl_lookup_start(const struct pl_fetch_from *from, struct pl_str host,
                                  const struct pl_fetch_rules *rules, pl_lookup_fn *done,
                                  void *ctx);
/* Abandons the lookup: it frees itself when the resolver has answered. Accepts NULL. */
void pl_lookup_leave(struct pl_lookup *lookup);

/* --- hop.c ----------------------------------------------------------------------------- */

struct pl_hop; /* owned by its starter, until pl_hop_destroy */

struct pl_hop_ops {
    /* A part of a 2xx body, decompressed. Returning false ends the hop: the body is too large. */
    bool (*on_bytes)(void *ctx, struct pl_str bytes);
    /* The hop is over, and must now be destroyed. On failure err has the reason. */
    void (*on_end)(void *ctx, enum pl_status status, const struct pl_error *err);
};

/* One request to an admitted place. No callback comes before this has returned. PL_NOMEM, PL_IO (no
 * libcurl). */
enum pl_status pl_hop_start(struct pl_loop *loop, const struct pl_fetch_place *place,
                            int64_t max_bytes, int64_t left_ms, const struct pl_fetch_how *how,
                            bool is_first, const struct pl_hop_ops *ops, void *ctx,
                            struct pl_hop **ret_hop, struct pl_error *err);
/* Closes the connection. Not allowed within the hop's own callbacks. Accepts NULL. */
void pl_hop_destroy(struct pl_hop *hop);
void pl_hop_pause(struct pl_hop *hop, bool is_paused);

/* Results of a hop that is over: */
int pl_hop_status(const struct pl_hop *hop);
struct pl_str pl_hop_headers(const struct pl_hop *hop);      /* the hop's; only with takes_any */
bool pl_hop_is_late(const struct pl_hop *hop);               /* it timed out */
struct pl_str pl_hop_location(const struct pl_hop *hop);     /* the hop's; ptr NULL: none */
struct pl_str pl_hop_content_type(const struct pl_hop *hop); /* the hop's; ptr NULL: none */

#endif
