/* Finds the type of a blob while its bytes arrive piece by piece: uploads (blob_upload.c) and
 * fetched media (blob_fetch.c). It takes time: on a worker. */
#ifndef PL_SERVICE_BLOBS_BLOB_INSPECT_H
#define PL_SERVICE_BLOBS_BLOB_INSPECT_H

#include "base/sha/sha256.h"
#include "shard/shard.h"
#include "store/work.h"

/* The stored type of a blob: the type that its first bytes show (PL_MIME_SNIFF_BYTES, or all of
 * them); or the declared type without parameters, if the bytes show nothing or the declaration
 * is more precise (audio in a video container); otherwise application/octet-stream. PL_INVALID:
 * the first bytes contradict the declared type. *ret_type is memory of the arena or static. */
enum pl_status pl_blob_type(struct pl_arena *arena, struct pl_str declared, struct pl_str head,
                            struct pl_str *ret_type, struct pl_error *err);

/* A name is for people: one line of UTF-8, up to PL_BLOB_MAX_NAME bytes. */
#define PL_BLOB_MAX_NAME 255
bool pl_blob_name_is_good(struct pl_str name);

struct pl_blob_look {
    struct pl_str declared; /* borrowed; may be empty */
    struct pl_str type;     /* arena or static; known with the first piece */
    struct pl_sha256_run sha;
    unsigned char digest[PL_SHA256_BYTES]; /* valid after the last piece */
    int64_t n_bytes;
    bool is_text;        /* a text type */
    bool is_broken_text; /* a text type, but the bytes are not UTF-8 */
    char cut[4];         /* of a text: the incomplete sequence at the end of the last piece */
    size_t n_cut;
};
void pl_blob_look_begin(struct pl_blob_look *look, struct pl_str declared);
/* Adds the next bytes. For the first bytes it fails like pl_blob_type. */
enum pl_status pl_blob_look(struct pl_blob_look *look, struct pl_arena *arena, struct pl_str bytes,
                            bool is_last, struct pl_error *err);
/* The members of a blob's row that come from its bytes; refers to *look. */
struct pl_blob_row pl_blob_looked(const struct pl_blob_look *look);

#endif
