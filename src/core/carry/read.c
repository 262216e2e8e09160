/* Reading a carry: first every member is checked, then the source is put together. */
#include "format/carry.h"

#include "base/map.h"
#include "format/profile.h"
#include "json/number.h"
#include "json/text.h"

#include <assert.h>
#include <stdio.h>

void pl_carry_init(struct pl_carry *carry)
{
    *carry = (struct pl_carry){0};
    pl_buf_init(&carry->source, 0);
}

void pl_carry_deinit(struct pl_carry *carry)
{
    pl_buf_deinit(&carry->source);
}

/* Private-use characters on both sides: no program writes them by itself. */
struct pl_str pl_carry_missing(void)
{
    return PL_STR("\xEE\x80\x80parley-missing-text\xEE\x80\x80");
}

/* --- checking -----------------------------------------------------------------------------------
 */

struct reading {
    struct pl_carry *carry;
    struct pl_arena *arena;
    struct pl_json_doc doc; /* arena; the carry */
    const struct pl_json_node *pieces;
    uint64_t target; /* hash of its bytes, as it was */
    struct pl_error *err;
};

/* The place is one of the carry, not of the document that is converted. */
static enum pl_status refuse(struct reading *r, const char *pointer, const char *what)
{
    return pl_fail(r->err, PL_INVALID,
                   "this is not a carry that Parley made: %s%s%s; give the file that --carry wrote",
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
                   "this carry has version %lld, and this program reads version %d; convert the "
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
    r->carry->task.from = format_of(r, value);
    return r->carry->task.from ? PL_OK : refuse(r, "/from", "its format is not known");
}

static enum pl_status take_to(struct reading *r, const struct pl_json_node *value)
{
    r->carry->task.to = format_of(r, value);
    return r->carry->task.to ? PL_OK : refuse(r, "/to", "its format is not known");
}

static enum pl_status take_kind(struct reading *r, const struct pl_json_node *value)
{
    bool is_response = pl_json_text_is(&r->doc, value, PL_STR("response"));
    r->carry->task.kind = is_response ? PL_KIND_RESPONSE : PL_KIND_REQUEST;
    if (is_response || pl_json_text_is(&r->doc, value, PL_STR("request")))
        return PL_OK;
    return refuse(r, "/kind", "its kind is neither request nor response");
}

static enum pl_status take_mode(struct reading *r, const struct pl_json_node *value)
{
    for (int mode = 0; mode < PL_MODE_COUNT; mode++)
        if (pl_json_text_is(&r->doc, value, pl_str_of(pl_mode_name((enum pl_mode)mode)))) {
            r->carry->task.mode = (enum pl_mode)mode;
            return PL_OK;
        }
    return refuse(r, "/mode", "its mode is not known");
}

static enum pl_status take_profile(struct reading *r, const struct pl_json_node *value)
{
    if (pl_json_kind(value) == PL_JSON_STRING)
        r->carry->task.profile = pl_profile_find(pl_json_raw(&r->doc, value));
    return r->carry->task.profile ? PL_OK : refuse(r, "/profile", "its profile is not known");
}

/* Six bits in each character, the lowest first. */
static bool read_hash(const struct pl_json_doc *doc, const struct pl_json_node *value,
                      uint64_t *ret_hash)
{
    static const char digits[] = PL_CARRY_DIGITS;
    struct pl_str raw = pl_json_raw(doc, value);
    uint64_t hash = 0;
    if (raw.len != PL_CARRY_HASH_CHARS)
        return false;
    for (size_t i = 0; i < raw.len; i++) {
        const char *at = memchr(digits, raw.ptr[i], sizeof digits - 1);
        if (!at)
            return false;
        hash |= (uint64_t)(at - digits) << 6 * i;
    }
    *ret_hash = hash;
    return true;
}

static enum pl_status take_target(struct reading *r, const struct pl_json_node *value)
{
    if (read_hash(&r->doc, value, &r->target))
        return PL_OK;
    return refuse(r, "/target", "its hash does not have 11 characters of base64");
}

/* [hash] */
static bool is_reference(const struct pl_json_doc *doc, const struct pl_json_node *piece)
{
    uint64_t hash;
    return pl_json_kind(piece) == PL_JSON_ARRAY && pl_json_count(piece) == 1 &&
           read_hash(doc, piece + 1, &hash);
}

static enum pl_status take_source(struct reading *r, const struct pl_json_node *value)
{
    if (pl_json_kind(value) != PL_JSON_ARRAY)
        return refuse(r, "/source", "its source is not a list of pieces");
    uint32_t i = 0;
    for (const struct pl_json_node *p = pl_json_first(value); p < pl_json_end(value);
         p = pl_json_next(p), i++) {
        if (pl_json_kind(p) == PL_JSON_STRING || is_reference(&r->doc, p))
            continue;
        char pointer[32];
        snprintf(pointer, sizeof pointer, "/source/%u", i);
        return refuse(r, pointer, "a piece of its source is neither a text nor a reference [hash]");
    }
    r->pieces = value;
    return PL_OK;
}

static const struct {
    const char *key;
    enum pl_status (*take)(struct reading *r, const struct pl_json_node *value);
    bool is_optional;
} members[] = {
    {"parley_carry", take_version, false},
    {"from", take_from, false},
    {"to", take_to, false},
    {"kind", take_kind, false},
    {"mode", take_mode, false},
    {"profile", take_profile, true},
    {"target", take_target, false},
    {"source", take_source, false},
};
enum { N_MEMBERS = sizeof members / sizeof *members };

static bool is_member(const struct pl_json_doc *doc, const struct pl_json_node *key)
{
    for (size_t i = 0; i < N_MEMBERS; i++)
        if (pl_json_text_is(doc, key, pl_str_of(members[i].key)))
            return true;
    return false;
}

/* The version comes first: an older carry has other members. */
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
        if (value)
            status = members[i].take(r, value);
        else if (!members[i].is_optional)
            status = refuse(r, "", what);
    }
    for (const struct pl_json_node *key = pl_json_first(root);
         key < pl_json_end(root) && status == PL_OK; key = pl_json_next_member(key))
        if (!is_member(&r->doc, key))
            status = refuse(r, "", "it has a member that a carry does not have");
    return status;
}

/* --- putting the source together
 * ------------------------------------------------------------------ */

/* The strings of the target that references lead to. */
struct strings {
    struct pl_map by_hash; /* owned; hash -> index + 1 in `found`; 0: not found yet */
    uint64_t *hashes;      /* arena; the keys */
    struct pl_str *found;  /* arena; between the quotes, in the usual spelling */
    size_t n;
    struct pl_carry_hasher hasher; /* of the target's bytes */
};

static struct pl_str key_of(const uint64_t *hash)
{
    return (struct pl_str){(const char *)hash, sizeof *hash};
}

static enum pl_status find_references(struct reading *r, struct strings *strings)
{
    size_t n_max = pl_json_count(r->pieces) + (size_t)1, n = 0;
    strings->hashes = pl_arena_alloc(r->arena, n_max, sizeof *strings->hashes);
    strings->found = pl_arena_alloc(r->arena, n_max, sizeof *strings->found);
    if (!strings->hashes || !strings->found)
        return PL_NOMEM;
    for (const struct pl_json_node *p = pl_json_first(r->pieces); p < pl_json_end(r->pieces);
         p = pl_json_next(p)) {
        bool is_new;
        if (pl_json_kind(p) == PL_JSON_STRING)
            continue;
        bool is_good = read_hash(&r->doc, p + 1, &strings->hashes[n]);
        assert(is_good);
        if (!pl_map_put(&strings->by_hash, key_of(&strings->hashes[n]), &is_new))
            return PL_NOMEM;
        n += is_new;
    }
    return PL_OK;
}

/* Whether a reference leads to these bytes, which stand at `at` in the target and take n_raw there.
 */
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

/* What stands between the quotes, with the fewest escapes. */
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

/* What follows the comma of a data URL; empty for any other string. */
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

/* The string that a reference leads to; NULL when the target does not say it any more. */
static const struct pl_str *resolve(struct reading *r, const struct strings *strings,
                                    const struct pl_json_node *reference)
{
    uint64_t hash = 0;
    bool is_good = read_hash(&r->doc, reference + 1, &hash);
    struct pl_map_entry *entry = pl_map_get(&strings->by_hash, key_of(&hash));
    assert(is_good && entry);
    return entry->value ? &strings->found[entry->value - 1] : NULL;
}

/* No source is much longer than its carry and its target together. References that would make it
 * so are not followed: then the text counts as missing. */
static size_t most_bytes(const struct reading *r, const struct pl_json_doc *target)
{
    enum { LEAST = 64 << 10 };
    return r->doc.text.len + 2 * target->text.len + LEAST;
}

static enum pl_status put_together(struct reading *r, const struct pl_json_doc *target)
{
    struct strings strings = {.hasher = {.text = target->text}};
    struct pl_buf *to = &r->carry->source;
    size_t most = most_bytes(r, target);
    enum pl_status status = find_references(r, &strings);
    if (status == PL_OK)
        status = find_strings(r, target, &strings);
    for (const struct pl_json_node *p = pl_json_first(r->pieces);
         p < pl_json_end(r->pieces) && status == PL_OK; p = pl_json_next(p)) {
        struct pl_str text = {0};
        const struct pl_str *string = NULL;
        if (pl_json_kind(p) == PL_JSON_STRING)
            status = pl_json_text(r->arena, &r->doc, p, &text);
        else
            string = resolve(r, &strings, p);
        if (pl_json_kind(p) != PL_JSON_STRING)
            text = string && to->len + string->len <= most ? *string : pl_carry_missing();
        r->carry->has_missing |= text.ptr == pl_carry_missing().ptr;
        pl_buf_add(to, text);
    }
    pl_map_deinit(&strings.by_hash);
    return status == PL_OK ? to->status : status;
}

enum pl_status pl_carry_read(struct pl_carry *carry, struct pl_arena *arena, struct pl_str text,
                             const struct pl_json_doc *target, struct pl_error *err)
{
    struct reading r = {.carry = carry, .arena = arena, .err = err};
    struct pl_json_opts opts = {.max_nodes = 16000000};
    struct pl_error why = {0};
    enum pl_status status = pl_json_parse(arena, text, &opts, &r.doc, &why);
    if (status == PL_SYNTAX || status == PL_LIMIT)
        return pl_fail(err, status, "the carry, at line %zu, column %zu: %.300s", why.line,
                       why.column, why.message);
    if (status == PL_OK)
        status = check(&r);
    return status == PL_OK ? put_together(&r, target) : status;
}
