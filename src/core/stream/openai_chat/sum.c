/* openai-chat streams, added up: chunks into a chat.completion.
 *
 * A delta is added to the message: texts and lists are appended, other values are replaced. Entries
 * with an index (tool calls, reasoning_details) are added to the element with that index. */
#include "stream/sum.h"

#include "stream/pick.h"

#define COUNT(table) (sizeof(table) / sizeof *(table))

/* Members of a delta that are repeated in full, not continued. */
static bool is_said_again(struct pl_str key)
{
    static const struct pl_str keys[] = {{"role", 4}, {"id", 2},      {"name", 4},
                                         {"type", 4}, {"channel", 7}, {"format", 6}};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (pl_str_eq(key, keys[i]))
            return true;
    return false;
}

/* Texts are continued, lists grow, and anything else is replaced. */
static void add_member(struct pl_sum *sum, struct pl_tree *to, struct pl_str key,
                       const struct pl_json_doc *doc, const struct pl_json_node *value)
{
    struct pl_tree *old = pl_tree_get(to, key);
    bool is_text = pl_json_kind(value) == PL_JSON_STRING;
    bool is_list = pl_json_kind(value) == PL_JSON_ARRAY;
    bool is_more = is_text && old && old->kind == PL_TREE_TEXT;
    if (is_more && (!is_said_again(key) || value->len <= 2)) {
        pl_tree_say(&sum->trees, old, pl_json_raw(doc, value)); /* "" adds nothing */
    } else if (is_list && old && old->kind == PL_TREE_ARRAY) {
        for (const struct pl_json_node *n = pl_json_first(value); n < pl_json_end(value);
             n = pl_json_next(n))
            pl_tree_push(&sum->trees, old, pl_tree_copy(&sum->trees, doc, n));
    } else {
        pl_sum_keep(sum, to, key, doc, value);
    }
}

static void add_members(struct pl_sum *sum, struct pl_tree *to, const struct pl_json_doc *doc,
                        const struct pl_json_node *object, struct pl_str but)
{
    for (const struct pl_json_node *k = pl_json_first_member(object); k < pl_json_end(object);
         k = pl_json_next_member(k))
        if (!pl_str_eq(pl_json_raw(doc, k), but))
            add_member(sum, to, pl_json_raw(doc, k), doc, k + 1);
}

/* ---- content in parts ---- */

static struct pl_tree *last_of(const struct pl_tree *list)
{
    return list && list->n ? list->kids[list->n - 1] : NULL;
}

/* The text of a part that has only a type and a text; else NULL. */
static const struct pl_json_node *words_of(const struct pl_json_doc *doc,
                                           const struct pl_json_node *part, struct pl_str key)
{
    bool is_plain = pl_json_kind(part) == PL_JSON_OBJECT && pl_json_count(part) == 2;
    return is_plain ? pl_json_get(doc, part, key) : NULL;
}

static void add_part(struct pl_sum *sum, struct pl_tree *list, const struct pl_json_doc *doc,
                     const struct pl_json_node *part)
{
    static const struct pl_str text = {"text", 4}, thinking = {"thinking", 8};
    struct pl_tree *last = last_of(list);
    const struct pl_json_node *words = words_of(doc, part, text);
    const struct pl_json_node *thoughts = words_of(doc, part, thinking);
    struct pl_tree *said = last ? pl_tree_get_kind(last, text, PL_TREE_TEXT) : NULL;
    struct pl_tree *thought = last ? pl_tree_get_kind(last, thinking, PL_TREE_ARRAY) : NULL;
    if (pl_json_is(words, PL_JSON_STRING) && said && last->n == 2) {
        pl_tree_say(&sum->trees, said, pl_json_raw(doc, words));
    } else if (pl_json_is(thoughts, PL_JSON_ARRAY) && thought && last->n == 2) {
        for (const struct pl_json_node *n = pl_json_first(thoughts); n < pl_json_end(thoughts);
             n = pl_json_next(n)) {
            struct pl_tree *before = last_of(thought);
            const struct pl_json_node *more = words_of(doc, n, text);
            if (pl_json_is(more, PL_JSON_STRING) && before && before->n == 2)
                pl_tree_say(&sum->trees, pl_tree_get(before, text), pl_json_raw(doc, more));
            else
                pl_tree_push(&sum->trees, thought, pl_tree_copy(&sum->trees, doc, n));
        }
    } else {
        pl_tree_push(&sum->trees, list, pl_tree_copy(&sum->trees, doc, part));
    }
}

static void push_text(struct pl_sum *sum, struct pl_tree *list, struct pl_tree *words)
{
    struct pl_tree *part = pl_tree_new(&sum->trees, PL_TREE_OBJECT);
    pl_tree_set(&sum->trees, part, PL_STR("type"), pl_tree_text(&sum->trees, PL_STR("text")));
    pl_tree_set(&sum->trees, part, PL_STR("text"), words);
    pl_tree_push(&sum->trees, list, part);
}

/* Content is a string or a list of parts: once it is a list, strings become parts. */
static void add_content(struct pl_sum *sum, struct pl_tree *message, const struct pl_json_doc *doc,
                        const struct pl_json_node *content)
{
    static const struct pl_str key = {"content", 7};
    struct pl_tree *old = pl_tree_get(message, key);
    bool is_list = pl_json_kind(content) == PL_JSON_ARRAY;
    if (!is_list && !(old && old->kind == PL_TREE_ARRAY)) {
        add_member(sum, message, key, doc, content);
        return;
    }
    struct pl_tree *list = pl_tree_need(&sum->trees, message, key, PL_TREE_ARRAY);
    if (old && old->kind == PL_TREE_TEXT && old->first)
        push_text(sum, list, pl_tree_text(&sum->trees, pl_tree_raw(&sum->trees, old)));
    if (is_list) {
        for (const struct pl_json_node *n = pl_json_first(content); n < pl_json_end(content);
             n = pl_json_next(n))
            add_part(sum, list, doc, n);
    } else if (pl_json_kind(content) == PL_JSON_STRING && content->len > 2) {
        struct pl_tree *last = last_of(list);
        struct pl_tree *said = last ? pl_tree_get_kind(last, PL_STR("text"), PL_TREE_TEXT) : NULL;
        if (said && last->n == 2)
            pl_tree_say(&sum->trees, said, pl_json_raw(doc, content));
        else
            push_text(sum, list, pl_tree_text(&sum->trees, pl_json_raw(doc, content)));
    }
}

/* ---- elements with an index ---- */

/* The index is stored beside the element, since a whole answer has no member for it. */
static bool has_index(const struct pl_tree *element, int64_t index)
{
    int64_t is;
    const struct pl_tree *at = pl_tree_get_kind(element, PL_STR("index"), PL_TREE_LITERAL);
    return at && pl_json_number_int64(at->literal, &is) && is == index;
}

static void add_details(struct pl_sum *sum, struct pl_tree *list, const struct pl_json_doc *doc,
                        const struct pl_json_node *details)
{
    for (const struct pl_json_node *n = pl_json_first(details); n < pl_json_end(details);
         n = pl_json_next(n)) {
        const struct pl_json_node *index = pl_json_get(doc, n, PL_STR("index"));
        const struct pl_json_node *type = pl_json_get(doc, n, PL_STR("type"));
        struct pl_tree *last = last_of(list);
        bool is_more =
            index && has_index(last, pl_pick_count(doc, index)) &&
            (!type || pl_tree_is(pl_tree_get(last, PL_STR("type")), pl_pick_raw(doc, type)));
        if (is_more)
            add_members(sum, last, doc, n, PL_STR("index"));
        else
            pl_tree_push(&sum->trees, list, pl_tree_copy(&sum->trees, doc, n));
    }
}

/* ---- calls ---- */

static struct pl_tree *body_of(const struct pl_tree *call)
{
    struct pl_tree *custom = pl_tree_get_kind(call, PL_STR("custom"), PL_TREE_OBJECT);
    struct pl_tree *function = pl_tree_get_kind(call, PL_STR("function"), PL_TREE_OBJECT);
    /* Some servers fill in the other kind with empty texts. */
    const struct pl_tree *name = pl_tree_get_kind(custom, PL_STR("name"), PL_TREE_TEXT);
    return custom && (!function || (name && name->first)) ? custom : function;
}

static bool is_whole(struct pl_sum *sum, const struct pl_tree *call)
{
    const struct pl_tree *args = pl_tree_get(body_of(call), PL_STR("arguments"));
    if (!pl_tree_ends(args, '}')) /* most pieces: no parsing */
        return false;
    struct pl_str raw = pl_tree_raw(&sum->trees, args);
    struct pl_json_opts opts = {.allows_duplicate_keys = true, .allows_lone_surrogates = true};
    struct pl_json_doc doc;
    char *text = pl_arena_alloc(&sum->event, raw.len + 1, 1);
    if (!text)
        sum->trees.status = PL_NOMEM;
    return text && pl_json_parse(&sum->event, (struct pl_str){text, pl_json_decode(text, raw)},
                                 &opts, &doc, NULL) == PL_OK;
}

/* A few calls may be open at once; each entry searches the last ones. */
enum { MAX_PARALLEL = 64 };

/* Finds the call that an entry continues, by the rules of pl_chat_take_calls. */
static struct pl_tree *find_call(struct pl_sum *sum, struct pl_tree *list,
                                 const struct pl_json_doc *doc, const struct pl_json_node *entry)
{
    int64_t index = pl_pick_count(doc, pl_json_get(doc, entry, PL_STR("index")));
    struct pl_str id = pl_pick_raw(doc, pl_json_get(doc, entry, PL_STR("id")));
    const struct pl_json_node *body = pl_json_get(doc, entry, PL_STR("function"));
    if (!body)
        body = pl_json_get(doc, entry, PL_STR("custom"));
    const struct pl_json_node *name = body ? pl_json_get(doc, body, PL_STR("name")) : NULL;
    const struct pl_json_node *args = body ? pl_json_get(doc, body, PL_STR("arguments")) : NULL;
    bool has_name = pl_pick_raw(doc, name).len, has_args = pl_pick_raw(doc, args).len;
    for (uint32_t i = list->n; i-- > 0 && i + MAX_PARALLEL >= list->n;) {
        struct pl_tree *call = list->kids[i];
        bool is_it = index >= 0 ? has_index(call, index) : id.len || !has_name;
        if (!is_it)
            continue;
        struct pl_tree *its = pl_tree_get_kind(call, PL_STR("id"), PL_TREE_TEXT);
        struct pl_tree *named = pl_tree_get(body_of(call), PL_STR("name"));
        bool is_other = id.len && its && its->first && !pl_tree_is(its, id);
        bool is_new = has_args || !pl_tree_is(named, pl_pick_raw(doc, name));
        bool is_again = !id.len && has_name && is_new && is_whole(sum, call);
        if (!is_other && !is_again)
            return call;
    }
    return NULL;
}

/* Whether an entry says a complete call once more. */
static bool is_repetition(struct pl_sum *sum, const struct pl_tree *call,
                          const struct pl_json_doc *doc, const struct pl_json_node *entry)
{
    const struct pl_json_node *body = pl_json_member(doc, entry, "function", PL_JSON_OBJECT);
    const struct pl_json_node *name = pl_json_member(doc, body, "name", PL_JSON_STRING);
    const struct pl_json_node *args = pl_json_member(doc, body, "arguments", PL_JSON_STRING);
    struct pl_str id = pl_pick_raw(doc, pl_json_get(doc, entry, PL_STR("id")));
    return id.len && args && args->len > 2 && pl_pick_raw(doc, name).len &&
           pl_tree_is(pl_tree_get(call, PL_STR("id")), id) &&
           pl_tree_is(pl_tree_get(body_of(call), PL_STR("arguments")), pl_json_raw(doc, args)) &&
           is_whole(sum, call);
}

static void add_call(struct pl_sum *sum, struct pl_tree *list, const struct pl_json_doc *doc,
                     const struct pl_json_node *entry)
{
    struct pl_tree *call = find_call(sum, list, doc, entry);
    if (!call) {
        pl_tree_push(&sum->trees, list, pl_tree_copy(&sum->trees, doc, entry));
        return;
    }
    if (is_repetition(sum, call, doc, entry))
        return;
    for (const struct pl_json_node *k = pl_json_first_member(entry); k < pl_json_end(entry);
         k = pl_json_next_member(k)) {
        struct pl_str key = pl_json_raw(doc, k);
        struct pl_tree *old = pl_tree_get_kind(call, key, PL_TREE_OBJECT);
        if (old && pl_json_kind(k + 1) == PL_JSON_OBJECT)
            add_members(sum, old, doc, k + 1, (struct pl_str){0});
        else if (!pl_str_eq(key, PL_STR("index")) && (k + 1)->len > 2)
            add_member(sum, call, key, doc, k + 1);
    }
}

/* ---- chunks ---- */

static void add_calls(struct pl_sum *sum, struct pl_tree *list, const struct pl_json_doc *doc,
                      const struct pl_json_node *entries)
{
    for (const struct pl_json_node *n = pl_json_first(entries); list && n < pl_json_end(entries);
         n = pl_json_next(n))
        if (pl_json_is(n, PL_JSON_OBJECT))
            add_call(sum, list, doc, n);
        else
            pl_sum_refuse(sum, list, (struct pl_str){0});
}

static void add_delta(struct pl_sum *sum, struct pl_tree *message, const struct pl_json_doc *doc,
                      const struct pl_json_node *delta)
{
    static const struct pl_sum_kind kinds[] = {
        PL_SUM_KIND("role", PL_SUM_TEXT),
        PL_SUM_KIND("content", PL_SUM_TEXT | PL_SUM_LIST),
        PL_SUM_KIND("refusal", PL_SUM_TEXT),
        PL_SUM_KIND("reasoning_content", PL_SUM_TEXT),
        PL_SUM_KIND("reasoning", PL_SUM_TEXT),
        PL_SUM_KIND("tool_calls", PL_SUM_LIST),
        PL_SUM_KIND("function_call", PL_SUM_OBJECT),
        PL_SUM_KIND("reasoning_details", PL_SUM_LIST),
        PL_SUM_KIND("annotations", PL_SUM_LIST),
        PL_SUM_KIND("images", PL_SUM_LIST),
        PL_SUM_KIND("audio", PL_SUM_OBJECT),
    };
    for (const struct pl_json_node *k = pl_json_first_member(delta); k < pl_json_end(delta);
         k = pl_json_next_member(k)) {
        struct pl_str key = pl_json_raw(doc, k);
        const struct pl_json_node *value = k + 1;
        bool is_list = pl_json_kind(value) == PL_JSON_ARRAY;
        struct pl_tree *old = pl_tree_get_kind(message, key, PL_TREE_OBJECT);
        if (!pl_sum_fits(sum, kinds, COUNT(kinds), message, key, value))
            continue;
        if (pl_str_eq(key, PL_STR("content")) && pl_json_kind(value) != PL_JSON_NULL) {
            add_content(sum, message, doc, value);
        } else if (is_list && pl_str_eq(key, PL_STR("tool_calls"))) {
            add_calls(sum, pl_tree_need(&sum->trees, message, key, PL_TREE_ARRAY), doc, value);
        } else if (is_list && pl_str_eq(key, PL_STR("reasoning_details"))) {
            add_details(sum, pl_tree_need(&sum->trees, message, key, PL_TREE_ARRAY), doc, value);
        } else if (old && pl_json_kind(value) == PL_JSON_OBJECT) {
            add_members(sum, old, doc, value, (struct pl_str){0}); /* audio, function_call */
        } else {
            add_member(sum, message, key, doc, value);
        }
    }
}

static struct pl_tree *choice_of(struct pl_sum *sum, const struct pl_json_doc *doc,
                                 const struct pl_json_node *choice)
{
    const struct pl_json_node *number = pl_json_get(doc, choice, PL_STR("index"));
    int64_t index = pl_pick_count(doc, number);
    struct pl_tree *list = pl_tree_need(&sum->trees, sum->answer, PL_STR("choices"), PL_TREE_ARRAY);
    for (uint32_t i = 0; list && i < list->n; i++)
        if (has_index(list->kids[i], index < 0 ? 0 : index))
            return list->kids[i];
    struct pl_tree *made = pl_tree_new(&sum->trees, PL_TREE_OBJECT);
    pl_tree_set(&sum->trees, made, PL_STR("index"),
                pl_tree_literal(&sum->trees, index < 0 ? PL_STR("0") : pl_json_span(doc, number)));
    pl_tree_push(&sum->trees, list, made);
    return made;
}

static void add_choice(struct pl_sum *sum, const struct pl_json_doc *doc,
                       const struct pl_json_node *choice)
{
    static const struct pl_str message = {"message", 7};
    static const struct pl_sum_kind kinds[] = {
        PL_SUM_KIND("index", PL_SUM_NUMBER), PL_SUM_KIND("delta", PL_SUM_OBJECT),
        PL_SUM_KIND("message", PL_SUM_OBJECT), PL_SUM_KIND("finish_reason", PL_SUM_TEXT)};
    struct pl_tree *to = choice_of(sum, doc, choice);
    for (const struct pl_json_node *k = pl_json_first_member(choice); k < pl_json_end(choice);
         k = pl_json_next_member(k)) {
        struct pl_str key = pl_json_raw(doc, k);
        struct pl_tree *old = pl_tree_get_kind(to, key, PL_TREE_OBJECT);
        bool fits = pl_sum_fits(sum, kinds, COUNT(kinds), to, key, k + 1);
        if (!fits || pl_str_eq(key, PL_STR("index")))
            continue;
        if (pl_str_eq(key, PL_STR("delta")))
            add_delta(sum, pl_tree_need(&sum->trees, to, message, PL_TREE_OBJECT), doc, k + 1);
        else if (old && pl_json_is(k + 1, PL_JSON_OBJECT) && pl_str_eq(key, PL_STR("logprobs")))
            add_members(sum, old, doc, k + 1, (struct pl_str){0});
        else if (pl_str_eq(key, PL_STR("text")) || pl_str_eq(key, PL_STR("token_ids")))
            add_member(sum, to, key, doc, k + 1);
        else
            pl_sum_keep(sum, to, key, doc, k + 1);
    }
}

/* Some servers give every chunk another id: the first one counts. */
static bool is_head(struct pl_str key)
{
    return pl_str_eq(key, PL_STR("id")) || pl_str_eq(key, PL_STR("model"));
}

/* Azure's first chunk has neither id nor model. */
static bool is_blank(const struct pl_tree *text)
{
    return !text || !text->first;
}

static void add_choices(struct pl_sum *sum, const struct pl_json_doc *doc,
                        const struct pl_json_node *choices)
{
    for (const struct pl_json_node *n = pl_json_first(choices); n < pl_json_end(choices);
         n = pl_json_next(n))
        if (pl_json_is(n, PL_JSON_OBJECT))
            add_choice(sum, doc, n);
        else
            pl_sum_refuse(sum, sum->answer, PL_STR("choices"));
}

void pl_chat_sum(struct pl_sum *sum, const struct pl_json_doc *doc)
{
    static const struct pl_sum_kind kinds[] = {PL_SUM_KIND("object", PL_SUM_TEXT),
                                               PL_SUM_KIND("obfuscation", PL_SUM_TEXT),
                                               PL_SUM_KIND("choices", PL_SUM_LIST),
                                               PL_SUM_KIND("usage", PL_SUM_OBJECT),
                                               PL_SUM_KIND("id", PL_SUM_TEXT | PL_SUM_NUMBER),
                                               PL_SUM_KIND("model", PL_SUM_TEXT)};
    const struct pl_json_node *root = doc->root;
    for (const struct pl_json_node *k = pl_json_first_member(root); k < pl_json_end(root);
         k = pl_json_next_member(k)) {
        struct pl_str key = pl_json_raw(doc, k);
        bool fits = pl_sum_fits(sum, kinds, COUNT(kinds), sum->answer, key, k + 1);
        if (!fits || pl_str_eq(key, PL_STR("obfuscation")))
            continue;
        if (pl_str_eq(key, PL_STR("object")))
            pl_tree_set(&sum->trees, sum->answer, key,
                        pl_tree_text(&sum->trees, PL_STR("chat.completion")));
        else if (pl_str_eq(key, PL_STR("choices")) && pl_json_kind(k + 1) == PL_JSON_ARRAY)
            add_choices(sum, doc, k + 1);
        else if (!is_head(key) || is_blank(pl_tree_get_kind(sum->answer, key, PL_TREE_TEXT)))
            pl_sum_keep(sum, sum->answer, key, doc, k + 1);
        if (pl_str_eq(key, PL_STR("error")) && pl_json_kind(k + 1) != PL_JSON_NULL)
            sum->is_over = sum->is_failed = true;
    }
}

/* The calls of a whole answer have no index, and beside them an empty content is null. */
void pl_chat_sum_end(struct pl_sum *sum)
{
    struct pl_tree *choices = pl_tree_get_kind(sum->answer, PL_STR("choices"), PL_TREE_ARRAY);
    for (uint32_t i = 0; choices && i < choices->n; i++) {
        struct pl_tree *message =
            pl_tree_get_kind(choices->kids[i], PL_STR("message"), PL_TREE_OBJECT);
        struct pl_tree *calls = pl_tree_get_kind(message, PL_STR("tool_calls"), PL_TREE_ARRAY);
        for (uint32_t c = 0; calls && c < calls->n; c++)
            pl_tree_remove(calls->kids[c], PL_STR("index"));
        const struct pl_tree *content = pl_tree_get_kind(message, PL_STR("content"), PL_TREE_TEXT);
        if (calls && calls->n && content && !content->first)
            pl_tree_set(&sum->trees, message, PL_STR("content"),
                        pl_tree_literal(&sum->trees, PL_STR("null")));
    }
}
