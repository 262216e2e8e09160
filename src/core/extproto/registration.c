/* A register is read from the outside in: the extension, its manifest, its tools, its commands, its
 * hooks. */
#include "extproto/registration.h"

#include "base/ascii.h"
#include "base/sha/sha256.h"
#include "json/number.h"
#include "json/text.h"
#include "schema/schema.h"

enum { MAX_NAME = 64, MAX_TIMEOUT_MS = 600000 };

struct reader {
    struct pl_arena *arena;        /* borrowed */
    const struct pl_json_doc *doc; /* borrowed */
    struct pl_ext_registration *to;
    struct pl_error *err;
};

static enum pl_status no_memory(struct reader *r)
{
    return pl_fail(r->err, PL_NOMEM, "out of memory");
}

static enum pl_status refuse(struct reader *r, const char *member, const char *why)
{
    enum pl_status status = pl_fail(r->err, PL_INVALID, "%s", why);
    pl_error_point(r->err, "/%s", member);
    return status;
}

bool pl_ext_is_tool_name(struct pl_str name)
{
    for (size_t i = 0; i < name.len; i++)
        if (!pl_ascii_is_alnum(name.ptr[i]) && name.ptr[i] != '_' && name.ptr[i] != '-')
            return false;
    return name.len >= 1 && name.len <= MAX_NAME;
}

bool pl_ext_is_id(struct pl_str id)
{
    for (size_t i = 0; i < id.len; i++) {
        char c = id.ptr[i];
        bool is_plain = pl_ascii_is_digit(c) || (c >= 'a' && c <= 'z');
        if (!is_plain && (i == 0 || (c != '.' && c != '_' && c != '-')))
            return false;
    }
    return id.len >= 1 && id.len <= MAX_NAME;
}

/* Empty for a member that is absent or not a string. */
static enum pl_status text_of(struct reader *r, const struct pl_json_node *object,
                              const char *member, struct pl_str *ret_text)
{
    const struct pl_json_node *n = pl_json_member(r->doc, object, member, PL_JSON_STRING);
    *ret_text = PL_STR("");
    if (n && pl_json_text(r->arena, r->doc, n, ret_text) != PL_OK)
        return no_memory(r);
    return PL_OK;
}

static enum pl_status filled_text(struct reader *r, const struct pl_json_node *payload,
                                  const char *member, struct pl_str *ret_text)
{
    size_t i = 0;
    enum pl_status status = text_of(r, payload, member, ret_text);
    if (status != PL_OK)
        return status;
    while (i < ret_text->len && pl_ascii_is_space(ret_text->ptr[i]))
        i++;
    return i < ret_text->len ? PL_OK
                             : refuse(r, member, "is blank; an extension has a name and a version");
}

/* Versions with the same major number are compatible. */
static enum pl_status check_api(struct reader *r, const struct pl_json_node *payload)
{
    struct pl_str version;
    enum pl_status status = text_of(r, payload, "api_version", &version);
    if (status != PL_OK)
        return status;
    bool is_first =
        version.len && version.ptr[0] == '1' && (version.len == 1 || version.ptr[1] == '.');
    return is_first ? PL_OK : refuse(r, "api_version", "this host speaks version 1 of the API");
}

/* --- tools ------------------------------------------------------------------------------------ */

/* Index of the member's word in a list. Absent: the first word, the default. -1: not in the
 * list. */
static int word_of(struct reader *r, const struct pl_json_node *tool, const char *member,
                   const char *const *words)
{
    const struct pl_json_node *n = pl_json_get(r->doc, tool, pl_str_of(member));
    if (!n)
        return 0;
    for (int i = 0; words[i]; i++)
        if (pl_json_text_is(r->doc, n, pl_str_of(words[i])))
            return i;
    return -1;
}

static enum pl_status hash_tool(struct reader *r, struct pl_ext_tool *tool)
{
    PL_CLEANUP_BUF struct pl_buf text;
    pl_buf_init(&text, 0);
    enum pl_status status = PL_OK;
    /* Each part has its length before it, so no two tools have the same bytes. */
    pl_buf_addf(&text, "%zu:%.*s%zu:%.*s", tool->name.len, PL_STR_ARG(tool->name),
                tool->description.len, PL_STR_ARG(tool->description));
    if (tool->parameters)
        status = pl_json_write_canonical(&text, r->doc, tool->parameters);
    if (status != PL_OK || text.status != PL_OK)
        return no_memory(r);
    pl_sha256_hex(pl_buf_str(&text), tool->hash);
    return PL_OK;
}

/* A schema member: absent, or an object that compiles. */
static enum pl_status schema_of(struct reader *r, const struct pl_json_node *tool,
                                const char *member, const struct pl_json_node **ret_schema,
                                bool *ret_is_good)
{
    const struct pl_json_node *n = pl_json_get(r->doc, tool, pl_str_of(member));
    struct pl_schema *schema = NULL;
    *ret_schema = n;
    *ret_is_good = !n || pl_json_is(n, PL_JSON_OBJECT);
    if (!n || !*ret_is_good)
        return PL_OK;
    enum pl_status status = pl_schema_compile(pl_json_span(r->doc, n), NULL, &schema, NULL);
    pl_schema_destroy(schema);
    *ret_is_good = status == PL_OK;
    return status == PL_NOMEM ? no_memory(r) : PL_OK;
}

static bool read_timeout(struct reader *r, const struct pl_json_node *node, int64_t *ret_ms)
{
    const struct pl_json_node *n = pl_json_get(r->doc, node, PL_STR("timeout_ms"));
    int64_t ms = 0;
    if (n &&
        (!pl_json_is(n, PL_JSON_NUMBER) || !pl_json_number_int64(pl_json_span(r->doc, n), &ms)))
        return false;
    *ret_ms = ms;
    return ms >= 0 && ms <= MAX_TIMEOUT_MS;
}

static bool is_taken(const struct reader *r, struct pl_str name)
{
    for (size_t i = 0; i < r->to->n_tools; i++)
        if (!r->to->tools[i].refusal && pl_str_eq(r->to->tools[i].name, name))
            return true;
    return false;
}

/* The first error in the plain members; NULL: none. */
static const char *find_fault(struct reader *r, const struct pl_json_node *node,
                              struct pl_ext_tool *tool)
{
    static const char *const executions[] = {"parallel", "sequential", NULL};
    static const char *const exposures[] = {"direct", "deferred", "hidden", NULL};
    int execution = word_of(r, node, "execution", executions);
    int exposure = word_of(r, node, "exposure", exposures);
    if (!pl_ext_is_tool_name(tool->name))
        return "the name is not 1 to 64 letters, digits, _ and -";
    if (is_taken(r, tool->name))
        return "the name is taken";
    if (!tool->description.len)
        return "a tool has a description";
    if (execution < 0)
        return "execution is parallel or sequential";
    if (exposure < 0)
        return "exposure is direct, deferred or hidden";
    if (!read_timeout(r, node, &tool->timeout_ms))
        return "timeout_ms is a whole number from 0 to 600000";
    tool->is_sequential = execution == 1;
    tool->exposure = (enum pl_ext_exposure)exposure;
    return NULL;
}

static enum pl_status read_schemas(struct reader *r, const struct pl_json_node *node,
                                   struct pl_ext_tool *tool)
{
    bool is_good = true, is_output_good = true;
    bool has_parameters = pl_json_get(r->doc, node, PL_STR("parameters")) != NULL;
    enum pl_status status = schema_of(r, node, has_parameters ? "parameters" : "input_schema",
                                      &tool->parameters, &is_good);
    if (status == PL_OK)
        status = schema_of(r, node, "output_schema", &tool->output_schema, &is_output_good);
    if (status == PL_OK && !tool->refusal && !is_good)
        tool->refusal = "its parameters are not a valid JSON Schema";
    if (status == PL_OK && !tool->refusal && !is_output_good)
        tool->refusal = "its output_schema is not a valid JSON Schema";
    return status;
}

static enum pl_status read_tool(struct reader *r, const struct pl_json_node *node)
{
    struct pl_ext_tool tool = {0};
    enum pl_status status = text_of(r, node, "name", &tool.name);
    if (status == PL_OK)
        status = text_of(r, node, "label", &tool.label);
    if (status == PL_OK)
        status = text_of(r, node, "description", &tool.description);
    if (status != PL_OK)
        return status;
    tool.annotations = pl_json_member(r->doc, node, "annotations", PL_JSON_OBJECT);
    tool.refusal = find_fault(r, node, &tool);
    status = read_schemas(r, node, &tool);
    if (status == PL_OK)
        status = hash_tool(r, &tool);
    if (status == PL_OK)
        r->to->tools[r->to->n_tools++] = tool;
    return status;
}

/* --- commands and hooks ----------------------------------------------------------------------- */

static enum pl_status read_command(struct reader *r, const struct pl_json_node *node)
{
    struct pl_ext_command command;
    enum pl_status status = text_of(r, node, "name", &command.name);
    if (status == PL_OK)
        status = text_of(r, node, "description", &command.description);
    if (status == PL_OK && !pl_ext_is_tool_name(command.name))
        status =
            refuse(r, "slash_commands", "a command's name is 1 to 64 letters, digits, _ and -");
    if (status == PL_OK)
        r->to->commands[r->to->n_commands++] = command;
    return status;
}

static enum pl_status read_hook(struct reader *r, const struct pl_json_node *node)
{
    struct pl_str text;
    if (pl_json_text(r->arena, r->doc, node, &text) != PL_OK)
        return no_memory(r);
    if (pl_ext_subscription_read(text, &r->to->subscriptions[r->to->n_subscriptions]))
        r->to->n_subscriptions++;
    else
        r->to->unknown_hooks[r->to->n_unknown_hooks++] = text;
    return PL_OK;
}

typedef enum pl_status read_fn(struct reader *r, const struct pl_json_node *node);

static enum pl_status read_all(struct reader *r, const struct pl_json_node *list, read_fn *read)
{
    enum pl_status status = PL_OK;
    for (const struct pl_json_node *n = list ? pl_json_first(list) : NULL;
         list && n < pl_json_end(list) && status == PL_OK; n = pl_json_next(n))
        status = read(r, n);
    return status;
}

/* Allocates an array for the items of a list; NULL: out of memory. */
static void *room_for(struct reader *r, const struct pl_json_node *list, size_t size)
{
    return pl_arena_zalloc(r->arena, list ? pl_json_count(list) + 1 : 1, size);
}

enum pl_status pl_ext_registration_read(struct pl_arena *arena, const struct pl_json_doc *doc,
                                        const struct pl_json_node *payload,
                                        struct pl_ext_registration *ret_registration,
                                        struct pl_error *err)
{
    struct pl_ext_registration to = {0};
    struct reader r = {arena, doc, &to, err};
    const struct pl_json_node *tools = pl_json_member(doc, payload, "tools", PL_JSON_ARRAY);
    const struct pl_json_node *commands =
        pl_json_member(doc, payload, "slash_commands", PL_JSON_ARRAY);
    const struct pl_json_node *hooks = pl_json_member(doc, payload, "event_hooks", PL_JSON_ARRAY);
    enum pl_status status = filled_text(&r, payload, "name", &to.name);
    if (status == PL_OK)
        status = filled_text(&r, payload, "version", &to.version);
    if (status == PL_OK)
        status = check_api(&r, payload);
    if (status == PL_OK)
        status = pl_ext_manifest_read(arena, doc, payload, &to.manifest, err);
    if (status != PL_OK)
        return status;
    to.tools = room_for(&r, tools, sizeof *to.tools);
    to.commands = room_for(&r, commands, sizeof *to.commands);
    to.subscriptions = room_for(&r, hooks, sizeof *to.subscriptions);
    to.unknown_hooks = room_for(&r, hooks, sizeof *to.unknown_hooks);
    if (!to.tools || !to.commands || !to.subscriptions || !to.unknown_hooks)
        return no_memory(&r);
    status = read_all(&r, tools, read_tool);
    if (status == PL_OK)
        status = read_all(&r, commands, read_command);
    if (status == PL_OK)
        status = read_all(&r, hooks, read_hook);
    if (status == PL_OK)
        *ret_registration = to;
    return status;
}
