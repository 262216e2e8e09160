#include "server/blob_json.h"

#include "base/sha256.h"
#include "base/utc.h"
#include "json/write.h"
#include "server/blob_store.h"

#include <stdio.h>

void pl_blob_spell_hash(const struct pl_blob_row *blob, char ret_hex[PL_SHA256_HEX + 1])
{
    pl_sha256_spell((const unsigned char *)blob->hash.ptr, ret_hex);
}

void pl_blob_write(struct pl_buf *to, const struct pl_blob_row *blob)
{
    char hex[PL_SHA256_HEX + 1], url[80], time[PL_UTC_SIZE];
    struct pl_json_out out = pl_json_out(to);
    pl_blob_spell_hash(blob, hex);
    snprintf(url, sizeof url, "/api/blobs/%.*s", PL_STR_ARG(blob->id));
    pl_utc_write(time, blob->created_ms);
    pl_json_out_open(&out, '{');
    pl_json_out_key(&out, "id");
    pl_json_out_text(&out, blob->id);
    pl_json_out_key(&out, "sha256");
    pl_json_out_text(&out, pl_str_of(hex));
    pl_json_out_key(&out, "size");
    pl_json_out_int(&out, blob->n_bytes);
    pl_json_out_key(&out, "content_type");
    pl_json_out_text(&out, blob->content_type);
    pl_json_out_key(&out, "name");
    if (blob->name.ptr)
        pl_json_out_text(&out, blob->name);
    else
        pl_json_out_null(&out);
    pl_json_out_key(&out, "url");
    pl_json_out_text(&out, pl_str_of(url));
    pl_json_out_key(&out, "created_at");
    pl_json_out_text(&out, (struct pl_str){time, sizeof time});
    pl_json_out_close(&out, '}');
}

bool pl_blob_check_name(struct pl_exchange *x, struct pl_str name)
{
    if (pl_blob_name_is_good(name))
        return true;
    struct pl_error err = {.has_position = true, .pointer = "/name"};
    snprintf(err.message, sizeof err.message, "is a line of up to %d bytes of UTF-8",
             PL_BLOB_MAX_NAME);
    pl_exchange_problem(x, PL_PROBLEM_INVALID_REQUEST, &err,
                        "The name of a blob is one line of up to %d bytes of UTF-8.",
                        PL_BLOB_MAX_NAME);
    return false;
}
