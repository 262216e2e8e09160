/* Fetches and stores media that a document only links to, so that they stay after the links have
 * expired. Only the bytes of those links change in the document.
 *
 *     pl_media_import_store (worker) ── links are wanted ──> pl_media_import_fetch (shard)
 *                                    ──> pl_media_import_store again
 *
 * So a worker only reads and writes documents, and the loop waits for the hosts. */
#ifndef PL_SERVICE_BLOBS_MEDIA_IMPORT_H
#define PL_SERVICE_BLOBS_MEDIA_IMPORT_H

#include "format/format.h"
#include "http/exchange.h"

/* Limits of the fetched links of one document, and of the time for all links of a request. Links
 * beyond that stay as they are, with a note. */
#define PL_MEDIA_MAX_LINKS 100
#define PL_MEDIA_TOTAL_MS  60000

struct pl_media_import_options {
    const struct pl_format *from; /* NULL: detected from the content */
    bool is_expiring_only; /* only links that state their expiry; otherwise all http(s) links */
};

/* A link that was not replaced. */
struct pl_media_import_note {
    struct pl_str url;     /* arena */
    struct pl_str message; /* arena; the reason */
};

struct pl_media_import_stored {
    struct pl_str text; /* the resulting document: arena, or the given one if nothing changed */
    size_t n_stored;    /* replaced links; the same link twice counts twice */
    struct pl_media_import_note *notes; /* arena; each link once */
    size_t n_notes;
};

struct pl_media_import_link;

/* The links of a request's documents, and their results. Zeroed: no links. */
struct pl_media_import {
    struct pl_media_import_link *first, *last; /* arena of the exchange */
    struct pl_media_import_link *next_wanted;  /* the one that is being fetched */
    struct pl_exchange *x;
    void (*after)(struct pl_exchange *x);
    int64_t deadline_ms;
};

/* On a worker. An unknown link becomes wanted, and stays for now. A link that cannot be fetched
 * is not a failure of the whole: it stays, and is noted. PL_SYNTAX, PL_INVALID, PL_LIMIT: the
 * document cannot be read (as in pl_source_open); PL_NOMEM. A document that is not JSON
 * (gpt-oss, YAML) has no links to replace and is returned unchanged. */
enum pl_status pl_media_import_store(struct pl_media_import *media, struct pl_arena *arena,
                                     struct pl_str document,
                                     const struct pl_media_import_options *options,
                                     struct pl_media_import_stored *ret_stored,
                                     struct pl_error *err);

/* Whether there are wanted links that were not tried yet. */
bool pl_media_import_wants(const struct pl_media_import *media);
/* Fetches them for the caller of the exchange, one after the other, then calls `after` on the
 * shard. It uses one of the user's fetch slots; if none is free, the exchange has a problem when
 * `after` is called. */
void pl_media_import_fetch(struct pl_media_import *media, struct pl_exchange *x,
                           void (*after)(struct pl_exchange *x));

#endif
