/* Bytes that are here in full, put away as a blob: what was fetched, what came inside a document.
 * Uploads put theirs away piece by piece (routes/blobs.c) and share the rule about types. Blocking:
 * on a worker. */
#ifndef PL_SERVER_BLOB_STORE_H
#define PL_SERVER_BLOB_STORE_H

#include "io/fetch.h"
#include "server/shard.h"
#include "store/work.h"

/* The type a blob is kept under: what its beginning (PL_MIME_SNIFF_BYTES, or all) shows it to be,
 * or what was declared, without parameters, where the beginning tells nothing or the declaration
 * tells more (sound in a container of films); else application/octet-stream. PL_INVALID: declared
 * to be something that its beginning is not. *ret_type is memory of the arena or static. */
enum pl_status pl_blob_type(struct pl_arena *arena, struct pl_str declared, struct pl_str head,
                            struct pl_str *ret_type, struct pl_error *err);

/* Types whose bytes are held to be UTF-8: text, and JSON. */
bool pl_blob_is_text(struct pl_str type);
/* A name is for people: one line of UTF-8, up to PL_BLOB_MAX_NAME bytes. */
#define PL_BLOB_MAX_NAME 255
bool pl_blob_name_is_good(struct pl_str name);

/* Durable when it returns PL_OK. Where the user has these bytes already, *ret_blob is the row he
 * has. `declared` and `name` may be empty. PL_INVALID as above; PL_LIMIT: the disk is full; PL_IO;
 * PL_NOMEM. The row's strings are memory of the arena. */
enum pl_status pl_blob_store(struct pl_server *server, struct pl_arena *arena,
                             struct pl_str user_id, struct pl_str bytes, struct pl_str declared,
                             struct pl_str name, struct pl_blob_row *ret_blob,
                             struct pl_error *err);

struct pl_blob_fetched {
    struct pl_str type; /* arena; as the host declares it, perhaps not at all */
    struct pl_str name; /* arena; the last part of the URL's path, empty where that is no name */
};

/* Fetches, by the rules of io/fetch.h and the operator's --allow-fetch, what is to be stored: puts
 * the bytes behind what is in *bytes. Fails as pl_fetch does. */
enum pl_status pl_blob_fetch(const struct pl_server_config *config, struct pl_arena *arena,
                             struct pl_str url, struct pl_buf *bytes,
                             struct pl_blob_fetched *ret_fetched, struct pl_error *err);

#endif
