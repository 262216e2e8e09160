/* Stores media that come inside a document as base64 as blobs, once each; the document then refers
 * to them. It is a list of blocks (a message, the result of a tool) or of turns.
 *
 *     {"type":"media","content":{"kind","data":BASE64,…}}  ->  {…"blob":ID,"mime","size",…}
 *
 * A block that names a blob gets the blob's type, size and name; the blob must be the user's. */
#ifndef PL_SERVICE_BLOBS_MEDIA_KEEP_H
#define PL_SERVICE_BLOBS_MEDIA_KEEP_H

#include "base/vec.h"
#include "json/json.h"
#include "shard/shard.h"
#include "store/work.h"

enum { PL_MEDIA_MAX_KEPT = 100 }; /* per document */

/* The diagram is in media_keep.c. */
enum pl_media_keep_state {
    PL_KEEP_NEW,
    PL_KEEP_READING, /* a worker decodes and inspects the bytes */
    PL_KEEP_STORING, /* the store has them */
    PL_KEEP_WRITING, /* a worker writes the document */
    PL_KEEP_HOME,
};

struct pl_media_item;

/* Zeroed, then the first five set. It lives until `done`, on the shard that began it. */
struct pl_media_keep {
    struct pl_shard *shard; /* borrowed; NULL: on a worker, synchronously */
    struct pl_str user_id;  /* borrowed */
    struct pl_arena *arena; /* borrowed; used by nobody else meanwhile */
    struct pl_str document; /* JSON; afterwards the new one: arena, or unchanged */
    void (*done)(struct pl_media_keep *keep);
    bool has_parts;  /* a list of seed 001's content parts: converted to blocks first */
    bool is_lenient; /* bytes that contradict the declared type are not a failure */

    struct pl_store *store; /* borrowed */
    struct pl_meter *meter; /* borrowed; has the user's quota */
    enum pl_media_keep_state state;
    enum pl_status status; /* PL_INVALID with a pointer into the document; PL_NOMEM, PL_IO … */
    bool is_refused;       /* the queue was full */
    struct pl_error err;
    struct pl_job job;
    struct pl_id_seed seed;
    int64_t now_ms;
    struct pl_batch *batch; /* owned; NULL: nothing to store */
    struct pl_json_doc doc;
    PL_VEC(struct pl_media_item) items; /* owned */
};

/* Whether there is anything to do: a media block in a list of blocks or of turns. */
bool pl_media_keep_is_needed(const struct pl_json_doc *doc, const struct pl_json_node *list);
/* Calls `done` later, on the shard. */
void pl_media_keep_start(struct pl_media_keep *keep);
/* The same synchronously, for callers on a worker: *ret_document is arena memory, or unchanged.
 * `has_parts` as above. */
enum pl_status pl_media_keep_here(struct pl_server *server, struct pl_arena *arena,
                                  struct pl_str user_id, struct pl_str document, bool has_parts,
                                  struct pl_str *ret_document, struct pl_error *err);

#endif
