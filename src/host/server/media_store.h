/* Media that a document only links to, fetched and kept here: what its links showed is still there
 * when they have expired. Only the bytes of those links change in the document. Blocking, and as
 * slow as the hosts that are asked: on a worker. */
#ifndef PL_SERVER_MEDIA_STORE_H
#define PL_SERVER_MEDIA_STORE_H

#include "format/format.h"
#include "server/shard.h"

/* Links of one document that are fetched at most, and how long all of them may take together; what
 * is beyond is left as it is, with a note. */
#define PL_MEDIA_MAX_LINKS 100
#define PL_MEDIA_TOTAL_MS  60000

struct pl_media_wish {
    struct pl_str user_id;
    const struct pl_format *from; /* NULL: told from the content */
    bool is_expiring_only; /* only links that say when they end; otherwise all http(s) ones */
};

/* A link that stayed as it was. */
struct pl_media_note {
    struct pl_str url;     /* arena */
    struct pl_str message; /* arena; why */
};

struct pl_media_stored {
    struct pl_str
        text;        /* the document to go on with: arena, or what was given when nothing changed */
    size_t n_stored; /* links that were replaced; the same link twice counts twice */
    struct pl_media_note *notes; /* arena; each link once */
    size_t n_notes;
};

/* A link that cannot be fetched is no failure of the whole: it is left, and noted. PL_SYNTAX,
 * PL_INVALID, PL_LIMIT: the document cannot be read (as pl_source_open says); PL_NOMEM. A document
 * that is no JSON (gpt-oss, YAML) has no links to replace and is given back as it is. */
enum pl_status pl_media_store(struct pl_server *server, const struct pl_server_config *config,
                              struct pl_arena *arena, struct pl_str document,
                              const struct pl_media_wish *wish, struct pl_media_stored *ret_stored,
                              struct pl_error *err);

#endif
