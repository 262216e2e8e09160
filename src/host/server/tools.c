/* The tools that are built in: enough to see a session use one, wait for one, and ask a person
 * first. Arguments are checked against the tool's schema before it runs. */
#include "base/mem.h"
#include "base/utc.h"
#include "json/number.h"
#include "json/write.h"
#include "schema/schema.h"
#include "server/run_int.h"
#include "server/unattended.h"

#define MAX_WAIT_MS 600000

static void run_clock(struct pl_run *run, const struct pl_json_doc *arguments);
static void run_echo(struct pl_run *run, const struct pl_json_doc *arguments);
static void run_wait(struct pl_run *run, const struct pl_json_doc *arguments);
static void run_publish(struct pl_run *run, const struct pl_json_doc *arguments);

/* X(name, asks first, description, input schema) */
#define TOOL_TABLE(X)                                                                              \
    X(clock, false, "The time now, in UTC",                                                        \
      "{\"type\":\"object\",\"properties\":{},\"additionalProperties\":false}")                    \
    X(echo, false, "Gives back what it was given", "{\"type\":\"object\"}")                        \
    X(wait, false, "Waits, then says for how long",                                                \
      "{\"type\":\"object\",\"properties\":{\"ms\":{\"type\":\"integer\",\"minimum\":0,"           \
      "\"maximum\":600000}},\"required\":[\"ms\"],\"additionalProperties\":false}")                \
    X(publish, true, "Shows a note on a card; a person is asked first",                            \
      "{\"type\":\"object\",\"properties\":{\"title\":{\"type\":\"string\",\"maxLength\":200},"    \
      "\"html\":{\"type\":\"string\",\"maxLength\":100000}},\"required\":[\"title\",\"html\"],"    \
      "\"additionalProperties\":false}")

static const struct tool {
    const char *name;
    bool is_gated;
    const char *schema;
    void (*run)(struct pl_run *run, const struct pl_json_doc *arguments);
} tools[] = {
#define X(name, gated, about, schema) {#name, gated, schema, run_##name},
    TOOL_TABLE(X)
#undef X
};

struct pl_str pl_tool_definitions(void)
{
    static const char text[] = "["
#define X(name, gated, about, schema)                                                              \
    "{\"name\":\"" #name "\",\"description\":\"" about "\",\"input_schema\":" schema "},"
        TOOL_TABLE(X)
#undef X
            "{\"name\":\"AskUserQuestion\",\"description\":\"Asks the person\",\"input_schema\":"
            "{\"type\":\"object\",\"required\":[\"questions\"]}},"
            "{\"name\":\"Agent\",\"description\":\"Has somebody else do a part\",\"input_schema\":"
            "{\"type\":\"object\",\"properties\":{\"prompt\":{\"type\":\"string\"}},"
            "\"required\":[\"prompt\"]}}]";
    return PL_STR(text);
}

/* --- the tools ------------------------------------------------------------------------------- */

static void run_clock(struct pl_run *run, const struct pl_json_doc *arguments)
{
    (void)arguments;
    char text[PL_UTC_SIZE + 2];
    text[0] = text[PL_UTC_SIZE + 1] = '"';
    pl_utc_write(text + 1, pl_loop_unix_ms(run->loop));
    pl_run_finish_tool(run, (struct pl_str){text, sizeof text}, false);
}

static void run_echo(struct pl_run *run, const struct pl_json_doc *arguments)
{
    pl_run_finish_tool(run, arguments->text, false);
}

static void on_waited(struct pl_timer *timer)
{
    struct pl_run *run = PL_CONTAINER_OF(timer, struct pl_run, timer);
    char text[64];
    int n = snprintf(text, sizeof text, "{\"waited_ms\":%lld}",
                     (long long)(pl_loop_now_ms(run->loop) - run->started_ms));
    pl_run_finish_tool(run, (struct pl_str){text, (size_t)n}, false);
}

static void run_wait(struct pl_run *run, const struct pl_json_doc *arguments)
{
    int64_t ms = 0;
    const struct pl_json_node *node = pl_json_get(arguments, arguments->root, PL_STR("ms"));
    if (!pl_json_number_int64(pl_json_span(arguments, node), &ms) || ms > MAX_WAIT_MS)
        ms = MAX_WAIT_MS;
    pl_timer_start(run->loop, &run->timer, ms, on_waited);
}

static void run_publish(struct pl_run *run, const struct pl_json_doc *arguments)
{
    const struct pl_json_node *title = pl_json_get(arguments, arguments->root, PL_STR("title"));
    const struct pl_json_node *html = pl_json_get(arguments, arguments->root, PL_STR("html"));
    struct pl_buf result PL_CLEANUP_BUF;
    pl_buf_init(&result, 0);
    pl_buf_adds(&result, "{\"ok\":true,\"_meta\":{\"ui\":{\"resourceHTML\":");
    pl_buf_add(&result, pl_json_span(arguments, html));
    pl_buf_adds(&result, ",\"target\":\"inline\",\"height\":320,\"title\":");
    pl_buf_add(&result, pl_json_span(arguments, title));
    pl_buf_adds(&result, "}}}");
    if (result.status == PL_OK)
        pl_run_finish_tool(run, pl_buf_str(&result), false);
    else
        pl_run_fail_tool(run, "Out of memory.");
}

/* --- before it runs -------------------------------------------------------------------------- */

/* A sentence about what is wrong, for the model to mend; empty when nothing is. */
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
    if (status == PL_OK && !report.is_valid)
        snprintf(ret_says, size, "The arguments are wrong at \"%.*s\": %.*s",
                 PL_STR_ARG(report.units[0].instance_location),
                 PL_STR_ARG(report.units[0].message));
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

void pl_tool_run(struct pl_run *run)
{
    const struct tool *tool = NULL;
    for (size_t i = 0; i < sizeof tools / sizeof *tools; i++)
        if (pl_str_eq(run->effect.tool_name, pl_str_of(tools[i].name)))
            tool = &tools[i];
    char says[640] = "";
    struct pl_json_doc doc;
    if (!tool)
        snprintf(says, sizeof says, "There is no tool %.*s.", PL_STR_ARG(run->effect.tool_name));
    else if (pl_json_parse(&run->arena, run->effect.arguments, NULL, &doc, &run->err) != PL_OK)
        snprintf(says, sizeof says, "The arguments are not JSON: %s", run->err.message);
    else if (check(run, tool, &doc, says, sizeof says) != PL_OK)
        snprintf(says, sizeof says, "Out of memory.");
    if (says[0])
        pl_run_fail_tool(run, says);
    else if (tool->is_gated && !run->effect.is_confirmed &&
             !pl_unattended_has(run->server->unattended, run->session_id))
        ask_first(run, tool);
    else
        tool->run(run, &doc);
}
