/* Exports a session in any format, and reports losses. */
#include "access/audit.h"
#include "agent/context/session_document.h"
#include "format/convert.h"
#include "format/gpt_oss/gpt_oss.h"
#include "http/routes/route.h"
#include "json/text.h"
#include "json/write.h"
#include "service/request_options.h"
#include "service/sessions/next_request.h"
#include "service/sessions/copies/reporting.h"
#include "service/sessions/routes.h"
#include "service/sessions/session_request.h"

struct exporting {
    const struct pl_format *own, *format;
    struct pl_reporting reporting;
    struct pl_convert_opts convert;
    struct pl_document_opts document;
    struct pl_session_record record;
    struct pl_buf turns;           /* owned */
    struct pl_converted converted; /* owned */
};

static bool read_options(struct pl_exchange *x, struct exporting *e)
{
    static const char *const words[] = {"convert", "repair", "gateway", NULL};
    static const enum pl_mode modes[] = {PL_MODE_CONVERT, PL_MODE_REPAIR, PL_MODE_GATEWAY};
    size_t mode = 0;
    struct pl_str name = pl_target_param(&x->target, "format");
    e->own = pl_format_find(PL_STR("turns"));
    e->format = name.len ? pl_format_find(name) : e->own;
    if (!e->format) {
        name.len = name.len < 80 ? name.len : 80;
        pl_exchange_fail_name(x, "format", name);
        return false;
    }
    if (!pl_param_word(x, "mode", words, &mode) || !pl_reporting_read(x, &e->reporting))
        return false;
    e->document = (struct pl_document_opts){.session_id = x->args[0],
                                            .loop_id = pl_target_param(&x->target, "loop_id")};
    e->convert = (struct pl_convert_opts){.from = e->own,
                                          .to = e->format,
                                          .mode = modes[mode],
                                          .is_own = true,
                                          .is_strict = e->reporting.is_strict};
    return true;
}

/* A vendor's document names the model without our name of the vendor. */
static struct pl_str model_of(const struct exporting *e)
{
    struct pl_str model = e->record.model;
    const char *slash = model.len ? memchr(model.ptr, '/', model.len) : NULL;
    if (!slash || !e->format->is_vendor)
        return model;
    return pl_str_slice(model, (size_t)(slash - model.ptr) + 1, model.len);
}

/* An envelope shows the real request to the model. */
static enum pl_status write_request(struct pl_exchange *x, struct exporting *e, size_t *ret_n,
                                    struct pl_error *err)
{
    struct pl_request request;
    enum pl_status status = pl_exchange_read_request(x, &request, err);
    if (status != PL_OK)
        return status;
    *ret_n = request.n_turns;
    return pl_request_write(&request, &e->turns);
}

static enum pl_status make_document(struct pl_exchange *x, struct exporting *e,
                                    struct pl_error *err)
{
    struct pl_store *store = x->shard->server->store;
    size_t n = 0;
    enum pl_status status =
        pl_store_session_get(store, &x->arena, x->caller.user_id, x->args[0], &e->record, err);
    if (status == PL_OK && e->format == e->own)
        status = pl_session_turns_write(store, &e->document, &e->converted.out, &n, err);
    else if (status == PL_OK && e->format == &pl_format_envelope)
        status = write_request(x, e, &n, err);
    else if (status == PL_OK)
        status = pl_session_document_write(store, &e->record, &e->document, model_of(e), &e->turns,
                                           &n, err);
    if (status == PL_OK && !n && e->document.loop_id.len &&
        !pl_str_eq(e->document.loop_id, PL_STR("root"))) {
        pl_error_point(err, "/loop_id");
        return pl_fail(err, PL_NOT_FOUND, "there is no loop \"%.*s\" in this session",
                       (int)(e->document.loop_id.len < 80 ? e->document.loop_id.len : 80),
                       e->document.loop_id.ptr);
    }
    if (status != PL_OK || e->format == e->own)
        return status;
    return pl_convert(pl_buf_str(&e->turns), &e->convert, &e->converted, err);
}

static struct pl_str report_of(const struct exporting *e)
{
    return e->format == e->own ? PL_STR("{\"from\":\"turns\",\"to\":\"turns\",\"losses\":[],"
                                        "\"lossless\":true}")
                               : pl_buf_str(&e->converted.report);
}

/* {"from","to","document","report"}, like the answer of POST /api/convert. */
static void put_with_report(struct pl_exchange *x, const struct exporting *e)
{
    PL_CLEANUP_ARENA struct pl_arena arena;
    pl_arena_init(&arena, 0);
    struct pl_json_doc doc;
    struct pl_str made = pl_buf_str(&e->converted.out);
    bool is_json = pl_json_parse(&arena, made, &pl_json_made, &doc, NULL) == PL_OK;
    pl_buf_addf(&x->reply, "{\"from\":\"turns\",\"to\":\"%s\",\"document\":", e->format->name);
    if (is_json)
        pl_buf_add(&x->reply, made);
    else
        pl_json_quote(&x->reply, made);
    pl_buf_adds(&x->reply, ",\"report\":");
    pl_buf_add(&x->reply, report_of(e));
    pl_buf_addc(&x->reply, '}');
}

static void put_document(struct pl_exchange *x, const struct exporting *e)
{
    if (e->format == &pl_format_gpt_oss)
        x->content_type = "text/plain; charset=utf-8";
    pl_buf_add(&x->reply, pl_buf_str(&e->converted.out));
}

static void export_work(struct pl_exchange *x)
{
    struct exporting e = {0};
    struct pl_error err = {0};
    if (!read_options(x, &e))
        return;
    pl_buf_init(&e.turns, 0);
    pl_converted_init(&e.converted);
    enum pl_status status = make_document(x, &e, &err);
    if (status != PL_OK) {
        pl_report_fail(x, status, &err, pl_buf_str(&e.converted.report));
    } else {
        pl_report_header(x, report_of(&e));
        if (e.reporting.is_in_body)
            put_with_report(x, &e);
        else
            put_document(x, &e);
    }
    pl_converted_deinit(&e.converted);
    pl_buf_deinit(&e.turns);
}

static void export_looked(struct pl_exchange *x, struct pl_session_command *command)
{
    pl_exchange_position(x, command);
    pl_session_command_deinit(command);
    pl_audit_tell(x, "session.export", x->args[0]);
    pl_exchange_compute(x, export_work, NULL);
}

static void session_export(struct pl_exchange *x)
{
    pl_exchange_look(x, export_looked);
}

static const struct pl_route_param export_params[] = {
    {"format", "{\"type\":\"string\"}", "Name of a format; turns by default"},
    {"mode", "{\"enum\":[\"convert\",\"repair\",\"gateway\"]}",
     "convert by default; repair: also make it valid for the format; gateway: also for its models"},
    {"loop_id", "{\"type\":\"string\"}",
     "Only this loop: root, or that of a sub-agent. By default turns has all of them, and any "
     "other "
     "format root"},
    PL_PARAMS_OF_REPORT,
    {NULL, NULL, NULL},
};

const struct pl_route pl_routes_exports[] = {
    {PL_METHOD_GET, "/api/sessions/{id}/export", PL_ROUTE_ANY_REPLY, PL_FOR_SESSIONS | PL_FOR_READ,
     session_export, "session_export", "Write a session in any format", "copies", NULL, "Exported",
     200, export_params, .max_reply = PL_MAX_EXPORT},
    {0},
};
