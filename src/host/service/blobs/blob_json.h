/* A blob as the API writes it. */
#ifndef PL_SERVICE_BLOBS_BLOB_JSON_H
#define PL_SERVICE_BLOBS_BLOB_JSON_H

#include "base/sha/sha256.h"
#include "http/exchange.h"
#include "json/write.h"
#include "store/work.h"

void pl_blob_write(struct pl_json_out *out, const struct pl_blob_row *blob);
/* Answers with this blob. */
void pl_blob_answer(struct pl_exchange *x, int status, const struct pl_blob_row *blob);
void pl_blob_spell_hash(const struct pl_blob_row *blob, char ret_hex[PL_SHA256_HEX + 1]);
/* Answers with its bytes, or a range of them; the row is arena memory of the exchange. On a
 * worker. */
void pl_blob_send(struct pl_exchange *x, const struct pl_blob_row *blob);
/* False after making a problem of an invalid name. */
bool pl_blob_check_name(struct pl_exchange *x, struct pl_str name);

#endif
