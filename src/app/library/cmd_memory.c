/* parley memory: facts remembered across sessions. */
#include "base/text/utf8.h"
#include "app/frame/input.h"
#include "app/chat/turn_show.h"
#include "app/frame/verbs.h"

#include "io/file/file.h"
#include "json/text.h"

enum {
    MAX_CONTENT = 500,
    MAX_LIMIT = 100,
    CONTENT_WIDTH = 70,
    MAX_IMPORT = 256 << 20,
    BATCH = 100
};

/* Members that a user may set, in the order of the seed. */
static const struct pl_deed_param members[] = {
    {PL_OPT_TYPE, "type"},
    {PL_OPT_SKILL, "skill_name"},
    {PL_OPT_RECORD, "record_type"},
    {PL_OPT_SCOPE, "scope"},
    {PL_OPT_OWNER, "owner"},
    {PL_OPT_TOPIC, "topic"},
    {PL_OPT_MEM0, "mem0_id"},
    {PL_OPT_REASON, "write_reason"},
    {PL_OPT_SESSION, "source_session"},
    {0},
};

/* Writes null for an empty value. */
static void out_members(struct pl_deed *deed)
{
    for (const struct pl_deed_param *member = members; member->name; member++) {
        const char *value = pl_deed_option(deed, member->id);
        if (!value)
            continue;
        pl_json_out_key(&deed->out, member->name);
        if (*value)
            pl_json_out_text(&deed->out, pl_str_of(value));
        else
            pl_json_out_null(&deed->out);
    }
}

static enum pl_exit check_id(struct pl_deed *deed, const char *word)
{
    uint64_t id;
    if (pl_option_read_count(word, INT64_MAX, &id))
        return PL_EXIT_OK;
    return pl_deed_usage(deed, "the id of a memory is a number, not \"%s\"", word);
}

/* --- looking --------------------------------------------------------------------------------- */

/* The state of a memory: superseded, disabled or in use. */
static struct pl_str state_of(struct pl_deed *deed, const struct pl_json_node *memory)
{
    if (pl_json_member(&deed->answer, memory, "superseded_by", PL_JSON_NUMBER))
        return PL_STR("superseded");
    if (pl_json_member(&deed->answer, memory, "disabled", PL_JSON_TRUE))
        return PL_STR("disabled");
    return PL_STR("in use");
}

#define LIST_COLUMNS "id,type,state,hits,created,content"

static enum pl_exit print_list(struct pl_deed *deed)
{
    struct pl_texts *texts = &deed->api.texts;
    struct pl_columns columns;
    if (!pl_deed_item(deed, NULL)) {
        pl_console_say(deed->console, "no memory found");
        return PL_EXIT_OK;
    }
    pl_deed_begin_table(deed, &columns);
    for (const struct pl_json_node *one = NULL; (one = pl_deed_item(deed, one));) {
        pl_columns_add(&columns, pl_deed_number(deed, one, "id"));
        pl_columns_add(&columns, pl_deed_text(deed, one, "type"));
        pl_columns_add(&columns, state_of(deed, one));
        pl_columns_add(&columns, pl_deed_number(deed, one, "hit_count"));
        pl_columns_add(&columns, pl_time_of(texts, pl_deed_text(deed, one, "created_at")));
        pl_columns_add(&columns,
                       pl_line_of(texts, pl_deed_text(deed, one, "content"), CONTENT_WIDTH));
    }
    return pl_deed_print_table(deed, &columns, "--limit shows more; search finds specific ones.");
}

static enum pl_exit run_list(struct pl_deed *deed)
{
    static const struct pl_deed_param params[] = {
        {PL_OPT_TYPE, "type"},           {PL_OPT_SKILL, "skill_name"},
        {PL_OPT_RECORD, "record_type"},  {PL_OPT_SCOPE, "scope"},
        {PL_OPT_OWNER, "owner"},         {PL_OPT_TOPIC, "topic"},
        {PL_OPT_MEM0, "mem0_id"},        {PL_OPT_SESSION, "source_session"},
        {PL_OPT_DISABLED, "disabled"},   {PL_OPT_SUPERSEDED, "superseded"},
        {PL_OPT_AFTER, "created_after"}, {PL_OPT_BEFORE, "created_before"},
        {PL_OPT_LIMIT, "limit"},         {0}};
    enum pl_exit code = pl_deed_check_count(deed, PL_OPT_LIMIT, MAX_LIMIT);
    if (code == PL_EXIT_OK)
        code = pl_deed_ask(deed, "GET", pl_deed_query(deed, "/api/memories", params));
    if (code != PL_EXIT_OK)
        return code;
    return deed->api.is_json ? pl_deed_print(deed) : print_list(deed);
}

static enum pl_exit run_show(struct pl_deed *deed)
{
    struct pl_texts *texts = &deed->api.texts;
    enum pl_exit code = check_id(deed, deed->words[0]);
    if (code == PL_EXIT_OK)
        code = pl_deed_ask(deed, "GET", pl_deed_path(deed, "/api/memories/%"));
    if (code != PL_EXIT_OK || deed->api.is_json)
        return code == PL_EXIT_OK ? pl_deed_print(deed) : code;
    const struct pl_json_node *memory = deed->answer.root;
    pl_console_put_safe(deed->console, pl_deed_number(deed, memory, "id"));
    pl_console_puts(deed->console, "\n");
    pl_show_member(deed->console, "state", state_of(deed, memory));
    for (const struct pl_deed_param *member = members; member->name; member++)
        pl_show_member(deed->console, member->name, pl_deed_text(deed, memory, member->name));
    if (pl_json_member(&deed->answer, memory, "superseded_by", PL_JSON_NUMBER))
        pl_show_member(deed->console, "by", pl_deed_number(deed, memory, "superseded_by"));
    pl_show_member(deed->console, "created",
                   pl_time_of(texts, pl_deed_text(deed, memory, "created_at")));
    pl_show_member(deed->console, "hits", pl_deed_number(deed, memory, "hit_count"));
    pl_show_member(deed->console, "last hit",
                   pl_time_of(texts, pl_deed_text(deed, memory, "last_hit_at")));
    pl_console_puts(deed->console, "\n");
    pl_show_text(deed->console, pl_deed_text(deed, memory, "content"), 0);
    pl_console_puts(deed->console, "\n");
    return PL_EXIT_OK;
}

static enum pl_exit run_search(struct pl_deed *deed)
{
    static const struct {
        enum pl_option_id id;
        const char *name;
    } flags[] = {{PL_OPT_DISABLED, "include_disabled"}, {PL_OPT_SUPERSEDED, "include_superseded"}};
    uint64_t limit = 0;
    const char *count = pl_deed_option(deed, PL_OPT_LIMIT);
    struct pl_str text;
    enum pl_exit code = pl_deed_check_count(deed, PL_OPT_LIMIT, MAX_LIMIT);
    if (code == PL_EXIT_OK)
        code = pl_deed_read_text(deed, deed->words[0], true, &text);
    if (code != PL_EXIT_OK)
        return code;
    pl_json_out_open(&deed->out, '{');
    pl_json_out_key(&deed->out, "query");
    pl_json_out_text(&deed->out, text);
    if (count && pl_option_read_count(count, MAX_LIMIT, &limit)) {
        pl_json_out_key(&deed->out, "limit");
        pl_json_out_int(&deed->out, (int64_t)limit);
    }
    for (const struct pl_deed_param *member = members; member->name; member++)
        if (member->id != PL_OPT_MEM0 && member->id != PL_OPT_REASON &&
            member->id != PL_OPT_SESSION)
            pl_api_out_option(&deed->out, deed->args, member->id, member->name);
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if (pl_args_has(deed->args, flags[i].id)) {
            pl_json_out_key(&deed->out, flags[i].name);
            pl_json_out_bool(&deed->out, true);
        }
    pl_json_out_close(&deed->out, '}');
    code = pl_deed_ask(deed, "POST", "/api/memories/search");
    if (code != PL_EXIT_OK)
        return code;
    return deed->api.is_json ? pl_deed_print(deed) : print_list(deed);
}

/* --- writing --------------------------------------------------------------------------------- */

static enum pl_exit run_add(struct pl_deed *deed)
{
    struct pl_error err = {0};
    struct pl_str text;
    enum pl_exit code = pl_deed_read_text(deed, deed->words[0], true, &text);
    if (code != PL_EXIT_OK)
        return code;
    if (!text.len || pl_utf8_count(text) > MAX_CONTENT)
        return pl_deed_fail(deed,
                            pl_fail(&err, PL_INVALID, "a memory has 1 to %d characters, not %zu",
                                    MAX_CONTENT, pl_utf8_count(text)),
                            &err);
    pl_json_out_open(&deed->out, '{');
    pl_json_out_key(&deed->out, "content");
    pl_json_out_text(&deed->out, text);
    out_members(deed);
    if (pl_args_has(deed->args, PL_OPT_DISABLED)) {
        pl_json_out_key(&deed->out, "disabled");
        pl_json_out_bool(&deed->out, true);
    }
    pl_json_out_close(&deed->out, '}');
    code = pl_deed_ask(deed, "POST", "/api/memories");
    return code == PL_EXIT_OK ? pl_deed_print_made(deed, "id") : code;
}

static enum pl_exit run_edit(struct pl_deed *deed)
{
    const char *content = pl_deed_option(deed, PL_OPT_CONTENT);
    struct pl_str text;
    enum pl_exit code = check_id(deed, deed->words[0]);
    if (code == PL_EXIT_OK && content)
        code = pl_deed_read_text(deed, content, true, &text);
    if (code != PL_EXIT_OK)
        return code;
    pl_json_out_open(&deed->out, '{');
    if (content) {
        pl_json_out_key(&deed->out, "content");
        pl_json_out_text(&deed->out, text);
    }
    out_members(deed);
    pl_json_out_close(&deed->out, '}');
    if (pl_str_eq(pl_buf_str(&deed->body), PL_STR("{}")))
        return pl_deed_usage(deed, "nothing to change; give --content TEXT, --type, --topic or "
                                   "another option");
    code = pl_deed_ask(deed, "PATCH", pl_deed_path(deed, "/api/memories/%"));
    return code == PL_EXIT_OK ? pl_deed_done(deed, "changed") : code;
}

/* The change is conditional on the current value: it fails if another change came first. */
static enum pl_exit run_supersede(struct pl_deed *deed)
{
    bool is_taken_back = pl_args_has(deed->args, PL_OPT_REMOVE);
    uint64_t by = 0;
    if (is_taken_back == (deed->n_words == 2))
        return pl_deed_usage(deed, "usage: parley memory supersede ID BY, or supersede ID "
                                   "--remove");
    enum pl_exit code = check_id(deed, deed->words[0]);
    if (code == PL_EXIT_OK && !is_taken_back)
        code = check_id(deed, deed->words[1]);
    if (code == PL_EXIT_OK)
        code = pl_deed_ask(deed, "GET", pl_deed_path(deed, "/api/memories/%"));
    if (code != PL_EXIT_OK)
        return code;
    int64_t now = pl_api_int(&deed->answer, deed->answer.root, "superseded_by", 0);
    pl_json_out_open(&deed->out, '{');
    pl_json_out_key(&deed->out, "by");
    if (is_taken_back || !pl_option_read_count(deed->words[1], INT64_MAX, &by))
        pl_json_out_null(&deed->out);
    else
        pl_json_out_int(&deed->out, (int64_t)by);
    pl_json_out_key(&deed->out, "expected");
    if (now)
        pl_json_out_int(&deed->out, now);
    else
        pl_json_out_null(&deed->out);
    pl_json_out_close(&deed->out, '}');
    code = pl_deed_ask(deed, "POST", pl_deed_path(deed, "/api/memories/%/supersede"));
    if (code != PL_EXIT_OK)
        return code;
    return is_taken_back ? pl_deed_done(deed, "%s is in use again", deed->words[0])
                         : pl_deed_done(deed, "%s replaces %s", deed->words[1], deed->words[0]);
}

static enum pl_exit set_disabled(struct pl_deed *deed, bool is_disabled)
{
    enum pl_exit code = check_id(deed, deed->words[0]);
    if (code != PL_EXIT_OK)
        return code;
    pl_json_out_open(&deed->out, '{');
    pl_json_out_key(&deed->out, "disabled");
    pl_json_out_bool(&deed->out, is_disabled);
    pl_json_out_close(&deed->out, '}');
    code = pl_deed_ask(deed, "PATCH", pl_deed_path(deed, "/api/memories/%"));
    return code == PL_EXIT_OK ? pl_deed_done(deed, is_disabled ? "disabled" : "in use again")
                              : code;
}

static enum pl_exit run_disable(struct pl_deed *deed)
{
    return set_disabled(deed, true);
}

static enum pl_exit run_enable(struct pl_deed *deed)
{
    return set_disabled(deed, false);
}

static enum pl_exit run_delete(struct pl_deed *deed)
{
    enum pl_exit code = check_id(deed, deed->words[0]);
    if (code == PL_EXIT_OK)
        code = pl_deed_confirm(deed, "Delete the memory %s?", deed->words[0]);
    if (code == PL_EXIT_OK)
        code = pl_deed_ask(deed, "DELETE", pl_deed_path(deed, "/api/memories/%"));
    return code == PL_EXIT_OK ? pl_deed_done(deed, "deleted") : code;
}

/* --- many ------------------------------------------------------------------------------------ */

static enum pl_exit run_export(struct pl_deed *deed)
{
    static const char all[] = "/api/memories?limit=100";
    size_t n = 0;
    for (const char *path = all; path; path = pl_deed_next_page(deed, all)) {
        enum pl_exit code = pl_deed_ask(deed, "GET", path);
        if (code != PL_EXIT_OK)
            return code;
        for (const struct pl_json_node *one = NULL; (one = pl_deed_item(deed, one)); n++) {
            pl_json_write_min(pl_console_out(deed->console), &deed->answer, one);
            pl_console_puts(deed->console, "\n");
        }
        pl_console_settle(deed->console);
        pl_console_progress(deed->console, "%zu memories ...", n);
    }
    return PL_EXIT_OK;
}

struct import {
    struct pl_deed *deed;
    const char *name; /* file name, in messages */
    size_t line;      /* of the newest memory in the batch */
    size_t n_batch, n_done;
};

/* The member that a key names if a user may set it; otherwise NULL. */
static const char *member_of(const struct pl_json_doc *doc, const struct pl_json_node *key)
{
    static const char *const others[] = {"content", "disabled"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (pl_json_key_is(doc, key, pl_str_of(others[i])))
            return others[i];
    for (const struct pl_deed_param *member = members; member->name; member++)
        if (pl_json_key_is(doc, key, pl_str_of(member->name)))
            return member->name;
    return NULL;
}

/* Imports only members that a user may set; the store sets the others (id, hits, times). */
static enum pl_exit add_line(struct import *import, struct pl_str line)
{
    struct pl_deed *deed = import->deed;
    struct pl_json_doc doc;
    struct pl_error err = {0};
    enum pl_status status = pl_json_parse(&deed->api.texts.arena, line, NULL, &doc, &err);
    if (status == PL_OK && pl_json_kind(doc.root) != PL_JSON_OBJECT)
        status = pl_fail(&err, PL_SYNTAX, "a memory is a JSON object with the member content");
    if (status != PL_OK) {
        err.status = status;
        err.has_position = true;
        err.line = import->line;
        err.column = err.column ? err.column : 1;
        return pl_console_fail(deed->console, import->name, &err);
    }
    if (!import->n_batch) {
        pl_json_out_open(&deed->out, '{');
        pl_json_out_key(&deed->out, "create");
        pl_json_out_open(&deed->out, '[');
    }
    import->n_batch++;
    /* The source session may not exist on this server; only a memory with session scope needs
     * it. */
    const struct pl_json_node *scope = pl_json_member(&doc, doc.root, "scope", PL_JSON_STRING);
    bool is_of_session = scope && pl_json_text_is(&doc, scope, PL_STR("session"));
    pl_json_out_open(&deed->out, '{');
    for (const struct pl_json_node *key = pl_json_first_member(doc.root);
         key < pl_json_end(doc.root); key = pl_json_next_member(key)) {
        const char *name = member_of(&doc, key);
        if (!name || (strcmp(name, "source_session") == 0 && !is_of_session))
            continue;
        pl_json_out_key(&deed->out, name);
        pl_json_out_raw(&deed->out, pl_json_span(&doc, key + 1));
    }
    pl_json_out_close(&deed->out, '}');
    return PL_EXIT_OK;
}

static enum pl_exit send_batch(struct import *import)
{
    struct pl_deed *deed = import->deed;
    size_t n = import->n_batch;
    if (!n)
        return PL_EXIT_OK;
    pl_json_out_close(&deed->out, ']');
    pl_json_out_close(&deed->out, '}');
    import->n_batch = 0;
    enum pl_exit code = pl_deed_ask(deed, "POST", "/api/memories/batch");
    if (code != PL_EXIT_OK) {
        pl_console_hint(deed->console,
                        "The error concerns the %zu memories up to line %zu of %s; %zu before them "
                        "were stored.",
                        n, import->line, import->name, import->n_done);
        return code;
    }
    import->n_done += n;
    pl_console_progress(deed->console, "%zu memories ...", import->n_done);
    return PL_EXIT_OK;
}

static enum pl_exit add_lines(struct import *import, struct pl_str text)
{
    enum pl_exit code = PL_EXIT_OK;
    while (text.len && code == PL_EXIT_OK) {
        const char *end = memchr(text.ptr, '\n', text.len);
        size_t n = end ? (size_t)(end - text.ptr) : text.len;
        struct pl_str line = pl_str_slice(text, 0, n);
        text = pl_str_slice(text, n + 1, text.len);
        import->line++;
        if (line.len && line.ptr[line.len - 1] == '\r')
            line.len--;
        if (line.len)
            code = add_line(import, line);
        if (code == PL_EXIT_OK && import->n_batch == BATCH)
            code = send_batch(import);
    }
    return code == PL_EXIT_OK ? send_batch(import) : code;
}

static enum pl_exit run_import(struct pl_deed *deed)
{
    PL_CLEANUP_FILE struct pl_file file = {0};
    struct pl_error err = {0};
    struct import import = {.deed = deed, .name = pl_input_name(deed->words[0])};
    if (pl_file_read(deed->words[0], MAX_IMPORT, NULL, &file, &err) != PL_OK)
        return pl_console_fail(deed->console, import.name, &err);
    enum pl_exit code = add_lines(&import, file.bytes);
    if (code != PL_EXIT_OK)
        return code;
    if (deed->api.is_json)
        pl_console_putf(deed->console, "{\"created\":%zu}\n", import.n_done);
    else
        pl_console_say(deed->console, "stored %zu memories", import.n_done);
    return PL_EXIT_OK;
}

const struct pl_verb pl_memory_verbs[] = {
    {"list", "", 0, 0, "List memories, newest first", run_list, .columns = LIST_COLUMNS},
    {"show", "ID", 1, 1, "Show all fields of a memory", run_show},
    {"add", "TEXT", 1, 1, "Store a text of 1 to 500 characters, and print its id", run_add},
    {"edit", "ID", 1, 1, "Change the given fields; an empty value clears a field", run_edit},
    {"search", "TEXT", 1, 1, "List the matches, best first; in any language", run_search,
     .columns = LIST_COLUMNS},
    {"supersede", "ID [BY]", 1, 2,
     "Mark a memory as replaced by another, or undo this with "
     "--remove",
     run_supersede},
    {"disable", "ID", 1, 1, "Stop using it, but keep it", run_disable},
    {"enable", "ID", 1, 1, "Use it again", run_enable},
    {"delete", "ID", 1, 1, "Delete a memory", run_delete},
    {"import", "FILE", 1, 1, "Store the memories of a file: one JSON object per line (NDJSON)",
     run_import},
    {"export", "", 0, 0, "Print all memories, one JSON object per line (NDJSON)", run_export},
    {0},
};
