/* Compares the first bytes with the declared type, checks text for UTF-8 across pieces, and
 * feeds the hash. */
#include "service/blobs/blob_inspect.h"

#include "base/text/mime.h"
#include "base/text/utf8.h"

enum { MAX_TYPE = 127 };

#define ANY_TYPE "application/octet-stream"

/* --- types ----------------------------------------------------------------------------------- */

/* Types whose files have a known signature: a declared type with another signature is wrong. */
static const char *const known_types[] = {"image/png",  "image/jpeg", "image/gif",
                                          "image/webp", "image/bmp",  "application/pdf"};

static bool is_token(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c && strchr("!#$&-^_.+", c));
}

/* "type/subtype" in lower case (RFC 6838, 4.2); empty if the declared type is not valid. */
static struct pl_str read_type(struct pl_arena *arena, struct pl_str declared)
{
    size_t n = 0, n_slashes = 0;
    char *to = pl_arena_alloc(arena, MAX_TYPE, 1);
    while (declared.len && (declared.ptr[0] == ' ' || declared.ptr[0] == '\t'))
        declared = pl_str_slice(declared, 1, declared.len);
    for (size_t i = 0; to && i < declared.len; i++) {
        char c = declared.ptr[i];
        if (c == ';' || c == ' ' || c == '\t')
            break;
        c = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
        n_slashes += c == '/';
        if (n == MAX_TYPE || (c == '/' ? n == 0 : !is_token(c)))
            return (struct pl_str){0};
        to[n++] = c;
    }
    bool is_good = n && n_slashes == 1 && to[n - 1] != '/';
    return is_good ? (struct pl_str){to, n} : (struct pl_str){0};
}

/* A video container may hold audio only; only the declared type tells. */
static bool same_family(struct pl_str type, const char *sniffed)
{
    size_t n = strcspn(sniffed, "/") + 1;
    return type.len > n && strncmp(type.ptr, sniffed, n) == 0;
}

enum pl_status pl_blob_type(struct pl_arena *arena, struct pl_str declared, struct pl_str head,
                            struct pl_str *ret_type, struct pl_error *err)
{
    const char *sniffed = pl_mime_sniff(head);
    struct pl_str type = read_type(arena, declared);
    bool is_declared = type.len && !pl_str_eq(type, PL_STR(ANY_TYPE));
    if (sniffed && is_declared && !pl_mime_agrees(type, sniffed))
        return pl_fail(err, PL_INVALID,
                       "this is declared as %.*s, but is %s: send its real type, or none",
                       PL_STR_ARG(type), sniffed);
    for (size_t i = 0; !sniffed && is_declared && i < sizeof known_types / sizeof *known_types; i++)
        if (pl_mime_agrees(type, known_types[i]))
            return pl_fail(err, PL_INVALID,
                           "this is declared as %.*s, but does not begin like one: send its real "
                           "type, or none",
                           PL_STR_ARG(type));
    *ret_type = sniffed && (!is_declared || same_family(type, sniffed)) ? pl_str_of(sniffed)
                : is_declared                                           ? type
                                                                        : PL_STR(ANY_TYPE);
    return PL_OK;
}

/* Types whose bytes must be UTF-8: text and JSON. */
static bool is_text_type(struct pl_str type)
{
    return pl_str_starts(type, PL_STR("text/")) || pl_str_eq(type, PL_STR("application/json"));
}

bool pl_blob_name_is_good(struct pl_str name)
{
    bool is_good = name.len <= PL_BLOB_MAX_NAME && pl_utf8_is_valid(name);
    for (size_t i = 0; is_good && i < name.len; i++)
        is_good = (unsigned char)name.ptr[i] >= 0x20 && name.ptr[i] != 0x7F;
    return is_good;
}

/* --- looking at bytes as they come ----------------------------------------------------------- */

void pl_blob_look_begin(struct pl_blob_look *look, struct pl_str declared)
{
    *look = (struct pl_blob_look){.declared = declared};
    pl_sha256_begin(&look->sha);
}

/* Completes the sequence that the previous piece ended in; false if it does not continue. */
static bool mend_cut(struct pl_blob_look *look, struct pl_str *bytes)
{
    char joint[8];
    size_t n_more = bytes->len < 4 ? bytes->len : 4;
    memcpy(joint, look->cut, look->n_cut);
    if (n_more)
        memcpy(joint + look->n_cut, bytes->ptr, n_more);
    size_t n_good = pl_utf8_valid_prefix((struct pl_str){joint, look->n_cut + n_more});
    if (n_good <= look->n_cut)
        return false;
    *bytes = pl_str_slice(*bytes, n_good - look->n_cut, bytes->len);
    look->n_cut = 0;
    return true;
}

static bool is_text(struct pl_blob_look *look, struct pl_str bytes, bool is_last)
{
    if (look->n_cut && !mend_cut(look, &bytes))
        return false;
    struct pl_str tail = pl_str_slice(bytes, pl_utf8_valid_prefix(bytes), bytes.len);
    if (!tail.len)
        return true;
    if (is_last || !pl_utf8_is_cut(tail))
        return false;
    memcpy(look->cut, tail.ptr, tail.len);
    look->n_cut = tail.len;
    return true;
}

enum pl_status pl_blob_look(struct pl_blob_look *look, struct pl_arena *arena, struct pl_str bytes,
                            bool is_last, struct pl_error *err)
{
    if (!look->n_bytes) {
        enum pl_status status = pl_blob_type(
            arena, look->declared, pl_str_slice(bytes, 0, PL_MIME_SNIFF_BYTES), &look->type, err);
        if (status != PL_OK)
            return status;
        look->is_text = is_text_type(look->type);
    }
    if (look->is_text && !is_text(look, bytes, is_last)) {
        look->is_text = false;
        look->is_broken_text = true;
    }
    look->n_bytes += (int64_t)bytes.len;
    pl_sha256_add(&look->sha, bytes);
    if (is_last)
        pl_sha256_end(&look->sha, look->digest);
    return PL_OK;
}

struct pl_blob_row pl_blob_looked(const struct pl_blob_look *look)
{
    return (struct pl_blob_row){
        .hash = {(const char *)look->digest, sizeof look->digest},
        .n_bytes = look->n_bytes,
        .content_type = look->is_broken_text ? PL_STR(ANY_TYPE) : look->type,
    };
}
