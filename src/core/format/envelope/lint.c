/* Lint of envelopes: whether a segment suits the role of its message, and whether charCount matches
 * its text. An envelope stays readable either way, so both are warnings. */
#include "format/envelope/envelope_int.h"

#include "json/number.h"
#include "json/text.h"

enum { SYSTEM = 1, USER = 2, ASSISTANT = 4, TOOL = 8, ANYBODY = 15 };

static const char *const roles[] = {"system", "user", "assistant", "tool", NULL};

/* The roles of each segment. Instructions are the system's; memory may also come with its question;
 * only a model calls, only a tool answers. */
static const struct {
    const char *kind;
    unsigned roles;
    const char *who; /* for messages */
} suits[] = {
    {"text", ANYBODY, NULL},
    {"long_text", ANYBODY, NULL},
    {"document", ANYBODY, NULL},
    {"media", ANYBODY, NULL},
    {"static_var", SYSTEM | USER | ASSISTANT, "system, user or assistant"},
    {"system_prompt", SYSTEM, "system"},
    {"memory", SYSTEM | USER, "system or user"},
    {"skills", SYSTEM | USER, "system or user"},
    {"tool_overview", SYSTEM, "system"},
    {"tool_call_request", ASSISTANT, "assistant"},
    {"tool_call_result", TOOL, "tool"},
};

bool pl_envelope_count_fits(const struct pl_conv *conv, const struct pl_json_node *count,
                            const struct pl_json_node *content, int64_t *ret_n_points)
{
    int64_t value, n_points = 0, n_units = 0;
    struct pl_json_walk walk = pl_json_walk(conv->doc, content);
    for (int byte; (byte = pl_json_walk_next(&walk)) >= 0;) {
        n_points += (byte & 0xC0) != 0x80;
        n_units += ((byte & 0xC0) != 0x80) + (byte >= 0xF0);
    }
    if (ret_n_points)
        *ret_n_points = n_points;
    return pl_json_is(count, PL_JSON_NUMBER) &&
           pl_json_number_int64(pl_json_span(conv->doc, count), &value) &&
           (value == n_points || value == n_units);
}

static void lint_role(struct pl_conv *conv, struct pl_findings *findings, int role,
                      const struct pl_json_node *kind)
{
    for (size_t i = 0; i < sizeof suits / sizeof *suits; i++)
        if (pl_conv_says(conv, kind, suits[i].kind) && !(suits[i].roles >> role & 1))
            pl_conv_report_finding(
                conv, findings, "segment.role", PL_SEVERITY_WARNING, kind,
                "a segment of kind %s does not match the role %s; put it into a message of role %s",
                suits[i].kind, roles[role], suits[i].who);
}

static void lint_count(struct pl_conv *conv, struct pl_findings *findings,
                       const struct pl_json_node *segment)
{
    const struct pl_json_node *count = pl_conv_node(conv, segment, "charCount");
    const struct pl_json_node *content = pl_conv_node(conv, segment, "content");
    int64_t n_points;
    if (count && pl_json_is(content, PL_JSON_STRING) &&
        !pl_envelope_count_fits(conv, count, content, &n_points))
        pl_conv_report_finding(conv, findings, "segment.char_count", PL_SEVERITY_WARNING, count,
                               "charCount is wrong; the text has %lld Unicode code points",
                               (long long)n_points);
}

static void lint_message(struct pl_conv *conv, struct pl_findings *findings,
                         const struct pl_json_node *message)
{
    const struct pl_json_node *segments = pl_conv_node(conv, message, "segments");
    int role = pl_conv_word(conv, pl_conv_node(conv, message, "role"), roles);
    if (!pl_json_is(segments, PL_JSON_ARRAY))
        return;
    for (const struct pl_json_node *s = pl_json_first(segments);
         s < pl_json_end(segments) && conv->status == PL_OK; s = pl_json_next(s)) {
        const struct pl_json_node *kind = pl_conv_node(conv, s, "kind");
        if (role >= 0)
            lint_role(conv, findings, role, kind);
        if (pl_conv_says(conv, kind, "long_text"))
            lint_count(conv, findings, s);
    }
}

void pl_envelope_lint(struct pl_conv *conv, struct pl_findings *findings)
{
    const struct pl_json_node *list = conv->list;
    for (const struct pl_json_node *n = pl_json_first(list);
         n < pl_json_end(list) && conv->status == PL_OK; n = pl_json_next(n))
        lint_message(conv, findings, n);
}
