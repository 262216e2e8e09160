/* Writing Responses: the parts of a message as items, in their order.
 *
 *     text, refusal, images …    content of a message item; adjacent parts share one item
 *     call, result               an item each
 *     reasoning                  an item; in a request only if it came from this format, since the
 *                                server checks its items and refuses others
 *
 * Every message becomes at least one item, so that no turn disappears. */
#include "format/openai_responses/openai_responses_int.h"

#include "base/hash.h"
#include "conv/call_ids.h"
#include "conv/media/sniff.h"
#include "format/pieces/tool_name.h"

#define MAX_ID 64

static bool is_answer(const struct pl_responses_out *o)
{
    return o->conversion->kind == PL_KIND_RESPONSE;
}

void pl_responses_know_scalar(struct pl_responses_out *o, struct pl_val val)
{
    if (val.node && !pl_json_is_container(val.node))
        pl_w_mapped(o->w, val);
}

void pl_responses_put_extras(struct pl_responses_out *o, const struct pl_json_node *object,
                             const char *const known[])
{
    if (!o->is_own || !object || pl_json_kind(object) != PL_JSON_OBJECT)
        return;
    for (const struct pl_json_node *k = pl_json_first_member(object); k < pl_json_end(object);
         k = pl_json_next_member(k)) {
        struct pl_str key = pl_conv_text(o->conv, pl_val_node(k));
        bool is_known = false;
        for (int i = 0; known[i]; i++)
            is_known |= pl_str_eq(key, pl_str_of(known[i]));
        if (is_known)
            continue;
        pl_w_key_str(o->w, key);
        pl_w_value(o->w, pl_val_node(k + 1));
    }
}

/* ---- ids ---- */

/* Deterministic: equal texts give equal marks. */
static uint64_t mark_of(struct pl_str s)
{
    return pl_hash_with((struct pl_hash_key){{1, 2}}, s);
}

/* All calls and results have ids. An id that is too long is replaced in both. */
static void put_id(struct pl_responses_out *o, struct pl_val id)
{
    struct pl_str text = pl_conv_text(o->conv, id);
    pl_w_key(o->w, "call_id");
    if (text.len <= MAX_ID) {
        pl_w_string(o->w, id);
        return;
    }
    struct pl_str made = pl_conv_printf(o->conv, "call_%016llx", (unsigned long long)mark_of(text));
    pl_w_string(o->w, pl_val_text(made));
    pl_w_loss(o->w, PL_LOSS_APPROXIMATED, id,
              "an id has at most 64 characters here; this one was replaced");
}

/* The members of a response item except its content. */
static void put_item_head(struct pl_responses_out *o, const char *type, const char *prefix,
                          bool is_cut)
{
    if (!o->is_own)
        pl_w_key_word(o->w, "type", type);
    if (!is_answer(o) || o->is_own)
        return;
    pl_w_key(o->w, "id");
    pl_w_string(o->w, pl_val_text(pl_conv_printf(o->conv, "%s_%u", prefix, o->n_written)));
    pl_w_key_word(o->w, "status", is_cut ? "incomplete" : "completed");
}

/* ---- items of the source ---- */

/* The node that identifies the source item of a part. */
static const struct pl_json_node *origin_of(const struct pl_part *part)
{
    return part->node ? part->node : part->text.node;
}

/* The index in o->items, or n_items if it is not from there. */
static uint32_t item_index(const struct pl_responses_out *o, const struct pl_part *part)
{
    const struct pl_json_node *node = origin_of(part);
    uint32_t low = 0, high = o->n_items;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (o->items[middle] <= node)
            low = middle + 1;
        else
            high = middle;
    }
    if (!node || !low || node >= pl_json_next(o->items[low - 1]))
        return o->n_items;
    return low - 1;
}

/* The source item of a part, if it is written as that kind. NULL if a repair changed its kind (a
 * result that answers no call became a message). */
static const struct pl_json_node *item_of(const struct pl_responses_out *o,
                                          const struct pl_part *part)
{
    uint32_t i = item_index(o, part);
    if (i >= o->n_items)
        return NULL;
    enum pl_responses_item is = pl_responses_item_of(o->conv, o->items[i]);
    bool fits = is == PL_ITEM_MESSAGE;
    if (part->kind == PL_PART_CALL)
        fits = is == PL_ITEM_CALL || is == PL_ITEM_CUSTOM_CALL;
    else if (part->kind == PL_PART_RESULT)
        fits = is == PL_ITEM_OUTPUT || is == PL_ITEM_CUSTOM_OUTPUT;
    return fits ? o->items[i] : NULL;
}

static void find_items(struct pl_responses_out *o)
{
    const struct pl_json_node *list = o->conv->list;
    if (!o->is_own || !list)
        return;
    uint32_t n = pl_json_count(list);
    o->items = pl_arena_alloc(o->conv->arena, n + 1, sizeof *o->items);
    o->is_used = pl_arena_zalloc(o->conv->arena, n + 1, sizeof *o->is_used);
    if (!o->items || !o->is_used) {
        o->conv->status = PL_NOMEM;
        return;
    }
    for (const struct pl_json_node *i = pl_json_first(list); i < pl_json_end(list);
         i = pl_json_next(i))
        o->items[o->n_items++] = i;
    for (size_t i = 0; i < o->conv->parts.len; i++)
        o->is_used[item_index(o, &o->conv->parts.ptr[i])] = true;
    for (size_t i = 0; i < o->conv->messages.len; i++)
        if (o->conv->messages.ptr[i].element < n)
            o->is_used[o->conv->messages.ptr[i].element] = true;
}

/* Copies the items before `end` that belong to no message, except those that a repair removed. */
static void pass_items(struct pl_responses_out *o, uint32_t end)
{
    for (; o->next_item < end; o->next_item++) {
        const struct pl_json_node *item = o->items[o->next_item];
        if (o->is_used[o->next_item] || pl_conv_fate_of(o->conv, item) != PL_FATE_NONE)
            continue;
        pl_w_value(o->w, pl_val_node(item));
        o->n_written++;
    }
}

static void begin_item(struct pl_responses_out *o, const struct pl_part *part)
{
    uint32_t index = o->is_own && part ? item_index(o, part) : o->n_items;
    if (index < o->n_items)
        pass_items(o, index);
    o->n_written++;
    pl_w_open(o->w, '{');
}

/* ---- message items ---- */

static void put_role(struct pl_writer *w, enum pl_role role)
{
    if (role == PL_ROLE_SYSTEM)
        pl_w_key_word(w, "role", "system");
    else if (role == PL_ROLE_DEVELOPER)
        pl_w_key_word(w, "role", "developer");
    else if (role == PL_ROLE_ASSISTANT)
        pl_w_key_word(w, "role", "assistant");
    else
        pl_w_key_word(w, "role", "user");
}

/* Plain text: {"role", "content":"…"} is enough. */
static bool is_plain(const struct pl_responses_out *o, const struct pl_message *m,
                     const struct pl_part *part)
{
    return part->kind == PL_PART_TEXT && !is_answer(o) && !pl_val_is_set(part->cache) &&
           !pl_val_is_set(m->cache) && !pl_val_is_set(part->citations) &&
           !(o->is_own && part->node);
}

/* Writes the parts in [first, end) that can be content as one item's content. A marker on the
 * message goes on its last part. */
static void put_content(struct pl_responses_out *o, const struct pl_message *m, uint32_t first,
                        uint32_t end)
{
    const struct pl_part *parts = pl_conv_parts(o->conv, m);
    pl_w_open(o->w, '[');
    for (uint32_t i = first; i < end; i++) {
        if (!pl_responses_is_sayable(o, &parts[i], m->role))
            continue;
        struct pl_val cache = i + 1 == m->n_parts ? m->cache : (struct pl_val){0};
        pl_responses_put_part(o, &parts[i], m->role, cache);
    }
    pl_w_close(o->w, ']');
}

/* Writes one message item from parts [first, end); the first of them can be content. */
static void put_message_item(struct pl_responses_out *o, const struct pl_message *m, uint32_t first,
                             uint32_t end)
{
    static const char *const known[] = {"role", "content", NULL};
    const struct pl_part *parts = pl_conv_parts(o->conv, m);
    uint32_t n = 0;
    for (uint32_t i = first; i < end; i++)
        n += pl_responses_is_sayable(o, &parts[i], m->role);
    bool is_short = n == 1 && is_plain(o, m, &parts[first]);
    bool is_cut = o->cut_at && o->cut_at >= &parts[first] && o->cut_at < &parts[end];
    begin_item(o, &parts[first]);
    if (!is_short)
        put_item_head(o, "message", "msg", is_cut);
    put_role(o->w, m->role);
    pl_w_key(o->w, "content");
    if (is_short)
        pl_w_string(o->w, parts[first].text);
    else
        put_content(o, m, first, end);
    pl_responses_put_extras(o, item_of(o, &parts[first]), known);
    pl_w_close(o->w, '}');
}

/* A turn without anything to write is still a turn. */
static void put_empty_item(struct pl_responses_out *o, const struct pl_message *m)
{
    static const char *const known[] = {"role", "content", NULL};
    begin_item(o, NULL);
    put_role(o->w, m->role);
    pl_w_key_word(o->w, "content", "");
    if (m->element < o->n_items &&
        pl_responses_item_of(o->conv, o->items[m->element]) == PL_ITEM_MESSAGE)
        pl_responses_put_extras(o, o->items[m->element], known);
    pl_w_close(o->w, '}');
}

/* ---- calls, results, reasoning ---- */

/* A later call may have the id of an earlier one. */
static void learn_custom(struct pl_responses_out *o, const struct pl_part *call)
{
    bool is_new = false;
    if (!call->is_custom && !o->custom_ids.n_entries)
        return;
    struct pl_map_entry *entry =
        pl_map_put(&o->custom_ids, pl_conv_text(o->conv, call->id), &is_new);
    if (entry)
        entry->value = call->is_custom;
    else
        o->conv->status = PL_NOMEM;
}

static bool is_custom_result(const struct pl_responses_out *o, const struct pl_part *result)
{
    const struct pl_map_entry *entry =
        pl_map_get(&o->custom_ids, pl_conv_text(o->conv, result->id));
    return result->is_custom || (entry && entry->value);
}

static void put_call(struct pl_responses_out *o, const struct pl_part *part)
{
    static const char *const known[] = {"call_id", "name", "arguments", "input", NULL};
    const struct pl_json_node *item = item_of(o, part);
    begin_item(o, part);
    put_item_head(o, part->is_custom ? "custom_tool_call" : "function_call",
                  part->is_custom ? "ctc" : "fc", part == o->cut_at);
    if (o->is_own && !item)
        pl_w_key_word(o->w, "type", part->is_custom ? "custom_tool_call" : "function_call");
    put_id(o, part->id);
    pl_w_key(o->w, "name");
    /* In this format the namespace next to the name makes it unique. */
    struct pl_val own_name = pl_conv_get(o->conv, item, "name", PL_WANT_STRING);
    pl_tool_name_write(o->w, pl_val_is_set(own_name) ? own_name : part->name,
                       PL_RESPONSES_NAME_LEN);
    pl_w_key(o->w, part->is_custom ? "input" : "arguments");
    if (pl_val_is_set(part->args))
        pl_w_string(o->w, part->args);
    else
        pl_w_word(o->w, part->is_custom ? "" : "{}");
    pl_responses_put_extras(o, item, known);
    pl_w_close(o->w, '}');
    learn_custom(o, part);
}

/* Writes a string if it is one text, otherwise the parts. */
static void put_output(struct pl_responses_out *o, const struct pl_part *result)
{
    const struct pl_part *children = pl_conv_children(o->conv, result);
    const struct pl_part *first = NULL;
    uint32_t n = 0;
    for (uint32_t i = 0; i < result->n_children; i++)
        if (pl_responses_is_sayable(o, &children[i], PL_ROLE_TOOL) && ++n == 1)
            first = &children[i];
    pl_w_key(o->w, "output");
    if (!n) {
        pl_w_word(o->w, "");
    } else if (n == 1 && first->kind == PL_PART_TEXT && !pl_val_is_set(first->cache) &&
               !pl_val_is_set(result->cache) && !(o->is_own && first->node)) {
        pl_w_string(o->w, first->text);
    } else {
        pl_w_open(o->w, '[');
        for (uint32_t i = 0; i < result->n_children; i++)
            if (pl_responses_is_sayable(o, &children[i], PL_ROLE_TOOL))
                pl_responses_put_part(o, &children[i], PL_ROLE_TOOL,
                                      i + 1 == result->n_children ? result->cache
                                                                  : (struct pl_val){0});
        pl_w_close(o->w, ']');
    }
}

static void put_result(struct pl_responses_out *o, const struct pl_part *part)
{
    static const char *const known[] = {"call_id", "output", "name", "status", NULL};
    const struct pl_json_node *item = item_of(o, part);
    bool is_custom = is_custom_result(o, part);
    begin_item(o, part);
    const char *type = is_custom ? "custom_tool_call_output" : "function_call_output";
    bool has_failed = part->is_error.is_set && part->is_error.value;
    /* An answer has results only for calls that another vendor answered itself. */
    bool has_head = !item && is_answer(o);
    if (has_head)
        put_item_head(o, type, "fco", has_failed);
    else if (!item)
        pl_w_key_word(o->w, "type", type);
    put_id(o, part->id);
    if (pl_val_is_set(part->name)) {
        pl_w_key(o->w, "name");
        pl_tool_name_write(o->w, part->name, PL_RESPONSES_NAME_LEN);
    }
    put_output(o, part);
    /* The only word here for a failed tool. */
    if (has_failed && !has_head)
        pl_w_key_word(o->w, "status", "incomplete");
    else if (o->is_own && !has_head)
        pl_w_opt_value(o->w, "status", part->status);
    if (part->is_error.is_set)
        pl_responses_know_scalar(o, part->is_error.val);
    pl_responses_put_extras(o, item, known);
    pl_w_close(o->w, '}');
}

static bool is_thought(const struct pl_part *part)
{
    return part->kind == PL_PART_THINKING || part->kind == PL_PART_REDACTED;
}

/* Whether two thoughts of this vendor in a stored turn are from one item. */
static bool is_same_item(const struct pl_responses_out *o, const struct pl_part *a,
                         const struct pl_part *b)
{
    struct pl_str id = pl_conv_text(o->conv, a->id);
    return is_thought(b) && a->home == b->home && id.len &&
           pl_str_eq(id, pl_conv_text(o->conv, b->id));
}

/* The end of this vendor's reasoning item that a stored turn keeps as the parts from `part` on. The
 * last part has the proof, which the server requires. NULL: none, or another vendor's. */
static const struct pl_part *kept_item_end(const struct pl_responses_out *o,
                                           const struct pl_part *part)
{
    const struct pl_part *all_end = o->conv->parts.ptr + o->conv->parts.len;
    if (!part->home || pl_format_home(o->conversion, part) != &pl_format_openai_responses)
        return NULL;
    while (!pl_val_is_set(part->signature) && !pl_val_is_set(part->data)) {
        if (part + 1 == all_end || !is_same_item(o, part, part + 1))
            return NULL;
        part++;
    }
    return part + 1;
}

static bool is_sayable_thought(const struct pl_responses_out *o, const struct pl_part *part)
{
    if (!is_thought(part))
        return false;
    if (o->is_own)
        return part->node != NULL;
    if (kept_item_end(o, part))
        return true;
    return is_answer(o) && part->kind == PL_PART_THINKING && pl_val_is_set(part->text);
}

static void put_summary(struct pl_responses_out *o, const struct pl_part *first,
                        const struct pl_part *end)
{
    pl_w_key(o->w, "summary");
    pl_w_open(o->w, '[');
    for (const struct pl_part *part = first; part < end; part++) {
        if (!pl_val_is_set(part->text))
            continue;
        pl_w_open(o->w, '{');
        pl_w_key_word(o->w, "type", "summary_text");
        pl_w_key(o->w, "text");
        pl_w_string(o->w, part->text);
        pl_w_close(o->w, '}');
    }
    pl_w_close(o->w, ']');
}

static void put_kept_item(struct pl_responses_out *o, const struct pl_part *first,
                          const struct pl_part *end)
{
    const struct pl_part *last = end - 1;
    begin_item(o, first);
    pl_w_key_word(o->w, "type", "reasoning");
    pl_w_opt_string(o->w, "id", first->id);
    for (const struct pl_part *part = first + 1; part < end; part++)
        pl_w_mapped(o->w, part->id);
    put_summary(o, first, end);
    pl_w_key(o->w, "encrypted_content");
    pl_w_string(o->w, pl_val_is_set(last->signature) ? last->signature : last->data);
    pl_w_close(o->w, '}');
}

/* Writes the thought and those of the same item; returns the part after them. */
static const struct pl_part *put_thought(struct pl_responses_out *o, const struct pl_part *part)
{
    const struct pl_part *kept_end = o->is_own ? NULL : kept_item_end(o, part);
    if (kept_end) {
        put_kept_item(o, part, kept_end);
        return kept_end;
    }
    if (!o->is_own) {
        begin_item(o, part);
        put_item_head(o, "reasoning", "rs", part == o->cut_at);
        put_summary(o, part, part + 1);
        pl_w_close(o->w, '}');
    } else if (part->node != o->reasoning) {
        pass_items(o, item_index(o, part));
        pl_w_value(o->w, pl_val_node(part->node));
        o->reasoning = part->node;
        o->n_written++;
    }
    return part + 1;
}

/* ---- items of hosted tools ---- */

/* Whether a part is an item of this format that is copied whole. */
static bool is_whole_item(const struct pl_responses_out *o, const struct pl_part *part)
{
    uint32_t i = o->is_own && part->kind == PL_PART_OTHER ? item_index(o, part) : o->n_items;
    return i < o->n_items && o->items[i] == part->node;
}

/* An image by the assistant is not message content here, but a tool's item. */
static bool is_made_image(const struct pl_responses_out *o, const struct pl_message *m,
                          const struct pl_part *part)
{
    return !o->is_own && m->role == PL_ROLE_ASSISTANT && part->kind == PL_PART_IMAGE &&
           pl_val_is_set(part->data);
}

static bool has_item(const struct pl_responses_out *o, const struct pl_message *m,
                     const struct pl_part *part)
{
    return is_whole_item(o, part) || (!o->is_own && part->gist) || is_made_image(o, m, part);
}

static void put_image_item(struct pl_responses_out *o, const struct pl_part *part)
{
    pl_w_key_word(o->w, "type", "image_generation_call");
    pl_w_key(o->w, "id");
    pl_w_string(o->w, pl_val_text(pl_conv_printf(o->conv, "ig_%u", o->n_written)));
    pl_w_key_word(o->w, "status", "completed");
    pl_w_key(o->w, "result");
    pl_w_string(o->w, part->data);
    /* The data implies the type; the item has no other place for it. */
    const char *mime = pl_sniff_mime(pl_conv_text(o->conv, part->data));
    if (mime && pl_str_eq(pl_str_of(mime), pl_conv_text(o->conv, part->mime)))
        pl_w_loss(o->w, PL_LOSS_MOVED, part->mime, "the data itself identifies the kind of image");
}

static void put_own_item(struct pl_responses_out *o, const struct pl_part *part)
{
    if (is_whole_item(o, part)) {
        pass_items(o, item_index(o, part));
        pl_w_value(o->w, pl_val_node(part->node));
        o->n_written++;
        return;
    }
    begin_item(o, part);
    if (part->gist)
        pl_responses_put_gist(o, part->gist);
    else
        put_image_item(o, part);
    pl_w_close(o->w, '}');
}

/* ---- lists ---- */

static void put_message(struct pl_responses_out *o, const struct pl_message *m)
{
    const struct pl_part *parts = pl_conv_parts(o->conv, m);
    uint32_t before = o->n_written, i = 0;
    while (i < m->n_parts) {
        const struct pl_part *part = &parts[i];
        uint32_t end = i + 1;
        if (has_item(o, m, part)) {
            put_own_item(o, part);
        } else if (part->kind == PL_PART_CALL) {
            put_call(o, part);
        } else if (part->kind == PL_PART_RESULT) {
            put_result(o, part);
        } else if (is_sayable_thought(o, part)) {
            end = (uint32_t)(put_thought(o, part) - parts);
        } else if (pl_responses_is_sayable(o, part, m->role)) {
            while (end < m->n_parts && parts[end].kind != PL_PART_CALL &&
                   parts[end].kind != PL_PART_RESULT && !is_sayable_thought(o, &parts[end]) &&
                   !has_item(o, m, &parts[end]) && item_of(o, &parts[end]) == item_of(o, part))
                end++;
            put_message_item(o, m, i, end);
        }
        i = end;
    }
    if (o->n_written == before && !is_answer(o))
        put_empty_item(o, m);
}

/* The last part that becomes an item or a part of one. */
static const struct pl_part *last_said(const struct pl_responses_out *o)
{
    for (size_t i = o->conv->messages.len; i-- > 0;) {
        const struct pl_message *m = &o->conv->messages.ptr[i];
        const struct pl_part *parts = pl_conv_parts(o->conv, m);
        for (uint32_t k = m->n_parts; k-- > 0;)
            if (parts[k].kind == PL_PART_CALL || is_sayable_thought(o, &parts[k]) ||
                pl_responses_is_sayable(o, &parts[k], m->role))
                return &parts[k];
    }
    return NULL;
}

void pl_responses_put_items(struct pl_responses_out *o, size_t first)
{
    enum pl_finish finish = o->conv->answer.finish;
    if (is_answer(o) && (finish == PL_FINISH_LENGTH || finish == PL_FINISH_FILTER))
        o->cut_at = last_said(o);
    pl_w_open(o->w, '[');
    for (size_t i = first; i < o->conv->messages.len && o->conv->status == PL_OK; i++)
        put_message(o, &o->conv->messages.ptr[i]);
    pass_items(o, o->n_items);
    pl_w_close(o->w, ']');
}

/* ---- the request ---- */

/* Whether the first message can become `instructions`: one plain system text, followed by another
 * role. An input may not be empty, so a lone system message stays in it. */
static bool has_instructions(const struct pl_responses_out *o)
{
    const struct pl_conv *conv = o->conv;
    const struct pl_message *m = conv->messages.ptr;
    if (!conv->messages.len || m->role != PL_ROLE_SYSTEM || m->n_parts != 1 ||
        !is_plain(o, m, pl_conv_parts(conv, m)))
        return false;
    if (o->is_own)
        return m->element == PL_NO_ELEMENT;
    return conv->messages.len > 1 && m[1].role != PL_ROLE_SYSTEM && m[1].role != PL_ROLE_DEVELOPER;
}

static enum pl_status put_request(struct pl_responses_out *o, struct pl_error *err)
{
    struct pl_conv *conv = o->conv;
    bool is_empty = !conv->messages.len && !o->is_own;
    size_t first = has_instructions(o);
    pl_w_open(o->w, '{');
    pl_w_opt_string(o->w, "model", conv->settings.model);
    if (first)
        pl_w_opt_string(o->w, "instructions", pl_conv_parts(conv, conv->messages.ptr)->text);
    if (conv->messages.len > first || o->n_items || is_empty) {
        pl_w_key(o->w, "input");
        pl_responses_put_items(o, first);
    }
    pl_responses_put_settings(o);
    pl_w_close(o->w, '}');
    if (!is_empty || conv->status != PL_OK)
        return PL_OK;
    pl_conv_loss(conv, PL_LOSS_DROPPED, conv->doc->root,
                 "it contains no message, but Responses refuses an empty input");
    return pl_fail(err, PL_INVALID,
                   "it contains no message, but openai-responses refuses an empty input; add one");
}

enum pl_status pl_responses_write(struct pl_writer *w, const struct pl_conversion *conversion,
                                  struct pl_error *err)
{
    struct pl_responses_out o = {
        .w = w,
        .conv = w->conv,
        .conversion = conversion,
        .is_own = conversion->from == &pl_format_openai_responses,
        .is_openai = conversion->from == &pl_format_openai_responses ||
                     conversion->from == &pl_format_openai_chat,
    };
    enum pl_status status = PL_OK;
    pl_conv_give_ids(o.conv);
    find_items(&o);
    if (conversion->from->list_cites && conversion->kind == PL_KIND_RESPONSE)
        pl_cites_list_pages(o.conv, conversion->from, &o.cites);
    if (o.conv->status != PL_OK)
        status = o.conv->status;
    else if (conversion->kind == PL_KIND_RESPONSE)
        pl_responses_put_answer(&o);
    else
        status = put_request(&o, err);
    pl_map_deinit(&o.custom_ids);
    pl_cites_list_deinit(&o.cites);
    return status != PL_OK ? status : o.conv->status;
}
