/* parley session export and import: a session as a file, with a report of the losses. */
#include "app/chat/session_files.h"

#include "app/frame/input.h"

#include "base/text/utf8.h"
#include "io/file/outfile.h"
#include "json/text.h"
#include "json/write.h"

#include <stdio.h>

enum { MAX_IMPORT = 32 << 20, MAX_DEPTH = 256 };

/* --- the report ------------------------------------------------------------------------------ */

static const struct pl_json_node *report_of(const struct pl_deed *deed)
{
    return pl_json_is(deed->answer.root, PL_JSON_OBJECT)
               ? pl_json_member(&deed->answer, deed->answer.root, "report", PL_JSON_OBJECT)
               : NULL;
}

/* Also saves the report of a refusal: it says why. */
static enum pl_exit save_report(struct pl_deed *deed)
{
    const char *path = pl_deed_option(deed, PL_OPT_REPORT);
    const struct pl_json_node *report = report_of(deed);
    struct pl_error err = {0};
    PL_CLEANUP_BUF struct pl_buf text;
    pl_buf_init(&text, 0);
    if (!path || !report)
        return PL_EXIT_OK;
    pl_json_write_min(&text, &deed->answer, report);
    pl_buf_addc(&text, '\n');
    if (text.status != PL_OK)
        return pl_deed_fail(deed, text.status, &err);
    return pl_file_write(path, pl_buf_str(&text), &err) == PL_OK
               ? PL_EXIT_OK
               : pl_console_fail(deed->console, path, &err);
}

/* Prints the number of losses if no report was requested. */
static void tell_losses(struct pl_deed *deed)
{
    const struct pl_json_node *report = report_of(deed);
    const struct pl_json_node *losses =
        report ? pl_json_member(&deed->answer, report, "losses", PL_JSON_ARRAY) : NULL;
    size_t n = 0;
    for (const struct pl_json_node *one = losses ? pl_json_first(losses) : NULL;
         one && one < pl_json_end(losses); one = pl_json_next(one)) {
        struct pl_str code = pl_deed_text(deed, one, "code");
        n += !pl_str_eq(code, PL_STR("moved")) && !pl_str_eq(code, PL_STR("synthesised"));
    }
    if (n && !pl_deed_option(deed, PL_OPT_REPORT))
        pl_console_say(deed->console, "%zu %s; --report FILE writes what, --strict refuses it", n,
                       n == 1 ? "value is not kept as it was" : "values are not kept as they were");
}

/* Sends a request, keeps the answer even if it is an error, and saves the report in it. */
static enum pl_exit ask(struct pl_deed *deed, struct pl_http_call *call, const char *path)
{
    PL_CLEANUP_BUF struct pl_buf reply;
    pl_buf_init(&reply, 0);
    enum pl_exit code = pl_api_call(&deed->api, call, path, &reply);
    struct pl_json_opts opts = pl_json_own;
    struct pl_error err = {0};
    opts.max_depth = MAX_DEPTH;
    struct pl_str kept = pl_arena_dup(&deed->api.texts.arena, pl_buf_str(&reply));
    enum pl_status status =
        !kept.ptr ? PL_NOMEM
                  : pl_json_parse(&deed->api.texts.arena, kept, &opts, &deed->answer, &err);
    if (code == PL_EXIT_OK && status != PL_OK)
        return pl_deed_fail(
            deed,
            status == PL_SYNTAX
                ? pl_fail(&err, PL_IO, "unexpected answer; is this a Parley server?")
                : status,
            &err);
    enum pl_exit saved = status == PL_OK ? save_report(deed) : PL_EXIT_OK;
    return code != PL_EXIT_OK ? code : saved;
}

/* --- export ---------------------------------------------------------------------------------- */

enum pl_exit pl_session_export(struct pl_deed *deed)
{
    static const struct pl_deed_param params[] = {{PL_OPT_FORMAT, "format"},
                                                  {PL_OPT_MODE, "mode"},
                                                  {PL_OPT_LOOP, "loop_id"},
                                                  {PL_OPT_STRICT, "strict"},
                                                  {0}};
    struct pl_http_call call = {.method = "GET"};
    const char *path = pl_deed_query(
        deed, pl_api_path(&deed->api, "/api/sessions/%/export?report=body", deed->words[0], NULL),
        params);
    enum pl_exit code = ask(deed, &call, path);
    if (code != PL_EXIT_OK)
        return code;
    struct pl_error err = {0};
    struct pl_str text = {0};
    const struct pl_json_node *document =
        pl_json_is(deed->answer.root, PL_JSON_OBJECT)
            ? pl_json_get(&deed->answer, deed->answer.root, PL_STR("document"))
            : NULL;
    if (!document)
        return pl_deed_fail(
            deed, pl_fail(&err, PL_IO, "unexpected answer; is this a Parley server?"), &err);
    if (pl_json_is(document, PL_JSON_STRING))
        text = pl_deed_text(deed, deed->answer.root, "document");
    else
        text = pl_json_span(&deed->answer, document);
    code = pl_deed_put_result(deed, text);
    if (code == PL_EXIT_OK)
        tell_losses(deed);
    return code;
}

/* --- import ---------------------------------------------------------------------------------- */

/* Writes JSON unchanged, byte for byte; any other document as a string. */
static void put_document(struct pl_deed *deed, struct pl_str bytes)
{
    PL_CLEANUP_ARENA struct pl_arena arena;
    pl_arena_init(&arena, 0);
    struct pl_json_doc doc;
    bool is_json = pl_json_parse(&arena, bytes, NULL, &doc, NULL) == PL_OK;
    pl_json_out_open(&deed->out, '{');
    pl_api_out_option(&deed->out, deed->args, PL_OPT_FROM, "from");
    pl_api_out_option(&deed->out, deed->args, PL_OPT_INTENT, "intent");
    pl_api_out_option(&deed->out, deed->args, PL_OPT_MODEL, "model");
    pl_json_out_key(&deed->out, "document");
    if (is_json)
        pl_json_out_raw(&deed->out, pl_json_span(&doc, doc.root));
    else
        pl_json_out_text(&deed->out, bytes.len ? bytes : PL_STR(""));
    pl_json_out_close(&deed->out, '}');
}

enum pl_exit pl_session_import(struct pl_deed *deed)
{
    static const struct pl_deed_param params[] = {{PL_OPT_STRICT, "strict"}, {0}};
    PL_CLEANUP_FILE struct pl_file file = {0};
    struct pl_error err = {0};
    if (pl_file_read(deed->words[0], MAX_IMPORT, NULL, &file, &err) != PL_OK)
        return pl_console_fail(deed->console, pl_input_name(deed->words[0]), &err);
    if (!pl_utf8_is_valid(file.bytes)) {
        (void)pl_fail(&err, PL_UNREADABLE, "the file is not UTF-8");
        return pl_console_fail(deed->console, pl_input_name(deed->words[0]), &err);
    }
    put_document(deed, file.bytes);
    if (deed->body.status != PL_OK)
        return pl_deed_fail(deed, deed->body.status, &err);
    struct pl_http_call call = {
        .method = "POST", .body = pl_buf_str(&deed->body), .has_body = true};
    enum pl_exit code =
        ask(deed, &call, pl_deed_query(deed, "/api/sessions/import?report=body", params));
    if (code == PL_EXIT_NO)
        pl_console_hint(deed->console, "%s was not imported.", pl_input_name(deed->words[0]));
    if (code == PL_EXIT_OK)
        code = pl_deed_print_made(deed, "id");
    if (code == PL_EXIT_OK)
        tell_losses(deed);
    return code;
}
