/* The tools that are built in: one table of them, what is offered to whom, and what happens before
 * one runs. Arguments are held to the tool's schema; what is wrong becomes an error result the
 * model can mend. AskUserQuestion and Agent are the session's own (core/session/calls.c): they are
 * here to be offered. */
#include "json/text.h"
#include "json/write.h"
#include "schema/schema.h"
#include "server/tool_int.h"
#include "server/tools.h"
#include "server/unattended.h"

#include <stdio.h>

enum flag {
    GATED = 1,  /* a person is asked first */
    WRITES = 2, /* changes something that stays: not in planning mode */
    DEMO = 4,   /* offered to the demo models only */
    MEMORY = 8, /* not where the session is to remember nothing */
};

#define NOTHING  "{\"type\":\"object\",\"properties\":{},\"additionalProperties\":false}"
#define TEXT     "{\"type\":\"string\",\"minLength\":1}"
#define END(...) ",\"required\":[" __VA_ARGS__ "],\"additionalProperties\":false}"

static const struct tool {
    const char *name;
    unsigned flags;
    void (*run)(struct pl_run *run, const struct pl_json_doc *arguments); /* NULL: the session's */
    const char *about;
    const char *schema;
} tools[] = {
    {"AskUserQuestion", 0, NULL,
     "Ask the person one or more questions and wait for the answers. Use it when a decision is "
     "theirs to make, or when you cannot go on without something only they know; do not ask what "
     "you can find out or decide yourself. Offer the likely answers as options; the person may "
     "also answer in their own words.",
     "{\"type\":\"object\",\"properties\":{\"questions\":{\"type\":\"array\",\"minItems\":1,"
     "\"items\":{\"type\":\"object\",\"properties\":{"
     "\"question\":{\"type\":\"string\",\"description\":\"The whole question, ending in a question "
     "mark\"},"
     "\"header\":{\"type\":\"string\",\"description\":\"One or two words that name the matter\"},"
     "\"options\":{\"type\":\"array\",\"description\":\"Answers to choose from; empty for a "
     "question that is open\",\"items\":{\"type\":\"object\",\"properties\":{"
     "\"label\":{\"type\":\"string\"},\"description\":{\"type\":\"string\",\"description\":\"What "
     "choosing it means\"}},\"required\":[\"label\"]}},"
     "\"multiSelect\":{\"type\":\"boolean\",\"description\":\"Several options may be chosen\"}},"
     "\"required\":[\"question\",\"options\"]}}}" END("\"questions\"")},
    {"Agent", 0, NULL,
     "Give a part of the work to another agent, which works on its own with the same tools and "
     "comes back with one answer. It knows nothing of this conversation: the prompt must say "
     "everything it needs and what it shall answer. Several calls in one turn work side by side.",
     "{\"type\":\"object\",\"properties\":{"
     "\"prompt\":{\"type\":\"string\",\"minLength\":1,\"description\":\"The task, with all that is "
     "needed to do it\"},"
     "\"description\":{\"type\":\"string\",\"description\":\"The task in a few words, for the "
     "person who watches\"},"
     "\"model\":{\"type\":\"string\",\"description\":\"Another model than yours, by its "
     "name\"}}" END("\"prompt\"")},
    {"calc", 0, pl_tool_calc,
     "Work out an arithmetic expression exactly: + - * / % ^ (power), brackets, and abs, ceil, "
     "cos, exp, floor, ln, log10, max, min, round(x, digits), sin, sqrt, tan, trunc, pi, e. Angles "
     "are in radians. The result is a number.",
     "{\"type\":\"object\",\"properties\":{\"expression\":{\"type\":\"string\",\"minLength\":1,"
     "\"maxLength\":1000,\"description\":\"For example (1299.00 - 15%20) * 1.19 ^ "
     "2\"}}" END("\"expression\"")},
    {"clock", 0, pl_tool_clock,
     "The date and time now, in UTC, as in 2026-01-31T14:05:09.123Z. Use it whenever an answer "
     "depends on today's date.",
     NOTHING},
    {"memory_save", WRITES | MEMORY, pl_tool_memory_save,
     "Remember something beyond this conversation: it will be told to you again in later ones "
     "where it fits. Save what the person wants remembered, their lasting preferences, and what "
     "was learned the hard way; one fact in each, in a sentence that can be understood alone. "
     "Never save secrets such as passwords, or what matters only now.",
     "{\"type\":\"object\",\"properties\":{"
     "\"content\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":500,\"description\":\"The "
     "fact, at most 500 characters\"},"
     "\"type\":{\"enum\":[\"feedback\",\"experience\"],\"description\":\"feedback: what the person "
     "wants or corrected; experience: what was found out (the default)\"},"
     "\"topic\":{\"type\":\"string\",\"maxLength\":200,\"description\":\"What it is about, in a "
     "word or two\"},"
     "\"write_reason\":{\"type\":\"string\",\"maxLength\":1000,\"description\":\"Why it is worth "
     "remembering\"}}" END("\"content\"")},
    {"memory_search", MEMORY, pl_tool_memory_search,
     "Look for what was remembered in earlier conversations. Gives the ten that fit best. Those "
     "that fit the person's last message are told to you anyway; search when you need others.",
     "{\"type\":\"object\",\"properties\":{"
     "\"query\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":500,\"description\":\"Words "
     "that "
     "the memory is likely to have\"},"
     "\"type\":{\"enum\":[\"feedback\",\"experience\"]}}" END("\"query\"")},
    {"handoff", 0, pl_tool_handoff,
     "Make a packet that hands this task over to another agent: the objective, what was done and "
     "found, and what comes next. Nothing is sent; the packet is the result, for the person or "
     "another tool to pass on.",
     "{\"type\":\"object\",\"properties\":{"
     "\"target\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":200,\"description\":\"Who "
     "takes "
     "over\"},"
     "\"objective\":{\"type\":\"string\",\"description\":\"The goal, if it is not what the person "
     "said first\"},"
     "\"status\":{\"type\":\"string\",\"description\":\"How far it is\"},"
     "\"next\":{\"type\":\"string\",\"description\":\"The next step\"},"
     "\"summary\":{\"type\":\"string\",\"description\":\"What the receiver must know\"}"
     "}" END("\"target\"")},
    {"echo", DEMO, pl_tool_echo, "Gives back what it was given", "{\"type\":\"object\"}"},
    {"wait", DEMO, pl_tool_wait, "Waits, then says for how long",
     "{\"type\":\"object\",\"properties\":{\"ms\":{\"type\":\"integer\",\"minimum\":0,"
     "\"maximum\":600000}}" END("\"ms\"")},
    {"publish", GATED | WRITES | DEMO, pl_tool_publish,
     "Shows a note on a card; a person is asked first",
     "{\"type\":\"object\",\"properties\":{\"title\":{\"type\":\"string\",\"maxLength\":200},"
     "\"html\":{\"type\":\"string\",\"maxLength\":100000}}" END("\"title\",\"html\"")},
};

enum { N_TOOLS = sizeof tools / sizeof *tools };

/* --- what is offered ------------------------------------------------------------------------- */

static void write_tool(struct pl_json_out *out, const struct tool *tool)
{
    pl_json_out_key(out, "name");
    pl_json_out_text(out, pl_str_of(tool->name));
    pl_json_out_key(out, "description");
    pl_json_out_text(out, pl_str_of(tool->about));
    pl_json_out_key(out, "input_schema");
    pl_json_out_raw(out, pl_str_of(tool->schema));
}

void pl_tools_define(struct pl_str model, bool has_memory, struct pl_buf *to)
{
    unsigned without = has_memory ? 0 : MEMORY;
    if (!pl_str_starts(model, PL_STR("demo/")))
        without |= DEMO;
    struct pl_json_out out = pl_json_out(to);
    pl_json_out_open(&out, '[');
    for (size_t i = 0; i < N_TOOLS; i++) {
        if (tools[i].flags & without)
            continue;
        pl_json_out_open(&out, '{');
        write_tool(&out, &tools[i]);
        pl_json_out_close(&out, '}');
    }
    pl_json_out_close(&out, ']');
}

void pl_tools_list(struct pl_buf *to)
{
    struct pl_json_out out = pl_json_out(to);
    pl_json_out_open(&out, '{');
    pl_json_out_key(&out, "items");
    pl_json_out_open(&out, '[');
    for (size_t i = 0; i < N_TOOLS; i++) {
        pl_json_out_open(&out, '{');
        write_tool(&out, &tools[i]);
        pl_json_out_key(&out, "is_gated");
        pl_json_out_bool(&out, tools[i].flags & GATED);
        pl_json_out_key(&out, "is_demo");
        pl_json_out_bool(&out, tools[i].flags & DEMO);
        pl_json_out_close(&out, '}');
    }
    pl_json_out_close(&out, ']');
    pl_json_out_close(&out, '}');
}

/* --- work on a worker ------------------------------------------------------------------------ */

enum pl_status pl_tool_text(struct pl_run *run, const struct pl_json_doc *arguments,
                            const char *name, struct pl_str *ret_text)
{
    const struct pl_json_node *node = pl_json_get(arguments, arguments->root, pl_str_of(name));
    *ret_text = (struct pl_str){0};
    if (!node || pl_json_kind(node) != PL_JSON_STRING)
        return PL_OK;
    return pl_json_text(&run->arena, arguments, node, ret_text);
}

static void work_run(struct pl_job *job)
{
    struct pl_run *run = PL_CONTAINER_OF(job, struct pl_run, job);
    struct pl_json_doc doc;
    run->status = pl_json_parse(&run->arena, run->effect.arguments, NULL, &doc, &run->err);
    if (run->status == PL_OK)
        run->status = run->work(run, &doc);
    if (run->status == PL_OK)
        run->status = run->text.status;
}

static void work_done(struct pl_run *run)
{
    if (run->status == PL_OK)
        pl_run_finish_tool(run, pl_buf_str(&run->text), false);
    else
        pl_run_fail_tool(run, run->status == PL_NOMEM || !run->err.message[0] ? "Out of memory."
                                                                              : run->err.message);
}

void pl_tool_work(struct pl_run *run, pl_tool_work_fn *work)
{
    run->work = work;
    pl_run_work(run, work_run, work_done);
}

/* --- before it runs -------------------------------------------------------------------------- */

/* Everything that is wrong, as far as there is room, for the model to mend; nothing is said when
 * nothing is. */
static enum pl_status check(struct pl_run *run, const struct tool *tool,
                            const struct pl_json_doc *doc, char *ret_says, size_t size)
{
    struct pl_schema *schema = NULL;
    struct pl_schema_run *checking = NULL;
    struct pl_schema_report report = {.is_valid = true};
    enum pl_status status = pl_schema_compile(pl_str_of(tool->schema), NULL, &schema, &run->err);
    if (status == PL_OK)
        status = pl_schema_run_create(schema, &checking);
    if (status == PL_OK)
        status = pl_schema_explain(checking, &run->arena, doc, doc->root, PL_SCHEMA_EN, &report);
    size_t n = 0;
    for (uint32_t i = 0; status == PL_OK && !report.is_valid && i < report.n_units && n < size; i++)
        n += (size_t)snprintf(
            ret_says + n, size - n, "%s \"%.*s\": %.*s", i ? ";" : "The arguments are wrong at",
            PL_STR_ARG(report.units[i].instance_location), PL_STR_ARG(report.units[i].message));
    pl_schema_run_destroy(checking);
    pl_schema_destroy(schema);
    return status;
}

static void ask_first(struct pl_run *run, const struct tool *tool)
{
    struct pl_buf questions PL_CLEANUP_BUF;
    pl_buf_init(&questions, 0);
    pl_buf_addf(&questions,
                "{\"questions\":[{\"question\":\"May the tool %s run with these arguments?\","
                "\"header\":\"%s\",\"options\":[{\"label\":\"approve\"},{\"label\":\"deny\"}]}]}",
                tool->name, tool->name);
    if (questions.status != PL_OK) {
        pl_run_fail_tool(run, "Out of memory.");
        return;
    }
    struct pl_session_event event = {.kind = PL_SE_TOOL_ASKS};
    event.tool.tool_call_id = run->effect.tool_call_id;
    event.tool.question_kind = PL_STR("confirm");
    event.tool.questions = pl_buf_str(&questions);
    pl_run_bring_last(run, &event);
}

/* Says why it cannot run; empty: it can. */
static void look(struct pl_run *run, const struct tool *tool, struct pl_json_doc *ret_doc,
                 char *ret_says, size_t size)
{
    if (!tool)
        snprintf(ret_says, size, "There is no tool %.*s.", PL_STR_ARG(run->effect.tool_name));
    else if ((tool->flags & MEMORY) && !run->is_remembering)
        snprintf(ret_says, size,
                 "Not run: the person has turned memory off in this session. Go on without it.");
    else if ((tool->flags & WRITES) && run->effect.mode == PL_MODE_PLANNING)
        snprintf(ret_says, size,
                 "Not run: in planning mode nothing is changed. Say what you would do with %s; the "
                 "person decides when to go ahead.",
                 tool->name);
    else if (pl_json_parse(&run->arena, run->effect.arguments, NULL, ret_doc, &run->err) != PL_OK)
        snprintf(ret_says, size, "The arguments are not JSON: %s", run->err.message);
    else if (check(run, tool, ret_doc, ret_says, size) != PL_OK)
        snprintf(ret_says, size, "Out of memory.");
}

void pl_tool_run(struct pl_run *run)
{
    const struct tool *tool = NULL;
    for (size_t i = 0; i < N_TOOLS; i++)
        if (tools[i].run && pl_str_eq(run->effect.tool_name, pl_str_of(tools[i].name)))
            tool = &tools[i];
    char says[1000] = "";
    struct pl_json_doc doc;
    look(run, tool, &doc, says, sizeof says);
    if (says[0])
        pl_run_fail_tool(run, says);
    else if ((tool->flags & GATED) && !run->effect.is_confirmed &&
             !pl_unattended_has(run->server->unattended, run->session_id))
        ask_first(run, tool);
    else
        tool->run(run, &doc);
}
