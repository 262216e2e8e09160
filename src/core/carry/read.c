/* Reads a carry: checks every member, then rebuilds the source. */
#include "carry/carry.h"

#include "base/map.h"
#include "carry/pieces.h"
#include "format/convert.h"
#include "format/profile.h"
#include "json/number.h"
#include "json/text.h"

#include <assert.h>
#include <stdio.h>

/* Private-use characters on both sides: no other program writes them. */
struct pl_str pl_carry_missing(void)
{
    return PL_STR("\xEE\x80\x80parley-missing-text\xEE\x80\x80");
}

/* --- checking -----------------------------------------------------------------------------------
 */

struct reading {
    struct pl_carry *carry;
    struct pl_buf *to; /* borrowed; gets the source */
    struct pl_arena *arena;
    struct pl_json_doc doc;        /* arena; the carry */
    struct pl_carry_pieces pieces; /* owned; of the source */
    uint64_t target;               /* hash of the target's original bytes */
    struct pl_error *err;
};

/* The position is in the carry, not in the converted document. */
static enum pl_status refuse(struct reading *r, const char *pointer, const char *what)
{
    return pl_fail(r->err, PL_INVALID,
                   "this is not a carry of Parley: %s%s%s; give the file that --carry wrote",
                   pointer, pointer[0] ? ": " : "", what);
}

static enum pl_status take_version(struct reading *r, const struct pl_json_node *value)
{
    int64_t version = 0;
    if (pl_json_kind(value) != PL_JSON_NUMBER ||
        !pl_json_number_int64(pl_json_span(&r->doc, value), &version))
        return refuse(r, "/parley_carry", "its version is not a number");
    if (version == PL_CARRY_VERSION)
        return PL_OK;
    return pl_fail(r->err, PL_INVALID,
                   "this carry has version %lld, but this program reads version %d; convert the "
                   "source again to get a new one",
                   (long long)version, PL_CARRY_VERSION);
}

static const struct pl_format *format_of(struct reading *r, const struct pl_json_node *value)
{
    struct pl_str name = pl_json_raw(&r->doc, value);
    return pl_json_kind(value) == PL_JSON_STRING ? pl_format_find(name) : NULL;
}

static enum pl_status take_from(struct reading *r, const struct pl_json_node *value)
{
    r->carry->conversion.from = format_of(r, value);
    return r->carry->conversion.from ? PL_OK
                                     : refuse(r, "/parley_carry/1", "its first format is unknown");
}

static enum pl_status take_to(struct reading *r, const struct pl_json_node *value)
{
    r->carry->conversion.to = format_of(r, value);
    return r->carry->conversion.to ? PL_OK
                                   : refuse(r, "/parley_carry/2", "its second format is unknown");
}

static enum pl_status take_target(struct reading *r, const struct pl_json_node *value)
{
    if (pl_carry_read_hash(pl_json_raw(&r->doc, value), &r->target))
        return PL_OK;
    return refuse(r, "/parley_carry/3", "its hash does not have 11 characters of base64");
}

static enum pl_status take_kind(struct reading *r, const struct pl_json_node *value)
{
    bool is_response = pl_json_text_is(&r->doc, value, PL_STR("response"));
    r->carry->conversion.kind = is_response ? PL_KIND_RESPONSE : PL_KIND_REQUEST;
    if (is_response || pl_json_text_is(&r->doc, value, PL_STR("request")))
        return PL_OK;
    return refuse(r, "/parley_carry/4", "its kind is neither request nor response");
}

static enum pl_status take_mode(struct reading *r, const struct pl_json_node *value)
{
    for (int mode = 0; mode < PL_MODE_COUNT; mode++)
        if (pl_json_text_is(&r->doc, value, pl_str_of(pl_mode_name((enum pl_mode)mode)))) {
            r->carry->conversion.mode = (enum pl_mode)mode;
            return PL_OK;
        }
    return refuse(r, "/parley_carry/5", "its mode is unknown");
}

static enum pl_status take_profile(struct reading *r, const struct pl_json_node *value)
{
    if (pl_json_kind(value) == PL_JSON_STRING)
        r->carry->conversion.profile = pl_profile_find(pl_json_raw(&r->doc, value));
    return r->carry->conversion.profile ? PL_OK
                                        : refuse(r, "/parley_carry/6", "its profile is unknown");
}

/* Readers for the entries of the list, in order. */
static enum pl_status (*const takers[])(struct reading *r, const struct pl_json_node *value) = {
    take_version, take_from, take_to, take_target, take_kind, take_mode, take_profile};
enum { N_TAKERS = sizeof takers / sizeof *takers, N_NEEDED = 4 };

/* The version comes first: other versions have other members. Before version 3 it was not in a
 * list. */
static enum pl_status take_head(struct reading *r, const struct pl_json_node *value)
{
    if (pl_json_kind(value) != PL_JSON_ARRAY)
        return take_version(r, value);
    const struct pl_json_node *item = pl_json_first(value);
    enum pl_status status = pl_json_count(value) ? take_version(r, item) : PL_OK;
    if (status == PL_OK && (pl_json_count(value) < N_NEEDED || pl_json_count(value) > N_TAKERS))
        return refuse(r, "/parley_carry",
                      "it does not list version, both formats, hash, kind, mode and profile");
    for (size_t i = 0; i < pl_json_count(value) && status == PL_OK; i++, item = pl_json_next(item))
        status = takers[i](r, item);
    return status;
}

static enum pl_status take_source(struct reading *r, const struct pl_json_node *value)
{
    if (pl_json_kind(value) != PL_JSON_STRING)
        return refuse(r, "/source", "its source is not a text");
    struct pl_str source;
    size_t wrong_at;
    enum pl_status status = pl_json_text(r->arena, &r->doc, value, &source);
    if (status == PL_OK)
        status = pl_carry_take_apart(&r->pieces, source, &wrong_at);
    if (status != PL_INVALID)
        return status;
    char what[80];
    snprintf(what, sizeof what, "its source is damaged at character %zu", wrong_at);
    return refuse(r, "/source", what);
}

static const struct {
    const char *key;
    enum pl_status (*take)(struct reading *r, const struct pl_json_node *value);
} members[] = {
    {"parley_carry", take_head},
    {"source", take_source},
};
enum { N_MEMBERS = sizeof members / sizeof *members };

static bool is_member(const struct pl_json_doc *doc, const struct pl_json_node *key)
{
    for (size_t i = 0; i < N_MEMBERS; i++)
        if (pl_json_text_is(doc, key, pl_str_of(members[i].key)))
            return true;
    return false;
}

static enum pl_status check(struct reading *r)
{
    const struct pl_json_node *root = r->doc.root;
    enum pl_status status = PL_OK;
    if (pl_json_kind(root) != PL_JSON_OBJECT)
        return refuse(r, "", "it is not an object");
    for (size_t i = 0; i < N_MEMBERS && status == PL_OK; i++) {
        const struct pl_json_node *value = pl_json_get(&r->doc, root, pl_str_of(members[i].key));
        char what[64];
        snprintf(what, sizeof what, "it has no member \"%s\"", members[i].key);
        status = value ? members[i].take(r, value) : refuse(r, "", what);
    }
    for (const struct pl_json_node *key = pl_json_first(root);
         key < pl_json_end(root) && status == PL_OK; key = pl_json_next_member(key))
        if (!is_member(&r->doc, key))
            status = refuse(r, "", "it has an unknown member");
    return status;
}

/* --- rebuilding the source ----------------------------------------------------------------------
 */

/* The strings of the target that are referenced. */
struct strings {
    struct pl_map by_hash; /* owned; hash -> index + 1 in `found`; 0: not found yet. The keys are
                              in the holes */
    uint32_t *entries;     /* arena; by hole: its entry in `by_hash` */
    struct pl_str *found;  /* arena; without quotes, in the usual spelling */
    size_t n;
    struct pl_carry_hasher hasher; /* of the target's bytes */
};

static struct pl_str key_of(const uint64_t *hash)
{
    return (struct pl_str){(const char *)hash, sizeof *hash};
}

static enum pl_status find_references(struct reading *r, struct strings *strings)
{
    size_t n_holes = r->pieces.holes.len;
    strings->found = pl_arena_alloc(r->arena, n_holes + 1, sizeof *strings->found);
    strings->entries = pl_arena_alloc(r->arena, n_holes + 1, sizeof *strings->entries);
    if (!strings->found || !strings->entries)
        return PL_NOMEM;
    for (size_t i = 0; i < n_holes; i++) {
        bool is_new;
        struct pl_map_entry *entry =
            pl_map_put(&strings->by_hash, key_of(&r->pieces.holes.ptr[i].hash), &is_new);
        if (!entry)
            return PL_NOMEM;
        strings->entries[i] = (uint32_t)(entry - strings->by_hash.entries);
    }
    return PL_OK;
}

/* Whether a reference has the hash of these bytes, which are n_raw bytes at `at` in the target. */
static bool take_string(struct strings *strings, struct pl_str bytes, size_t at, size_t n_raw)
{
    if (bytes.len < PL_LINKS_LONG)
        return false;
    uint64_t hash = pl_carry_hash(bytes);
    struct pl_map_entry *entry = pl_map_get(&strings->by_hash, key_of(&hash));
    if (!entry)
        return false;
    if (!entry->value) {
        strings->found[strings->n] = bytes;
        entry->value = ++strings->n;
    }
    pl_carry_hash_known(&strings->hasher, at, n_raw, hash);
    return true;
}

/* The content of the string, with the fewest escapes. */
static enum pl_status usual_spelling(struct pl_arena *arena, const struct pl_json_doc *doc,
                                     const struct pl_json_node *string, struct pl_str *ret_bytes)
{
    *ret_bytes = pl_json_raw(doc, string);
    if (!(string->tag & PL_JSON_ODD))
        return PL_OK;
    PL_CLEANUP_BUF struct pl_buf usual;
    pl_buf_init(&usual, 0);
    pl_carry_spell(&usual, *ret_bytes);
    *ret_bytes = pl_arena_dup(arena, pl_buf_str(&usual));
    return usual.status != PL_OK ? usual.status : ret_bytes->ptr || !usual.len ? PL_OK : PL_NOMEM;
}

/* The part after the comma of a data URL; empty for any other string. */
static struct pl_str data_of(struct pl_str bytes)
{
    enum { NEAR = 512 };
    if (!pl_str_starts(bytes, PL_STR("data:")))
        return (struct pl_str){0};
    const char *comma = memchr(bytes.ptr, ',', bytes.len < NEAR ? bytes.len : NEAR);
    return comma ? pl_str_slice(bytes, (size_t)(comma - bytes.ptr) + 1, bytes.len)
                 : (struct pl_str){0};
}

static enum pl_status find_strings(struct reading *r, const struct pl_json_doc *target,
                                   struct strings *strings)
{
    const struct pl_json_node *end = target->root + target->n_nodes;
    enum pl_status status = PL_OK;
    for (const struct pl_json_node *n = target->root; n < end && status == PL_OK; n++) {
        struct pl_str bytes, raw = pl_json_raw(target, n);
        if (raw.len < PL_LINKS_LONG || n->tag & PL_JSON_KEY)
            continue;
        status = usual_spelling(r->arena, target, n, &bytes);
        if (status != PL_OK)
            return status;
        struct pl_str data = data_of(bytes);
        size_t n_head = bytes.len - data.len;
        if (!data.len || n_head > raw.len ||
            !take_string(strings, data, n->off + 1 + n_head, raw.len - n_head))
            (void)take_string(strings, bytes, n->off + (size_t)1, raw.len);
    }
    r->carry->is_untouched = r->target == pl_carry_hash_end(&strings->hasher);
    return status;
}

/* The string of a hole; NULL if the target no longer has it. */
static const struct pl_str *resolve(const struct strings *strings, size_t hole)
{
    const struct pl_map_entry *entry = &strings->by_hash.entries[strings->entries[hole]];
    return entry->value ? &strings->found[entry->value - 1] : NULL;
}

/* Limit for the rebuilt source. References that would make it much longer than the carry and its
 * target together are not followed: their text counts as missing. Words are bounded by the limit of
 * any result. */
static size_t most_bytes(const struct reading *r, const struct pl_json_doc *target)
{
    enum { LEAST = 64 << 10 };
    return r->doc.text.len + 2 * target->text.len + LEAST;
}

/* The strings for all holes, and their total size in bytes. */
static struct pl_str *fill_holes(struct reading *r, const struct strings *strings, size_t most,
                                 size_t *ret_n_bytes)
{
    size_t n = r->pieces.holes.len, n_referred = 0;
    struct pl_str *fillings = pl_arena_alloc(r->arena, n + 1, sizeof *fillings);
    for (size_t i = 0; fillings && i < n; i++) {
        const struct pl_str *string = resolve(strings, i);
        bool is_there = string && n_referred + string->len <= most;
        fillings[i] = is_there ? *string : pl_carry_missing();
        n_referred += fillings[i].len;
        r->carry->has_missing |= !is_there;
    }
    *ret_n_bytes = n_referred;
    return fillings;
}

static char *put(char *to, struct pl_str s)
{
    return s.len ? (char *)memcpy(to, s.ptr, s.len) + s.len : to;
}

static enum pl_status put_pieces(struct reading *r, const struct strings *strings, size_t most)
{
    struct pl_str text = pl_buf_str(&r->pieces.text);
    size_t n_bytes, from = 0;
    const struct pl_str *fillings = fill_holes(r, strings, most, &n_bytes);
    if (fillings && n_bytes + text.len > r->pieces.text.max)
        return PL_LIMIT;
    char *to = fillings ? pl_buf_reserve(r->to, n_bytes + text.len) : NULL;
    if (!to)
        return fillings ? r->to->status : PL_NOMEM;
    r->carry->source = (struct pl_str){to, n_bytes + text.len};
    r->to->len += n_bytes + text.len;
    for (size_t i = 0; i < r->pieces.holes.len; i++) {
        const struct pl_carry_hole *hole = &r->pieces.holes.ptr[i];
        to = put(to, pl_str_slice(text, from, hole->at));
        to = put(to, fillings[i]);
        from = hole->at;
    }
    put(to, pl_str_slice(text, from, text.len));
    return PL_OK;
}

static enum pl_status put_together(struct reading *r, const struct pl_json_doc *target)
{
    struct strings strings = {.hasher = {.text = target->text}};
    enum pl_status status = find_references(r, &strings);
    if (status == PL_OK)
        status = find_strings(r, target, &strings);
    if (status == PL_OK)
        status = put_pieces(r, &strings, most_bytes(r, target));
    pl_map_deinit(&strings.by_hash);
    return status;
}

enum pl_status pl_carry_read(struct pl_carry *carry, struct pl_buf *to, struct pl_arena *arena,
                             struct pl_str text, const struct pl_json_doc *target,
                             struct pl_error *err)
{
    *carry = (struct pl_carry){0};
    struct reading r = {.carry = carry, .to = to, .arena = arena, .err = err};
    struct pl_json_opts opts = {.max_nodes = 16000000};
    struct pl_error why = {0};
    enum pl_status status = pl_json_parse(arena, text, &opts, &r.doc, &why);
    if (status == PL_SYNTAX || status == PL_LIMIT)
        return pl_fail(err, status, "the carry, at line %zu, column %zu: %.300s", why.line,
                       why.column, why.message);
    pl_carry_pieces_init(&r.pieces, pl_convert_most(text.len + target->text.len));
    if (status == PL_OK)
        status = check(&r);
    if (status == PL_OK)
        status = put_together(&r, target);
    pl_carry_pieces_deinit(&r.pieces);
    if (status == PL_LIMIT && to->status == PL_OK)
        return pl_fail(err, status, "the source in this carry would have more than %zu bytes",
                       r.pieces.text.max);
    return status;
}
