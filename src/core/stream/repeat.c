/* A pattern is the bytes of an event with holes. Matching compares the bytes between the holes and
 * checks that the content of each hole is valid JSON. */
#include "stream/repeat.h"

#include "base/ascii.h"
#include "base/text/utf8.h"

enum {
    /* Longer events are rare, and this is no faster for them. */
    MAX_EVENT_BYTES = 16 << 10,
    /* After so many events without a match, stop learning. */
    MAX_MISSES = 64,
};

void pl_repeat_init(struct pl_repeat *r)
{
    *r = (struct pl_repeat){0};
    for (size_t i = 0; i < PL_REPEAT_MAX_PATTERNS; i++)
        pl_buf_init(&r->patterns[i].around, 0);
}

void pl_repeat_deinit(struct pl_repeat *r)
{
    for (size_t i = 0; i < PL_REPEAT_MAX_PATTERNS; i++)
        pl_buf_deinit(&r->patterns[i].around);
}

/* ---- offers ---- */

void pl_repeat_offer_hole(struct pl_repeat *r, struct pl_str is, uint8_t name)
{
    struct pl_repeat_offer *offer = &r->offer;
    if (offer->n_holes == PL_REPEAT_MAX_HOLES) {
        offer->is_spoilt = true;
        return;
    }
    /* Sorts the holes by their position in the event. */
    size_t at = offer->n_holes++;
    for (; at && offer->holes[at - 1].is.ptr > is.ptr; at--)
        offer->holes[at] = offer->holes[at - 1];
    offer->holes[at] = (struct pl_hole){is, name};
}

void pl_repeat_offer_words(struct pl_repeat *r, struct pl_str words, struct pl_repeat_of of)
{
    r->offer.is_spoilt |= r->offer.has_words || !words.len;
    r->offer.has_words = true;
    r->offer.of = of;
    pl_repeat_offer_hole(r, words, 0);
}

/* ---- content of a hole ---- */

/* Length of the escape at the start, or 0. */
static size_t escape_len(const char *at, const char *end)
{
    if (end - at < 2)
        return 0;
    switch (at[1]) {
    case '"':
    case '\\':
    case '/':
    case 'b':
    case 'f':
    case 'n':
    case 'r':
    case 't':
        return 2;
    case 'u':
        for (int i = 2; i < 6; i++)
            if (end - at <= i || !pl_ascii_is_hex(at[i]))
                return 0;
        return 6;
    default:
        return 0;
    }
}

/* The closing quote of a string's contents, or NULL if missing or not JSON. */
static const char *string_end(const char *from, const char *end)
{
    unsigned char all = 0;
    const char *at = from;
    while (at < end && *at != '"') {
        unsigned char c = (unsigned char)*at;
        size_t n = c == '\\' ? escape_len(at, end) : c >= 0x20;
        if (!n)
            return NULL;
        all |= c;
        at += n;
    }
    if (at == end || (all >= 0x80 && !pl_utf8_is_valid((struct pl_str){from, (size_t)(at - from)})))
        return NULL;
    return at;
}

/* The end of an integer that fits into 64 bits, or NULL. */
static const char *number_end(const char *from, const char *end)
{
    const char *at = from;
    while (at < end && pl_ascii_is_digit(*at))
        at++;
    bool is_plain =
        at > from && at - from <= PL_REPEAT_MAX_DIGITS && (*from != '0' || at == from + 1);
    return is_plain ? at : NULL;
}

int64_t pl_repeat_number(struct pl_str digits)
{
    int64_t value = 0;
    for (size_t i = 0; i < digits.len; i++)
        value = value * 10 + (digits.ptr[i] - '0');
    return value;
}

/* ---- learning ---- */

/* Whether a hole is inside the event, with bytes before and after it. */
static bool is_within(struct pl_str hole, const char *from, const char *end)
{
    uintptr_t at = (uintptr_t)hole.ptr;
    return at > (uintptr_t)from && at < (uintptr_t)end && hole.len < (size_t)((uintptr_t)end - at);
}

/* Whether the holes of an offer are inside these bytes. An event that came in two pieces was
 * assembled in another buffer. */
static bool are_within(const struct pl_repeat_offer *offer, struct pl_str event)
{
    for (size_t i = 0; i < offer->n_holes; i++)
        if (!is_within(offer->holes[i].is, event.ptr, event.ptr + event.len))
            return false;
    return true;
}

static void make(struct pl_repeat_pattern *p, const struct pl_repeat_offer *offer,
                 struct pl_str event)
{
    const char *at = event.ptr, *end = event.ptr + event.len;
    p->is_set = false;
    p->of = offer->of;
    p->n_holes = offer->n_holes;
    pl_buf_clear(&p->around);
    for (size_t i = 0; i < offer->n_holes; i++) {
        struct pl_str is = offer->holes[i].is;
        p->is_string[i] = is.ptr[-1] == '"';
        if ((p->is_string[i] ? string_end(is.ptr, end) : number_end(is.ptr, end)) !=
            is.ptr + is.len)
            return;
        p->n_before[i] = (size_t)(is.ptr - at);
        p->names[i] = offer->holes[i].name;
        pl_buf_add(&p->around, (struct pl_str){at, p->n_before[i]});
        at = is.ptr + is.len;
    }
    p->n_after = (size_t)(end - at);
    pl_buf_add(&p->around, (struct pl_str){at, p->n_after});
    p->is_set = p->around.status == PL_OK;
}

enum pl_status pl_repeat_learn(struct pl_repeat *r, struct pl_str event)
{
    const struct pl_repeat_offer *offer = &r->offer;
    if (!offer->has_words || offer->is_spoilt || event.len > MAX_EVENT_BYTES ||
        r->n_misses >= MAX_MISSES || !are_within(offer, event))
        return PL_OK;
    r->n_misses++;
    /* Replaces a pattern that matched but could not be used, else the oldest one. */
    if (!r->has_matched)
        r->latest = (r->latest + 1) % PL_REPEAT_MAX_PATTERNS;
    make(&r->patterns[r->latest], offer, event);
    return r->patterns[r->latest].around.status;
}

/* ---- matching ---- */

static size_t match(struct pl_repeat *r, const struct pl_repeat_pattern *p, struct pl_str input)
{
    const char *at = input.ptr, *end = input.ptr + input.len, *around = p->around.ptr;
    if (!p->is_set)
        return 0;
    for (size_t i = 0; i < p->n_holes; i++) {
        size_t n = p->n_before[i];
        if ((size_t)(end - at) <= n || memcmp(at, around, n) != 0)
            return 0;
        at += n;
        around += n;
        const char *to = p->is_string[i] ? string_end(at, end) : number_end(at, end);
        if (!to)
            return 0;
        r->holes[i] = (struct pl_hole){{at, (size_t)(to - at)}, p->names[i]};
        if (p->names[i] == 0)
            r->words = r->holes[i].is;
        at = to;
    }
    if ((size_t)(end - at) < p->n_after || memcmp(at, around, p->n_after) != 0 || !r->words.len)
        return 0;
    return (size_t)(at - input.ptr) + p->n_after;
}

size_t pl_repeat_match(struct pl_repeat *r, struct pl_str input)
{
    size_t n_bytes = 0, at = r->latest;
    for (size_t i = 0; i < PL_REPEAT_MAX_PATTERNS && !n_bytes; i++) {
        at = (r->latest + i) % PL_REPEAT_MAX_PATTERNS;
        n_bytes = match(r, &r->patterns[at], input);
    }
    r->has_matched = n_bytes > 0;
    if (!n_bytes)
        return 0;
    r->latest = at;
    r->of = r->patterns[at].of;
    r->n_holes = r->patterns[at].n_holes;
    return n_bytes;
}
