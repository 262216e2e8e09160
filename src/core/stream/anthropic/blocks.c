/* anthropic streams: reading content blocks. A block is a part, found by its index; blocks that only
 * anthropic has are collected (own.c). */
#include "stream/anthropic/anthropic_int.h"

#include "json/text.h"
#include "stream/pick.h"

static struct pl_str raw_of(const struct pl_anthropic_in *in, const struct pl_json_node *node)
{
    return pl_pick_raw(&in->doc, node);
}

static void emit_piece(struct pl_anthropic_in *in, enum pl_delta_kind kind,
                       const struct pl_open_part *part, struct pl_str raw)
{
    if (raw.len)
        pl_stream_emit(in->s, &(struct pl_delta){
                                  .kind = kind,
                                  .part = part->part,
                                  .part_kind = part->kind,
                                  .raw = raw,
                              });
}

static struct pl_anthropic_input *find_input(struct pl_anthropic_in *in, uint32_t index)
{
    for (size_t i = 0; i < in->r->inputs.len; i++)
        if (in->r->inputs.ptr[i].index == index)
            return &in->r->inputs.ptr[i];
    return NULL;
}

/* Some servers give the input as JSON text. */
static void keep_input(struct pl_anthropic_in *in, uint32_t index, const struct pl_json_node *input)
{
    bool is_empty = pl_json_is(input, PL_JSON_OBJECT) && !pl_json_count(input);
    if (!input || is_empty)
        return;
    PL_CLEANUP_BUF struct pl_buf quoted;
    pl_buf_init(&quoted, 0);
    if (pl_json_is(input, PL_JSON_STRING))
        pl_buf_add(&quoted, pl_json_span(&in->doc, input));
    else
        pl_json_quote(&quoted, pl_json_span(&in->doc, input));
    struct pl_anthropic_input kept = {.index = index};
    pl_buf_init(&kept.raw, 0);
    pl_buf_add(&kept.raw, pl_str_slice(pl_buf_str(&quoted), 1, quoted.len - 1));
    if (quoted.status == PL_OK && kept.raw.status == PL_OK && pl_vec_push(&in->r->inputs, kept))
        return;
    pl_buf_deinit(&kept.raw);
    in->s->status = PL_NOMEM;
}

static void drop_input(struct pl_anthropic_in *in, struct pl_anthropic_input *input)
{
    pl_buf_deinit(&input->raw);
    *input = in->r->inputs.ptr[--in->r->inputs.len];
}

static void keep_citation(struct pl_anthropic_in *in, const struct pl_json_node *citation)
{
    struct pl_anthropic_reader *r = in->r;
    struct pl_str json = pl_json_span(&in->doc, citation);
    if (!r->citations.max)
        pl_buf_init(&r->citations, 0);
    pl_buf_add(&r->citations, json);
    if (r->citations.status != PL_OK || !pl_vec_push(&r->citation_lens, json.len))
        in->s->status = PL_NOMEM;
}

static void keep_citations(struct pl_anthropic_in *in, const struct pl_json_node *list)
{
    if (!pl_json_is(list, PL_JSON_ARRAY))
        return;
    for (const struct pl_json_node *n = pl_json_first(list); n < pl_json_end(list);
         n = pl_json_next(n))
        keep_citation(in, n);
}

static void say_citations(struct pl_anthropic_in *in, uint32_t part)
{
    static const struct pl_str names[] = {{"url", 3}, {"title", 5}};
    struct pl_anthropic_reader *r = in->r;
    size_t at = 0;
    for (size_t i = 0; i < r->citation_lens.len; i++) {
        struct pl_str json = {r->citations.ptr + at, r->citation_lens.ptr[i]};
        struct pl_json_doc doc;
        const struct pl_json_node *where[2];
        at += json.len;
        if (pl_stream_json(in->s, json, &doc, NULL) != PL_OK) {
            in->s->status = PL_NOMEM; /* it parsed before: memory ran out */
            break;
        }
        pl_pick(&doc, doc.root, names, 2, where);
        pl_stream_emit(in->s, &(struct pl_delta){
                                  .kind = PL_DELTA_CITATION,
                                  .part = part,
                                  .part_kind = PL_PART_TEXT,
                                  .json = json,
                                  .url = pl_pick_raw(&doc, where[0]),
                                  .title = pl_pick_raw(&doc, where[1]),
                              });
    }
    r->citation_lens.len = 0;
    pl_buf_clear(&r->citations);
}

enum {
    TYPE,
    ID,
    NAME,
    TOOL_INPUT,
    TEXT,
    THINKING,
    SIGNATURE,
    DATA,
    CITATIONS,
    BLOCK_COUNT,
};
static const struct pl_str block_names[] = {
    [TYPE] = {"type", 4},           [ID] = {"id", 2},     [NAME] = {"name", 4},
    [TOOL_INPUT] = {"input", 5},    [TEXT] = {"text", 4}, [THINKING] = {"thinking", 8},
    [SIGNATURE] = {"signature", 9}, [DATA] = {"data", 4}, [CITATIONS] = {"citations", 9},
};

static bool kind_of(struct pl_str type, enum pl_part_kind *ret_kind)
{
    static const struct {
        struct pl_str type;
        enum pl_part_kind kind;
    } kinds[] = {
        {{"text", 4}, PL_PART_TEXT},
        {{"thinking", 8}, PL_PART_THINKING},
        {{"tool_use", 8}, PL_PART_CALL},
        {{"redacted_thinking", 17}, PL_PART_REDACTED},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (pl_str_eq(type, kinds[i].type)) {
            *ret_kind = kinds[i].kind;
            return true;
        }
    return false;
}

static struct pl_anthropic_block *find_block(struct pl_anthropic_reader *r, uint32_t index)
{
    for (size_t i = 0; i < r->blocks.len; i++)
        if (r->blocks.ptr[i].index == index)
            return &r->blocks.ptr[i];
    return NULL;
}

static void open_part(struct pl_anthropic_in *in, uint32_t index, enum pl_part_kind kind,
                      const struct pl_json_node *const b[BLOCK_COUNT])
{
    pl_stream_open(in->s, 0, index,
                   &(struct pl_delta){
                       .part_kind = kind,
                       .id = raw_of(in, b[ID]),
                       .name = raw_of(in, b[NAME]),
                       .raw = raw_of(in, b[DATA]),
                   });
    const struct pl_open_part *part = pl_stream_find(in->s, 0, index);
    if (!part)
        return;
    switch (kind) {
    case PL_PART_TEXT:
        emit_piece(in, PL_DELTA_FRAGMENT, part, raw_of(in, b[TEXT]));
        keep_citations(in, b[CITATIONS]);
        break;
    case PL_PART_THINKING:
        emit_piece(in, PL_DELTA_FRAGMENT, part, raw_of(in, b[THINKING]));
        emit_piece(in, PL_DELTA_SIGNATURE, part, raw_of(in, b[SIGNATURE]));
        break;
    case PL_PART_CALL:
        keep_input(in, index, b[TOOL_INPUT]);
        break;
    default:
        break;
    }
}

static void stop_block(struct pl_anthropic_in *in, struct pl_anthropic_block *block)
{
    uint32_t index = block->index;
    *block = in->r->blocks.ptr[--in->r->blocks.len];
    const struct pl_open_part *part = pl_stream_find(in->s, 0, index);
    struct pl_anthropic_input *input = find_input(in, index);
    bool is_silent = part && part->kind == PL_PART_CALL && !part->has_fragment && !part->n_held;
    if (is_silent)
        emit_piece(in, PL_DELTA_FRAGMENT, part, input ? pl_buf_str(&input->raw) : PL_STR("{}"));
    if (input)
        drop_input(in, input);
    if (part && part->kind == PL_PART_TEXT && in->r->citation_lens.len)
        say_citations(in, part->part);
    if (!pl_anthropic_own_stop(in->s, in->r, index))
        pl_stream_close(in->s, 0, index);
}

void pl_anthropic_blocks_end(struct pl_anthropic_in *in)
{
    while (in->r->blocks.len && in->s->status == PL_OK)
        stop_block(in, &in->r->blocks.ptr[0]);
}

/* A block ends the open ones before it; only calls are open at the same time, and blocks that are
 * collected. */
static void stop_others(struct pl_anthropic_in *in, const struct pl_anthropic_block *next)
{
    for (size_t i = 0; i < in->r->blocks.len && in->s->status == PL_OK;) {
        struct pl_anthropic_block *block = &in->r->blocks.ptr[i];
        if (block->is_own || next->is_own || (block->is_call && next->is_call))
            i++;
        else
            stop_block(in, block);
    }
}

enum pl_status pl_anthropic_block_start(struct pl_anthropic_in *in, uint32_t index,
                                        const struct pl_json_node *block)
{
    const struct pl_json_node *b[BLOCK_COUNT];
    enum pl_part_kind kind = PL_PART_OTHER;
    pl_pick(&in->doc, block, block_names, BLOCK_COUNT, b);
    struct pl_anthropic_block next = {.index = index,
                                      .is_own = !kind_of(raw_of(in, b[TYPE]), &kind)};
    next.is_call = kind == PL_PART_CALL;
    if (find_block(in->r, index))
        return in->s->passes_through
                   ? PL_OK
                   : pl_fail(in->err, PL_INVALID, "content block %u begins twice", (unsigned)index);
    if (next.is_call && !raw_of(in, b[NAME]).len && !in->s->passes_through)
        return pl_fail(in->err, PL_INVALID, "content block %u is a tool_use without a name",
                       (unsigned)index);
    if (in->r->blocks.len == PL_ANTHROPIC_MAX_OPEN)
        return pl_fail(in->err, PL_LIMIT, "more than %d content blocks are open",
                       PL_ANTHROPIC_MAX_OPEN);
    stop_others(in, &next);
    if (!pl_vec_push(&in->r->blocks, next))
        return PL_NOMEM;
    if (in->r->n_begun <= index)
        in->r->n_begun = (uint64_t)index + 1;
    if (!next.is_own)
        open_part(in, index, kind, b);
    else if (pl_json_is(block, PL_JSON_OBJECT))
        pl_anthropic_own_start(in->s, in->r, index, pl_json_span(&in->doc, block));
    return in->s->status;
}

enum { D_TEXT, D_JSON, D_THINKING, D_SIGNATURE, D_CITATION, DELTA_COUNT };
static const struct pl_str delta_names[] = {
    [D_TEXT] = {"text", 4},         [D_JSON] = {"partial_json", 12},
    [D_THINKING] = {"thinking", 8}, [D_SIGNATURE] = {"signature", 9},
    [D_CITATION] = {"citation", 8},
};

static enum pl_status fail_closed(const struct pl_anthropic_in *in, const char *event,
                                  uint32_t index)
{
    if (in->s->passes_through)
        return PL_OK;
    return pl_fail(in->err, PL_INVALID, "%s for content block %u, which is not open", event,
                   (unsigned)index);
}

/* The text of a delta is in the field for the block's kind. */
static void add_to_part(struct pl_anthropic_in *in, uint32_t index, const struct pl_open_part *part,
                        const struct pl_json_node *const d[DELTA_COUNT])
{
    static const uint8_t fields[PL_PART_KIND_COUNT] = {
        [PL_PART_TEXT] = D_TEXT, [PL_PART_THINKING] = D_THINKING, [PL_PART_CALL] = D_JSON};
    if (part->kind == PL_PART_REDACTED)
        return;
    struct pl_str words = raw_of(in, d[fields[part->kind]]);
    emit_piece(in, PL_DELTA_FRAGMENT, part, words);
    if (part->kind == PL_PART_THINKING)
        emit_piece(in, PL_DELTA_SIGNATURE, part, raw_of(in, d[D_SIGNATURE]));
    if (part->kind == PL_PART_TEXT && d[D_CITATION])
        keep_citation(in, d[D_CITATION]);
    if (!d[D_SIGNATURE] && !d[D_CITATION])
        pl_repeat_offer_words(&in->s->repeat, words,
                              (struct pl_repeat_of){.key = index, .kind = part->kind});
}

enum pl_status pl_anthropic_block_delta(struct pl_anthropic_in *in, uint32_t index,
                                        const struct pl_json_node *delta)
{
    const struct pl_anthropic_block *block = find_block(in->r, index);
    const struct pl_open_part *part = pl_stream_find(in->s, 0, index);
    const struct pl_json_node *d[DELTA_COUNT];
    pl_pick(&in->doc, delta, delta_names, DELTA_COUNT, d);
    if (!block || (!part && !block->is_own))
        return fail_closed(in, "content_block_delta", index);
    if (block->is_own)
        (void)pl_anthropic_own_add(in->s, in->r, index, raw_of(in, d[D_JSON]));
    else
        add_to_part(in, index, part, d);
    return in->s->status;
}

bool pl_anthropic_stream_say_again(struct pl_stream *s, void *state)
{
    struct pl_open_part *part = pl_stream_find(s, 0, s->repeat.of.key);
    (void)state;
    if (!part || part->kind != s->repeat.of.kind)
        return false;
    pl_stream_say(s, part, s->repeat.words);
    return true;
}

enum pl_status pl_anthropic_block_stop(struct pl_anthropic_in *in, uint32_t index)
{
    struct pl_anthropic_block *block = find_block(in->r, index);
    if (block)
        stop_block(in, block);
    else if (index >= in->r->n_begun)
        return fail_closed(in, "content_block_stop", index);
    return in->s->status;
}

/* Citations wait for the end of their text, which will not come: emit them now. */
void pl_anthropic_stream_release(struct pl_stream *s, void *state)
{
    struct pl_anthropic_in in = {.s = s, .r = state};
    for (size_t i = 0; i < s->open.len; i++)
        if (s->open.ptr[i].kind == PL_PART_TEXT)
            say_citations(&in, s->open.ptr[i].part);
}

void pl_anthropic_blocks_deinit(struct pl_anthropic_reader *r)
{
    for (size_t i = 0; i < r->inputs.len; i++)
        pl_buf_deinit(&r->inputs.ptr[i].raw);
    pl_vec_deinit(&r->inputs);
    pl_vec_deinit(&r->blocks);
    pl_vec_deinit(&r->citation_lens);
    pl_buf_deinit(&r->citations);
}
