/* Makes the result of a call that has none, as seed 001 requires: every call has one (A.2.2),
 * errors are JSON, and a call that waits for a person is `halted` (exercise 2). */
#include "format/turns/turns_int.h"

#include "json/text.h"
#include "json/write.h"

/* The text of the first question: of a sub-agent, or in the arguments. */
static struct pl_str question_of(struct pl_conv *conv, const struct pl_json_node *call)
{
    const struct pl_json_node *ref = pl_conv_node(conv, call, "pending_question_ref");
    const struct pl_json_node *words =
        pl_json_is(ref, PL_JSON_OBJECT) ? pl_conv_node(conv, ref, "description") : NULL;
    if (pl_json_is(words, PL_JSON_STRING))
        return pl_conv_text(conv, pl_val_node(words));
    const struct pl_json_node *arguments = pl_conv_node(conv, call, "arguments");
    struct pl_json_doc doc;
    if (!pl_json_is(arguments, PL_JSON_STRING) ||
        pl_json_parse(conv->arena, pl_conv_text(conv, pl_val_node(arguments)), NULL, &doc, NULL) !=
            PL_OK)
        return (struct pl_str){0};
    const struct pl_json_node *list = pl_json_is(doc.root, PL_JSON_OBJECT)
                                          ? pl_json_get(&doc, doc.root, PL_STR("questions"))
                                          : NULL;
    if (!pl_json_is(list, PL_JSON_ARRAY) || !pl_json_count(list) ||
        !pl_json_is(pl_json_first(list), PL_JSON_OBJECT))
        return (struct pl_str){0};
    const struct pl_json_node *first = pl_json_get(&doc, pl_json_first(list), PL_STR("question"));
    struct pl_str text = {0};
    if (pl_json_is(first, PL_JSON_STRING) && pl_json_text(conv->arena, &doc, first, &text) != PL_OK)
        conv->status = PL_NOMEM;
    return text;
}

static void put(struct pl_json_out *out, const char *key, struct pl_str text)
{
    pl_json_out_key(out, key);
    pl_json_out_text(out, text);
}

static void write_cancelled(struct pl_conv *conv, const struct pl_json_node *call,
                            struct pl_json_out *out)
{
    (void)conv;
    (void)call;
    put(out, "status", PL_STR("error"));
    put(out, "error_type", PL_STR("Interrupted"));
    put(out, "message", PL_STR("The call was stopped before it had a result"));
}

static void write_halted(struct pl_conv *conv, const struct pl_json_node *call,
                         struct pl_json_out *out)
{
    const struct pl_json_node *ref = pl_conv_node(conv, call, "pending_question_ref");
    bool is_question = pl_json_is(ref, PL_JSON_OBJECT) ||
                       pl_conv_says(conv, pl_conv_node(conv, call, "tool_name"), "AskUserQuestion");
    struct pl_str words = question_of(conv, call);
    put(out, "status", PL_STR("halted"));
    put(out, "reason",
        is_question ? PL_STR("human_input_required") : PL_STR("human_confirmation_required"));
    put(out, "message",
        words.len     ? words
        : is_question ? PL_STR("A person was asked and has not answered yet")
                      : PL_STR("A person has not allowed this call yet"));
}

static void write_pending(struct pl_conv *conv, const struct pl_json_node *call,
                          struct pl_json_out *out)
{
    (void)conv;
    (void)call;
    put(out, "status", PL_STR("pending"));
    put(out, "message", PL_STR("The tool has not answered yet"));
}

static const struct {
    const char *status, *turn; /* of the call; of its turn (NULL: any) */
    void (*write)(struct pl_conv *conv, const struct pl_json_node *call, struct pl_json_out *out);
    const char *detail;
} table[] = {
    {"cancelled", NULL, write_cancelled, "the call was cancelled; its result says so"},
    {"awaiting_answer", NULL, write_halted, "the call waits for a person; its result says so"},
    {"pending", "paused", write_pending, "the call still runs; its result says so"},
};

struct pl_val pl_turns_open_call(struct pl_conv *conv, const struct pl_json_node *turn,
                                 const struct pl_json_node *call)
{
    const struct pl_json_node *status = pl_conv_node(conv, call, "status");
    const struct pl_json_node *of_turn = pl_conv_node(conv, turn, "status");
    if (pl_conv_says(conv, status, "done") || pl_conv_says(conv, status, "error"))
        return pl_val_text(PL_STR("null"));
    size_t i = 0;
    while (i < sizeof table / sizeof *table &&
           (!pl_conv_says(conv, status, table[i].status) ||
            (table[i].turn && !pl_conv_says(conv, of_turn, table[i].turn))))
        i++;
    if (i == sizeof table / sizeof *table)
        return (struct pl_val){0};
    PL_CLEANUP_BUF struct pl_buf text;
    pl_buf_init(&text, 0);
    struct pl_json_out out = pl_json_out(&text);
    pl_json_out_open(&out, '{');
    table[i].write(conv, call, &out);
    pl_json_out_close(&out, '}');
    struct pl_str kept = pl_arena_dup(conv->arena, pl_buf_str(&text));
    if (text.status != PL_OK || !kept.ptr)
        conv->status = PL_NOMEM;
    pl_conv_loss(conv, PL_LOSS_SYNTHESISED, status, "%s", table[i].detail);
    pl_conv_know(conv, status);
    return pl_val_text(kept);
}

struct pl_val pl_turns_shown_call(struct pl_conv *conv, const struct pl_json_node *block)
{
    pl_conv_loss(conv, PL_LOSS_SYNTHESISED, block,
                 "only this block shows the call; its result says that none is known");
    return pl_val_text(PL_STR("{\"status\":\"error\",\"error_type\":\"NoResult\",\"message\":"
                              "\"No result of this call is known\"}"));
}
