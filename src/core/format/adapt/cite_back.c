/* Turns anchors and entries of a citation_map into the citations that Anthropic and Responses have
 * beside a text. */
#include "format/adapt/cite_back.h"

#include "base/map.h"
#include "conv/cite.h"
#include "json/number.h"

/* Members of an entry: the names in the seed, and those of the vendor. */
struct name {
    const char *group, *seed; /* in `location`, if there is a group */
    const char *theirs;
};

static const struct name anthropic_web[] = {{NULL, "source_name", "title"},
                                            {NULL, "source_id", "source"},
                                            {NULL, "url", "url"},
                                            {"location", "text_snippet", "cited_text"}};
static const struct name anthropic_document[] = {{NULL, "source_name", "document_title"},
                                                 {NULL, "source_id", "file_id"},
                                                 {"location", "text_snippet", "cited_text"},
                                                 {"location", "page_number", "start_page_number"}};
static const struct name openai_url[] = {{NULL, "url", "url"}, {NULL, "source_name", "title"}};
static const struct name openai_file[] = {{NULL, "source_id", "file_id"},
                                          {NULL, "source_name", "filename"}};

struct back {
    struct pl_conv *conv;
    const struct pl_format *to;
    const struct pl_json_node *map;
    struct pl_buf text;    /* of the part, without the anchors that were removed */
    struct pl_buf cites;   /* the vendor's citations of the part, without brackets */
    size_t n_points;       /* code points of `text` */
    struct pl_map entries; /* owned; names in `map`, and the offset of each value from it */
};

static const struct pl_json_node *member(const struct back *b, const struct pl_json_node *of,
                                         const char *key)
{
    return of ? pl_conv_node(b->conv, of, key) : NULL;
}

static bool says(const struct back *b, const struct pl_json_node *of, const char *key,
                 const char *word)
{
    return pl_conv_says(b->conv, member(b, of, key), word);
}

static void put_names(struct back *b, struct pl_json_out *out, const struct pl_json_node *entry,
                      const struct name *names, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct pl_json_node *of = names[i].group ? member(b, entry, names[i].group) : entry;
        const struct pl_json_node *value = member(b, of, names[i].seed);
        if (!value)
            continue;
        pl_json_out_key(out, names[i].theirs);
        pl_json_out_raw(out, pl_json_span(b->conv->doc, value));
        pl_conv_fate(b->conv, value, PL_FATE_SAID);
    }
}

static bool is_one_of(const struct pl_conv *conv, const struct pl_json_node *key,
                      const char *const words[])
{
    return pl_conv_word(conv, key, words) >= 0;
}

/* Members that only the vendor has, unchanged. */
static void put_origin(struct back *b, struct pl_json_out *out, const struct pl_json_node *origin,
                       const char *const without[])
{
    if (!pl_json_is(origin, PL_JSON_OBJECT))
        return;
    for (const struct pl_json_node *k = pl_json_first_member(origin); k < pl_json_end(origin);
         k = pl_json_next_member(k)) {
        if (is_one_of(b->conv, k, without))
            continue;
        pl_json_out_raw(out, pl_json_span(b->conv->doc, k));
        pl_buf_addc(out->buf, ':');
        pl_buf_add(out->buf, pl_json_span(b->conv->doc, k + 1));
        pl_conv_fate(b->conv, k + 1, PL_FATE_SAID);
    }
}

static bool put_anthropic(struct back *b, const struct pl_json_node *entry)
{
    static const char *const without[] = {"format", NULL};
    const struct pl_json_node *origin = member(b, entry, "origin");
    if (!says(b, origin, "format", "anthropic") ||
        !pl_json_is(member(b, origin, "type"), PL_JSON_STRING))
        return false;
    bool is_web = says(b, origin, "type", "web_search_result_location") ||
                  says(b, origin, "type", "search_result_location");
    struct pl_json_out out = pl_json_out(&b->cites);
    pl_json_out_open(&out, '{');
    put_origin(b, &out, origin, without);
    if (is_web)
        put_names(b, &out, entry, anthropic_web, sizeof anthropic_web / sizeof *anthropic_web);
    else
        put_names(b, &out, entry, anthropic_document,
                  sizeof anthropic_document / sizeof *anthropic_document);
    pl_json_out_close(&out, '}');
    return true;
}

static int64_t number_of(const struct back *b, const struct pl_json_node *n)
{
    int64_t value = 0;
    bool is_number = pl_json_is(n, PL_JSON_NUMBER) &&
                     pl_json_number_int64(pl_json_span(b->conv->doc, n), &value) && value >= 0;
    return is_number ? value : 0;
}

/* The range that the vendor had cited, if the text has it; otherwise everything before the
 * anchor. */
static void put_range(struct back *b, struct pl_json_out *out, const struct pl_json_node *origin)
{
    int64_t start = number_of(b, member(b, origin, "start_index"));
    int64_t end = number_of(b, member(b, origin, "end_index"));
    if (end <= start || end > (int64_t)b->n_points) {
        start = 0;
        end = (int64_t)b->n_points;
    }
    pl_json_out_key(out, "start_index");
    pl_json_out_int(out, start);
    pl_json_out_key(out, "end_index");
    pl_json_out_int(out, end);
}

static bool put_openai(struct back *b, const struct pl_json_node *entry)
{
    static const char *const without[] = {"format", "type", "start_index", "end_index", NULL};
    static const char *const files[] = {"file_citation", "container_file_citation", "file_path",
                                        NULL};
    const struct pl_json_node *origin = member(b, entry, "origin");
    bool is_ours =
        says(b, origin, "format", "openai-chat") || says(b, origin, "format", "openai-responses");
    bool is_file = is_ours && pl_conv_word(b->conv, member(b, origin, "type"), files) >= 0;
    const struct pl_json_node *url = member(b, entry, "url");
    bool has_address = pl_json_is(url, PL_JSON_STRING) && pl_json_raw(b->conv->doc, url).len;
    if (!is_file && !has_address)
        return false;
    struct pl_json_out out = pl_json_out(&b->cites);
    pl_json_out_open(&out, '{');
    pl_json_out_key(&out, "type");
    if (is_file)
        pl_json_out_raw(&out, pl_json_span(b->conv->doc, member(b, origin, "type")));
    else
        pl_json_out_text(&out, PL_STR("url_citation"));
    if (!is_file || member(b, origin, "end_index"))
        put_range(b, &out, origin);
    if (is_ours)
        put_origin(b, &out, origin, without);
    put_names(b, &out, entry, is_file ? openai_file : openai_url, 2);
    pl_json_out_close(&out, '}');
    return true;
}

/* Marks members that the citation implies. */
static void know_rest(struct back *b, const struct pl_json_node *entry)
{
    static const char *const places[] = {"format", "type", "start_index", "end_index"};
    const struct pl_json_node *origin = member(b, entry, "origin");
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        pl_conv_know(b->conv, member(b, origin, places[i]));
}

/* Converts a citation. True: the target has a shape for it, and the anchor is removed. */
static bool take(struct back *b, struct pl_str id)
{
    const struct pl_map_entry *found = pl_map_get(&b->entries, id);
    const struct pl_json_node *entry = found ? b->map + found->value : NULL;
    if (!pl_json_is(entry, PL_JSON_OBJECT))
        return false;
    size_t before = b->cites.len;
    if (before)
        pl_buf_addc(&b->cites, ',');
    bool is_taken = b->to == &pl_format_anthropic ? put_anthropic(b, entry) : put_openai(b, entry);
    if (is_taken)
        know_rest(b, entry);
    else
        b->cites.len = before;
    return is_taken;
}

static void add_text(struct back *b, struct pl_str piece)
{
    pl_buf_add(&b->text, piece);
    for (size_t i = 0; i < piece.len; i++)
        b->n_points += ((unsigned char)piece.ptr[i] & 0xC0) != 0x80;
}

static void take_part(struct back *b, struct pl_part *part)
{
    struct pl_conv *conv = b->conv;
    struct pl_str text = pl_conv_text(conv, part->text), tag, id;
    pl_buf_clear(&b->text);
    pl_buf_clear(&b->cites);
    b->n_points = 0;
    size_t said = 0;
    for (size_t at = 0; pl_cite_next(text, &at, &tag, &id);) {
        size_t start = at - tag.len;
        add_text(b, pl_str_slice(text, said, start));
        said = start;
        if (take(b, id))
            said = at;
    }
    if (!b->cites.len)
        return;
    add_text(b, pl_str_slice(text, said, text.len));
    PL_CLEANUP_BUF struct pl_buf list;
    pl_buf_init(&list, 0);
    pl_buf_addc(&list, '[');
    pl_buf_add(&list, pl_buf_str(&b->cites));
    pl_buf_addc(&list, ']');
    struct pl_str words = pl_arena_dup(conv->arena, pl_buf_str(&b->text));
    struct pl_str cites = pl_arena_dup(conv->arena, pl_buf_str(&list));
    if (list.status != PL_OK || b->text.status != PL_OK || b->cites.status != PL_OK ||
        (b->text.len && !words.ptr) || !cites.ptr) {
        conv->status = PL_NOMEM;
        return;
    }
    pl_conv_loss(conv, PL_LOSS_MOVED, part->text.node,
                 "the anchors of citations become citations beside the text");
    part->text = pl_val_text(b->text.len ? words : PL_STR(""));
    part->citations = pl_val_json(cites);
}

/* Indexes the entries of a map by name: a text may have as many anchors as the map has entries. */
static void index_map(struct back *b)
{
    pl_map_deinit(&b->entries);
    b->entries = (struct pl_map){0};
    if (!pl_json_is(b->map, PL_JSON_OBJECT))
        return;
    for (const struct pl_json_node *key = pl_json_first_member(b->map);
         key < pl_json_end(b->map) && b->conv->status == PL_OK; key = pl_json_next_member(key)) {
        bool is_new;
        struct pl_map_entry *entry =
            pl_map_put(&b->entries, pl_conv_text(b->conv, pl_val_node(key)), &is_new);
        if (entry)
            entry->value = (uint64_t)(key + 1 - b->map);
        else
            b->conv->status = PL_NOMEM;
    }
}

void pl_cite_back(struct pl_conv *conv, const struct pl_conversion *conversion)
{
    bool is_ours = conversion->from == &pl_format_harmony || conversion->from == &pl_format_turns;
    bool has_shape =
        conversion->to == &pl_format_anthropic || conversion->to == &pl_format_openai_responses;
    if (!is_ours || !has_shape)
        return;
    struct back b = {.conv = conv, .to = conversion->to};
    pl_buf_init(&b.text, 0);
    pl_buf_init(&b.cites, 0);
    for (size_t i = 0; i < conv->messages.len; i++) {
        const struct pl_message *m = &conv->messages.ptr[i];
        b.map = m->role == PL_ROLE_ASSISTANT ? pl_cite_map(conv, m) : NULL;
        index_map(&b);
        for (uint32_t k = 0;
             k < m->n_parts && pl_json_is(b.map, PL_JSON_OBJECT) && conv->status == PL_OK; k++)
            if (pl_conv_parts(conv, m)[k].kind == PL_PART_TEXT)
                take_part(&b, &pl_conv_parts(conv, m)[k]);
    }
    pl_map_deinit(&b.entries);
    pl_buf_deinit(&b.text);
    pl_buf_deinit(&b.cites);
}
