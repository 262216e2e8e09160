/* Adds up both sides of a stream and compares them as whole answers. A loss that was reported for
 * an event is not reported again. */
#include "stream/account.h"

#include "base/map.h"
#include "format/convert.h"
#include "format/loss_report.h"
#include "json/text.h"
#include "json/tour.h"
#include "stream/sum.h"

/* One whole answer, and the values in it. */
struct answer {
    struct pl_buf text; /* owned */
    struct pl_json_doc doc;
    struct pl_map says;  /* owned; decoded strings and numbers -> index of the first place + 1, or,
                          * without places, whether it is a string */
    struct pl_buf words; /* owned; all decoded strings, each after a NUL */
};

/* Where a value is in the source. */
struct place {
    struct pl_str pointer; /* arena */
    size_t next;           /* the next place with the same value, + 1; 0: none */
    size_t last;           /* in the first place: the last place with the same value, + 1 */
};

struct account {
    struct pl_arena arena;
    struct pl_buf *to;
    struct answer source, whole, target; /* whole: the source, converted */
    PL_VEC(struct place) places;         /* of the source's values */
    struct pl_map reported;              /* owned; pointers that the report lists as lost */
    size_t n_losses;
    size_t n_searched; /* bytes searched so far for strings inside other strings */
    bool has_whole;    /* the source's answer was converted */
    bool is_lossy;
    enum pl_status status; /* sticky: for functions that return no status */
    struct pl_error *err;
};

/* Searching for strings in strings costs the product of their lengths. After this many bytes, a
 * string that was not found as a whole counts as lost. */
static const size_t max_searched = (size_t)4 << 30;

static void init_answer(struct answer *a)
{
    pl_buf_init(&a->text, 0);
    pl_buf_init(&a->words, 0);
    a->says = (struct pl_map){0};
}

static void deinit_answer(struct answer *a)
{
    pl_buf_deinit(&a->text);
    pl_buf_deinit(&a->words);
    pl_map_deinit(&a->says);
}

/* ---- the report ---- */

static void add_loss(struct account *a, struct pl_str code, struct pl_str pointer,
                     struct pl_str detail, bool is_loss)
{
    if (a->n_losses++)
        pl_buf_addc(a->to, ',');
    pl_buf_adds(a->to, "{\"code\":\"");
    pl_buf_add(a->to, code);
    pl_buf_adds(a->to, "\",\"pointer\":");
    pl_json_quote(a->to, pointer);
    pl_buf_adds(a->to, ",\"detail\":");
    pl_json_quote(a->to, detail);
    pl_buf_addc(a->to, '}');
    a->is_lossy |= is_loss;
}

/* Whether the report already has this pointer or one above it. */
static bool is_reported(const struct account *a, struct pl_str pointer)
{
    for (size_t n = pointer.len; n > 0; n--)
        if ((n == pointer.len || pointer.ptr[n] == '/') &&
            pl_map_get(&a->reported, pl_str_slice(pointer, 0, n)))
            return true;
    return false;
}

static enum pl_status note_reported(struct account *a, struct pl_str pointer)
{
    bool is_new;
    return pl_map_put(&a->reported, pointer, &is_new) ? PL_OK : PL_NOMEM;
}

static enum pl_status add_dropped(struct account *a, struct pl_str pointer, const char *detail)
{
    if (is_reported(a, pointer))
        return PL_OK;
    add_loss(a, PL_STR("dropped"), pointer, pl_str_of(detail), true);
    return note_reported(a, pointer);
}

/* ---- values of an answer ---- */

static enum pl_status text_at(struct account *a, const struct pl_json_doc *doc,
                              const struct pl_json_node *n, struct pl_str *ret_text)
{
    if (pl_json_kind(n) == PL_JSON_STRING)
        return pl_json_text(&a->arena, doc, n, ret_text);
    *ret_text = pl_json_span(doc, n);
    return PL_OK;
}

static bool says_something(const struct pl_json_doc *doc, const struct pl_json_node *n)
{
    enum pl_json_kind kind = pl_json_kind(n);
    if (kind == PL_JSON_STRING)
        return n->len > 2;
    return kind == PL_JSON_NUMBER && !pl_str_eq(pl_json_span(doc, n), PL_STR("0"));
}

static bool add_place(struct account *a, struct pl_map_entry *entry, struct pl_str pointer)
{
    struct place place = {.pointer = pl_arena_dup(&a->arena, pointer), .last = a->places.len + 1};
    if (!place.pointer.ptr || !pl_vec_push(&a->places, place))
        return false;
    if (!entry->value) {
        entry->value = a->places.len;
        return true;
    }
    struct place *first = &a->places.ptr[entry->value - 1];
    a->places.ptr[first->last - 1].next = a->places.len;
    first->last = a->places.len;
    return true;
}

/* Collects all values of the answer, with their places if wants_places. */
static enum pl_status listen(struct account *a, struct answer *is, bool wants_places)
{
    enum pl_status status =
        pl_json_parse(&a->arena, pl_buf_str(&is->text), &pl_json_made, &is->doc, a->err);
    if (status != PL_OK)
        return status == PL_NOMEM || status == PL_LIMIT ? status : PL_INTERNAL;
    __attribute__((cleanup(pl_json_tour_deinit))) struct pl_json_tour tour;
    pl_json_tour_init(&tour, &is->doc);
    for (const struct pl_json_node *n; (n = pl_json_tour_next(&tour));) {
        struct pl_str text;
        bool is_new;
        if (!says_something(&is->doc, n))
            continue;
        if (text_at(a, &is->doc, n, &text) != PL_OK)
            return PL_NOMEM;
        struct pl_map_entry *entry = pl_map_put(&is->says, text, &is_new);
        if (!entry)
            return PL_NOMEM;
        bool is_text = pl_json_kind(n) == PL_JSON_STRING;
        if (is_text) {
            pl_buf_addc(&is->words, '\0');
            pl_buf_add(&is->words, text);
        }
        if (!wants_places) {
            entry->value |= is_text;
            continue;
        }
        if (!add_place(a, entry, pl_buf_str(&tour.path)))
            return PL_NOMEM;
    }
    return tour.path.status != PL_OK ? tour.path.status : is->words.status;
}

static bool is_within(struct account *a, const struct answer *is, struct pl_str text)
{
    if (!is->words.len || a->n_searched > max_searched)
        return false;
    a->n_searched += is->words.len;
    return memmem(is->words.ptr, is->words.len, text.ptr, text.len) != NULL;
}

/* Whether a string is inside JSON text in a string, such as the arguments of a call. */
static bool is_within_quoted(struct account *a, const struct answer *is, struct pl_str text)
{
    PL_CLEANUP_BUF struct pl_buf quoted;
    pl_buf_init(&quoted, 0);
    pl_json_quote(&quoted, text);
    if (quoted.status != PL_OK)
        a->status = quoted.status;
    return quoted.status == PL_OK &&
           is_within(a, is, pl_str_slice(pl_buf_str(&quoted), 1, quoted.len - 1));
}

/* Whether a string is in the answer as several consecutive parts, with something else between
 * them. */
static bool is_in_parts(struct account *a, const struct answer *is, struct pl_str text)
{
    size_t at = 0, before = SIZE_MAX;
    while (at < text.len && at != before && a->n_searched <= max_searched) {
        before = at;
        a->n_searched += is->says.n_entries + text.len;
        for (size_t i = 0; i < is->says.n_entries && at < text.len; i++)
            if (pl_str_starts(pl_str_slice(text, at, text.len), is->says.entries[i].key))
                at += is->says.entries[i].key.len;
    }
    return at == text.len;
}

static bool says(struct account *a, const struct answer *is, struct pl_str text, bool is_text)
{
    if (pl_map_get(&is->says, text))
        return true;
    return is_text &&
           (is_within(a, is, text) || is_within_quoted(a, is, text) || is_in_parts(a, is, text));
}

/* ---- the three steps ---- */

static enum pl_status add_up(struct account *a, const struct pl_dialect *dialect,
                             struct pl_str stream, struct answer *ret, struct pl_sum *sum)
{
    enum pl_status status = pl_sum_init(sum, dialect);
    if (status == PL_OK)
        status = pl_sum_add(sum, stream, a->err);
    if (status == PL_OK)
        pl_sum_write(sum, &ret->text);
    return status == PL_OK ? ret->text.status : status;
}

static enum pl_status report_strays(struct account *a, const struct pl_sum *sum)
{
    for (size_t i = 0; i < sum->strays.len; i++) {
        const struct pl_stray *stray = &sum->strays.ptr[i];
        add_loss(a, pl_str_of(pl_loss_name(stray->code)), stray->pointer, stray->detail, true);
    }
    return PL_OK;
}

/* Copies the losses that the conversion of the whole answer found. */
static enum pl_status take_report(struct account *a, struct pl_str report)
{
    struct pl_json_doc doc;
    struct pl_str kept = pl_arena_dup(&a->arena, report);
    enum pl_status status = pl_json_parse(&a->arena, kept, &pl_json_made, &doc, a->err);
    if (!kept.ptr)
        return PL_NOMEM;
    if (status != PL_OK)
        return status == PL_NOMEM || status == PL_LIMIT ? status : PL_INTERNAL;
    const struct pl_json_node *losses = pl_json_get(&doc, doc.root, PL_STR("losses"));
    const struct pl_json_node *lossless = pl_json_get(&doc, doc.root, PL_STR("lossless"));
    a->is_lossy |= lossless && pl_json_kind(lossless) == PL_JSON_FALSE;
    for (const struct pl_json_node *n = pl_json_first(losses); n < pl_json_end(losses);
         n = pl_json_next(n)) {
        const struct pl_json_node *code = pl_json_get(&doc, n, PL_STR("code"));
        const struct pl_json_node *place = pl_json_get(&doc, n, PL_STR("pointer"));
        struct pl_str pointer;
        if (pl_json_text(&a->arena, &doc, place, &pointer) != PL_OK)
            return PL_NOMEM;
        if (a->n_losses++)
            pl_buf_addc(a->to, ',');
        pl_buf_add(a->to, pl_json_span(&doc, n));
        if (pl_json_text_is(&doc, code, PL_STR("dropped")) && pointer.len &&
            note_reported(a, pointer) != PL_OK)
            return PL_NOMEM;
    }
    return PL_OK;
}

static enum pl_status convert(struct account *a, const struct pl_dialect *from,
                              const struct pl_dialect *into)
{
    struct pl_converted made;
    struct pl_error why = {0};
    pl_converted_init(&made);
    enum pl_status status = pl_convert(pl_buf_str(&a->source.text),
                                       &(struct pl_convert_opts){
                                           .from = from->format,
                                           .to = into->format,
                                           .kind = PL_KIND_RESPONSE,
                                       },
                                       &made, &why);
    /* A stream that broke off has no whole answer: its sum is compared instead. */
    bool is_answer = a->has_whole = status == PL_OK;
    if (status == PL_INVALID || status == PL_UNREADABLE || status == PL_SYNTAX)
        status = PL_OK;
    if (is_answer)
        status = take_report(a, pl_buf_str(&made.report));
    if (status == PL_OK)
        pl_buf_add(&a->whole.text, pl_buf_str(is_answer ? &made.out : &a->source.text));
    if (status != PL_OK && a->err)
        *a->err = why;
    pl_converted_deinit(&made);
    return status == PL_OK ? a->whole.text.status : status;
}

/* Reports all places of a value, or only those below `under`, a pointer that ends in a slash. */
static enum pl_status drop_places(struct account *a, const struct pl_map_entry *entry,
                                  struct pl_str under, const char *detail)
{
    enum pl_status status = PL_OK;
    for (size_t i = entry->value; i && status == PL_OK; i = a->places.ptr[i - 1].next)
        if (pl_str_starts(a->places.ptr[i - 1].pointer, under))
            status = add_dropped(a, a->places.ptr[i - 1].pointer, detail);
    return status;
}

static const char *detail_of(const struct account *a)
{
    return a->has_whole ? "the stream does not contain it, though a whole answer would"
                        : "the target has no place for it";
}

/* Reports the first string of the source that contains the text. */
static enum pl_status drop_around(struct account *a, struct pl_str text)
{
    for (size_t i = 0; i < a->source.says.n_entries; i++) {
        const struct pl_map_entry *e = &a->source.says.entries[i];
        if (e->key.len >= text.len && memmem(e->key.ptr, e->key.len, text.ptr, text.len))
            return drop_places(a, e, (struct pl_str){0}, detail_of(a));
    }
    return add_dropped(a, (struct pl_str){0}, detail_of(a));
}

/* Reports the strings of the source that the text was joined from and that the target lacks. */
static enum pl_status drop_pieces(struct account *a, struct pl_str text)
{
    enum pl_status status = PL_OK;
    for (size_t i = 0; i < a->source.says.n_entries && status == PL_OK; i++) {
        const struct pl_map_entry *e = &a->source.says.entries[i];
        bool is_piece = e->key.len >= 8 && e->key.len < text.len &&
                        memmem(text.ptr, text.len, e->key.ptr, e->key.len);
        if (is_piece && !says(a, &a->target, e->key, true))
            status = drop_places(a, e, (struct pl_str){0}, detail_of(a));
    }
    return status;
}

/* Reports values that the converted answer has and the target's events lack. A value that the
 * source lacks too (a name, an id) was made up by the conversion. */
static enum pl_status find_silent(struct account *a)
{
    enum pl_status status = PL_OK;
    for (size_t i = 0; i < a->whole.says.n_entries && status == PL_OK; i++) {
        struct pl_str text = a->whole.says.entries[i].key;
        bool is_text = a->whole.says.entries[i].value != 0;
        /* The digits of a number may be in any text. */
        if (says(a, &a->target, text, is_text))
            continue;
        const struct pl_map_entry *entry = pl_map_get(&a->source.says, text);
        if (entry)
            status = drop_places(a, entry, (struct pl_str){0}, detail_of(a));
        else if (is_text && says(a, &a->source, text, true))
            status = drop_around(a, text);
        else if (is_text)
            status = drop_pieces(a, text);
    }
    return status;
}

/* An error has no fate: the target's error either contains it or not. */
static enum pl_status find_error(struct account *a, const struct pl_sum *sum)
{
    const struct pl_json_node *error =
        sum->is_failed && pl_json_kind(a->source.doc.root) == PL_JSON_OBJECT
            ? pl_json_get(&a->source.doc, a->source.doc.root, PL_STR("error"))
            : NULL;
    if (!error)
        return PL_OK;
    enum pl_status status = PL_OK;
    for (const struct pl_json_node *n = error; n < error + error->skip && status == PL_OK; n++) {
        struct pl_str text;
        if ((n->tag & PL_JSON_KEY) || !says_something(&a->source.doc, n))
            continue;
        status = text_at(a, &a->source.doc, n, &text);
        const struct pl_map_entry *entry =
            status == PL_OK ? pl_map_get(&a->source.says, text) : NULL;
        if (entry && !says(a, &a->target, text, pl_json_kind(n) == PL_JSON_STRING))
            status =
                drop_places(a, entry, PL_STR("/error/"), "the target's error has no place for it");
    }
    return status;
}

static enum pl_status compare(struct account *a, const struct pl_dialect *from,
                              const struct pl_dialect *into, const struct pl_sum *sum)
{
    enum pl_status status = listen(a, &a->source, true);
    if (status == PL_OK)
        status = convert(a, from, into);
    if (status == PL_OK)
        status = listen(a, &a->whole, false);
    if (status == PL_OK)
        status = listen(a, &a->target, false);
    if (status == PL_OK)
        status = find_silent(a);
    if (status == PL_OK)
        status = find_error(a, sum);
    return status == PL_OK ? a->status : status;
}

static enum pl_status account(struct account *a, const struct pl_dialect *from,
                              const struct pl_dialect *into, struct pl_str source,
                              struct pl_str target)
{
    struct pl_sum ours, theirs;
    enum pl_status status = add_up(a, from, source, &a->source, &ours);
    if (status == PL_OK)
        status = report_strays(a, &ours);
    if (status == PL_OK) {
        status = add_up(a, into, target, &a->target, &theirs);
        if (status == PL_OK)
            status = compare(a, from, into, &ours);
        pl_sum_deinit(&theirs);
    }
    pl_sum_deinit(&ours);
    return status;
}

/* The target has the same bytes, and perhaps an end that was missing. */
static void account_same(struct account *a, struct pl_str source, struct pl_str target)
{
    if (target.len > source.len)
        add_loss(a, PL_STR("synthesised"), (struct pl_str){0},
                 PL_STR("the stream has no end of its own; one was added"), false);
}

static void init_account(struct account *a, struct pl_buf *to, struct pl_error *err)
{
    *a = (struct account){.to = to, .err = err};
    pl_arena_init(&a->arena, 0);
    init_answer(&a->source);
    init_answer(&a->whole);
    init_answer(&a->target);
}

static void deinit_account(struct account *a)
{
    deinit_answer(&a->source);
    deinit_answer(&a->whole);
    deinit_answer(&a->target);
    pl_vec_deinit(&a->places);
    pl_map_deinit(&a->reported);
    pl_arena_deinit(&a->arena);
}

static void begin_report(struct pl_buf *to, const struct pl_dialect *from,
                         const struct pl_dialect *into)
{
    pl_buf_addf(to, "{\"from\":\"%s\",\"to\":\"%s\",\"losses\":[", from->name, into->name);
}

static enum pl_status end_report(struct pl_buf *to, enum pl_status status, bool is_lossy,
                                 bool *ret_is_lossless)
{
    pl_buf_adds(to, is_lossy ? "],\"lossless\":false}" : "],\"lossless\":true}");
    *ret_is_lossless = !is_lossy;
    return status == PL_OK ? to->status : status;
}

enum pl_status pl_stream_report(struct pl_buf *to, const struct pl_dialect *from,
                                const struct pl_dialect *into, struct pl_str source,
                                struct pl_str target, bool *ret_is_lossless, struct pl_error *err)
{
    struct account a;
    enum pl_status status = PL_OK;
    init_account(&a, to, err);
    begin_report(to, from, into);
    if (from == into)
        account_same(&a, source, target);
    else
        status = account(&a, from, into, source, target);
    status = end_report(to, status, a.is_lossy, ret_is_lossless);
    deinit_account(&a);
    return status;
}

/* ---- the way home ---- */

/* Reports values of the source that neither its first target nor the result has. */
static enum pl_status find_unhonoured(struct account *a)
{
    enum pl_status status = PL_OK;
    for (size_t i = 0; i < a->source.says.n_entries && status == PL_OK; i++) {
        const struct pl_map_entry *e = &a->source.says.entries[i];
        if (!says(a, &a->whole, e->key, true) && !says(a, &a->target, e->key, true))
            status = drop_places(a, e, (struct pl_str){0},
                                 "the carry keeps it, and the edited stream has no place for it");
    }
    return status == PL_OK ? a->status : status;
}

static enum pl_status account_home(struct account *a, const struct pl_dialect *from,
                                   const struct pl_dialect *into, struct pl_str source,
                                   struct pl_str went, struct pl_str out)
{
    const struct {
        const struct pl_dialect *dialect;
        struct pl_str stream;
        struct answer *answer;
    } all[] = {{into, source, &a->source}, {from, went, &a->whole}, {into, out, &a->target}};
    enum pl_status status = PL_OK;
    for (size_t i = 0; i < sizeof all / sizeof *all && status == PL_OK; i++) {
        struct pl_sum sum;
        status = add_up(a, all[i].dialect, all[i].stream, all[i].answer, &sum);
        pl_sum_deinit(&sum);
        if (status == PL_OK)
            status = listen(a, all[i].answer, i == 0);
    }
    return status == PL_OK ? find_unhonoured(a) : status;
}

enum pl_status pl_stream_report_home(struct pl_buf *to, const struct pl_dialect *from,
                                     const struct pl_dialect *into, struct pl_str stream,
                                     struct pl_str out, struct pl_str source, struct pl_str went,
                                     bool *ret_is_lossless, struct pl_error *err)
{
    struct account a, home;
    init_account(&a, to, err);
    init_account(&home, to, err);
    begin_report(to, from, into);
    enum pl_status status = account(&a, from, into, stream, out);
    home.n_losses = a.n_losses;
    if (status == PL_OK)
        status = account_home(&home, from, into, source, went, out);
    status = end_report(to, status, a.is_lossy || home.is_lossy, ret_is_lossless);
    deinit_account(&a);
    deinit_account(&home);
    return status;
}
