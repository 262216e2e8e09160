/* Fates and losses: law three by counting. */
#include "conv/conv.h"

#include <assert.h>
#include <stdarg.h>
#include <stddef.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* Whether a node, with its subtree, is of this conversation's source. */
static bool is_of(const struct pl_conv *conv, const struct pl_json_node *node)
{
    const struct pl_json_node *root = conv->doc->root;
    return node >= root && node < root + conv->doc->n_nodes &&
           node->skip <= conv->doc->n_nodes - (size_t)(node - root);
}

void pl_conv_fate_tree(struct pl_conv *conv, const struct pl_json_node *node, enum pl_fate fate)
{
    assert(is_of(conv, node));
    uint8_t *at = conv->fates + (node - conv->doc->root);
    for (uint32_t i = 0; i < node->skip; i++)
        at[i] = at[i] < fate ? (uint8_t)fate : at[i];
}

enum pl_fate pl_conv_fate_of(const struct pl_conv *conv, const struct pl_json_node *node)
{
    assert(is_of(conv, node));
    return (enum pl_fate)conv->fates[node - conv->doc->root];
}

/* Sets the fate of a reported node. Only "dropped" covers the whole subtree. For any other code,
 * the members of a container are in the output or have a fate of their own. A synthesised value is
 * not in the source at all. */
static void settle(struct pl_conv *conv, enum pl_loss_code code, const struct pl_json_node *node)
{
    if (code == PL_LOSS_DROPPED)
        pl_conv_fate(conv, node, PL_FATE_REPORTED);
    else if (code != PL_LOSS_SYNTHESISED && node && !pl_json_is_container(node))
        pl_conv_know(conv, node);
}

void pl_conv_loss(struct pl_conv *conv, enum pl_loss_code code, const struct pl_json_node *node,
                  const char *detail, ...)
{
    struct pl_str text = pl_str_of(detail);
    /* Most details have no arguments, so nothing needs formatting. */
    if (memchr(detail, '%', text.len)) {
        va_list args;
        va_start(args, detail);
        text = strcmp(detail, "%s") == 0
                   ? pl_arena_dup(conv->arena, pl_str_of(va_arg(args, const char *)))
                   : pl_conv_vprintf(conv, detail, args);
        va_end(args);
    }
    assert(code < PL_LOSS_COUNT && (!node || is_of(conv, node)));
    struct pl_loss loss = {code, node, text};
    if (!text.ptr || !pl_vec_push(&conv->losses, loss))
        conv->status = PL_NOMEM;
    settle(conv, code, node);
}

void pl_conv_repeat(struct pl_conv *conv, const struct pl_json_node *node,
                    const struct pl_json_node *of)
{
    if (node && of && !pl_vec_push(&conv->repeats, ((struct pl_said_again){node, of})))
        conv->status = PL_NOMEM;
}

void pl_conv_switch(struct pl_conv *conv, const struct pl_json_node *node)
{
    if (node && !pl_vec_push(&conv->switches, node))
        conv->status = PL_NOMEM;
}

static void settle_repeats(struct pl_conv *conv)
{
    for (size_t i = 0; i < conv->repeats.len; i++) {
        enum pl_fate fate = pl_conv_fate_of(conv, conv->repeats.ptr[i].of);
        if (fate == PL_FATE_SAID || fate == PL_FATE_KNOWN)
            pl_conv_know_all(conv, conv->repeats.ptr[i].node);
    }
}

/* Whether nothing in this subtree has a fate. */
static bool is_untouched(const struct pl_conv *conv, const struct pl_json_node *n)
{
    const uint8_t *fates = conv->fates + (n - conv->doc->root);
    for (uint32_t i = 0; i < n->skip; i++)
        if (fates[i] != PL_FATE_NONE)
            return false;
    return true;
}

/* Whether nothing in this subtree has a fate and something in it is worth a report. */
static bool is_forgotten(const struct pl_conv *conv, const struct pl_json_node *n)
{
    const uint8_t *fates = conv->fates + (n - conv->doc->root);
    bool says_something = false;
    for (const struct pl_json_node *k = n, *end = pl_json_next(n); k < end; k++) {
        if (k->tag & PL_JSON_KEY)
            continue;
        if (fates[k - n] != PL_FATE_NONE)
            return false;
        says_something |= !pl_json_is_container(k) && pl_json_kind(k) != PL_JSON_NULL;
    }
    return says_something;
}

/* Hosted tools may be only a name and an empty object, which the sweep would not report. */
static void sweep_hosted_tools(struct pl_conv *conv)
{
    for (size_t i = 0; i < conv->tools.len; i++) {
        const struct pl_tool *tool = &conv->tools.ptr[i];
        if (tool->is_hosted && tool->node && is_untouched(conv, tool->node) &&
            !is_forgotten(conv, tool->node))
            pl_conv_loss(conv, PL_LOSS_DROPPED, tool->node, "a tool that runs only at its vendor");
    }
}

/* Switches with content are reported by the sweep, by their members. */
static void sweep_switches(struct pl_conv *conv)
{
    for (size_t i = 0; i < conv->switches.len; i++) {
        const struct pl_json_node *node = conv->switches.ptr[i];
        if (is_untouched(conv, node) && !is_forgotten(conv, node))
            pl_conv_loss(conv, PL_LOSS_DROPPED, node, "the target has no place for it");
    }
}

/* Whether it has a fate or, if it is a key, its value does. The first child of a container nearly
 * always has one if the container has none. */
static inline bool has_fate(const struct pl_conv *conv, const struct pl_json_node *node)
{
    node += (node->tag & PL_JSON_KEY) != 0;
    return conv->fates[node - conv->doc->root] != PL_FATE_NONE;
}

static void drop(struct pl_conv *conv, const struct pl_json_node *node)
{
    const struct pl_misfit *misfit = pl_conv_misfit_at(conv, node);
    if (!misfit) {
        pl_conv_loss(conv, PL_LOSS_DROPPED, node, "the target has no place for it");
        return;
    }
    struct pl_str detail = pl_misfit_detail(conv, misfit);
    pl_conv_loss(conv, PL_LOSS_DROPPED, node, "%.*s", PL_STR_ARG(detail));
}

/* Misfits without a fate that the sweep did not report, because they are null or empty. */
static void sweep_misfits(struct pl_conv *conv)
{
    for (size_t i = 0; i < conv->misfits.len && conv->status == PL_OK; i++) {
        const struct pl_misfit *misfit = &conv->misfits.ptr[i];
        if (pl_conv_fate_of(conv, misfit->node) == PL_FATE_NONE)
            drop(conv, misfit->node);
    }
}

/* A bit for each of the first SIXTEEN nodes at n that is not a key and has no fate; few are set. */
enum { SIXTEEN = 16 };
#ifdef __SSE2__
static inline __m128i four_tags(const struct pl_json_node *n)
{
    const __m128i *at = (const __m128i *)n;
    __m128i two = _mm_unpackhi_epi32(_mm_loadu_si128(at), _mm_loadu_si128(at + 1));
    __m128i more = _mm_unpackhi_epi32(_mm_loadu_si128(at + 2), _mm_loadu_si128(at + 3));
    return _mm_and_si128(_mm_unpackhi_epi64(two, more), _mm_set1_epi32(PL_JSON_KEY));
}

static inline uint32_t without_fate(const struct pl_json_node *n, const uint8_t *fates)
{
    _Static_assert(sizeof *n == 16 && offsetof(struct pl_json_node, tag) == 12, "four words");
    __m128i keys = _mm_packs_epi16(_mm_packs_epi32(four_tags(n), four_tags(n + 4)),
                                   _mm_packs_epi32(four_tags(n + 8), four_tags(n + 12)));
    __m128i marks = _mm_or_si128(keys, _mm_loadu_si128((const __m128i *)fates));
    return (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(marks, _mm_setzero_si128()));
}
#else
static inline uint32_t without_fate(const struct pl_json_node *n, const uint8_t *fates)
{
    uint32_t bits = 0;
    for (unsigned i = 0; i < SIXTEEN; i++)
        bits |= (uint32_t) !((n[i].tag & PL_JSON_KEY) | fates[i]) << i;
    return bits;
}
#endif

/* Reports the nodes at n whose bits are set. They had no fate, but a report about an earlier node
 * may have given them one. */
static void sweep_nodes(struct pl_conv *conv, const struct pl_json_node *n, uint32_t bits)
{
    for (; bits && conv->status == PL_OK; bits &= bits - 1) {
        const struct pl_json_node *at = n + __builtin_ctz(bits);
        if ((at->skip > 1 && has_fate(conv, at + 1)) || has_fate(conv, at) ||
            !is_forgotten(conv, at))
            continue;
        drop(conv, at);
    }
}

void pl_conv_sweep(struct pl_conv *conv)
{
    if (!pl_conv_sort_misfits(conv))
        return;
    settle_repeats(conv);
    sweep_hosted_tools(conv);
    sweep_switches(conv);
    const struct pl_json_node *n = conv->doc->root, *end = n + conv->doc->n_nodes;
    /* A loss of the whole root would not say what is lost: report its members. */
    if (pl_json_is_container(n))
        n++;
    /* A fate covers the whole subtree, so there is no need to skip subtrees. */
    for (; end - n >= SIXTEEN; n += SIXTEEN)
        sweep_nodes(conv, n, without_fate(n, conv->fates + (n - conv->doc->root)));
    for (; n < end; n++)
        if (!(n->tag & PL_JSON_KEY))
            sweep_nodes(conv, n, 1);
    if (conv->status != PL_OK)
        return;
    sweep_misfits(conv);
}
