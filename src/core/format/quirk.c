#include "format/quirk.h"

#include "base/utf8.h"
#include "json/number.h"
#include "json/text.h"

/* Whether every writer would spell this escape so: the short forms, and \u00xx in lower case for
 * the control characters that have none. */
static bool is_usual_escape(const char *p)
{
    if (p[1] != 'u')
        return p[1] != '/';
    bool is_control = p[2] == '0' && p[3] == '0' && (p[4] == '0' || p[4] == '1');
    bool is_short = p[4] == '0' && strchr("89acdACD", p[5]);
    bool is_lower = p[5] < 'A' || p[5] >= 'a';
    return is_control && !is_short && is_lower;
}

bool pl_quirk_is_plain(struct pl_str raw)
{
    const char *end = raw.ptr + raw.len;
    for (const char *p = raw.ptr; p < end && (p = memchr(p, '\\', (size_t)(end - p))); p += 2)
        if (!is_usual_escape(p))
            return false;
    return true;
}

static bool is_surrogate(struct pl_str raw, size_t at, const char *letters)
{
    return at + 6 <= raw.len && raw.ptr[at] == '\\' && raw.ptr[at + 1] == 'u' &&
           (raw.ptr[at + 2] | 32) == 'd' && strchr(letters, raw.ptr[at + 3] | 32);
}

/* Bytes of the character at `at`: an escape, two for a pair of surrogates, or UTF-8. */
static size_t char_len(struct pl_str raw, size_t at)
{
    size_t end = at;
    if (raw.ptr[at] != '\\') {
        (void)pl_utf8_next(raw, &end);
        return end - at;
    }
    if (raw.ptr[at + 1] != 'u')
        return 2;
    bool is_pair = is_surrogate(raw, at, "89ab") && is_surrogate(raw, at + 6, "cdef");
    return is_pair ? 12 : 6;
}

void pl_quirk_write(struct pl_json_out *out, struct pl_str raw)
{
    int64_t n_usual = 0;
    size_t odd = 0; /* bytes of the odd escapes in front of `at` */
    pl_json_out_open(out, '[');
    for (size_t at = 0; at < raw.len;) {
        size_t n = char_len(raw, at);
        bool is_odd = raw.ptr[at] == '\\' && !is_usual_escape(raw.ptr + at);
        if (is_odd && n_usual)
            pl_json_out_int(out, n_usual);
        else if (!is_odd && odd)
            pl_json_out_text(out, pl_str_slice(raw, at - odd, at));
        n_usual = is_odd ? 0 : n_usual + 1;
        odd = is_odd ? odd + n : 0;
        at += n;
    }
    if (odd)
        pl_json_out_text(out, pl_str_slice(raw, raw.len - odd, raw.len));
    else
        pl_json_out_int(out, n_usual);
    pl_json_out_close(out, ']');
}

/* One step of the list: characters spelled as usual, then escapes and what they say. */
struct step {
    size_t n_usual;
    struct pl_str odd, says; /* arena */
};

struct quirks {
    struct step *steps; /* arena */
    size_t n_steps;
};

static enum pl_status read_steps(struct pl_arena *arena, const struct pl_json_doc *doc,
                                 const struct pl_json_node *array, struct quirks *ret)
{
    struct quirks q = {.steps = pl_arena_zalloc(arena, pl_json_count(array) + 1, sizeof *q.steps)};
    if (!q.steps)
        return PL_NOMEM;
    for (const struct pl_json_node *n = pl_json_first(array); n < pl_json_end(array);
         n = pl_json_next(n)) {
        struct step *step = &q.steps[q.n_steps];
        int64_t count;
        if (pl_json_kind(n) == PL_JSON_NUMBER &&
            pl_json_number_int64(pl_json_span(doc, n), &count) && count >= 0) {
            step->n_usual = (size_t)count;
            continue;
        }
        if (pl_json_kind(n) != PL_JSON_STRING)
            return PL_INVALID;
        if (pl_json_text(arena, doc, n, &step->odd) != PL_OK)
            return PL_NOMEM;
        char *says = pl_arena_alloc(arena, step->odd.len + 1, 1);
        if (!says)
            return PL_NOMEM;
        step->says = (struct pl_str){says, pl_json_decode(says, step->odd)};
        q.n_steps++;
    }
    *ret = q;
    return PL_OK;
}

/* Moves over n characters forward; false when there are fewer. */
static bool skip(struct pl_str text, size_t n, size_t *at)
{
    for (; n > 0; n--) {
        if (*at >= text.len)
            return false;
        (void)pl_utf8_next(text, at);
    }
    return true;
}

static bool skip_back(struct pl_str text, size_t n, size_t *at)
{
    for (; n > 0; n--) {
        if (*at == 0)
            return false;
        do
            --*at;
        while (*at > 0 && ((unsigned char)text.ptr[*at] & 0xC0) == 0x80);
    }
    return true;
}

/* Where the escapes are in a text: those of steps [0, front) and [back, n_steps) end at ends[i]. */
struct fit {
    size_t front, back;
    size_t *ends; /* arena */
};

/* Counted from the front, for steps before `last` and up to `limit`. */
static void fit_front(const struct quirks *q, struct pl_str text, size_t last, size_t limit,
                      struct fit *fit)
{
    size_t at = 0;
    for (fit->front = 0; fit->front < last; fit->front++) {
        const struct step *step = &q->steps[fit->front];
        if (!skip(text, step->n_usual, &at) || at + step->says.len > limit ||
            !pl_str_starts(pl_str_slice(text, at, text.len), step->says))
            break;
        at += step->says.len;
        fit->ends[fit->front] = at;
    }
}

/* Counted from the end, for steps from `first` on and down to `limit`. */
static void fit_back(const struct quirks *q, struct pl_str text, size_t first, size_t limit,
                     struct fit *fit)
{
    size_t at = text.len;
    for (fit->back = q->n_steps; fit->back > first; fit->back--) {
        const struct step *step = &q->steps[fit->back - 1];
        if (!skip_back(text, q->steps[fit->back].n_usual, &at) || at < limit + step->says.len ||
            !pl_str_eq(pl_str_slice(text, at - step->says.len, at), step->says))
            break;
        fit->ends[fit->back - 1] = at;
        at -= step->says.len;
    }
}

static size_t n_placed(const struct quirks *q, const struct fit *fit)
{
    return fit->front + q->n_steps - fit->back;
}

/* One side may meet another place of the same letter and leave the other side too little: the order
 * that places more is right more often. */
static struct fit find_fit(const struct quirks *q, struct pl_str text, size_t *ends)
{
    struct fit forth = {.ends = ends}, back = {.ends = ends + q->n_steps};
    fit_front(q, text, q->n_steps, text.len, &forth);
    fit_back(q, text, forth.front, forth.front ? ends[forth.front - 1] : 0, &forth);
    fit_back(q, text, 0, 0, &back);
    const struct step *next = &q->steps[back.back];
    fit_front(q, text, back.back,
              back.back < q->n_steps ? back.ends[back.back] - next->says.len : text.len, &back);
    return n_placed(q, &back) > n_placed(q, &forth) ? back : forth;
}

static void put_usual(struct pl_buf *to, struct pl_str text)
{
    PL_CLEANUP_BUF struct pl_buf quoted;
    pl_buf_init(&quoted, 0);
    pl_json_quote(&quoted, text);
    if (quoted.status != PL_OK)
        to->status = quoted.status;
    else
        pl_buf_add(to, pl_str_slice(pl_buf_str(&quoted), 1, quoted.len - 1));
}

static void put_steps(struct pl_buf *to, const struct quirks *q, struct pl_str text, size_t *ends)
{
    struct fit fit = find_fit(q, text, ends);
    size_t at = 0;
    pl_buf_addc(to, '"');
    for (size_t i = 0; i < q->n_steps; i++) {
        if (i >= fit.front && i < fit.back)
            continue;
        put_usual(to, pl_str_slice(text, at, fit.ends[i] - q->steps[i].says.len));
        pl_buf_add(to, q->steps[i].odd);
        at = fit.ends[i];
    }
    put_usual(to, pl_str_slice(text, at, text.len));
    pl_buf_addc(to, '"');
}

bool pl_quirk_put_text(struct pl_buf *to, const struct pl_json_doc *quirk_doc,
                       const struct pl_json_node *quirks, struct pl_str text)
{
    PL_CLEANUP_ARENA struct pl_arena arena;
    pl_arena_init(&arena, 0);
    struct quirks q;
    if (pl_json_kind(quirks) != PL_JSON_ARRAY)
        return false;
    enum pl_status status = read_steps(&arena, quirk_doc, quirks, &q);
    size_t *ends = status == PL_OK ? pl_arena_alloc(&arena, 2 * q.n_steps + 1, sizeof *ends) : NULL;
    if (status == PL_INVALID)
        return false;
    if (!ends)
        to->status = PL_NOMEM;
    else
        put_steps(to, &q, text, ends);
    return true;
}

bool pl_quirk_put(struct pl_buf *to, const struct pl_json_doc *quirk_doc,
                  const struct pl_json_node *quirks, const struct pl_json_doc *doc,
                  const struct pl_json_node *string)
{
    PL_CLEANUP_ARENA struct pl_arena arena;
    pl_arena_init(&arena, 0);
    struct pl_str text;
    if (pl_json_kind(string) != PL_JSON_STRING)
        return false;
    if (pl_json_text(&arena, doc, string, &text) == PL_OK)
        return pl_quirk_put_text(to, quirk_doc, quirks, text);
    to->status = PL_NOMEM;
    return true;
}
