/* A blob as the API spells it. */
#ifndef PL_SERVER_BLOB_JSON_H
#define PL_SERVER_BLOB_JSON_H

#include "base/sha256.h"
#include "json/write.h"
#include "server/exchange.h"
#include "store/work.h"

void pl_blob_write(struct pl_json_out *out, const struct pl_blob_row *blob);
/* The answer is this blob. */
void pl_blob_answer(struct pl_exchange *x, int status, const struct pl_blob_row *blob);
void pl_blob_spell_hash(const struct pl_blob_row *blob, char ret_hex[PL_SHA256_HEX + 1]);
/* False after making a problem of a name that is none. */
bool pl_blob_check_name(struct pl_exchange *x, struct pl_str name);

#endif
