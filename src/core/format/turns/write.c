/* Writing turns: one turn per utterance; the results after a call are in the turn of the call. Data
 * that only a vendor can check is the `proof` of its block or call, with the vendor's name. Images,
 * audio and files are blocks of type `media`; a result with media is a list of such blocks and
 * texts. A turn keeps the name and metadata of its message, and a call those of the message with
 * its result (result_message). Tools and settings have no place in a turn. */
#include "format/turns/turns_int.h"

#include "base/map.h"
#include "conv/call_ids.h"
#include "format/pieces/fresh_ids.h"
#include "format/pieces/instant.h"
#include "format/pieces/metadata.h"
#include "format/pieces/text_run.h"
#include "format/pieces/usage.h"
#include "format/pieces/utterance.h"
#include "format/pieces/variables.h"

struct turns {
    struct pl_writer *w;
    const struct pl_conversion *conversion;
    struct pl_utterances said;
    struct pl_fresh_ids ids;
    bool *is_taken; /* arena; by utterance: a result that is in the turn of its call */
    struct pl_cites_list cites;
    uint32_t n_turns;
    bool has_answered;
};

/* Writes a value that is already elsewhere in the turn. */
static void write_mention(struct pl_writer *w, const char *key, struct pl_val val)
{
    pl_w_key(w, key);
    pl_w_string(w, pl_val_text(pl_conv_text(w->conv, val)));
}

static bool is_thought(const struct pl_part *part)
{
    return part->kind == PL_PART_THINKING || part->kind == PL_PART_REDACTED;
}

/* The id of a call is not a proof, but that of a reasoning item is. */
static bool has_proof(const struct turns *t, const struct pl_part *part)
{
    if (!pl_format_home(t->conversion, part)->is_vendor)
        return false;
    return pl_val_is_set(part->signature) ||
           (is_thought(part) && (pl_val_is_set(part->id) || pl_val_is_set(part->data)));
}

static void write_proof(struct turns *t, const struct pl_part *part)
{
    struct pl_writer *w = t->w;
    if (!has_proof(t, part))
        return;
    pl_w_key(w, "proof");
    pl_w_open(w, '{');
    pl_w_key(w, "vendor");
    pl_w_word(w, pl_format_home(t->conversion, part)->name);
    pl_w_opt_string(w, "signature", part->signature);
    if (is_thought(part) && pl_val_is_set(part->id)) {
        /* Several thoughts may be from one item. */
        if (part->id.node && pl_conv_fate_of(w->conv, part->id.node) == PL_FATE_SAID)
            write_mention(w, "id", part->id);
        else
            pl_w_opt_string(w, "id", part->id);
    }
    if (is_thought(part))
        pl_w_opt_string(w, "data", part->data);
    pl_w_close(w, '}');
}

static void write_words(struct turns *t, const char *type, const struct pl_part *part)
{
    struct pl_writer *w = t->w;
    pl_w_open(w, '{');
    pl_w_key_word(w, "type", type);
    pl_w_key(w, "content");
    if (part->kind == PL_PART_TEXT && pl_cites_is_cited(w->conv, &t->cites, part))
        pl_cites_write_text(w, &t->cites, part);
    else
        pl_text_run_write(w, &part, 1, "");
    pl_variables_write(w, part->text);
    write_proof(t, part);
    pl_w_close(w, '}');
}

static void write_thinking(struct turns *t, const struct pl_part *part)
{
    struct pl_writer *w = t->w;
    pl_w_open(w, '{');
    pl_w_key_word(w, "type", "thinking");
    pl_w_key(w, "content");
    if (pl_val_is_set(part->text))
        pl_w_string(w, part->text);
    else
        pl_w_word(w, "");
    write_proof(t, part);
    pl_w_close(w, '}');
}

static void write_use(struct pl_writer *w, const struct pl_part *part)
{
    pl_w_open(w, '{');
    pl_w_key_word(w, "type", "tool_use");
    pl_w_key(w, "content");
    pl_w_open(w, '{');
    write_mention(w, "name", part->name);
    pl_w_close(w, '}');
    write_mention(w, "tool_call_id", part->id);
    write_mention(w, "tool_name", part->name);
    pl_w_close(w, '}');
}

static bool can_say(const struct turns *t, const struct pl_part *part)
{
    if (part->kind == PL_PART_CALL || pl_text_run_has(part) || pl_turns_has_media(part))
        return true;
    if (part->kind == PL_PART_THINKING && pl_val_is_set(part->text))
        return true;
    return (part->kind == PL_PART_TEXT || is_thought(part)) && has_proof(t, part);
}

static void write_part(struct turns *t, const struct pl_part *part)
{
    if (part->kind == PL_PART_CALL)
        write_use(t->w, part);
    else if (pl_turns_has_media(part))
        pl_turns_write_media(t->w, part);
    else if (is_thought(part))
        write_thinking(t, part);
    else
        write_words(t, "text", part);
}

/* A result with media, as a list of blocks. */
static void write_shown(struct pl_writer *w, const struct pl_part *result)
{
    const struct pl_part *children = pl_conv_children(w->conv, result);
    pl_w_open(w, '[');
    for (uint32_t i = 0; i < result->n_children; i++) {
        const struct pl_part *child = &children[i];
        if (pl_turns_has_media(child)) {
            pl_turns_write_media(w, child);
        } else if (pl_text_run_has(child)) {
            pl_w_open(w, '{');
            pl_w_key_word(w, "type", "text");
            pl_w_key(w, "content");
            pl_text_run_write(w, &child, 1, "");
            pl_w_close(w, '}');
        }
    }
    pl_w_close(w, ']');
}

static bool shows(const struct pl_conv *conv, const struct pl_part *result)
{
    for (uint32_t i = 0; i < result->n_children; i++)
        if (pl_turns_has_media(&pl_conv_children(conv, result)[i]))
            return true;
    return false;
}

/* The text of a result; several texts are put one per line. */
static void write_result_text(struct pl_writer *w, const struct pl_part *result)
{
    if (shows(w->conv, result)) {
        write_shown(w, result);
        return;
    }
    pl_text_run_write_result(w, result, "\n");
}

/* The other members of the message with a result. */
static void write_result_message(struct pl_writer *w, const struct pl_utterance *u)
{
    const struct pl_message *m = u->message;
    if (u->is_rest ||
        !(pl_val_is_set(m->id) || pl_val_is_set(m->created_at) || pl_val_is_set(m->metadata)))
        return;
    pl_w_key(w, "result_message");
    pl_w_open(w, '{');
    pl_w_opt_string(w, "id", m->id);
    pl_w_opt_value(w, "created_at", m->created_at);
    pl_w_opt_value(w, "metadata", m->metadata);
    pl_w_close(w, '}');
}

static void write_call(struct turns *t, const struct pl_part *call, const struct pl_utterance *by)
{
    struct pl_writer *w = t->w;
    const struct pl_part *result = by ? by->parts[0] : NULL;
    pl_w_open(w, '{');
    pl_w_opt_string(w, "id", call->id);
    pl_w_key(w, "tool_name");
    pl_w_string(w, call->name);
    pl_w_key(w, "arguments");
    if (pl_val_is_set(call->args))
        pl_w_string(w, call->args);
    else
        pl_w_word(w, call->is_custom ? "" : "{}");
    if (call->is_custom)
        pl_w_loss(w, PL_LOSS_APPROXIMATED, call->args,
                  "a turn has only JSON arguments; this free text takes their place");
    bool is_error = result && result->is_error.is_set && result->is_error.value;
    pl_w_key_word(w, "status", !result ? "pending" : is_error ? "error" : "done");
    if (result) {
        pl_w_mapped(w, result->is_error.val);
        pl_w_mapped(w, result->id);
        if (pl_str_eq(pl_conv_text(w->conv, result->name), pl_conv_text(w->conv, call->name)))
            pl_w_mapped(w, result->name);
        pl_w_key(w, "result");
        write_result_text(w, result);
        write_result_message(w, by);
    }
    write_proof(t, call);
    pl_w_close(w, '}');
}

/* The results right after utterance `at`, by their ids. */
static void find_results(struct turns *t, size_t at, struct pl_map *ret)
{
    for (size_t i = at + 1; i < t->said.len && t->said.ptr[i].role == PL_ROLE_TOOL; i++) {
        bool is_new;
        if (!t->said.ptr[i].n_parts)
            continue;
        struct pl_str id = pl_conv_text(t->w->conv, t->said.ptr[i].parts[0]->id);
        struct pl_map_entry *entry = pl_map_put(ret, id, &is_new);
        if (!entry)
            t->w->conv->status = PL_NOMEM;
        else if (is_new)
            entry->value = i;
    }
}

static const struct pl_utterance *take_result(struct turns *t, const struct pl_map *results,
                                              const struct pl_part *call)
{
    struct pl_map_entry *entry = pl_map_get(results, pl_conv_text(t->w->conv, call->id));
    if (!entry || t->is_taken[entry->value])
        return NULL;
    t->is_taken[entry->value] = true;
    return &t->said.ptr[entry->value];
}

static void write_calls(struct turns *t, size_t at)
{
    const struct pl_utterance *u = &t->said.ptr[at];
    struct pl_map results = {0};
    find_results(t, at, &results);
    pl_w_key(t->w, "tool_calls");
    pl_w_open(t->w, '[');
    for (uint32_t i = 0; i < u->n_parts; i++)
        if (u->parts[i]->kind == PL_PART_CALL)
            write_call(t, u->parts[i], take_result(t, &results, u->parts[i]));
    pl_w_close(t->w, ']');
    pl_map_deinit(&results);
}

static bool has_result(struct turns *t, const struct pl_map *results, const struct pl_part *call)
{
    return pl_map_get(results, pl_conv_text(t->w->conv, call->id)) != NULL;
}

/* The blocks of the results, at the end of the turn. Their content is only in tool_calls, so that
 * there is one place to change it; a session that imports the turns fills the blocks. */
static void write_result_blocks(struct turns *t, size_t at)
{
    const struct pl_utterance *u = &t->said.ptr[at];
    struct pl_map results = {0};
    find_results(t, at, &results);
    for (uint32_t i = 0; i < u->n_parts; i++) {
        if (u->parts[i]->kind != PL_PART_CALL || !has_result(t, &results, u->parts[i]))
            continue;
        pl_w_open(t->w, '{');
        pl_w_key_word(t->w, "type", "tool_result");
        pl_w_key(t->w, "content");
        pl_w_null(t->w);
        write_mention(t->w, "tool_call_id", u->parts[i]->id);
        pl_w_close(t->w, '}');
    }
    pl_map_deinit(&results);
}

static void write_head(struct turns *t, const struct pl_utterance *u, const char *role)
{
    struct pl_writer *w = t->w;
    uint32_t number = t->n_turns++;
    pl_w_open(w, '{');
    pl_w_key(w, "id");
    struct pl_val id = {0};
    if (!u->is_rest)
        id = u->message->id;
    pl_w_string(w, pl_fresh_ids_take(&t->ids, id, number));
    pl_w_key(w, "sequence");
    pl_w_int(w, number);
    pl_w_key(w, "turn_id");
    pl_w_string(w, pl_val_text(pl_conv_printf(w->conv, "turn_%u", number)));
    pl_w_key_word(w, "loop_id", "root");
    pl_w_key_word(w, "kind", "message");
    pl_w_key_word(w, "role", role);
    pl_w_key_word(w, "status", "completed");
}

/* The metadata of a vendor's answer. */
static void write_answer(struct turns *t, const struct pl_message *m)
{
    struct pl_writer *w = t->w;
    int64_t ignored;
    t->has_answered = true;
    pl_w_opt_string(w, "model", w->conv->answer.model);
    if (pl_usage_get(w->conv, PL_COUNT_INPUT, &ignored) ||
        pl_usage_get(w->conv, PL_COUNT_OUTPUT, &ignored)) {
        pl_w_key(w, "usage");
        pl_w_open(w, '{');
        pl_usage_write(w, "input_tokens", PL_COUNT_INPUT, false);
        pl_usage_write(w, "output_tokens", PL_COUNT_OUTPUT, false);
        pl_w_close(w, '}');
    }
    pl_metadata_write_members(w, (struct pl_val){0});
    pl_metadata_write_answer(w, t->conversion->from, &t->cites, m, true);
}

/* The metadata of a message. */
static void write_metadata(struct turns *t, const struct pl_utterance *u)
{
    pl_metadata_write_members(t->w, u->is_rest ? (struct pl_val){0} : u->message->metadata);
    if (!u->is_rest)
        pl_metadata_write_message(t->w, &t->cites, u->message);
}

static void write_turn(struct turns *t, size_t at)
{
    static const char *const roles[] = {
        [PL_ROLE_SYSTEM] = "system",       [PL_ROLE_DEVELOPER] = "system", [PL_ROLE_USER] = "user",
        [PL_ROLE_ASSISTANT] = "assistant", [PL_ROLE_TOOL] = "user",
    };
    struct pl_writer *w = t->w;
    const struct pl_utterance *u = &t->said.ptr[at];
    const struct pl_json_node *role = pl_conv_node(w->conv, u->message->node, "role");
    if (u->role == PL_ROLE_DEVELOPER && role)
        pl_conv_loss(w->conv, PL_LOSS_APPROXIMATED, role,
                     "turns have no developer role; this is a system message");
    write_head(t, u, roles[u->role]);
    pl_w_key(w, "blocks");
    pl_w_open(w, '[');
    for (uint32_t i = 0; i < u->n_parts; i++)
        if (can_say(t, u->parts[i]))
            write_part(t, u->parts[i]);
    write_result_blocks(t, at);
    pl_w_close(w, ']');
    write_calls(t, at);
    if (w->conv->answer.is_set && !t->has_answered && u->role == PL_ROLE_ASSISTANT)
        write_answer(t, u->message);
    else
        write_metadata(t, u);
    if (!u->is_rest) {
        pl_instant_write(w, "started_at", u->message->created_at, t->conversion,
                         PL_INSTANT_RFC3339);
        pl_w_opt_string(w, "name", u->message->name);
    }
    pl_w_close(w, '}');
}

/* A result without a call right before it: a turn with only its block. */
static void write_orphan(struct turns *t, const struct pl_utterance *u)
{
    struct pl_writer *w = t->w;
    const struct pl_part *result = u->parts[0];
    write_head(t, u, "user");
    pl_w_key(w, "blocks");
    pl_w_open(w, '[');
    pl_w_open(w, '{');
    pl_w_key_word(w, "type", "tool_result");
    pl_w_key(w, "content");
    write_result_text(w, result);
    pl_w_opt_string(w, "tool_call_id", result->id);
    pl_w_opt_string(w, "tool_name", result->name);
    pl_w_close(w, '}');
    pl_w_close(w, ']');
    pl_w_key(w, "tool_calls");
    pl_w_open(w, '[');
    pl_w_close(w, ']');
    write_metadata(t, u);
    pl_w_close(w, '}');
}

/* An item that only its vendor understands is not a turn. */
static bool is_sayable(const struct turns *t, const struct pl_utterance *u)
{
    bool is_empty = u->n_parts == 0;
    for (uint32_t i = 0; i < u->n_parts; i++)
        if (can_say(t, u->parts[i]))
            return true;
    return is_empty || u->role != PL_ROLE_ASSISTANT;
}

static void write_list(struct turns *t)
{
    pl_w_open(t->w, '[');
    for (size_t i = 0; i < t->said.len && t->w->conv->status == PL_OK; i++) {
        const struct pl_utterance *u = &t->said.ptr[i];
        if (u->role != PL_ROLE_TOOL) {
            if (is_sayable(t, u))
                write_turn(t, i);
        } else if (!t->is_taken[i] && u->n_parts) {
            write_orphan(t, u);
        }
    }
    pl_w_close(t->w, ']');
    if (t->n_turns)
        pl_conv_loss(
            t->w->conv, PL_LOSS_SYNTHESISED, NULL,
            "every turn got a turn_id, a sequence, the status completed, a duration_ms and "
            "a context_window%s",
            t->ids.n_made ? "; those without an id got one" : "");
}

enum pl_status pl_turns_write(struct pl_writer *w, const struct pl_conversion *conversion,
                              struct pl_error *err)
{
    struct pl_conv *conv = w->conv;
    if (conv->answer.is_error) {
        pl_conv_loss(conv, PL_LOSS_DROPPED, conv->doc->root, "turns have no error bodies");
        return pl_fail(err, PL_INVALID,
                       "a turn contains a message; it has no form for an error body");
    }
    struct turns t = {.w = w, .conversion = conversion};
    pl_conv_give_ids(conv);
    enum pl_status status = pl_utterances_make(conv, &t.said);
    if (status != PL_OK)
        return status;
    t.is_taken = pl_arena_zalloc(conv->arena, t.said.len + 1, sizeof *t.is_taken);
    if (!t.is_taken)
        return PL_NOMEM;
    pl_fresh_ids_init(&t.ids, conv, "entry");
    pl_cites_list(conv, conversion->from, &t.cites);
    write_list(&t);
    pl_cites_list_deinit(&t.cites);
    pl_fresh_ids_deinit(&t.ids);
    if (conv->status == PL_OK && !t.n_turns && pl_json_is_container(conv->doc->root) &&
        pl_json_count(conv->doc->root)) {
        pl_conv_loss(conv, PL_LOSS_DROPPED, conv->doc->root,
                     "there is no message to make a turn from");
        return pl_fail(err, PL_INVALID, "there is no message in this document to make a turn from");
    }
    return conv->status;
}
