#include "server/blob_store.h"

#include "base/mime.h"
#include "base/sha256.h"
#include "base/utf8.h"
#include "base/uuid.h"
#include "wire/url.h"

enum { MAX_TYPE = 127, PIECES_AT_ONCE = 16 };

#define ANY_TYPE "application/octet-stream"

/* --- types ----------------------------------------------------------------------------------- */

/* Types whose files all begin in a way that is known: what is declared so and begins otherwise is
 * something else. */
static const char *const known_types[] = {"image/png",  "image/jpeg", "image/gif",
                                          "image/webp", "image/bmp",  "application/pdf"};

static bool is_token(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c && strchr("!#$&-^_.+", c));
}

/* "type/subtype" in lower case (RFC 6838, 4.2); empty when that is not what was declared. */
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

/* A container that may hold films may hold sound only, and only who declares it knows. */
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
                       "this is said to be %.*s, but it is %s: send its real type, or none",
                       PL_STR_ARG(type), sniffed);
    for (size_t i = 0; !sniffed && is_declared && i < sizeof known_types / sizeof *known_types; i++)
        if (pl_mime_agrees(type, known_types[i]))
            return pl_fail(err, PL_INVALID,
                           "this is said to be %.*s, but it does not begin like one: send its real "
                           "type, or none",
                           PL_STR_ARG(type));
    *ret_type = sniffed && (!is_declared || same_family(type, sniffed)) ? pl_str_of(sniffed)
                : is_declared                                           ? type
                                                                        : PL_STR(ANY_TYPE);
    return PL_OK;
}

bool pl_blob_is_text(struct pl_str type)
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

/* --- storing --------------------------------------------------------------------------------- */

struct storing {
    struct pl_store *store;
    struct pl_blob_row row;
    struct pl_str bytes;
    int64_t n_pieces; /* that were committed */
    struct pl_error *err;
};

/* Some pieces in one transaction; the last one makes the blob. */
static enum pl_status put_some(struct storing *s, bool *ret_is_over)
{
    struct pl_batch *batch = pl_batch_create();
    if (!batch)
        return pl_fail(s->err, PL_NOMEM, "out of memory");
    int64_t i = s->n_pieces;
    for (; i < s->n_pieces + PIECES_AT_ONCE && i * PL_BLOB_PIECE < s->row.n_bytes; i++) {
        size_t at = (size_t)i * PL_BLOB_PIECE;
        pl_batch_put_piece(batch, s->row.id, i, pl_str_slice(s->bytes, at, at + PL_BLOB_PIECE),
                           s->row.created_ms);
    }
    bool is_over = i * PL_BLOB_PIECE >= s->row.n_bytes;
    if (is_over)
        pl_batch_create_blob(batch, &s->row);
    enum pl_status status = pl_store_commit(s->store, batch, s->err);
    if (status == PL_OK) {
        s->n_pieces = i;
        *ret_is_over = is_over;
    }
    return status;
}

/* What was put before a failure; if that fails as well, it is swept later. */
static void drop(struct storing *s)
{
    struct pl_batch *batch = s->n_pieces ? pl_batch_create() : NULL;
    if (!batch)
        return;
    pl_batch_drop_upload(batch, s->row.id);
    if (pl_store_commit(s->store, batch, NULL) != PL_OK)
        s->n_pieces = 0;
}

enum pl_status pl_blob_store(struct pl_server *server, struct pl_arena *arena,
                             struct pl_str user_id, struct pl_str bytes, struct pl_str declared,
                             struct pl_str name, struct pl_blob_row *ret_blob, struct pl_error *err)
{
    unsigned char digest[PL_SHA256_BYTES];
    struct pl_id_seed seed = pl_seed_draw();
    struct pl_str hash = {(const char *)digest, sizeof digest}, type;
    struct pl_error ignored;
    enum pl_status status =
        pl_blob_type(arena, declared, pl_str_slice(bytes, 0, PL_MIME_SNIFF_BYTES), &type, err);
    if (status != PL_OK)
        return status;
    if (pl_blob_is_text(type) && !pl_utf8_is_valid(bytes))
        type = PL_STR(ANY_TYPE);
    pl_sha256(bytes, digest);
    status = pl_store_blob_find(server->store, arena, user_id, hash, ret_blob, &ignored);
    if (status == PL_OK)
        return status;
    struct pl_id id = pl_id_take(&seed, "blob_");
    struct storing s = {
        .store = server->store,
        .row = {.id = pl_str_of(id.text),
                .user_id = user_id,
                .hash = hash,
                .n_bytes = (int64_t)bytes.len,
                .content_type = type,
                .name = name.len ? name : (struct pl_str){0},
                .created_ms = seed.unix_ms},
        .bytes = bytes,
        .err = err,
    };
    bool is_over = false;
    for (status = PL_OK; status == PL_OK && !is_over;)
        status = put_some(&s, &is_over);
    if (status != PL_OK) {
        drop(&s);
        return status;
    }
    /* Somebody may have stored the same for this user meanwhile: then that row is the one. */
    return pl_store_blob_find(server->store, arena, user_id, hash, ret_blob, err);
}

/* --- fetching -------------------------------------------------------------------------------- */

/* The last part of a path, decoded; empty when it is no name. */
static struct pl_str name_of(struct pl_arena *arena, struct pl_str url)
{
    PL_CLEANUP_BUF struct pl_buf text;
    struct pl_url parsed;
    pl_buf_init(&text, 0);
    if (pl_url_parse(arena, url, NULL, &parsed, NULL) != PL_OK)
        return (struct pl_str){0};
    size_t at = parsed.path.len;
    while (at && parsed.path.ptr[at - 1] != '/')
        at--;
    pl_url_decode(pl_str_slice(parsed.path, at, parsed.path.len), &text);
    struct pl_str name = pl_buf_str(&text);
    bool is_good = name.len && pl_blob_name_is_good(name);
    return is_good ? pl_arena_dup(arena, name) : (struct pl_str){0};
}

enum pl_status pl_blob_fetch(const struct pl_server_config *config, struct pl_arena *arena,
                             struct pl_str url, struct pl_buf *bytes,
                             struct pl_blob_fetched *ret_fetched, struct pl_error *err)
{
    struct pl_fetch_rules rules = {.allowed = config->fetch_hosts};
    struct pl_fetched fetched;
    while (rules.allowed && rules.allowed[rules.n_allowed])
        rules.n_allowed++;
    enum pl_status status = pl_fetch(arena, url, &rules, bytes, &fetched, err);
    if (status == PL_OK)
        *ret_fetched = (struct pl_blob_fetched){fetched.content_type, name_of(arena, fetched.url)};
    return status;
}
