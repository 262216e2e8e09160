/* The built-in tools: one table, the models that are offered each tool, and the checks before a
 * tool runs. Arguments are validated by the tool's schema; errors become a result that the model
 * can act on. The session runs AskUserQuestion and Agent (core/session/tool_calls.c): they are in
 * the table to be offered. */
#include "agent/tools/ext_tool.h"
#include "agent/tools/tool_int.h"
#include "agent/tools/tools.h"
#include "agent/background/unattended.h"
#include "ext/run/ext.h"
#include "json/text.h"
#include "json/write.h"

#include <stdio.h>

enum flag {
    GATED = 1,   /* a person is asked first */
    WRITES = 2,  /* makes a lasting change: not in planning mode */
    DEMO = 4,    /* offered to the demo models only */
    MEMORY = 8,  /* not if memory is off in the session */
    MODE = 16,   /* changes the mode of the session: not by an Agent */
    LEAVES = 32, /* ends planning: only in planning mode */
};

#define NOTHING  "{\"type\":\"object\",\"properties\":{},\"additionalProperties\":false}"
#define TEXT     "{\"type\":\"string\",\"minLength\":1}"
#define END(...) ",\"required\":[" __VA_ARGS__ "],\"additionalProperties\":false}"

static const struct tool {
    const char *name;
    unsigned flags;
    void (*run)(struct pl_activity *activity,
                const struct pl_json_doc *arguments); /* NULL: the session runs it */
    const char *about;
    const char *schema;
    const char *asks; /* GATED: the question; NULL: the usual one */
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
     "Remember something beyond this conversation: you will see it again in later conversations "
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
     "Search for what was remembered in earlier conversations. Returns the ten best matches. You "
     "already see those that fit the person's last message; search when you need others.",
     "{\"type\":\"object\",\"properties\":{"
     "\"query\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":500,\"description\":\"Words "
     "that "
     "the memory is likely to have\"},"
     "\"type\":{\"enum\":[\"feedback\",\"experience\"]}}" END("\"query\"")},
    {"handoff", 0, pl_tool_handoff,
     "Make a packet that hands this task over to another agent: the objective, what was done and "
     "found, what must be kept to, where things are, and what comes next. Whoever takes over sees "
     "only the packet, so pass on every constraint and artifact. Nothing is sent; the packet is "
     "the "
     "result, for the person or another tool to pass on.",
     "{\"type\":\"object\",\"properties\":{"
     "\"target\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":200,\"description\":\"Who "
     "takes over: an agent that has not had the task, or the one that gave it to you\"},"
     "\"source\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":200,\"description\":\"Who you "
     "are, if you have a name\"},"
     "\"objective\":{\"type\":\"string\",\"description\":\"The goal, if it is not what the person "
     "said first; it cannot change once the task was handed over\"},"
     "\"status\":{\"type\":\"string\",\"description\":\"How far it is\"},"
     "\"steps\":{\"type\":\"array\",\"items\":{\"type\":\"string\"},\"description\":\"What was "
     "done, beside the tools that were called\"},"
     "\"next\":{\"type\":\"string\",\"description\":\"The next step\"},"
     "\"constraints\":{\"type\":\"array\",\"items\":{\"type\":\"string\"},\"description\":\"What "
     "the receiver must keep to\"},"
     "\"artifacts\":{\"type\":\"object\",\"additionalProperties\":{\"type\":\"string\"},"
     "\"description\":\"Name of each thing that was made, and where it is\"},"
     "\"definition_of_done\":{\"type\":\"array\",\"items\":{\"type\":\"string\"},"
     "\"description\":\"When the task is done\"},"
     "\"summary\":{\"type\":\"string\",\"description\":\"What the receiver must know\"},"
     "\"trace_id\":{\"type\":\"string\",\"minLength\":1,\"description\":\"Under which the task is "
     "traced\"},"
     "\"previous\":{\"type\":\"object\",\"description\":\"The packet you got the task with, if "
     "this "
     "conversation did not begin with it\"}"
     "}" END("\"target\"")},
    {"planning_enter", MODE, pl_tool_planning_enter,
     "Enter planning mode, in which you change nothing: look around, think, and say what should be "
     "done. Use it before work that is large or hard to undo.",
     "{\"type\":\"object\",\"properties\":{\"reason\":{\"type\":\"string\",\"maxLength\":1000,"
     "\"description\":\"Why a plan is needed first\"}},\"additionalProperties\":false}"},
    {"planning_exit", GATED | MODE | LEAVES, pl_tool_planning_exit,
     "Leave planning mode and carry out the plan. The person is shown the plan and decides. Call "
     "it "
     "when the plan is complete.",
     "{\"type\":\"object\",\"properties\":{\"plan\":{\"type\":\"string\",\"minLength\":1,"
     "\"maxLength\":20000,\"description\":\"The plan, as the person shall read it\"}}" END(
         "\"plan\""),
     "Shall planning end and this plan be carried out?"},
    {"plan_status", 0, pl_tool_plan_status,
     "Report the plan and how far it is. Send all steps each time; at most one is in progress. The "
     "person sees it beside the conversation.",
     "{\"type\":\"object\",\"properties\":{"
     "\"title\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":200,\"description\":\"What the "
     "plan is for\"},"
     "\"steps\":{\"type\":\"array\",\"minItems\":1,\"maxItems\":100,\"items\":{\"type\":\"object\","
     "\"properties\":{\"id\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":100},"
     "\"title\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":500},"
     "\"status\":{\"enum\":[\"pending\",\"in_progress\",\"completed\",\"cancelled\"]}}" END(
         "\"title\",\"status\"") "}}" END("\"title\",\"steps\"")},
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

/* --- definitions and names ------------------------------------------------------------------- */

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

static const struct tool *find(struct pl_str name)
{
    for (size_t i = 0; i < N_TOOLS; i++)
        if (pl_str_eq(name, pl_str_of(tools[i].name)))
            return &tools[i];
    return NULL;
}

void pl_tools_define_one(struct pl_json_out *out, struct pl_str name, bool has_memory)
{
    const struct tool *tool = find(name);
    if (!tool || ((tool->flags & MEMORY) && !has_memory))
        return;
    pl_json_out_open(out, '{');
    write_tool(out, tool);
    pl_json_out_close(out, '}');
}

bool pl_tools_has(struct pl_str name)
{
    return find(name);
}

bool pl_tools_is_sessions(struct pl_str name)
{
    const struct tool *tool = find(name);
    return tool && !tool->run;
}

void pl_tools_write_names(struct pl_json_out *out)
{
    for (size_t i = 0; i < N_TOOLS; i++)
        pl_json_out_text(out, pl_str_of(tools[i].name));
}

void pl_tools_names(struct pl_buf *to)
{
    for (size_t i = 0; i < N_TOOLS; i++)
        pl_buf_addf(to, "%s%s", i ? ", " : "", tools[i].name);
}

void pl_tools_list(enum pl_chat_language language, struct pl_buf *to)
{
    struct pl_json_out out = pl_json_out(to);
    pl_json_out_open(&out, '{');
    pl_json_out_key(&out, "items");
    pl_json_out_open(&out, '[');
    for (size_t i = 0; i < N_TOOLS; i++) {
        pl_json_out_open(&out, '{');
        write_tool(&out, &tools[i]);
        pl_json_out_key(&out, "display_name");
        pl_json_out_text(&out, pl_tool_display_name(pl_str_of(tools[i].name), language));
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

enum pl_status pl_tool_text(struct pl_activity *activity, const struct pl_json_doc *arguments,
                            const char *name, struct pl_str *ret_text)
{
    const struct pl_json_node *node = pl_json_get(arguments, arguments->root, pl_str_of(name));
    *ret_text = (struct pl_str){0};
    if (!node || pl_json_kind(node) != PL_JSON_STRING)
        return PL_OK;
    return pl_json_text(&activity->arena, arguments, node, ret_text);
}

static void work_run(struct pl_job *job)
{
    struct pl_activity *activity = PL_CONTAINER_OF(job, struct pl_activity, job);
    struct pl_json_doc doc;
    activity->status =
        pl_json_parse(&activity->arena, activity->effect.arguments, NULL, &doc, &activity->err);
    if (activity->status == PL_OK)
        activity->status = activity->work(activity, &doc);
    if (activity->status == PL_OK)
        activity->status = activity->text.status;
}

void pl_tool_fail(struct pl_activity *activity, enum pl_status status)
{
    bool is_oom = status == PL_NOMEM || !activity->err.message[0];
    pl_activity_fail_tool(activity, is_oom ? PL_TOOL_ERROR_MEMORY : PL_TOOL_ERROR_FAILED,
                          is_oom ? "Out of memory." : activity->err.message);
}

static void work_done(struct pl_activity *activity)
{
    if (activity->status == PL_OK)
        pl_activity_finish_tool(activity, pl_buf_str(&activity->text), false);
    else
        pl_tool_fail(activity, activity->status);
}

void pl_tool_work(struct pl_activity *activity, pl_tool_work_fn *work)
{
    activity->work = work;
    pl_activity_work(activity, work_run, work_done);
}

/* --- before it runs -------------------------------------------------------------------------- */

enum pl_status pl_tool_check(struct pl_activity *activity, struct pl_str schema_text,
                             const struct pl_json_doc *doc, char *ret_says, size_t size)
{
    return pl_ext_input_check(&activity->arena, schema_text, doc, doc->root, ret_says, size,
                              &activity->err);
}

static void ask_first(struct pl_activity *activity, const struct tool *tool)
{
    struct pl_buf questions PL_CLEANUP_BUF;
    pl_buf_init(&questions, 0);
    pl_buf_adds(&questions, "{\"questions\":[{\"question\":\"");
    if (tool->asks)
        pl_buf_adds(&questions, tool->asks);
    else
        pl_buf_addf(&questions, "May the tool %s run with these arguments?", tool->name);
    bool writes = tool->flags & WRITES;
    pl_buf_addf(&questions,
                "\",\"header\":\"%s\",\"capability\":\"%s\",\"risk\":\"%s\","
                "\"options\":[{\"label\":\"approve\"},{\"label\":\"deny\"}]}]}",
                tool->name, writes ? "write" : "mode", writes ? "medium" : "low");
    if (questions.status != PL_OK) {
        pl_activity_fail_tool(activity, PL_TOOL_ERROR_MEMORY, "Out of memory.");
        return;
    }
    struct pl_session_event event = {.kind = PL_SE_TOOL_ASKS};
    event.tool.tool_call_id = activity->effect.tool_call_id;
    event.tool.question_kind = PL_STR("confirm");
    event.tool.questions = pl_buf_str(&questions);
    pl_activity_bring_last(activity, &event);
}

/* Writes why it cannot run; empty: it can. */
static enum pl_tool_error look(struct pl_activity *activity, const struct tool *tool,
                               struct pl_json_doc *ret_doc, char *ret_says, size_t size)
{
    if (!tool) {
        snprintf(ret_says, size, "There is no tool %.*s.", PL_STR_ARG(activity->effect.tool_name));
        return PL_TOOL_ERROR_UNKNOWN_TOOL;
    }
    if ((tool->flags & MEMORY) && !activity->is_remembering) {
        snprintf(ret_says, size,
                 "Not run: the person has turned memory off in this session. Go on without it.");
        return PL_TOOL_ERROR_NOT_AVAILABLE;
    }
    if ((tool->flags & MODE) && !pl_str_eq(activity->effect.loop_id, PL_STR("root"))) {
        snprintf(ret_says, size,
                 "Not run: only the main conversation changes the mode, an Agent does not.");
        return PL_TOOL_ERROR_NOT_AVAILABLE;
    }
    if ((tool->flags & LEAVES) && activity->effect.mode != PL_CHAT_MODE_PLANNING) {
        snprintf(ret_says, size, "Not run: this session is not in planning mode.");
        return PL_TOOL_ERROR_NOT_AVAILABLE;
    }
    if ((tool->flags & WRITES) && activity->effect.mode == PL_CHAT_MODE_PLANNING) {
        snprintf(ret_says, size,
                 "Not run: in planning mode nothing is changed. Say what you would do with %s; the "
                 "person decides when to go ahead.",
                 tool->name);
        return PL_TOOL_ERROR_NOT_AVAILABLE;
    }
    if (pl_json_parse(&activity->arena, activity->effect.arguments, NULL, ret_doc,
                      &activity->err) != PL_OK) {
        snprintf(ret_says, size, "The arguments are not JSON: %s", activity->err.message);
        return PL_TOOL_ERROR_ARGUMENTS;
    }
    if (pl_tool_check(activity, pl_str_of(tool->schema), ret_doc, ret_says, size) == PL_OK)
        return PL_TOOL_ERROR_ARGUMENTS;
    snprintf(ret_says, size, "Out of memory.");
    return PL_TOOL_ERROR_MEMORY;
}

void pl_tool_run(struct pl_activity *activity)
{
    const struct tool *tool = find(activity->effect.tool_name);
    tool = tool && tool->run ? tool : NULL;
    char says[1000] = "";
    struct pl_json_doc doc;
    if (pl_client_tool_run(activity) ||
        (!tool && (pl_tool_search_run(activity) || pl_ext_tool_run(activity))))
        return;
    enum pl_tool_error error = look(activity, tool, &doc, says, sizeof says);
    if (says[0])
        pl_activity_fail_tool(activity, error, says);
    else if ((tool->flags & GATED) && !activity->effect.is_confirmed &&
             !pl_unattended_skips(activity->server->unattended, activity->session_id))
        ask_first(activity, tool);
    else
        tool->run(activity, &doc);
}
