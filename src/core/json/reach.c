/* Builds an index for a wide container on the first step into it: offsets for an array, a hash
 * table for an object. */
#include "json/reach.h"

#include "json/pointer.h"
#include "json/text.h"

/* With fewer children, trying each is cheaper than an index. */
enum { WIDE = 16 };

struct wide {
    uint32_t place;       /* index of the container's node in the document: the key of `wide` */
    uint32_t *elements;   /* arena; array: distance of each element from it */
    struct pl_map *names; /* arena, owns memory; object: the same by name */
};

void pl_json_reach_init(struct pl_json_reach *reach, const struct pl_json_doc *doc,
                        struct pl_arena *arena)
{
    *reach = (struct pl_json_reach){.doc = doc, .arena = arena};
    pl_buf_init(&reach->name, 0);
}

void pl_json_reach_deinit(struct pl_json_reach *reach)
{
    for (uint32_t i = 0; i < reach->wide.n_entries; i++) {
        const struct wide *wide = (const struct wide *)(uintptr_t)reach->wide.entries[i].value;
        if (wide && wide->names)
            pl_map_deinit(wide->names);
    }
    pl_map_deinit(&reach->wide);
    pl_buf_deinit(&reach->name);
}

static bool index_array(struct pl_json_reach *reach, const struct pl_json_node *array,
                        struct wide *wide)
{
    wide->elements = pl_arena_alloc(reach->arena, pl_json_count(array), sizeof *wide->elements);
    uint32_t *to = wide->elements;
    for (const struct pl_json_node *e = pl_json_first(array); to && e < pl_json_end(array);
         e = pl_json_next(e))
        *to++ = (uint32_t)(e - array);
    return wide->elements != NULL;
}

/* If two members have the same name, the last one counts. */
static bool index_object(struct pl_json_reach *reach, const struct pl_json_node *object,
                         struct wide *wide)
{
    wide->names = pl_arena_zalloc(reach->arena, 1, sizeof *wide->names);
    for (const struct pl_json_node *key = pl_json_first(object);
         wide->names && key < pl_json_end(object); key = pl_json_next_member(key)) {
        struct pl_str name;
        bool is_new;
        if (pl_json_text(reach->arena, reach->doc, key, &name) != PL_OK)
            return false;
        struct pl_map_entry *entry = pl_map_put(wide->names, name, &is_new);
        if (!entry)
            return false;
        entry->value = (uint64_t)(key + 1 - object);
    }
    return wide->names != NULL;
}

/* The index of a container, built if need be; NULL: out of memory. */
static const struct wide *find_wide(struct pl_json_reach *reach,
                                    const struct pl_json_node *container)
{
    uint32_t place = (uint32_t)(container - reach->doc->root);
    struct pl_str key = {(const char *)&place, sizeof place};
    struct pl_map_entry *entry = pl_map_get(&reach->wide, key);
    if (entry && entry->value)
        return (const struct wide *)(uintptr_t)entry->value;
    struct wide *wide = pl_arena_zalloc(reach->arena, 1, sizeof *wide);
    if (!wide)
        return NULL;
    wide->place = place;
    bool is_new;
    entry = pl_map_put(&reach->wide, (struct pl_str){(const char *)&wide->place, sizeof place},
                       &is_new);
    if (!entry)
        return NULL;
    entry->value = (uint64_t)(uintptr_t)wide;
    bool is_made = pl_json_kind(container) == PL_JSON_ARRAY ? index_array(reach, container, wide)
                                                            : index_object(reach, container, wide);
    return is_made ? wide : NULL;
}

/* The token with its escapes decoded; the token itself if it has none. */
static struct pl_str name_of(struct pl_json_reach *reach, struct pl_str token)
{
    if (!token.len || !memchr(token.ptr, '~', token.len))
        return token;
    pl_buf_clear(&reach->name);
    for (size_t i = 0; i < token.len; i++) {
        char c = token.ptr[i];
        if (c == '~' && i + 1 < token.len)
            c = token.ptr[++i] == '0' ? '~' : '/';
        pl_buf_addc(&reach->name, c);
    }
    if (reach->name.status != PL_OK)
        reach->status = reach->name.status;
    return pl_buf_str(&reach->name);
}

static bool is_wide(const struct pl_json_node *container)
{
    return pl_json_count(container) >= WIDE;
}

const struct pl_json_node *pl_json_reach_member(struct pl_json_reach *reach,
                                                const struct pl_json_node *object,
                                                struct pl_str name)
{
    if (pl_json_kind(object) != PL_JSON_OBJECT || reach->status != PL_OK)
        return NULL;
    if (!is_wide(object))
        return pl_json_get(reach->doc, object, name);
    const struct wide *wide = find_wide(reach, object);
    if (!wide) {
        reach->status = PL_NOMEM;
        return NULL;
    }
    const struct pl_map_entry *entry = pl_map_get(wide->names, name);
    return entry ? object + entry->value : NULL;
}

static const struct pl_json_node *element(struct pl_json_reach *reach,
                                          const struct pl_json_node *array, uint32_t index)
{
    const struct wide *wide = find_wide(reach, array);
    if (!wide)
        reach->status = PL_NOMEM;
    return wide && index < pl_json_count(array) ? array + wide->elements[index] : NULL;
}

static const struct pl_json_node *step(struct pl_json_reach *reach, const struct pl_json_node *from,
                                       struct pl_str token)
{
    uint32_t index;
    if (!pl_json_is_container(from) || !is_wide(from))
        return pl_json_pointer_step(reach->doc, from, token);
    if (pl_json_kind(from) == PL_JSON_OBJECT)
        return pl_json_reach_member(reach, from, name_of(reach, token));
    return pl_json_pointer_index(token, &index) ? element(reach, from, index) : NULL;
}

const struct pl_json_node *pl_json_reach_get(struct pl_json_reach *reach,
                                             const struct pl_json_node *from, struct pl_str pointer)
{
    struct pl_str token;
    while (from && reach->status == PL_OK && pl_json_pointer_next(&pointer, &token))
        from = step(reach, from, token);
    return reach->status == PL_OK ? from : NULL;
}
