#define _GNU_SOURCE /* memmem */
#include "property/account.h"

#include "base/text/utf8.h"
#include "format/pieces/instant.h"
#include "json/pointer.h"
#include "json/text.h"
#include "json/tour.h"
#include "json/write.h"

#include <stdio.h>
#include <strings.h>

/* The content of a document: its keys and texts, including those of JSON inside its texts, each
 * NUL-terminated, and its values in canonical form. */
struct said {
    struct pl_buf texts, values;
};

static bool holds(struct pl_str hay, struct pl_str needle)
{
    return needle.len == 0 ||
           (hay.len >= needle.len && memmem(hay.ptr, hay.len, needle.ptr, needle.len) != NULL);
}

static bool looks_like_json(struct pl_str text)
{
    size_t i = 0;
    while (i < text.len && strchr(" \t\r\n", text.ptr[i]))
        i++;
    return i < text.len && (text.ptr[i] == '{' || text.ptr[i] == '[');
}

static bool parse_text(struct pl_arena *arena, struct pl_str text, struct pl_json_doc *ret_doc)
{
    struct pl_json_opts opts = {.allows_duplicate_keys = true, .allows_lone_surrogates = true};
    return looks_like_json(text) && pl_json_parse(arena, text, &opts, ret_doc, NULL) == PL_OK;
}

/* Recurses into JSON inside texts, at most three levels deep. */
static void listen(struct said *said, struct pl_arena *arena, const struct pl_json_doc *doc,
                   int depth)
{
    if (pl_json_write_canonical(&said->values, doc, doc->root) != PL_OK)
        said->values.status = PL_NOMEM;
    pl_buf_addc(&said->values, 0);
    for (uint32_t i = 0; i < doc->n_nodes; i++) {
        const struct pl_json_node *n = doc->root + i;
        struct pl_str text;
        struct pl_json_doc inner;
        if (pl_json_kind(n) != PL_JSON_STRING || pl_json_text(arena, doc, n, &text) != PL_OK)
            continue;
        pl_buf_add(&said->texts, text);
        pl_buf_addc(&said->texts, 0);
        if (depth < 3 && !(n->tag & PL_JSON_KEY) && parse_text(arena, text, &inner))
            listen(said, arena, &inner, depth + 1);
    }
}

static void said_init(struct said *said)
{
    pl_buf_init(&said->texts, 0);
    pl_buf_init(&said->values, 0);
}

static void said_deinit(struct said *said)
{
    pl_buf_deinit(&said->texts);
    pl_buf_deinit(&said->values);
}

static bool is_word(struct pl_str text)
{
    for (size_t i = 0; i < text.len; i++)
        if (!((text.ptr[i] | 32) >= 'a' && (text.ptr[i] | 32) <= 'z') &&
            (i == 0 || (text.ptr[i] != '_' && text.ptr[i] != '-')))
            return false;
    return text.len > 0 && text.len <= 41;
}

static bool holds_word(struct pl_str hay, struct pl_str word)
{
    for (size_t i = 0; i + word.len <= hay.len; i++)
        if (strncasecmp(hay.ptr + i, word.ptr, word.len) == 0)
            return true;
    return false;
}

static bool says_data(const struct said *said, struct pl_str text)
{
    const char *comma = memchr(text.ptr, ',', text.len);
    if (!pl_str_starts(text, PL_STR("data:")) || !comma)
        return false;
    struct pl_str head = {text.ptr + 5, (size_t)(comma - text.ptr) - 5};
    const char *semicolon = head.len ? memchr(head.ptr, ';', head.len) : NULL;
    struct pl_str mime = {head.ptr, semicolon ? (size_t)(semicolon - head.ptr) : head.len};
    struct pl_str data = {comma + 1, text.len - (size_t)(comma + 1 - text.ptr)};
    return holds(pl_buf_str(&said->texts), data) && holds(pl_buf_str(&said->texts), mime);
}

static bool says_json(const struct said *said, struct pl_arena *arena, struct pl_str text)
{
    PL_CLEANUP_BUF struct pl_buf canonical;
    pl_buf_init(&canonical, 0);
    struct pl_json_doc doc;
    return parse_text(arena, text, &doc) &&
           pl_json_write_canonical(&canonical, &doc, doc.root) == PL_OK &&
           holds(pl_buf_str(&said->values), pl_buf_str(&canonical));
}

static bool says_instant(struct pl_str raw, struct pl_str text)
{
    int64_t micros;
    char spelled[32];
    if (!pl_instant_parse(text, &micros))
        return false;
    int n = snprintf(spelled, sizeof spelled, "%lld", (long long)(micros / 1000000));
    return holds(raw, (struct pl_str){spelled, (size_t)n});
}

static bool says_subtype(const struct said *said, struct pl_str text)
{
    const char *slash = text.len ? memchr(text.ptr, '/', text.len) : NULL;
    struct pl_str type = {text.ptr, slash ? (size_t)(slash - text.ptr) : 0};
    return slash && text.len < 80 && is_word(type) &&
           holds(pl_buf_str(&said->texts), (struct pl_str){slash + 1, text.len - type.len - 1});
}

/* Whether the document has the text: as text, inside a nested JSON text, as an equal JSON value,
 * split from its data URL, as the same instant, or as a word in another spelling. */
static bool says(const struct said *said, struct pl_arena *arena, struct pl_str raw,
                 struct pl_str text)
{
    if (holds(pl_buf_str(&said->texts), text))
        return true;
    PL_CLEANUP_BUF struct pl_buf escaped;
    pl_buf_init(&escaped, 0);
    pl_json_quote(&escaped, text);
    struct pl_str inner = pl_str_slice(pl_buf_str(&escaped), 1, escaped.len - 1);
    return holds(pl_buf_str(&said->texts), inner) || holds(raw, inner) ||
           says_json(said, arena, text) || says_data(said, text) || says_instant(raw, text) ||
           (is_word(text) && holds_word(pl_buf_str(&said->texts), text)) ||
           says_subtype(said, text);
}

/* Words of a format's grammar are not content. */
static bool is_grammar(struct pl_str pointer)
{
    static const char *const keys[] = {
        "type",   "role",     "kind",    "protocol",    "object",        "mode",   "mediaType",
        "level",  "language", "outcome", "tool_choice", "function_call", "detail", "thinkingLevel",
        "syntax", "format",   "channel", "constrain",   "end",           "before", "vendor"};
    size_t at = pointer.len;
    while (at > 0 && pointer.ptr[at - 1] != '/')
        at--;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (pl_str_eq(pl_str_slice(pointer, at, pointer.len), pl_str_of(keys[i])))
            return true;
    return false;
}

static const struct pl_json_node *losses_of(const struct pl_account *a)
{
    return pl_json_get(a->report, a->report->root, PL_STR("losses"));
}

static struct pl_str text_of(const struct pl_account *a, const struct pl_json_node *loss,
                             const char *key)
{
    const struct pl_json_node *n = pl_json_get(a->report, loss, pl_str_of(key));
    struct pl_str text = {0};
    if (n && pl_json_kind(n) == PL_JSON_STRING &&
        pl_json_text(a->arena, a->report, n, &text) == PL_OK && !text.ptr)
        text.ptr = "";
    return text;
}

static bool is_reported(const struct pl_account *a, struct pl_str pointer)
{
    const struct pl_json_node *losses = losses_of(a);
    for (const struct pl_json_node *l = pl_json_first(losses); l < pl_json_end(losses);
         l = pl_json_next(l)) {
        struct pl_str at = text_of(a, l, "pointer");
        if (at.len && pl_str_starts(pointer, at) &&
            (pointer.len == at.len || pointer.ptr[at.len] == '/'))
            return true;
    }
    return false;
}

/* Whether the text is a reference, such as the id of a call, to a value that is reported
 * elsewhere. */
static bool is_reference(const struct pl_account *a, struct pl_str text)
{
    const struct pl_json_node *losses = losses_of(a), *at;
    for (const struct pl_json_node *l = pl_json_first(losses); l < pl_json_end(losses);
         l = pl_json_next(l))
        if (pl_json_pointer_get(a->source, text_of(a, l, "pointer"), &at, NULL) == PL_OK &&
            pl_json_kind(at) == PL_JSON_STRING && pl_json_text_is(a->source, at, text))
            return true;
    return false;
}

/* Compares line by line: in a comment of a program text, the lines have marks between them. */
static bool says_lines(const struct said *said, struct pl_str text)
{
    for (size_t from = 0, to; from < text.len; from = to + 1) {
        for (to = from; to < text.len && !strchr("\r\n", text.ptr[to]);)
            to++;
        if (!holds(pl_buf_str(&said->texts), pl_str_slice(text, from, to)))
            return false;
    }
    return true;
}

/* Whether `hay` has the text as a whole string, between two marks. */
static bool holds_whole(struct pl_str hay, struct pl_str text, char mark)
{
    PL_CLEANUP_BUF struct pl_buf whole;
    pl_buf_init(&whole, 0);
    pl_buf_addc(&whole, mark);
    pl_buf_add(&whole, text);
    pl_buf_addc(&whole, mark);
    return holds(hay, pl_buf_str(&whole));
}

/* Whether the carry repeats a text of the output. The output has it as one whole text, the source
 * has it once, and the carry has it as one of its texts or, quoted, in a piece of the source. */
static bool is_repeated(struct pl_str text, struct pl_str raw, const struct said *source,
                        const struct said *out, const struct said *carry)
{
    bool is_prose = text.len >= 64 || (text.len >= 16 && memchr(text.ptr, ' ', text.len));
    struct pl_str carried = pl_buf_str(&carry->texts);
    if (!is_prose || (!holds_whole(carried, text, 0) && !holds_whole(carried, raw, '"') &&
                      !holds_whole(carried, raw, '\'')))
        return false;
    const char *first = memmem(source->texts.ptr, source->texts.len, text.ptr, text.len);
    struct pl_str rest = {first + 1, source->texts.len - (size_t)(first + 1 - source->texts.ptr)};
    return holds_whole(pl_buf_str(&out->texts), text, 0) && !holds(rest, text);
}

static void complain(struct pl_buf *why, struct pl_str pointer, const char *what)
{
    if (why->len < 400)
        pl_buf_addf(why, "%.*s %s; ", PL_STR_ARG(pointer), what);
}

void pl_account_texts(const struct pl_account *a, struct pl_buf *ret_why)
{
    enum { ONLY_ITS_OWN = 3 }; /* without JSON inside its strings */
    struct said source, out, own, carry;
    struct pl_json_tour tour;
    said_init(&source);
    said_init(&own);
    said_init(&out);
    said_init(&carry);
    listen(&source, a->arena, a->source, 0);
    listen(&out, a->arena, a->out, 0);
    listen(&own, a->arena, a->out, ONLY_ITS_OWN);
    listen(&carry, a->arena, a->carry, 0);
    pl_json_tour_init(&tour, a->source);
    const struct pl_json_node *n;
    while ((n = pl_json_tour_next(&tour))) {
        struct pl_str text, pointer = pl_buf_str(&tour.path);
        if (pl_json_kind(n) != PL_JSON_STRING || is_grammar(pointer) ||
            pl_json_text_count(a->source, n) < 6 ||
            pl_json_text(a->arena, a->source, n, &text) != PL_OK)
            continue;
        if (says(&out, a->arena, a->out->text, text)) {
            /* A string with unnecessary escapes is carried as written. */
            if (!(n->tag & PL_JSON_ODD) &&
                is_repeated(text, pl_json_raw(a->source, n), &source, &own, &carry))
                complain(ret_why, pointer, "is in the output and in the carry");
        } else if (!is_reported(a, pointer)) {
            if (!is_reference(a, text) && !says_lines(&out, text))
                complain(ret_why, pointer, "is not reported");
        } else if (!holds(pl_buf_str(&carry.texts), pl_json_raw(a->source, n)) &&
                   !says(&carry, a->arena, a->carry->text, text)) {
            complain(ret_why, pointer, "is not in the carry");
        }
    }
    pl_json_tour_deinit(&tour);
    said_deinit(&source);
    said_deinit(&out);
    said_deinit(&own);
    said_deinit(&carry);
}

/* Whether the pointer is in the source; for an added value, its container suffices. */
static bool is_place(const struct pl_account *a, struct pl_str pointer, bool is_added)
{
    const struct pl_json_node *found;
    if (pl_json_pointer_get(a->source, pointer, &found, NULL) == PL_OK)
        return true;
    size_t end = pointer.len;
    while (end > 0 && pointer.ptr[end - 1] != '/')
        end--;
    return is_added && end > 0 &&
           pl_json_pointer_get(a->source, pl_str_slice(pointer, 0, end - 1), &found, NULL) == PL_OK;
}

static void check_loss(const struct pl_account *a, const struct pl_json_node *loss,
                       bool is_lossless, struct pl_buf *why)
{
    static const char *const codes[] = {"moved",        "synthesised", "dropped",
                                        "approximated", "reordered",   "merged"};
    struct pl_str code = text_of(a, loss, "code"), pointer = text_of(a, loss, "pointer");
    size_t i = 0;
    while (i < 6 && !pl_str_eq(code, pl_str_of(codes[i])))
        i++;
    if (i == 6)
        complain(why, code, "is no code of a loss");
    if (i >= 2 && is_lossless)
        complain(why, code, "and yet lossless");
    if (!pointer.ptr || !is_place(a, pointer, i == 1))
        complain(why, pointer, "is no place in the source");
    if (!text_of(a, loss, "detail").len)
        complain(why, pointer, "has no detail");
}

void pl_account_report(const struct pl_account *a, struct pl_buf *ret_why)
{
    const struct pl_json_node *losses = losses_of(a);
    const struct pl_json_node *flag = pl_json_get(a->report, a->report->root, PL_STR("lossless"));
    bool is_lossless = flag && pl_json_kind(flag) == PL_JSON_TRUE;
    if (!pl_str_eq(text_of(a, a->report->root, "from"), pl_str_of(a->from)) ||
        !pl_str_eq(text_of(a, a->report->root, "to"), pl_str_of(a->to)))
        pl_buf_adds(ret_why, "the report names other formats; ");
    if (!losses || pl_json_kind(losses) != PL_JSON_ARRAY || !flag ||
        (!is_lossless && pl_json_kind(flag) != PL_JSON_FALSE)) {
        pl_buf_adds(ret_why, "the report has no losses or no flag; ");
        return;
    }
    if (!is_lossless && pl_json_count(losses) == 0)
        pl_buf_adds(ret_why, "no losses, yet not lossless; ");
    for (const struct pl_json_node *l = pl_json_first(losses); l < pl_json_end(losses);
         l = pl_json_next(l))
        check_loss(a, l, is_lossless, ret_why);
}
