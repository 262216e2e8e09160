/* Finds the type of a blob while its bytes arrive piece by piece: uploads (blob_upload.c) and
 * fetched media (blob_fetch.c). It takes time: on a worker. */
#ifndef PL_SERVICE_BLOBS_BLOB_INSPECT_H
#define PL_SERVICE_BLOBS_BLOB_INSPECT_H

#include "base/sha/sha256.h"
#include "shard/shard.h"
#include "store/work.h"

/* The type a blob is stored with: the type its first bytes show (PL_MIME_SNIFF_BYTES, or all of
 * them); or the declared type without parameters, if the bytes show nothing or the declaration is
 * more precise (audio in a video container); else application/octet-stream. PL_INVALID: the first
 * bytes contradict the declared type. *ret_type is memory of the arena or static. */
enum pl_status pl_blob_type(struct pl_arena *arena, struct pl_str declared, struct pl_str head,
                            struct pl_str *ret_type, struct pl_error *err);

/* A name is for people: one line of UTF-8, up to PL_BLOB_MAX_NAME bytes. */
#define PL_BLOB_MAX_NAME 255
bool pl_blob_name_is_good(struct pl_str name);

struct pl_blob_look {
    struct pl_str declared; /* borrowed; may be empty */
    struct pl_str type;     /* arena or static; known with the first piece */
    struct pl_sha256_run sha;
    unsigned char digest[PL_SHA256_BYTES]; /* after the last one */
    int64_t n_bytes;
    bool is_text;        /* the type is one of text */
    bool is_broken_text; /* it was, and the bytes are not UTF-8 */
    char cut[4];         /* of a text: the sequence that the last piece ended in */
    size_t n_cut;
};
void pl_blob_look_begin(struct pl_blob_look *look, struct pl_str declared);
/* The next bytes. Fails as pl_blob_type does, with the first ones. */
enum pl_status pl_blob_look(struct pl_blob_look *look, struct pl_arena *arena, struct pl_str bytes,
                            bool is_last, struct pl_error *err);
/* What the row of a blob has from looking at all of it; refers to *look. */
struct pl_blob_row pl_blob_looked(const struct pl_blob_look *look);

#endif
