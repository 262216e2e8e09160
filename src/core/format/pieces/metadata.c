/* The metadata of a message (seed 001, A.6), made from the metadata of turns and vendors'
 * answers. */
#include "format/pieces/metadata.h"

#include "conv/cite.h"
#include "format/format.h"
#include "format/pieces/usage.h"
#include "json/equal.h"
#include "json/number.h"
#include "json/text.h"

/* Equivalent members of a metadata object and a turn. */
static const struct {
    const char *group, *name; /* metadata.GROUP.NAME */
    const char *member, *key; /* turn.MEMBER.KEY */
} pairs[] = {
    {"token_usage", "prompt_tokens", "usage", "input_tokens"},
    {"token_usage", "completion_tokens", "usage", "output_tokens"},
    {"token_usage", "total_cost_usd", "timing", "cost_usd"},
    {"latency_ms", "ttft", "timing", "ttft_ms"},
    {"latency_ms", "total_time", "timing", "total_ms"},
};
enum { N_PAIRS = sizeof pairs / sizeof *pairs };

static const char *const groups[] = {"token_usage", "latency_ms"};

static bool is_word(const char *a, const char *b)
{
    return pl_str_eq(pl_str_of(a), pl_str_of(b));
}

static const struct pl_json_node *object_in(struct pl_conv *conv, const struct pl_json_node *of,
                                            const char *key)
{
    const struct pl_json_node *n = of ? pl_conv_node(conv, of, key) : NULL;
    return pl_json_is(n, PL_JSON_OBJECT) ? n : NULL;
}

/* ---- a turn's metadata ---- */

bool pl_metadata_is_in_turn(struct pl_conv *conv, const struct pl_json_node *turn)
{
    const struct pl_json_node *usage = object_in(conv, turn, "usage");
    const struct pl_json_node *timing = object_in(conv, turn, "timing");
    const struct pl_json_node *metadata = object_in(conv, turn, "metadata");
    const struct pl_json_node *model = pl_conv_node(conv, turn, "model");
    return (usage && pl_json_count(usage)) || (timing && pl_json_count(timing)) ||
           (metadata && pl_json_count(metadata)) || pl_json_is(model, PL_JSON_STRING);
}

/* Marks `node` as known if it only repeats `of`. */
static void repeat_if_same(struct pl_conv *conv, const struct pl_json_node *node,
                           const struct pl_json_node *of)
{
    bool is_same = false;
    if (!node || !of)
        return;
    if (pl_json_equal(conv->doc, node, conv->doc, of, &is_same) != PL_OK)
        conv->status = PL_NOMEM;
    else if (is_same)
        pl_conv_repeat(conv, node, of);
}

/* Marks members of the turn that its metadata repeats. A model name may have its vendor as a
 * prefix. */
static void know_repeats(struct pl_conv *conv, const struct pl_json_node *turn,
                         const struct pl_json_node *metadata)
{
    for (size_t i = 0; i < N_PAIRS; i++)
        repeat_if_same(
            conv, pl_conv_node(conv, object_in(conv, turn, pairs[i].member), pairs[i].key),
            pl_conv_node(conv, object_in(conv, metadata, pairs[i].group), pairs[i].name));
    const struct pl_json_node *usage = object_in(conv, turn, "usage");
    const struct pl_json_node *counted = object_in(conv, metadata, "token_usage");
    for (const struct pl_json_node *k = usage && counted ? pl_json_first_member(usage) : NULL;
         k && k < pl_json_end(usage); k = pl_json_next_member(k)) {
        struct pl_str key = pl_conv_text(conv, pl_val_node(k));
        repeat_if_same(conv, k + 1, pl_json_get(conv->doc, counted, key));
    }
    const struct pl_json_node *model = pl_conv_node(conv, turn, "model");
    const struct pl_json_node *version = pl_conv_node(conv, metadata, "model_version");
    if (!pl_json_is(model, PL_JSON_STRING) || !pl_json_is(version, PL_JSON_STRING))
        return;
    struct pl_str name = pl_conv_text(conv, pl_val_node(model));
    struct pl_str said = pl_conv_text(conv, pl_val_node(version));
    bool is_end = said.len && name.len > said.len &&
                  pl_str_eq(pl_str_slice(name, name.len - said.len, name.len), said) &&
                  name.ptr[name.len - said.len - 1] == '/';
    if (is_end || pl_str_eq(name, said))
        pl_conv_repeat(conv, model, version);
}

static bool is_paired(const struct pl_conv *conv, const struct pl_json_node *key,
                      const char *member)
{
    for (size_t i = 0; i < N_PAIRS; i++)
        if (is_word(pairs[i].member, member) &&
            pl_json_text_is(conv->doc, key, pl_str_of(pairs[i].key)))
            return true;
    return false;
}

/* Writes a group of the metadata from the turn's members; nothing if the turn has none of them. */
static void write_group(struct pl_writer *w, const struct pl_json_node *turn, const char *group)
{
    struct pl_conv *conv = w->conv;
    bool is_open = false, is_usage = is_word(group, "token_usage");
    for (size_t i = 0; i < N_PAIRS; i++) {
        const struct pl_json_node *n =
            pl_conv_node(conv, object_in(conv, turn, pairs[i].member), pairs[i].key);
        if (!is_word(pairs[i].group, group) || !n)
            continue;
        if (!is_open) {
            pl_w_key_n(w, group, strlen(group));
            pl_w_open(w, '{');
        }
        is_open = true;
        pl_w_opt_value(w, pairs[i].name, pl_val_node(n));
    }
    const struct pl_json_node *usage = is_usage ? object_in(conv, turn, "usage") : NULL;
    for (const struct pl_json_node *k = usage && is_open ? pl_json_first_member(usage) : NULL;
         k && k < pl_json_end(usage); k = pl_json_next_member(k)) {
        if (is_paired(conv, k, "usage") || pl_json_is(k + 1, PL_JSON_NULL))
            continue;
        pl_w_key_str(w, pl_conv_text(conv, pl_val_node(k)));
        pl_w_copy(w, k + 1);
    }
    if (is_open)
        pl_w_close(w, '}');
}

static void copy_members(struct pl_writer *w, const struct pl_json_node *object)
{
    for (const struct pl_json_node *k = object ? pl_json_first_member(object) : NULL;
         object && k < pl_json_end(object); k = pl_json_next_member(k)) {
        pl_w_key_str(w, pl_conv_text(w->conv, pl_val_node(k)));
        pl_w_copy(w, k + 1);
    }
}

void pl_metadata_write_turn(struct pl_writer *w, const struct pl_json_node *turn)
{
    struct pl_conv *conv = w->conv;
    const struct pl_json_node *metadata = object_in(conv, turn, "metadata");
    pl_w_key(w, "metadata");
    pl_w_open(w, '{');
    copy_members(w, metadata);
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
        if (!metadata || !pl_json_get(conv->doc, metadata, pl_str_of(groups[i])))
            write_group(w, turn, groups[i]);
    if (!metadata || !pl_json_get(conv->doc, metadata, PL_STR("model_version")))
        pl_w_opt_string(w, "model_version", pl_conv_get(conv, turn, "model", PL_WANT_STRING));
    pl_w_close(w, '}');
    if (metadata)
        know_repeats(conv, turn, metadata);
}

/* ---- a turn's members ---- */

/* Writes a value of the metadata a second time. */
static void mention(struct pl_writer *w, const char *key, const struct pl_json_node *n)
{
    if (!n)
        return;
    pl_w_key_n(w, key, strlen(key));
    pl_w_raw(w, pl_json_span(w->conv->doc, n));
}

static void write_member(struct pl_writer *w, const struct pl_json_node *metadata,
                         const char *member)
{
    struct pl_conv *conv = w->conv;
    bool is_open = false;
    for (size_t i = 0; i < N_PAIRS; i++) {
        const struct pl_json_node *n =
            pl_conv_node(conv, object_in(conv, metadata, pairs[i].group), pairs[i].name);
        if (!is_word(pairs[i].member, member) || !pl_json_is(n, PL_JSON_NUMBER))
            continue;
        if (!is_open) {
            pl_w_key_n(w, member, strlen(member));
            pl_w_open(w, '{');
        }
        is_open = true;
        mention(w, pairs[i].key, n);
    }
    if (is_open)
        pl_w_close(w, '}');
}

/* The duration in whole milliseconds; 0 if it is unknown. */
static int64_t duration_of(struct pl_conv *conv, const struct pl_json_node *metadata)
{
    const struct pl_json_node *total =
        pl_conv_node(conv, object_in(conv, metadata, "latency_ms"), "total_time");
    int64_t ms = 0;
    bool is_known = pl_json_is(total, PL_JSON_NUMBER) &&
                    pl_json_number_int64(pl_json_span(conv->doc, total), &ms) && ms > 0;
    return is_known ? ms : 0;
}

void pl_metadata_write_members(struct pl_writer *w, struct pl_val metadata)
{
    struct pl_conv *conv = w->conv;
    const struct pl_json_node *object =
        metadata.kind == PL_VAL_NODE && pl_json_is(metadata.node, PL_JSON_OBJECT) ? metadata.node
                                                                                  : NULL;
    const struct pl_json_node *model = object ? pl_conv_node(conv, object, "model_version") : NULL;
    if (pl_json_is(model, PL_JSON_STRING))
        mention(w, "model", model);
    if (object)
        write_member(w, object, "usage");
    pl_w_key(w, "duration_ms");
    pl_w_int(w, duration_of(conv, object));
    pl_w_key(w, "context_window");
    pl_w_int(w, 0);
    if (!object)
        return;
    write_member(w, object, "timing");
}

/* ---- metadata of an answer ---- */

static bool has_refusal(const struct pl_conv *conv)
{
    for (size_t i = 0; i < conv->parts.len; i++)
        if (conv->parts.ptr[i].kind == PL_PART_REFUSAL)
            return true;
    return false;
}

static void write_safety(struct pl_writer *w, const struct pl_format *from)
{
    struct pl_conv *conv = w->conv;
    const struct pl_answer *a = &conv->answer;
    PL_CLEANUP_BUF struct pl_buf categories;
    pl_buf_init(&categories, 0);
    struct pl_json_out out = pl_json_out(&categories);
    pl_json_out_open(&out, '[');
    bool is_flagged = a->finish == PL_FINISH_FILTER || has_refusal(conv);
    if (from->judge && a->ratings.node)
        is_flagged |= from->judge(conv->doc, a->ratings.node, &out);
    pl_json_out_close(&out, ']');
    if (categories.status != PL_OK)
        conv->status = PL_NOMEM;
    if (!is_flagged && !pl_val_is_set(a->ratings))
        return;
    pl_w_key(w, "safety_check");
    pl_w_open(w, '{');
    pl_w_key(w, "flagged");
    pl_w_bool(w, is_flagged);
    pl_w_key(w, "categories");
    pl_w_raw(w, pl_buf_str(&categories));
    pl_w_opt_value(w, "ratings", a->ratings);
    pl_w_close(w, '}');
}

static void write_usage(struct pl_writer *w, bool says_again)
{
    static const struct {
        const char *key;
        enum pl_counter counter;
    } counters[] = {{"prompt_tokens", PL_COUNT_INPUT},
                    {"completion_tokens", PL_COUNT_OUTPUT},
                    {"cache_read_tokens", PL_COUNT_CACHE_READ},
                    {"cache_write_tokens", PL_COUNT_CACHE_WRITE},
                    {"reasoning_tokens", PL_COUNT_REASONING}};
    int64_t n;
    if (!pl_usage_get(w->conv, PL_COUNT_INPUT, &n) && !pl_usage_get(w->conv, PL_COUNT_OUTPUT, &n))
        return;
    pl_w_key(w, "token_usage");
    pl_w_open(w, '{');
    for (size_t i = 0; i < sizeof counters / sizeof *counters; i++) {
        if (!says_again || i > 1) {
            pl_usage_write(w, counters[i].key, counters[i].counter, false);
        } else if (pl_usage_get(w->conv, counters[i].counter, &n)) {
            pl_w_key_n(w, counters[i].key, strlen(counters[i].key));
            pl_w_int(w, n);
        }
    }
    pl_w_close(w, '}');
    pl_usage_imply_total(w);
}

void pl_metadata_write_answer(struct pl_writer *w, const struct pl_format *from,
                              const struct pl_cites_list *cites, const struct pl_message *message,
                              bool says_again)
{
    struct pl_conv *conv = w->conv;
    const struct pl_answer *a = &conv->answer;
    pl_w_key(w, "metadata");
    pl_w_open(w, '{');
    write_usage(w, says_again);
    if (says_again && pl_val_is_set(a->model))
        pl_w_opt_string(w, "model_version", pl_val_text(pl_conv_text(conv, a->model)));
    else
        pl_w_opt_string(w, "model_version", a->model);
    pl_w_opt_string(w, "system_fingerprint", a->fingerprint);
    pl_w_opt_string(w, "finish_reason", a->finish_val);
    write_safety(w, from);
    (void)pl_cites_write_map(w, cites, message);
    pl_w_close(w, '}');
}

void pl_metadata_write_message(struct pl_writer *w, const struct pl_cites_list *cites,
                               const struct pl_message *message)
{
    struct pl_conv *conv = w->conv;
    const struct pl_json_node *block = pl_cite_map(conv, message);
    if (block && block == pl_conv_node(conv, message->metadata.node, "citation_map"))
        block = NULL; /* it is one of its members */
    if (!block && !pl_cites_has_map(conv, cites, message)) {
        pl_w_opt_value(w, "metadata", message->metadata);
        return;
    }
    pl_w_key(w, "metadata");
    pl_w_open(w, '{');
    if (message->metadata.kind == PL_VAL_NODE)
        copy_members(w, message->metadata.node);
    if (!pl_cites_write_map(w, cites, message))
        pl_w_opt_value(w, "citation_map", pl_val_node(block));
    pl_w_close(w, '}');
}
