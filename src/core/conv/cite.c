/* Finds anchors in the texts of each message, resolves them with its citation_map, and checks each
 * entry against its source. */
#include "conv/cite.h"

#include "base/ascii.h"
#include "json/number.h"
#include "json/reach.h"
#include "json/text.h"
#include "json/tour.h"
#include "json/write.h"

/* The value of the attribute id of a tag. */
static bool find_id(struct pl_str tag, struct pl_str *ret_id)
{
    for (size_t k = 1; k + 4 < tag.len; k++) {
        char quote = tag.ptr[k + 3];
        if (!pl_ascii_is_space(tag.ptr[k - 1]) || memcmp(tag.ptr + k, "id=", 3) != 0 ||
            (quote != '"' && quote != '\''))
            continue;
        struct pl_str rest = pl_str_slice(tag, k + 4, tag.len);
        const char *close = memchr(rest.ptr, quote, rest.len);
        if (!close)
            return false;
        *ret_id = (struct pl_str){rest.ptr, (size_t)(close - rest.ptr)};
        return true;
    }
    return false;
}

bool pl_cite_next(struct pl_str text, size_t *at, struct pl_str *ret_tag, struct pl_str *ret_id)
{
    struct pl_str head = PL_STR("<cite");
    for (size_t i = *at; i + head.len < text.len;) {
        const char *open = memchr(text.ptr + i, '<', text.len - i);
        if (!open)
            return false;
        struct pl_str rest = {open, text.len - (size_t)(open - text.ptr)};
        i = (size_t)(open - text.ptr) + 1;
        if (rest.len <= head.len || !pl_str_starts(rest, head) ||
            !pl_ascii_is_space(rest.ptr[head.len]))
            continue;
        const char *end = memchr(open, '>', rest.len);
        if (!end)
            return false;
        struct pl_str tag = {open, (size_t)(end - open) + 1};
        i += tag.len - 1;
        if (find_id(tag, ret_id)) {
            *ret_tag = tag;
            *at = i;
            return true;
        }
    }
    return false;
}

const struct pl_json_node *pl_cite_map(const struct pl_conv *conv, const struct pl_message *message)
{
    const struct pl_json_node *map = pl_conv_node(conv, message->metadata.node, "citation_map");
    if (map)
        return map;
    const struct pl_json_node *block = pl_conv_node(conv, message->node, "context_block");
    return pl_conv_node(conv, block, "citation_map");
}

struct finder {
    struct pl_conv *conv;
    struct pl_cite_source *sources; /* arena; white space normalised */
    size_t n_sources;
    struct pl_cites *cites;
    struct pl_json_reach reach; /* owned; entries are looked up by their ids */
    struct pl_map snippets;     /* owned; offset of an entry -> result of the snippet check */
};

/* Replaces every run of white space by one space and trims both ends: a line break on a page is not
 * a difference. */
static struct pl_str even_out(struct pl_conv *conv, struct pl_str text)
{
    char *to = pl_arena_alloc(conv->arena, text.len + 1, 1);
    if (!to) {
        conv->status = PL_NOMEM;
        return (struct pl_str){0};
    }
    size_t n = 0;
    bool is_after_space = true;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (!pl_ascii_is_space(c))
            to[n++] = c;
        else if (!is_after_space)
            to[n++] = ' ';
        is_after_space = pl_ascii_is_space(c);
    }
    if (n && to[n - 1] == ' ')
        n--;
    pl_arena_shrink(conv->arena, to, text.len + 1, n + 1);
    return (struct pl_str){to, n};
}

/* Whether `text` contains `words` (not empty), in linear time (Knuth, Morris and Pratt). border[i]
 * is the length of the longest proper prefix of `words` that is also a suffix of its first i
 * bytes. */
static bool holds(struct pl_conv *conv, struct pl_str text, struct pl_str words)
{
    size_t *border = pl_arena_alloc(conv->arena, words.len + 1, sizeof *border);
    if (!border) {
        conv->status = PL_NOMEM;
        return false;
    }
    border[0] = border[1] = 0;
    for (size_t i = 1, k = 0; i < words.len; i++) {
        while (k && words.ptr[i] != words.ptr[k])
            k = border[k];
        k += words.ptr[i] == words.ptr[k];
        border[i + 1] = k;
    }
    for (size_t i = 0, k = 0; i < text.len; i++) {
        while (k && text.ptr[i] != words.ptr[k])
            k = border[k];
        k += text.ptr[i] == words.ptr[k];
        if (k == words.len)
            return true;
    }
    return false;
}

static const struct pl_cite_source *source_of(const struct finder *f, const struct pl_cite *cite)
{
    struct pl_str id =
        pl_conv_text(f->conv, pl_conv_get(f->conv, cite->entry, "source_id", PL_WANT_ANY));
    for (size_t i = 0; i < f->n_sources; i++)
        if (pl_str_eq(f->sources[i].id, cite->id) || (id.len && pl_str_eq(f->sources[i].id, id)))
            return &f->sources[i];
    return NULL;
}

static enum pl_cite_snippet look_for_snippet(const struct finder *f, const struct pl_cite *cite,
                                             const struct pl_json_node *location)
{
    struct pl_val val = pl_conv_get(f->conv, location, "text_snippet", PL_WANT_ANY);
    if (!pl_val_is_set(val) || pl_conv_is_blank(f->conv, val))
        return PL_CITE_SNIPPET_NONE;
    const struct pl_cite_source *source = source_of(f, cite);
    if (!source)
        return PL_CITE_SNIPPET_UNCHECKED;
    struct pl_str snippet = even_out(f->conv, pl_conv_text(f->conv, val));
    if (f->conv->status != PL_OK)
        return PL_CITE_SNIPPET_UNCHECKED;
    bool is_found = holds(f->conv, source->text, snippet);
    return is_found ? PL_CITE_SNIPPET_FOUND : PL_CITE_SNIPPET_MISSING;
}

/* Checks each entry once, however often it is cited. */
static enum pl_cite_snippet check_snippet(struct finder *f, const struct pl_cite *cite,
                                          const struct pl_json_node *location)
{
    if (!f->n_sources)
        return look_for_snippet(f, cite, location);
    /* The bytes of a node are unique: they include its offset in the text. */
    struct pl_str key = {(const char *)cite->entry, sizeof *cite->entry};
    bool is_new;
    struct pl_map_entry *known = pl_map_put(&f->snippets, key, &is_new);
    if (!known) {
        f->conv->status = PL_NOMEM;
        return PL_CITE_SNIPPET_UNCHECKED;
    }
    if (is_new)
        known->value = look_for_snippet(f, cite, location);
    return (enum pl_cite_snippet)known->value;
}

bool pl_cite_is_page(const struct pl_json_doc *doc, const struct pl_json_node *page)
{
    return pl_json_kind(page) == PL_JSON_NUMBER &&
           pl_json_number_is_integer(pl_json_span(doc, page)) &&
           pl_json_number_cmp(pl_json_span(doc, page), PL_STR("1")) >= 0;
}

bool pl_cite_is_box(const struct pl_json_doc *doc, const struct pl_json_node *box)
{
    if (pl_json_kind(box) != PL_JSON_ARRAY || pl_json_count(box) != 4)
        return false;
    const struct pl_json_node *side = pl_json_first(box);
    for (int i = 0; i < 4; i++)
        if (pl_json_kind(side + i) != PL_JSON_NUMBER)
            return false;
    return pl_json_number_cmp(pl_json_span(doc, side), pl_json_span(doc, side + 2)) < 0 &&
           pl_json_number_cmp(pl_json_span(doc, side + 1), pl_json_span(doc, side + 3)) < 0;
}

static void resolve(struct finder *f, const struct pl_json_node *map, struct pl_cite *cite)
{
    const struct pl_json_doc *doc = f->conv->doc;
    cite->entry = map ? pl_json_reach_member(&f->reach, map, cite->id) : NULL;
    const struct pl_json_node *location = pl_conv_node(f->conv, cite->entry, "location");
    const struct pl_json_node *page = pl_conv_node(f->conv, location, "page_number");
    const struct pl_json_node *box = pl_conv_node(f->conv, location, "bbox");
    cite->has_bad_page = page && !pl_cite_is_page(doc, page);
    cite->has_bad_box = box && !pl_cite_is_box(doc, box);
    cite->snippet = cite->entry ? check_snippet(f, cite, location) : PL_CITE_SNIPPET_NONE;
}

static void find_in_message(struct finder *f, const struct pl_message *message)
{
    struct pl_conv *conv = f->conv;
    const struct pl_json_node *map = pl_cite_map(conv, message);
    for (uint32_t k = 0; k < message->n_parts && conv->status == PL_OK; k++) {
        const struct pl_part *part = &pl_conv_parts(conv, message)[k];
        if (part->kind != PL_PART_TEXT || !part->text.node)
            continue;
        struct pl_str text = pl_conv_text(conv, part->text);
        struct pl_cite cite = {.text = part->text.node};
        for (size_t at = 0; pl_cite_next(text, &at, &cite.tag, &cite.id);) {
            resolve(f, map, &cite);
            if (!pl_vec_push(&f->cites->list, cite))
                conv->status = PL_NOMEM;
        }
    }
}

enum pl_status pl_cites_find(struct pl_conv *conv, const struct pl_cite_source *sources,
                             size_t n_sources, struct pl_cites *ret_cites)
{
    struct pl_cites found = {0};
    struct finder f = {.conv = conv, .n_sources = n_sources, .cites = &found};
    f.sources = pl_arena_alloc(conv->arena, n_sources + 1, sizeof *f.sources);
    if (!f.sources)
        return PL_NOMEM;
    for (size_t i = 0; i < n_sources; i++)
        f.sources[i] = (struct pl_cite_source){sources[i].id, even_out(conv, sources[i].text)};
    pl_json_reach_init(&f.reach, conv->doc, conv->arena);
    for (size_t i = 0; i < conv->messages.len && conv->status == PL_OK; i++)
        find_in_message(&f, &conv->messages.ptr[i]);
    if (conv->status == PL_OK)
        conv->status = f.reach.status;
    pl_json_reach_deinit(&f.reach);
    pl_map_deinit(&f.snippets);
    if (conv->status != PL_OK) {
        pl_cites_deinit(&found);
        return conv->status;
    }
    *ret_cites = found;
    return PL_OK;
}

void pl_cites_deinit(struct pl_cites *cites)
{
    pl_vec_deinit(&cites->list);
}

/* The best name an entry has for its source. */
static struct pl_str source_name(struct pl_conv *conv, const struct pl_json_node *entry)
{
    static const char *const keys[] = {"source_name", "title", "url", "source_id", "source_type"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        struct pl_val val = pl_conv_get(conv, entry, keys[i], PL_WANT_ANY);
        if (pl_val_is_set(val))
            return pl_conv_text(conv, val);
    }
    return PL_STR("a source without a name");
}

void pl_cite_describe(struct pl_buf *to, struct pl_conv *conv, const struct pl_cite *cite)
{
    if (!cite->entry) {
        pl_buf_add(to, cite->tag);
        return;
    }
    pl_buf_add(to, source_name(conv, cite->entry));
    const struct pl_json_node *location = pl_conv_node(conv, cite->entry, "location");
    const struct pl_json_node *page = pl_conv_node(conv, location, "page_number");
    struct pl_val snippet = pl_conv_get(conv, location, "text_snippet", PL_WANT_ANY);
    if (page) {
        pl_buf_adds(to, ", page ");
        pl_buf_add(to, pl_json_span(conv->doc, page));
    }
    if (pl_val_is_set(snippet)) {
        pl_buf_adds(to, ": \"");
        pl_buf_add(to, pl_conv_text(conv, snippet));
        pl_buf_addc(to, '"');
    }
}

void pl_cite_problems(const struct pl_cite *cite, pl_cite_say_fn *say, void *ctx)
{
    if (!cite->entry)
        say(ctx, "citation_map has no entry with this id; the anchor is shown as plain text");
    if (cite->has_bad_page)
        say(ctx, "page_number counts from 1");
    if (cite->has_bad_box)
        say(ctx, "a bbox is [x1, y1, x2, y2] with x1 < x2 and y1 < y2");
    if (cite->snippet == PL_CITE_SNIPPET_MISSING)
        say(ctx, "text_snippet is not in the text of the source");
}

static void write_problem(void *ctx, const char *sentence)
{
    pl_json_out_text(ctx, pl_str_of(sentence));
}

/* Adds a text from a scratch buffer; a failure of the buffer becomes that of the output. */
static void put_scratch(struct pl_json_out *out, const struct pl_buf *scratch)
{
    if (scratch->status != PL_OK && out->buf->status == PL_OK)
        out->buf->status = scratch->status;
    pl_json_out_text(out, pl_buf_str(scratch));
}

/* The JSON Pointer of a text. Cites are in document order, so one tour finds them all. */
static struct pl_str pointer_of(struct pl_json_tour *tour, const struct pl_json_node **at,
                                const struct pl_json_node *text)
{
    while (*at && *at < text)
        *at = pl_json_tour_next(tour);
    return pl_buf_str(&tour->path);
}

static void write_cite(struct pl_json_out *out, struct pl_conv *conv, const struct pl_cite *cite,
                       struct pl_str pointer, struct pl_buf *scratch)
{
    static const char *const snippets[] = {
        [PL_CITE_SNIPPET_NONE] = "none",
        [PL_CITE_SNIPPET_UNCHECKED] = "unchecked",
        [PL_CITE_SNIPPET_FOUND] = "found",
        [PL_CITE_SNIPPET_MISSING] = "missing",
    };
    pl_json_out_open(out, '{');
    pl_json_out_key(out, "id");
    pl_json_out_text(out, cite->id);
    pl_json_out_key(out, "pointer");
    pl_json_out_text(out, pointer);
    pl_json_out_key(out, "resolved");
    pl_json_out_bool(out, cite->entry != NULL);
    pl_json_out_key(out, "source");
    pl_json_out_raw(out, cite->entry ? pl_json_span(conv->doc, cite->entry) : PL_STR("null"));
    pl_json_out_key(out, "shown");
    pl_buf_clear(scratch);
    pl_cite_describe(scratch, conv, cite);
    put_scratch(out, scratch);
    pl_json_out_key(out, "snippet");
    pl_json_out_text(out, pl_str_of(snippets[cite->snippet]));
    pl_json_out_key(out, "problems");
    pl_json_out_open(out, '[');
    pl_cite_problems(cite, write_problem, out);
    pl_json_out_close(out, ']');
    pl_json_out_close(out, '}');
}

void pl_cites_write(struct pl_buf *to, struct pl_conv *conv, const struct pl_cites *cites)
{
    struct pl_json_out out = pl_json_out(to);
    PL_CLEANUP_BUF struct pl_buf scratch;
    pl_buf_init(&scratch, 0);
    __attribute__((cleanup(pl_json_tour_deinit))) struct pl_json_tour tour;
    pl_json_tour_init(&tour, conv->doc);
    const struct pl_json_node *at = pl_json_tour_next(&tour);
    pl_json_out_open(&out, '[');
    for (size_t i = 0; i < cites->list.len && to->status == PL_OK; i++) {
        const struct pl_cite *cite = &cites->list.ptr[i];
        write_cite(&out, conv, cite, pointer_of(&tour, &at, cite->text), &scratch);
    }
    pl_json_out_close(&out, ']');
    if (to->status == PL_OK)
        to->status = conv->status != PL_OK ? conv->status : tour.path.status;
}
