/* Finds the sentence that matches a text and translates it.
 *
 * A text may contain data from strangers, so the work is bounded. Texts longer than any message are
 * left alone. Each piece of a sentence is searched once, from the end of the previous piece. A
 * translated hole is always shorter than the text around it. */
#include "words/words.h"

#include "base/ascii.h"
#include "words/words_int.h"

enum {
    MAX_TEXT = 4096, /* bytes; a longer text is not compared with sentences that have holes */
    MAX_DEPTH = 3,   /* nested sentences */
    MIN_CUT = 8,     /* bytes of a truncated sentence that must match */
};

static const char dots[] = "…";

struct fit {
    const struct pl_words_row *row; /* NULL if no sentence matches */
    struct pl_str holes[PL_WORDS_HOLES_MAX];
    size_t n_bytes; /* matched bytes of the sentence */
};

static const struct pl_words_row *find_whole(struct pl_str english)
{
    size_t from = 0, to = pl_words_n_whole;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        int order = pl_str_cmp(pl_words_whole[middle].english, english);
        if (order == 0)
            return &pl_words_whole[middle];
        if (order < 0)
            from = middle + 1;
        else
            to = middle;
    }
    return NULL;
}

const char *pl_words_of(const char *english)
{
    const struct pl_words_row *row = find_whole(pl_str_of(english));
    return row ? row->chinese.ptr : english;
}

/* Takes the piece before the next hole off *sentence. Returns false if it was the last piece, with
 * no hole after it. */
static bool take_piece(struct pl_str *sentence, struct pl_str *ret_piece)
{
    const char *hole = memchr(sentence->ptr, PL_WORDS_HOLE, sentence->len);
    size_t n = hole ? (size_t)(hole - sentence->ptr) : sentence->len;
    *ret_piece = pl_str_slice(*sentence, 0, n);
    *sentence = pl_str_slice(*sentence, hole ? n + 1 : n, sentence->len);
    return hole;
}

static bool ends(struct pl_str text, struct pl_str end)
{
    return text.len >= end.len &&
           (!end.len || memcmp(text.ptr + text.len - end.len, end.ptr, end.len) == 0);
}

static bool is_number(struct pl_str text)
{
    size_t i = 0;
    while (i < text.len && pl_ascii_is_digit(text.ptr[i]))
        i++;
    return i && i == text.len;
}

/* True if the text matches the sentence. With `is_cut` the sentence may be longer than the text. */
static bool fits(struct pl_str sentence, struct pl_str text, bool is_cut, struct fit *fit)
{
    struct pl_str piece;
    bool has_hole = take_piece(&sentence, &piece);
    if (!has_hole || !pl_str_starts(text, piece))
        return false;
    fit->n_bytes = piece.len;
    memset(fit->holes, 0, sizeof fit->holes);
    text = pl_str_slice(text, piece.len, text.len);
    for (size_t i = 0; has_hole && i < PL_WORDS_HOLES_MAX; i++) {
        bool wants_number = sentence.len && sentence.ptr[0] == PL_WORDS_NUMBER;
        sentence = pl_str_slice(sentence, wants_number, sentence.len);
        has_hole = take_piece(&sentence, &piece);
        size_t at = has_hole            ? pl_str_find(text, piece)
                    : ends(text, piece) ? text.len - piece.len
                                        : SIZE_MAX;
        if (at == SIZE_MAX && !is_cut)
            return false;
        fit->holes[i] = pl_str_slice(text, 0, at);
        if (at == SIZE_MAX)
            return fit->n_bytes >= MIN_CUT;
        if (wants_number && !is_number(fit->holes[i]))
            return false;
        fit->n_bytes += piece.len;
        text = pl_str_slice(text, at + piece.len, text.len);
    }
    return true;
}

static void find_holed(struct pl_str english, struct fit *ret_fit)
{
    struct fit fit;
    *ret_fit = (struct fit){0};
    for (size_t i = 0; i < pl_words_n_holed; i++)
        if (fits(pl_words_holed[i].english, english, false, ret_fit)) {
            ret_fit->row = &pl_words_holed[i];
            return;
        }
    for (size_t i = 0; ends(english, PL_STR(dots)) && i < pl_words_n_holed; i++)
        if (fits(pl_words_holed[i].english, english, true, &fit) &&
            (!ret_fit->row || fit.n_bytes >= ret_fit->n_bytes)) {
            fit.row = &pl_words_holed[i];
            *ret_fit = fit;
        }
}

/* Translates "a, b or c" to "a、b 或 c". */
static void add_list(struct pl_buf *to, struct pl_str list)
{
    static const struct {
        struct pl_str english, chinese;
    } marks[] = {{PL_STR(", "), PL_STR("、")},
                 {PL_STR(" or "), PL_STR(" 或 ")},
                 {PL_STR(" and "), PL_STR(" 和 ")}};
    while (list.len) {
        size_t first = list.len, next = SIZE_MAX, mark = 0;
        for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
            next = pl_str_find(pl_str_slice(list, 0, first), marks[i].english);
            mark = next < first ? i : mark;
            first = next < first ? next : first;
        }
        pl_buf_add(to, pl_str_slice(list, 0, first));
        if (first < list.len)
            pl_buf_add(to, marks[mark].chinese);
        list = pl_str_slice(list, first + marks[mark].english.len, list.len);
    }
}

static bool say(struct pl_buf *to, struct pl_str english, int depth);

static void add_hole(struct pl_buf *to, const struct fit *fit, char letter, int depth)
{
    static const char firsts[] = {PL_WORDS_COPIED, PL_WORDS_SAID, PL_WORDS_LISTED};
    for (size_t i = 0; i < sizeof firsts; i++) {
        if (letter < firsts[i] || letter >= firsts[i] + PL_WORDS_HOLES_MAX)
            continue;
        struct pl_str hole = fit->holes[letter - firsts[i]];
        if (firsts[i] == PL_WORDS_COPIED)
            pl_buf_add(to, hole);
        else if (firsts[i] == PL_WORDS_SAID)
            (void)say(to, hole, depth + 1);
        else
            add_list(to, hole);
    }
}

static bool say(struct pl_buf *to, struct pl_str english, int depth)
{
    const struct pl_words_row *row = find_whole(english);
    struct fit fit = {.row = NULL};
    if (!row && english.len <= MAX_TEXT && depth < MAX_DEPTH)
        find_holed(english, &fit);
    if (!fit.row) {
        pl_buf_add(to, row ? row->chinese : english);
        return row;
    }
    struct pl_str chinese = fit.row->chinese, piece;
    while (take_piece(&chinese, &piece)) {
        pl_buf_add(to, piece);
        add_hole(to, &fit, chinese.ptr[0], depth);
        chinese = pl_str_slice(chinese, 1, chinese.len);
    }
    pl_buf_add(to, piece);
    return true;
}

bool pl_words_add(struct pl_buf *to, struct pl_str english)
{
    return say(to, english, 0);
}
