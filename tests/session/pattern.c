#include "session/pattern.h"

#include "json/equal.h"
#include "json/text.h"

void pattern_names_init(struct pattern_names *names)
{
    *names = (struct pattern_names){0};
    pl_arena_init(&names->arena, 0);
}

void pattern_names_deinit(struct pattern_names *names)
{
    pl_map_deinit(&names->map);
    pl_arena_deinit(&names->arena);
}

struct pl_str pattern_value(const struct pattern_names *names, struct pl_str text)
{
    const struct pl_map_entry *entry =
        text.len > 1 && text.ptr[0] == '$' ? pl_map_get(&names->map, text) : NULL;
    return entry ? *(struct pl_str *)(uintptr_t)entry->value : text;
}

/* Binds an unbound name to the text, or compares. */
static bool meets_name(struct pattern_names *names, struct pl_str name, struct pl_str text)
{
    bool is_new = false;
    struct pl_map_entry *entry =
        pl_map_put(&names->map, pl_arena_dup(&names->arena, name), &is_new);
    if (!is_new)
        return pl_str_eq(*(struct pl_str *)(uintptr_t)entry->value, text);
    struct pl_str *value = pl_arena_alloc(&names->arena, 1, sizeof *value);
    *value = pl_arena_dup(&names->arena, text);
    entry->value = (uintptr_t)value;
    return true;
}

struct pair {
    const struct pl_json_doc *pattern, *json;
    struct pl_arena *arena;
    struct pattern_names *names;
};

static struct pl_str text_of(const struct pair *p, const struct pl_json_doc *doc,
                             const struct pl_json_node *n)
{
    struct pl_str text = {"", 0};
    return pl_json_text(p->arena, doc, n, &text) == PL_OK ? text : PL_STR("?");
}

static bool is_word(const struct pair *p, const struct pl_json_node *n, const char *word)
{
    return pl_json_kind(n) == PL_JSON_STRING && pl_json_text_is(p->pattern, n, pl_str_of(word));
}

static bool matches_leaf(const struct pair *p, const struct pl_json_node *want,
                         const struct pl_json_node *have)
{
    if (pl_json_kind(want) == PL_JSON_STRING) {
        struct pl_str text = text_of(p, p->pattern, want);
        if (text.len > 1 && text.ptr[0] == '$')
            return pl_json_kind(have) == PL_JSON_STRING &&
                   meets_name(p->names, text, text_of(p, p->json, have));
    }
    bool is_equal = false;
    return pl_json_equal(p->pattern, want, p->json, have, &is_equal) == PL_OK && is_equal;
}

/* Scripts are trusted and shallow, so recursion is fine here. */
static bool matches(const struct pair *p, const struct pl_json_node *want,
                    const struct pl_json_node *have)
{
    if (is_word(p, want, "*"))
        return true;
    if (!pl_json_is_container(want))
        return matches_leaf(p, want, have);
    if (pl_json_kind(want) != pl_json_kind(have))
        return false;
    if (pl_json_kind(want) == PL_JSON_ARRAY) {
        if (pl_json_count(want) != pl_json_count(have))
            return false;
        const struct pl_json_node *h = pl_json_first(have);
        for (const struct pl_json_node *n = pl_json_first(want); n < pl_json_end(want);
             n = pl_json_next(n), h = pl_json_next(h))
            if (!matches(p, n, h))
                return false;
        return true;
    }
    for (const struct pl_json_node *k = pl_json_first(want); k < pl_json_end(want);
         k = pl_json_next_member(k)) {
        const struct pl_json_node *h = pl_json_get(p->json, have, text_of(p, p->pattern, k));
        if (is_word(p, k + 1, "!") ? h != NULL : !h || !matches(p, k + 1, h))
            return false;
    }
    return true;
}

bool pattern_matches(struct pattern_names *names, struct pl_str pattern, struct pl_str json)
{
    const struct pl_json_opts opts = {.max_depth = 128};
    PL_CLEANUP_ARENA struct pl_arena arena;
    pl_arena_init(&arena, 0);
    struct pl_json_doc want, have;
    if (pl_json_parse(&arena, pattern, &opts, &want, NULL) != PL_OK ||
        pl_json_parse(&arena, json, &opts, &have, NULL) != PL_OK)
        return false;
    struct pair pair = {&want, &have, &arena, names};
    return matches(&pair, want.root, have.root);
}
