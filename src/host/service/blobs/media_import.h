/* Media that a document only links to, fetched and kept here: what its links showed is still there
 * when they have expired. Only the bytes of those links change in the document.
 *
 *     pl_media_import_store (worker) ── links are wanted ──> pl_media_import_fetch (shard) ──> pl_media_import_store
 * again
 *
 * So a worker only reads and writes documents, and the hosts are waited for on the loop. */
#ifndef PL_SERVICE_BLOBS_MEDIA_IMPORT_H
#define PL_SERVICE_BLOBS_MEDIA_IMPORT_H

#include "format/format.h"
#include "http/exchange.h"

/* Links of one document that are fetched at most, and how long all links of a request may take
 * together; what is beyond is left as it is, with a note. */
#define PL_MEDIA_MAX_LINKS 100
#define PL_MEDIA_TOTAL_MS  60000

struct pl_media_import_options {
    const struct pl_format *from; /* NULL: told from the content */
    bool is_expiring_only; /* only links that say when they end; otherwise all http(s) ones */
};

/* A link that stayed as it was. */
struct pl_media_import_note {
    struct pl_str url;     /* arena */
    struct pl_str message; /* arena; why */
};

struct pl_media_import_stored {
    struct pl_str
        text;        /* the document to go on with: arena, or what was given when nothing changed */
    size_t n_stored; /* links that were replaced; the same link twice counts twice */
    struct pl_media_import_note *notes; /* arena; each link once */
    size_t n_notes;
};

struct pl_media_import_link;

/* The links of a request's documents, and what has become of them. Zeroed it has none. */
struct pl_media_import {
    struct pl_media_import_link *first, *last; /* arena of the exchange */
    struct pl_media_import_link *next_wanted;  /* the one that is fetched */
    struct pl_exchange *x;
    void (*after)(struct pl_exchange *x);
    int64_t deadline_ms;
};

/* On a worker. A link that is not known yet is wanted from now on, and stays. A link that cannot be
 * fetched is no failure of the whole: it is left, and noted. PL_SYNTAX, PL_INVALID, PL_LIMIT: the
 * document cannot be read (as pl_source_open says); PL_NOMEM. A document that is not JSON (gpt-oss,
 * YAML) has no links to replace and is returned as it is. */
enum pl_status pl_media_import_store(struct pl_media_import *media, struct pl_arena *arena,
                                     struct pl_str document,
                                     const struct pl_media_import_options *options,
                                     struct pl_media_import_stored *ret_stored,
                                     struct pl_error *err);

/* Whether some are wanted that nobody has tried to fetch. */
bool pl_media_import_wants(const struct pl_media_import *media);
/* Fetches them for the caller of the exchange, one after the other, then `after`, on the shard. It
 * is one of the user's fetches; one too many is a problem, which `after` finds. */
void pl_media_import_fetch(struct pl_media_import *media, struct pl_exchange *x,
                           void (*after)(struct pl_exchange *x));

#endif
