/* Compares two texts word by word: Myers, "An O(ND) Difference Algorithm and Its Variations"
 * (1986), the variation in linear space (section 4b).
 *
 * Words become numbers first, so that comparing two words compares integers. A word that only one
 * side has is reported at once and left out of the search. This changes no result and makes texts
 * without common words cheap. */
#include "prompt/diff_int.h"

#include "base/map.h"
#include "base/text/script.h"
#include "base/text/utf8.h"
#include "base/vec.h"

/* Whether a character is a word by itself: one of a script without spaces, or its punctuation. */
static bool is_alone(int32_t c)
{
    bool is_radical = c >= 0x2e80 && c <= 0x2fdf, is_punctuation = c >= 0x3000 && c <= 0x303f;
    bool is_full_width = c >= 0xff00 && c <= 0xff65;
    return c >= 0 &&
           (pl_script_is_unspaced((uint32_t)c) || is_radical || is_punctuation || is_full_width);
}

/* Whether a character belongs to the one before it: accents, marks, voiced sounds, variants. */
static bool is_joined(int32_t c)
{
    bool is_accent = c >= 0x0300 && c <= 0x036f, is_variant = c >= 0xfe00 && c <= 0xfe0f;
    bool is_rare_variant = c >= 0xe0100 && c <= 0xe01ef;
    return c >= 0 && (is_accent || is_variant || is_rare_variant || pl_script_is_mark((uint32_t)c));
}

static bool is_word_space(int32_t c)
{
    return c == ' ' || (c >= '\t' && c <= '\r') || c == 0xa0 || c == 0x3000;
}

/* The code point at `at`. */
static int32_t peek(struct pl_str text, size_t at)
{
    return pl_utf8_next(text, &at);
}

struct pl_str pl_diff_next_word(struct pl_str text, size_t *at)
{
    size_t start = *at;
    int32_t first = peek(text, *at);
    if (!is_word_space(first)) {
        pl_utf8_next(text, at);
        while (*at < text.len) {
            int32_t c = peek(text, *at);
            if (!is_joined(c) && (is_alone(first) || is_alone(c) || is_word_space(c)))
                break;
            pl_utf8_next(text, at);
        }
    }
    while (*at < text.len && is_word_space(peek(text, *at)))
        pl_utf8_next(text, at);
    return pl_str_slice(text, start, *at);
}

/* One of the two texts. */
struct side {
    struct pl_str text;
    uint32_t n;
    uint32_t *ids;      /* the number of each word: equal words have equal numbers */
    size_t *ends;       /* end offset of each word */
    bool *is_changed;   /* whether each word is removed or added */
    uint32_t *kept;     /* indexes of the words that the other side has too */
    uint32_t *kept_ids; /* … and their numbers */
    uint32_t n_kept;
};

enum { HAS_FROM = 1, HAS_TO = 2 };

static bool make_side(struct pl_arena *arena, struct pl_str text, struct side *ret_side)
{
    struct side s = {.text = text};
    for (size_t at = 0; at < text.len; s.n++)
        pl_diff_next_word(text, &at);
    size_t n = s.n + (size_t)1;
    s.ids = pl_arena_alloc(arena, n, sizeof *s.ids);
    s.ends = pl_arena_alloc(arena, n, sizeof *s.ends);
    s.is_changed = pl_arena_zalloc(arena, n, sizeof *s.is_changed);
    s.kept = pl_arena_alloc(arena, n, sizeof *s.kept);
    s.kept_ids = pl_arena_alloc(arena, n, sizeof *s.kept_ids);
    *ret_side = s;
    return s.ids && s.ends && s.is_changed && s.kept && s.kept_ids;
}

/* Numbers every word; the value of a map entry says which sides have it. */
static bool number_words(struct pl_map *words, struct side *s, uint64_t who)
{
    size_t at = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        bool is_new;
        struct pl_map_entry *entry = pl_map_put(words, pl_diff_next_word(s->text, &at), &is_new);
        if (!entry)
            return false;
        entry->value |= who;
        s->ids[i] = (uint32_t)(entry - words->entries);
        s->ends[i] = at;
    }
    return true;
}

static void keep_shared(const struct pl_map *words, struct side *s)
{
    for (uint32_t i = 0; i < s->n; i++) {
        if (words->entries[s->ids[i]].value != (HAS_FROM | HAS_TO)) {
            s->is_changed[i] = true;
            continue;
        }
        s->kept[s->n_kept] = i;
        s->kept_ids[s->n_kept++] = s->ids[i];
    }
}

/* The search. Two paths walk the edit graph from both ends; forward[k] is how far the path on
 * diagonal k got from the start, backward[k] from the end. */
struct search {
    struct side *from, *to;
    int64_t *forward, *backward; /* index 0 is diagonal 0 */
    int64_t reach;               /* steps each path may take; the arrays have one more on both
                                    sides */
    int64_t n_work;              /* comparisons left */
};

/* Words [a, a_end) of one side against [b, b_end) of the other. */
struct box {
    int64_t a, a_end, b, b_end;
};

enum { NOT_REACHED = -1 };

/* How far diagonal k gets with one more step: right from k - 1 or down from k + 1. */
static int64_t step(const int64_t *reached, int64_t k, int64_t n, int64_t m)
{
    int64_t x = NOT_REACHED;
    if (reached[k - 1] >= 0 && reached[k - 1] < n)
        x = reached[k - 1] + 1;
    if (reached[k + 1] > x && reached[k + 1] - k <= m)
        x = reached[k + 1];
    return x;
}

/* Walks all diagonals from the start with d steps; true when it met the other path. */
static bool walk_forward(struct search *s, const struct box *box, int64_t d, int64_t *ret_x,
                         int64_t *ret_y)
{
    int64_t n = box->a_end - box->a, m = box->b_end - box->b, delta = n - m;
    const uint32_t *a = s->from->kept_ids + box->a, *b = s->to->kept_ids + box->b;
    for (int64_t k = -d; k <= d && s->n_work >= 0; k += 2) {
        int64_t first = step(s->forward, k, n, m), x = first, back = delta - k;
        while (x >= 0 && x < n && x - k < m && a[x] == b[x - k])
            x++;
        s->n_work -= 1 + x - first;
        s->forward[k] = x;
        if (x >= 0 && (delta & 1) && back > -d && back < d && s->backward[back] >= 0 &&
            x + s->backward[back] >= n) {
            *ret_x = x;
            *ret_y = x - k;
            return true;
        }
    }
    return false;
}

static bool walk_backward(struct search *s, const struct box *box, int64_t d, int64_t *ret_x,
                          int64_t *ret_y)
{
    int64_t n = box->a_end - box->a, m = box->b_end - box->b, delta = n - m;
    const uint32_t *a = s->from->kept_ids + box->a_end, *b = s->to->kept_ids + box->b_end;
    for (int64_t k = -d; k <= d && s->n_work >= 0; k += 2) {
        int64_t first = step(s->backward, k, n, m), x = first, there = delta - k;
        while (x >= 0 && x < n && x - k < m && a[-1 - x] == b[-1 - (x - k)])
            x++;
        s->n_work -= 1 + x - first;
        s->backward[k] = x;
        if (x >= 0 && !(delta & 1) && there >= -d && there <= d && s->forward[there] >= 0 &&
            x + s->forward[there] >= n) {
            *ret_x = n - x;
            *ret_y = m - (x - k);
            return true;
        }
    }
    return false;
}

/* Finds the middle of a shortest path; *ret_d is its number of steps. False if that exceeds the
 * limit of both paths, or is too much work. */
static bool find_middle(struct search *s, const struct box *box, int64_t *ret_x, int64_t *ret_y,
                        int64_t *ret_d)
{
    for (int64_t d = 0; d <= s->reach && s->n_work >= 0; d++) {
        s->forward[-d - 1] = s->forward[d + 1] = NOT_REACHED;
        s->backward[-d - 1] = s->backward[d + 1] = NOT_REACHED;
        if (d == 0)
            s->forward[1] = s->backward[1] = 0;
        *ret_d = 2 * d - 1;
        if (walk_forward(s, box, d, ret_x, ret_y))
            return true;
        *ret_d = 2 * d;
        if (walk_backward(s, box, d, ret_x, ret_y))
            return true;
    }
    return false;
}

static void mark(struct side *s, int64_t first, int64_t end)
{
    for (int64_t i = first; i < end; i++)
        s->is_changed[s->kept[i]] = true;
}

static void trim(const struct search *s, struct box *box)
{
    const uint32_t *a = s->from->kept_ids, *b = s->to->kept_ids;
    while (box->a < box->a_end && box->b < box->b_end && a[box->a] == b[box->b]) {
        box->a++;
        box->b++;
    }
    while (box->a < box->a_end && box->b < box->b_end && a[box->a_end - 1] == b[box->b_end - 1]) {
        box->a_end--;
        box->b_end--;
    }
}

/* Marks all changed words; false if there are more than `most`. Each half of a box has half its
 * steps, so the stack never holds more boxes than PL_DIFF_MAX_STEPS has bits. */
static bool search(struct search *s, int64_t most)
{
    struct box open[32] = {{0, s->from->n_kept, 0, s->to->n_kept}};
    for (size_t n_open = 1; n_open;) {
        struct box box = open[--n_open];
        int64_t x, y, d;
        trim(s, &box);
        if (box.a == box.a_end || box.b == box.b_end) {
            most -= (box.a_end - box.a) + (box.b_end - box.b);
            if (most < 0)
                return false;
            mark(s->from, box.a, box.a_end);
            mark(s->to, box.b, box.b_end);
            continue;
        }
        if (!find_middle(s, &box, &x, &y, &d) || d > most)
            return false;
        open[n_open++] = (struct box){box.a + x, box.a_end, box.b + y, box.b_end};
        open[n_open++] = (struct box){box.a, box.a + x, box.b, box.b + y};
    }
    return true;
}

/* PL_LIMIT: the texts differ too much. */
static enum pl_status compare(struct pl_arena *arena, struct side *from, struct side *to,
                              int64_t *n_work)
{
    int64_t n_told = (int64_t)(from->n - from->n_kept) + (to->n - to->n_kept);
    int64_t most = PL_DIFF_MAX_STEPS - n_told;
    if (most < 0)
        return PL_LIMIT;
    int64_t most_needed = (int64_t)from->n_kept + to->n_kept;
    int64_t reach = ((most < most_needed ? most : most_needed) + 1) / 2;
    size_t n = (size_t)(2 * reach + 3);
    int64_t *forward = pl_arena_alloc(arena, n, sizeof *forward);
    int64_t *backward = pl_arena_alloc(arena, n, sizeof *backward);
    if (!forward || !backward)
        return PL_NOMEM;
    struct search s = {from, to, forward + reach + 1, backward + reach + 1, reach, *n_work};
    bool is_found = search(&s, most);
    *n_work = s.n_work;
    return is_found ? PL_OK : PL_LIMIT;
}

static void tell(struct pl_json_out *out, const char *op, struct pl_str text)
{
    if (!text.len)
        return;
    pl_json_out_open(out, '{');
    pl_json_out_key(out, "op");
    pl_json_out_text(out, pl_str_of(op));
    pl_json_out_key(out, "text");
    pl_json_out_text(out, text);
    pl_json_out_close(out, '}');
}

static struct pl_str slice(const struct side *s, uint32_t first, uint32_t end)
{
    return pl_str_slice(s->text, first ? s->ends[first - 1] : 0, end ? s->ends[end - 1] : 0);
}

/* The run of changed words from *at on as one piece. */
static struct pl_str changed_run(const struct side *s, uint32_t *at)
{
    uint32_t first = *at;
    while (*at < s->n && s->is_changed[*at])
        ++*at;
    return slice(s, first, *at);
}

static void tell_all(struct pl_json_out *out, const struct side *from, const struct side *to)
{
    uint32_t a = 0, b = 0;
    while (a < from->n || b < to->n) {
        tell(out, "removed", changed_run(from, &a));
        tell(out, "added", changed_run(to, &b));
        uint32_t first = b;
        for (; a < from->n && !from->is_changed[a] && !to->is_changed[b]; a++)
            b++;
        tell(out, "same", slice(to, first, b));
    }
}

enum pl_status pl_diff_words(struct pl_arena *arena, struct pl_str from, struct pl_str to,
                             int64_t *n_work, struct pl_json_out *out)
{
    struct side a, b;
    struct pl_map words = {0};
    enum pl_status status = PL_NOMEM;
    if (make_side(arena, from, &a) && make_side(arena, to, &b) &&
        number_words(&words, &a, HAS_FROM) && number_words(&words, &b, HAS_TO)) {
        keep_shared(&words, &a);
        keep_shared(&words, &b);
        status = compare(arena, &a, &b, n_work);
    }
    pl_map_deinit(&words);
    if (status == PL_NOMEM)
        return status;
    pl_json_out_open(out, '[');
    if (status == PL_OK) {
        tell_all(out, &a, &b);
    } else {
        tell(out, "removed", from);
        tell(out, "added", to);
    }
    pl_json_out_close(out, ']');
    return out->buf->status;
}
