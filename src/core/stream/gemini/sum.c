/* Google's streams, added up: every event is a response, and the parts of a candidate are added in
 * order. Consecutive texts of a kind are one part. Counters and grounding metadata are repeated;
 * the last value counts. */
#include "stream/gemini/gemini_int.h"

#include "stream/pick.h"
#include "stream/sum.h"

static bool is_key(struct pl_str key, const char *name, const char *snake)
{
    return pl_str_eq(key, pl_str_of(name)) || pl_str_eq(key, pl_str_of(snake));
}

static const struct pl_json_node *get(const struct pl_json_doc *doc,
                                      const struct pl_json_node *object, const char *name,
                                      const char *snake)
{
    const struct pl_json_node *value = pl_json_get(doc, object, pl_str_of(name));
    return value ? value : pl_json_get(doc, object, pl_str_of(snake));
}

static struct pl_tree *get_tree(const struct pl_tree *object, const char *name, const char *snake)
{
    struct pl_tree *value = pl_tree_get(object, pl_str_of(name));
    return value ? value : pl_tree_get(object, pl_str_of(snake));
}

#define COUNT(table) (sizeof(table) / sizeof *(table))

/* ---- calls that come in pieces ---- */

static void finish_call(struct pl_sum *sum, struct pl_gemini_sum_choice *choice)
{
    struct pl_json_doc doc;
    if (!choice->is_open)
        return;
    choice->is_open = false;
    PL_CLEANUP_BUF struct pl_buf args;
    pl_buf_init(&args, 0);
    pl_gemini_args_write(&choice->args, &args);
    bool has_args = pl_tree_get(choice->call, PL_STR("args")) && args.len <= 2;
    enum pl_status status = args.status;
    if (status == PL_OK)
        status = pl_json_parse(&sum->event, pl_buf_str(&args), &pl_json_made, &doc, NULL);
    if (status != PL_OK)
        sum->trees.status = PL_NOMEM; /* we wrote this JSON: memory ran out */
    else if (!has_args)
        pl_tree_set(&sum->trees, choice->call, PL_STR("args"),
                    pl_tree_copy(&sum->trees, &doc, doc.root));
    pl_gemini_args_deinit(&choice->args);
}

/* Keeps the members of a piece, except those that only say how the call is split. */
static void keep_call(struct pl_sum *sum, struct pl_tree *call, const struct pl_json_doc *doc,
                      const struct pl_json_node *piece)
{
    static const struct pl_sum_kind kinds[] = {
        PL_SUM_KIND("name", PL_SUM_TEXT), PL_SUM_KIND("partialArgs", PL_SUM_LIST),
        PL_SUM_KIND("partial_args", PL_SUM_LIST), PL_SUM_KIND("willContinue", PL_SUM_BOOL),
        PL_SUM_KIND("will_continue", PL_SUM_BOOL)};
    for (const struct pl_json_node *k = pl_json_first_member(piece); k < pl_json_end(piece);
         k = pl_json_next_member(k)) {
        struct pl_str key = pl_json_raw(doc, k);
        if (!pl_sum_fits(sum, kinds, COUNT(kinds), call, key, k + 1))
            continue;
        if (!is_key(key, "partialArgs", "partial_args") &&
            !is_key(key, "willContinue", "will_continue"))
            pl_sum_keep(sum, call, key, doc, k + 1);
    }
}

static void begin_call(struct pl_sum *sum, struct pl_gemini_sum_choice *choice,
                       struct pl_tree *parts)
{
    struct pl_tree *part = pl_tree_new(&sum->trees, PL_TREE_OBJECT);
    finish_call(sum, choice);
    choice->is_open = true;
    pl_gemini_args_init(&choice->args);
    choice->call = pl_tree_need(&sum->trees, part, PL_STR("functionCall"), PL_TREE_OBJECT);
    pl_tree_push(&sum->trees, parts, part);
}

/* A last piece without content may be repeated: then no call is open any more. */
static bool says_something(const struct pl_json_doc *doc, const struct pl_json_node *call)
{
    const struct pl_json_node *const said[] = {pl_json_get(doc, call, PL_STR("args")),
                                               get(doc, call, "partialArgs", "partial_args")};
    for (size_t i = 0; i < COUNT(said); i++)
        if (said[i] && (!pl_json_is_container(said[i]) || pl_json_count(said[i])))
            return true;
    return false;
}

static void add_call(struct pl_sum *sum, struct pl_gemini_sum_choice *choice, struct pl_tree *parts,
                     const struct pl_json_doc *doc, const struct pl_json_node *part,
                     const struct pl_json_node *call)
{
    const struct pl_json_node *partials = get(doc, call, "partialArgs", "partial_args");
    struct pl_str name = pl_pick_raw(doc, pl_json_get(doc, call, PL_STR("name")));
    struct pl_str id = pl_pick_raw(doc, pl_json_get(doc, call, PL_STR("id")));
    bool is_same =
        choice->is_open && id.len && pl_tree_is(pl_tree_get(choice->call, PL_STR("id")), id);
    if (!choice->is_open && !name.len && !says_something(doc, call))
        return;
    if (!choice->is_open || (name.len && !is_same))
        begin_call(sum, choice, parts);
    keep_call(sum, choice->call, doc, call);
    for (const struct pl_json_node *k = pl_json_first_member(part);
         choice->call && k < pl_json_end(part); k = pl_json_next_member(k))
        if (!is_key(pl_json_raw(doc, k), "functionCall", "function_call"))
            pl_sum_keep(sum, choice->call->parent, pl_json_raw(doc, k), doc, k + 1);
    if (pl_json_is(partials, PL_JSON_ARRAY))
        for (const struct pl_json_node *n = pl_json_first(partials); n < pl_json_end(partials);
             n = pl_json_next(n))
            if (pl_gemini_args_add(&choice->args, doc, n, NULL) != PL_OK)
                pl_sum_stray(sum, PL_LOSS_DROPPED, "a piece of arguments has an unknown path",
                             (struct pl_str){0}, "%s", "");
    if (!pl_json_is(get(doc, call, "willContinue", "will_continue"), PL_JSON_TRUE))
        finish_call(sum, choice);
}

/* ---- parts ---- */

/* Whether a part is only text and members that may come with text. */
static bool is_text(const struct pl_json_doc *doc, const struct pl_json_node *part)
{
    bool has_text = false;
    for (const struct pl_json_node *k = pl_json_first_member(part); k < pl_json_end(part);
         k = pl_json_next_member(k)) {
        struct pl_str key = pl_json_raw(doc, k);
        has_text |= pl_str_eq(key, PL_STR("text")) && pl_json_kind(k + 1) == PL_JSON_STRING;
        if (!pl_str_eq(key, PL_STR("text")) && !pl_str_eq(key, PL_STR("thought")) &&
            !is_key(key, "thoughtSignature", "thought_signature"))
            return false;
    }
    return has_text;
}

static bool is_thought(const struct pl_tree *part)
{
    const struct pl_tree *thought = pl_tree_get_kind(part, PL_STR("thought"), PL_TREE_LITERAL);
    return thought && pl_str_eq(thought->literal, PL_STR("true"));
}

/* The text that this part continues, or NULL. */
static struct pl_tree *text_before(const struct pl_tree *parts, const struct pl_json_doc *doc,
                                   const struct pl_json_node *part)
{
    struct pl_tree *last = parts->n ? parts->kids[parts->n - 1] : NULL;
    struct pl_tree *said = pl_tree_get_kind(last, PL_STR("text"), PL_TREE_TEXT);
    const struct pl_json_node *thought = pl_json_get(doc, part, PL_STR("thought"));
    const struct pl_json_node *signature = get(doc, part, "thoughtSignature", "thought_signature");
    bool is_plain = last && last->n <= 3 && said;
    bool is_signed = is_plain && get_tree(last, "thoughtSignature", "thought_signature");
    bool is_same = is_plain && is_thought(last) == pl_json_is(thought, PL_JSON_TRUE);
    /* Each signature belongs to one text; one that comes late belongs to the text before it. */
    return is_same && !(is_signed && (signature || said->first)) ? last : NULL;
}

static void add_part(struct pl_sum *sum, struct pl_gemini_sum_choice *choice, struct pl_tree *parts,
                     const struct pl_json_doc *doc, const struct pl_json_node *part)
{
    const struct pl_json_node *call = get(doc, part, "functionCall", "function_call");
    if (pl_json_is(call, PL_JSON_OBJECT)) {
        add_call(sum, choice, parts, doc, part, call);
        return;
    }
    finish_call(sum, choice);
    struct pl_tree *before = is_text(doc, part) ? text_before(parts, doc, part) : NULL;
    const struct pl_json_node *text = pl_json_get(doc, part, PL_STR("text"));
    if (before) {
        pl_tree_say(&sum->trees, pl_tree_get(before, PL_STR("text")), pl_json_raw(doc, text));
        for (const struct pl_json_node *k = pl_json_first_member(part); k < pl_json_end(part);
             k = pl_json_next_member(k))
            if (k + 1 != text)
                pl_sum_keep(sum, before, pl_json_raw(doc, k), doc, k + 1);
        return;
    }
    /* Empty texts are only filler in the last events. */
    bool is_filler = is_text(doc, part) && text->len <= 2 &&
                     !get(doc, part, "thoughtSignature", "thought_signature");
    if (!is_filler)
        pl_tree_push(&sum->trees, parts, pl_tree_copy(&sum->trees, doc, part));
}

static void add_content(struct pl_sum *sum, struct pl_gemini_sum_choice *choice,
                        struct pl_tree *candidate, const struct pl_json_doc *doc,
                        const struct pl_json_node *content)
{
    struct pl_tree *to = pl_tree_need(&sum->trees, candidate, PL_STR("content"), PL_TREE_OBJECT);
    for (const struct pl_json_node *k = pl_json_first_member(content); k < pl_json_end(content);
         k = pl_json_next_member(k)) {
        struct pl_str key = pl_json_raw(doc, k);
        if (!pl_str_eq(key, PL_STR("parts")) || pl_json_kind(k + 1) != PL_JSON_ARRAY) {
            pl_sum_keep(sum, to, key, doc, k + 1);
            continue;
        }
        struct pl_tree *parts = pl_tree_need(&sum->trees, to, key, PL_TREE_ARRAY);
        for (const struct pl_json_node *n = pl_json_first(k + 1); parts && n < pl_json_end(k + 1);
             n = pl_json_next(n))
            if (pl_json_is(n, PL_JSON_OBJECT) || pl_json_is(n, PL_JSON_STRING))
                add_part(sum, choice, parts, doc, n);
            else
                pl_sum_refuse(sum, parts, (struct pl_str){0});
    }
}

/* ---- candidates ---- */

/* Appends citations in order of arrival. */
static void add_citations(struct pl_sum *sum, struct pl_tree *candidate, struct pl_str key,
                          const struct pl_json_doc *doc, const struct pl_json_node *metadata)
{
    struct pl_tree *to = pl_tree_need(&sum->trees, candidate, key, PL_TREE_OBJECT);
    for (const struct pl_json_node *k = pl_json_first_member(metadata); k < pl_json_end(metadata);
         k = pl_json_next_member(k)) {
        struct pl_str name = pl_json_raw(doc, k);
        if (pl_json_kind(k + 1) != PL_JSON_ARRAY) {
            pl_sum_keep(sum, to, name, doc, k + 1);
            continue;
        }
        struct pl_tree *list = pl_tree_need(&sum->trees, to, name, PL_TREE_ARRAY);
        for (const struct pl_json_node *n = pl_json_first(k + 1); n < pl_json_end(k + 1);
             n = pl_json_next(n))
            pl_tree_push(&sum->trees, list, pl_tree_copy(&sum->trees, doc, n));
    }
}

static void add_candidate(struct pl_sum *sum, const struct pl_json_doc *doc,
                          const struct pl_json_node *candidate)
{
    static const struct pl_sum_kind kinds[] = {
        PL_SUM_KIND("content", PL_SUM_OBJECT),
        PL_SUM_KIND("finishReason", PL_SUM_TEXT | PL_SUM_NUMBER),
        PL_SUM_KIND("finish_reason", PL_SUM_TEXT | PL_SUM_NUMBER),
        PL_SUM_KIND("citationMetadata", PL_SUM_OBJECT),
        PL_SUM_KIND("citation_metadata", PL_SUM_OBJECT)};
    struct pl_gemini_sum *state = sum->state;
    const struct pl_json_node *number = pl_json_get(doc, candidate, PL_STR("index"));
    bool has_number = number && pl_json_kind(number) != PL_JSON_NULL;
    int64_t index = has_number ? pl_pick_count(doc, number) : 0;
    if (index < 0 || index >= PL_GEMINI_MAX_CHOICES) {
        pl_sum_stray(sum, PL_LOSS_DROPPED, "there are more candidates than Google returns",
                     (struct pl_str){0}, "/candidates");
        return;
    }
    struct pl_gemini_sum_choice *choice = &state->choices[index];
    if (!choice->tree) {
        struct pl_tree *list =
            pl_tree_need(&sum->trees, sum->answer, PL_STR("candidates"), PL_TREE_ARRAY);
        choice->tree = pl_tree_new(&sum->trees, PL_TREE_OBJECT);
        pl_tree_push(&sum->trees, list, choice->tree);
    }
    for (const struct pl_json_node *k = pl_json_first_member(candidate); k < pl_json_end(candidate);
         k = pl_json_next_member(k)) {
        struct pl_str key = pl_json_raw(doc, k);
        bool is_object = pl_json_kind(k + 1) == PL_JSON_OBJECT;
        if (!pl_sum_fits(sum, kinds, COUNT(kinds), choice->tree, key, k + 1))
            continue;
        if (is_object && pl_str_eq(key, PL_STR("content")))
            add_content(sum, choice, choice->tree, doc, k + 1);
        else if (is_object && is_key(key, "citationMetadata", "citation_metadata"))
            add_citations(sum, choice->tree, key, doc, k + 1);
        else
            pl_sum_keep(sum, choice->tree, key, doc, k + 1);
    }
}

static void add_candidates(struct pl_sum *sum, const struct pl_json_doc *doc,
                           const struct pl_json_node *candidates)
{
    for (const struct pl_json_node *n = pl_json_first(candidates); n < pl_json_end(candidates);
         n = pl_json_next(n))
        if (pl_json_is(n, PL_JSON_OBJECT))
            add_candidate(sum, doc, n);
        else
            pl_sum_refuse(sum, sum->answer, PL_STR("candidates"));
}

void pl_gemini_sum(struct pl_sum *sum, const struct pl_json_doc *doc)
{
    static const struct pl_sum_kind kinds[] = {PL_SUM_KIND("candidates", PL_SUM_LIST),
                                               PL_SUM_KIND("usageMetadata", PL_SUM_OBJECT),
                                               PL_SUM_KIND("usage_metadata", PL_SUM_OBJECT)};
    for (const struct pl_json_node *k = pl_json_first_member(doc->root); k < pl_json_end(doc->root);
         k = pl_json_next_member(k)) {
        struct pl_str key = pl_json_raw(doc, k);
        if (!pl_sum_fits(sum, kinds, COUNT(kinds), sum->answer, key, k + 1))
            continue;
        if (pl_str_eq(key, PL_STR("candidates")) && pl_json_kind(k + 1) == PL_JSON_ARRAY)
            add_candidates(sum, doc, k + 1);
        else
            pl_sum_keep(sum, sum->answer, key, doc, k + 1);
        if (pl_str_eq(key, PL_STR("error")) && pl_json_kind(k + 1) != PL_JSON_NULL)
            sum->is_over = sum->is_failed = true;
    }
}

void pl_gemini_sum_end(struct pl_sum *sum)
{
    struct pl_gemini_sum *state = sum->state;
    pl_arena_reset(&sum->event);
    for (size_t i = 0; i < PL_GEMINI_MAX_CHOICES; i++)
        finish_call(sum, &state->choices[i]);
}

void pl_gemini_sum_deinit(void *state_)
{
    struct pl_gemini_sum *state = state_;
    for (size_t i = 0; i < PL_GEMINI_MAX_CHOICES; i++)
        if (state->choices[i].is_open)
            pl_gemini_args_deinit(&state->choices[i].args);
}
