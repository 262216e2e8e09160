/* A hash table without a lock: its lists only grow while the document lives, so an insertion is one
 * compare-and-swap, and a lookup needs none. A thread that loses the race uses the other thread's
 * entry. */
#include "lib/decoded.h"

#include "base/mem.h"
#include "json/text.h"

#include <stdatomic.h>

struct pl_decoded_entry {
    const struct pl_json_node *node;
    struct pl_decoded_entry *next;
    size_t size;
    char text[];
};

/* A few percent of the strings are escaped, so a list has at most a few entries. */
enum { NODES_PER_LIST = 16 };

void pl_decoded_init(struct pl_decoded *decoded, const struct pl_json_doc *doc)
{
    atomic_init(&decoded->lists, NULL);
    decoded->n_lists = doc->n_nodes / NODES_PER_LIST + 1;
}

void pl_decoded_deinit(struct pl_decoded *decoded)
{
    _Atomic(struct pl_decoded_entry *) *lists = atomic_load(&decoded->lists);
    for (uint32_t i = 0; lists && i < decoded->n_lists; i++)
        for (struct pl_decoded_entry *entry = atomic_load(&lists[i]), *next; entry; entry = next) {
            next = entry->next;
            pl_mem_free(entry);
        }
    pl_mem_free((void *)lists);
    atomic_store(&decoded->lists, NULL);
}

static _Atomic(struct pl_decoded_entry *) *get_lists(struct pl_decoded *decoded)
{
    _Atomic(struct pl_decoded_entry *) *lists = atomic_load(&decoded->lists);
    if (lists)
        return lists;
    _Atomic(struct pl_decoded_entry *) *made = pl_mem_alloc(decoded->n_lists, sizeof *made);
    if (!made)
        return NULL;
    for (uint32_t i = 0; i < decoded->n_lists; i++)
        atomic_init(&made[i], NULL);
    if (atomic_compare_exchange_strong(&decoded->lists, &lists, made))
        return made;
    pl_mem_free((void *)made);
    return lists;
}

/* Searches from `first` up to `end`, which was searched before. */
static struct pl_decoded_entry *find(struct pl_decoded_entry *first,
                                     const struct pl_decoded_entry *end,
                                     const struct pl_json_node *node)
{
    for (struct pl_decoded_entry *entry = first; entry != end; entry = entry->next)
        if (entry->node == node)
            return entry;
    return NULL;
}

static struct pl_decoded_entry *decode(const struct pl_json_doc *doc,
                                       const struct pl_json_node *node)
{
    struct pl_str raw = pl_json_raw(doc, node);
    struct pl_decoded_entry *entry = pl_mem_alloc(1, sizeof *entry + raw.len);
    if (!entry)
        return NULL;
    entry->node = node;
    entry->size = pl_json_decode(entry->text, raw);
    return entry;
}

/* Returns the entry that is now in the list: `entry`, or another thread's. */
static struct pl_decoded_entry *add(_Atomic(struct pl_decoded_entry *) *list,
                                    struct pl_decoded_entry *head, struct pl_decoded_entry *entry)
{
    struct pl_decoded_entry *there = NULL;
    do {
        entry->next = head;
        if (atomic_compare_exchange_strong(list, &head, entry))
            return entry;
        there = find(head, entry->next, entry->node);
    } while (!there);
    pl_mem_free(entry);
    return there;
}

enum pl_status pl_decoded_get(struct pl_decoded *decoded, const struct pl_json_doc *doc,
                              const struct pl_json_node *string, struct pl_str *ret_text)
{
    if (!(string->tag & PL_JSON_ESCAPED)) {
        *ret_text = pl_json_raw(doc, string);
        return PL_OK;
    }
    _Atomic(struct pl_decoded_entry *) *lists = get_lists(decoded);
    if (!lists)
        return PL_NOMEM;
    _Atomic(struct pl_decoded_entry *) *list = &lists[(string - doc->root) % decoded->n_lists];
    struct pl_decoded_entry *head = atomic_load(list), *entry = find(head, NULL, string);
    if (!entry) {
        entry = decode(doc, string);
        if (!entry)
            return PL_NOMEM;
        entry = add(list, head, entry);
    }
    *ret_text = (struct pl_str){entry->text, entry->size};
    return PL_OK;
}
