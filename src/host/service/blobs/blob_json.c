#include "service/blobs/blob_json.h"

#include "base/sha/sha256.h"
#include "http/json_members.h"
#include "service/blobs/blob_inspect.h"

#include <stdio.h>

void pl_blob_spell_hash(const struct pl_blob_row *blob, char ret_hex[PL_SHA256_HEX + 1])
{
    pl_sha256_spell((const unsigned char *)blob->hash.ptr, ret_hex);
}

void pl_blob_write(struct pl_json_out *out, const struct pl_blob_row *blob)
{
    char hex[PL_SHA256_HEX + 1], url[80];
    pl_blob_spell_hash(blob, hex);
    snprintf(url, sizeof url, "/api/blobs/%.*s", PL_STR_ARG(blob->id));
    pl_json_out_open(out, '{');
    pl_put_text(out, "id", blob->id);
    pl_put_text(out, "sha256", pl_str_of(hex));
    pl_put_int(out, "size", blob->n_bytes);
    pl_put_text(out, "content_type", blob->content_type);
    pl_put_text(out, "name", blob->name);
    pl_put_text(out, "url", pl_str_of(url));
    pl_put_time(out, "created_at", blob->created_ms);
    pl_json_out_close(out, '}');
}

void pl_blob_answer(struct pl_exchange *x, int status, const struct pl_blob_row *blob)
{
    struct pl_json_out out = pl_json_out(&x->reply);
    x->status = status;
    pl_blob_write(&out, blob);
}

bool pl_blob_check_name(struct pl_exchange *x, struct pl_str name)
{
    if (pl_blob_name_is_good(name))
        return true;
    struct pl_error err;
    enum pl_status status =
        pl_fail(&err, PL_INVALID, "The name of a blob must be one line of up to %d bytes of UTF-8.",
                PL_BLOB_MAX_NAME);
    pl_error_point(&err, "/name");
    pl_exchange_fail(x, status, &err);
    return false;
}
