/* One text per value, for hashes and signatures.
 *
 * Keys       sorted by their decoded UTF-8 bytes; a duplicate key keeps its last value.
 * Strings    UTF-8 as it is; only " \ and control characters are escaped, in the short form if
 *            there is one, otherwise \u00xx in lower case. A lone surrogate, which UTF-8 cannot
 *            encode, stays \udxxx (in lower case).
 * Numbers    every digit that matters and no other, so that no value is rounded; -0 is 0. Up to 21
 *            digits in the range of a double are laid out as JavaScript does: 0.d × 10^p is plain
 *            for -6 < p <= 21 (0.000001, 1.5, 1000), otherwise 1e-7, 1.25e+30. Other numbers get
 *            their shortest spelling, so that the canonical text of a number never exceeds a limit
 *            that its own text did not exceed.
 *
 * If every number is spelled as a double prints and all keys are ASCII, this is also the text of
 * the JSON Canonicalization Scheme (RFC 8785). Depth costs heap, not C stack. */
#include "base/text/utf8.h"
#include "base/sort.h"
#include "base/vec.h"
#include "json/number_int.h"
#include "json/text.h"
#include "json/write.h"

static const char short_escapes[128] = {
    ['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n',  ['\f'] = 'f',
    ['\r'] = 'r', ['"'] = '"',  ['\\'] = '\\',
};

static void add_code_point(struct pl_buf *to, uint32_t c)
{
    if (c < 128 && short_escapes[c]) {
        pl_buf_add(to, (struct pl_str){(char[]){'\\', short_escapes[c]}, 2});
    } else if (c < 0x20 || (c & 0xFFFFF800) == 0xD800) {
        pl_buf_addf(to, "\\u%04x", c);
    } else {
        char bytes[4];
        pl_buf_add(to, (struct pl_str){bytes, pl_utf8_put(bytes, c)});
    }
}

/* Adds the escape at `p`; returns the byte after it. */
static const char *add_escape(struct pl_buf *to, const char *p, const char *end)
{
    if (p[1] == '/') {
        pl_buf_addc(to, '/');
        return p + 2;
    }
    if (p[1] != 'u') {
        pl_buf_add(to, (struct pl_str){p, 2});
        return p + 2;
    }
    uint32_t c = pl_json_unit(p + 2);
    bool may_pair = (c & 0xFC00) == 0xD800 && end - p >= 12 && p[6] == '\\' && p[7] == 'u';
    if (may_pair && (pl_json_unit(p + 8) & 0xFC00) == 0xDC00) {
        add_code_point(to, 0x10000 + ((c & 0x3FF) << 10 | (pl_json_unit(p + 8) & 0x3FF)));
        return p + 12;
    }
    add_code_point(to, c);
    return p + 6;
}

static void add_string(struct pl_buf *to, const struct pl_json_doc *doc,
                       const struct pl_json_node *string)
{
    /* A source without a backslash is canonical already. */
    if (!(string->tag & PL_JSON_ESCAPED)) {
        pl_buf_add(to, pl_json_span(doc, string));
        return;
    }
    struct pl_str raw = pl_json_raw(doc, string);
    pl_buf_addc(to, '"');
    for (const char *p = raw.ptr, *end = p + raw.len; p < end;) {
        const char *escape = memchr(p, '\\', (size_t)(end - p));
        pl_buf_add(to, (struct pl_str){p, (size_t)((escape ? escape : end) - p)});
        p = escape ? add_escape(to, escape, end) : end;
    }
    pl_buf_addc(to, '"');
}

static void add_digits(struct pl_buf *to, const char **at, size_t n)
{
    while (n--)
        pl_buf_addc(to, (char)('0' + pl_json_decimal_digit(at)));
}

/* An exponent beyond machine words: adds the small `shift` to its digits, as on paper. */
static void add_long_exponent(struct pl_buf *to, struct pl_str digits, int64_t shift)
{
    char *room = pl_buf_reserve(to, digits.len + 1);
    if (!room)
        return;
    room[0] = '0';
    memcpy(room + 1, digits.ptr, digits.len);
    int64_t carry = shift;
    for (size_t i = digits.len + 1; i-- > 0 && carry;) {
        int64_t sum = room[i] - '0' + carry;
        int64_t digit = (sum % 10 + 10) % 10;
        room[i] = (char)('0' + digit);
        carry = (sum - digit) / 10;
    }
    size_t n_zeros = 0;
    while (room[n_zeros] == '0')
        n_zeros++;
    memmove(room, room + n_zeros, digits.len + 1 - n_zeros);
    to->len += digits.len + 1 - n_zeros;
}

/* Adds e and the exponent; the mantissa has `n_before` digits before the point. */
static void add_exponent(struct pl_buf *to, const struct pl_json_decimal *d, int64_t n_before,
                         bool has_plus)
{
    bool is_near = d->point <= PL_JSON_POINT_EXACT && d->point >= -PL_JSON_POINT_EXACT;
    int64_t shift = d->shift - n_before;
    pl_buf_addc(to, 'e');
    if (is_near) {
        pl_buf_addf(to, has_plus ? "%+lld" : "%lld", (long long)(d->point - n_before));
        return;
    }
    if (d->is_exponent_negative)
        pl_buf_addc(to, '-');
    add_long_exponent(to, d->exponent, d->is_exponent_negative ? -shift : shift);
}

/* Digits with the point where it belongs and zeros where digits are missing. */
static void add_plain(struct pl_buf *to, const struct pl_json_decimal *d)
{
    int64_t n = (int64_t)d->n_digits, n_whole = d->point < n ? d->point : n;
    const char *at = d->first;
    if (n_whole <= 0) {
        pl_buf_add(to, PL_STR("0."));
        pl_buf_fill(to, '0', (size_t)-n_whole);
        add_digits(to, &at, d->n_digits);
        return;
    }
    add_digits(to, &at, (size_t)n_whole);
    pl_buf_fill(to, '0', (size_t)(d->point - n_whole));
    if (n > n_whole) {
        pl_buf_addc(to, '.');
        add_digits(to, &at, (size_t)(n - n_whole));
    }
}

static void add_scientific(struct pl_buf *to, const struct pl_json_decimal *d, bool has_plus)
{
    const char *at = d->first;
    add_digits(to, &at, 1);
    if (d->n_digits > 1)
        pl_buf_addc(to, '.');
    add_digits(to, &at, d->n_digits - 1);
    add_exponent(to, d, 1, has_plus);
}

static void add_like_javascript(struct pl_buf *to, const struct pl_json_decimal *d)
{
    if (d->point > -6 && d->point <= 21)
        add_plain(to, d);
    else
        add_scientific(to, d, true);
}

static int width_of(int64_t n)
{
    int width = 1;
    while (n /= 10)
        width++;
    return width;
}

/* Two zeros at either end are as short as an exponent, three are not. A point among the digits
 * saves bytes only when it makes a negative exponent two digits shorter. */
static void add_shortest(struct pl_buf *to, const struct pl_json_decimal *d)
{
    int64_t n = (int64_t)d->n_digits;
    if (d->point >= -2 && d->point <= n + 2) {
        add_plain(to, d);
    } else if (d->point < 0 && width_of(d->point - n) > width_of(d->point - 1) + 1) {
        add_scientific(to, d, false);
    } else {
        const char *at = d->first;
        add_digits(to, &at, d->n_digits);
        add_exponent(to, d, n, false);
    }
}

static void add_number(struct pl_buf *to, struct pl_str number)
{
    struct pl_json_decimal d = pl_json_decimal(number);
    if (d.is_negative)
        pl_buf_addc(to, '-');
    if (!d.n_digits)
        pl_buf_addc(to, '0');
    else if (d.n_digits <= 21 && d.point > -324 && d.point < 310)
        add_like_javascript(to, &d);
    else
        add_shortest(to, &d);
}

/* An open container and its children that are not written yet. */
struct frame {
    const struct pl_json_node *next, *end; /* array only */
    size_t at;    /* object: index of its next key in the writer's stack of keys */
    size_t start; /* where its keys start; an array counts its children from there */
    bool is_object;
};

struct writer {
    struct pl_buf *to;
    const struct pl_json_doc *doc;
    PL_VEC(struct frame) frames;
    PL_VEC(const void *) keys; /* keys of all open objects, sorted, the innermost on top */
    PL_VEC(const void *) scratch;
};

static int key_order(const void *ctx, const void *a, const void *b)
{
    const struct pl_json_doc *doc = ctx;
    return pl_json_text_cmp(doc, a, doc, b);
}

/* Pushes the keys of `object`, sorted; of equal keys, only the last in the text. */
static bool push_keys(struct writer *w, const struct pl_json_node *object)
{
    size_t start = w->keys.len, n = pl_json_count(object);
    if (n == 0)
        return true;
    if (!pl_vec_grow((void **)&w->keys.ptr, &w->keys.cap, start + n, sizeof *w->keys.ptr) ||
        !pl_vec_grow((void **)&w->scratch.ptr, &w->scratch.cap, n, sizeof *w->scratch.ptr))
        return false;
    const void **keys = w->keys.ptr + start;
    const struct pl_json_node *key = pl_json_first(object);
    for (size_t i = 0; i < n; i++, key = pl_json_next_member(key))
        keys[i] = key;
    pl_sort(keys, w->scratch.ptr, n, key_order, w->doc);
    size_t n_kept = 0;
    for (size_t i = 0; i < n; i++)
        if (i + 1 == n || key_order(w->doc, keys[i], keys[i + 1]) != 0)
            keys[n_kept++] = keys[i];
    w->keys.len = start + n_kept;
    return true;
}

static bool open_container(struct writer *w, const struct pl_json_node *n)
{
    bool is_object = pl_json_kind(n) == PL_JSON_OBJECT;
    struct frame frame = {.next = pl_json_first(n),
                          .end = pl_json_end(n),
                          .at = w->keys.len,
                          .start = w->keys.len,
                          .is_object = is_object};
    pl_buf_addc(w->to, is_object ? '{' : '[');
    return (!is_object || push_keys(w, n)) && pl_vec_push(&w->frames, frame);
}

static bool add_value(struct writer *w, const struct pl_json_node *n)
{
    switch (pl_json_kind(n)) {
    case PL_JSON_ARRAY:
    case PL_JSON_OBJECT:
        return open_container(w, n);
    case PL_JSON_STRING:
        add_string(w->to, w->doc, n);
        return true;
    case PL_JSON_NUMBER:
        add_number(w->to, pl_json_span(w->doc, n));
        return true;
    default:
        pl_buf_add(w->to, pl_json_span(w->doc, n));
        return true;
    }
}

/* Writes the separator, and the key, of the next child and returns the child; NULL at the end of
 * the container. */
static const struct pl_json_node *next_child(struct writer *w, struct frame *frame)
{
    bool is_first;
    const struct pl_json_node *child;
    if (frame->is_object) {
        if (frame->at == w->keys.len)
            return NULL;
        is_first = frame->at == frame->start;
        child = w->keys.ptr[frame->at++];
    } else {
        if (frame->next == frame->end)
            return NULL;
        is_first = frame->at++ == frame->start;
        child = frame->next;
        frame->next = pl_json_next(child);
    }
    if (!is_first)
        pl_buf_addc(w->to, ',');
    if (frame->is_object) {
        add_string(w->to, w->doc, child++);
        pl_buf_addc(w->to, ':');
    }
    return child;
}

enum pl_status pl_json_write_canonical(struct pl_buf *to, const struct pl_json_doc *doc,
                                       const struct pl_json_node *n)
{
    struct writer w = {.to = to, .doc = doc};
    bool is_ok = add_value(&w, n);
    while (is_ok && w.frames.len && to->status == PL_OK) {
        struct frame *frame = &w.frames.ptr[w.frames.len - 1];
        const struct pl_json_node *child = next_child(&w, frame);
        if (child) {
            is_ok = add_value(&w, child);
        } else {
            pl_buf_addc(to, frame->is_object ? '}' : ']');
            w.keys.len = frame->start;
            w.frames.len--;
        }
    }
    pl_vec_deinit(&w.frames);
    pl_vec_deinit(&w.keys);
    pl_vec_deinit(&w.scratch);
    if (!is_ok && to->status == PL_OK)
        to->status = PL_NOMEM;
    return to->status;
}
