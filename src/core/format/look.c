#include "format/look.h"

#include "base/hash.h"
#include "json/number.h"
#include "json/text.h"

/* The beginning and the end of a long text are enough: a look only tells elements apart, what they
 * say is taken from them. */
enum { ENOUGH = 128 };

static uint64_t look_of_ends(const char *first, const char *last, size_t len)
{
    return pl_hash_quick((struct pl_str){first, ENOUGH}) ^
           pl_hash_quick((struct pl_str){last, ENOUGH}) * 3 ^ len;
}

/* The usual spelling of a string, made byte by byte; only its two ends are kept. */
struct spelling {
    char first[2 * ENOUGH], ring[ENOUGH];
    size_t len;
};

static void spell(struct spelling *s, struct pl_str bytes)
{
    for (size_t i = 0; i < bytes.len; i++, s->len++) {
        if (s->len < sizeof s->first)
            s->first[s->len] = bytes.ptr[i];
        s->ring[s->len % ENOUGH] = bytes.ptr[i];
    }
}

static uint64_t look_of_odd(struct pl_str raw)
{
    __attribute__((uninitialized)) struct spelling s;
    struct pl_json_walk walk = {.at = raw.ptr, .end = raw.ptr + raw.len};
    s.len = 0;
    for (int byte; (byte = pl_json_walk_next(&walk)) >= 0;) {
        char escape[PL_JSON_MOST_ESCAPE];
        spell(&s, (struct pl_str){escape, pl_json_escape(escape, (char)byte)});
    }
    if (s.len <= sizeof s.first)
        return pl_hash_quick((struct pl_str){s.first, s.len});
    char last[ENOUGH];
    size_t cut = s.len % ENOUGH;
    memcpy(last, s.ring + cut, ENOUGH - cut);
    memcpy(last + ENOUGH - cut, s.ring, cut);
    return look_of_ends(s.first, last, s.len);
}

uint64_t pl_look_string(struct pl_str raw, bool is_odd)
{
    if (is_odd)
        return look_of_odd(raw);
    return raw.len <= 2 * ENOUGH ? pl_hash_quick(raw)
                                 : look_of_ends(raw.ptr, raw.ptr + raw.len - ENOUGH, raw.len);
}

static uint64_t look_of_double(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

uint64_t pl_look_int(int64_t value)
{
    return look_of_double((double)value);
}

static uint64_t look_of_scalar(const struct pl_json_doc *doc, const struct pl_json_node *n)
{
    if (pl_json_kind(n) == PL_JSON_STRING)
        return pl_look_string(pl_json_raw(doc, n), n->tag & PL_JSON_ODD);
    if (pl_json_kind(n) == PL_JSON_NUMBER)
        return look_of_double(pl_json_number_double(pl_json_span(doc, n)));
    return pl_look_literal(pl_json_kind(n));
}

uint64_t pl_look_add_value(uint64_t look, const struct pl_json_doc *doc,
                           const struct pl_json_node *value)
{
    for (const struct pl_json_node *n = value, *end = pl_json_next(value); n < end; n++)
        if (!pl_json_is_container(n) && !(n->tag & PL_JSON_KEY))
            look = pl_look_add(look, look_of_scalar(doc, n));
    return look;
}

uint64_t pl_look_shape(const struct pl_json_doc *doc, const struct pl_json_node *value)
{
    uint64_t look = 0;
    for (const struct pl_json_node *n = value, *end = pl_json_next(value); n < end; n++) {
        bool is_text = pl_json_kind(n) == PL_JSON_STRING && !(n->tag & PL_JSON_KEY);
        uint64_t own = pl_json_is_container(n) ? n->skip : is_text ? 0 : look_of_scalar(doc, n);
        look = pl_look_add(look, own ^ (uint64_t)pl_json_kind(n) << 60);
    }
    return look;
}
