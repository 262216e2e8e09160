/* Creates a session from a document in any format, and reports losses. */
#include "base/table.h"
#include "format/convert.h"
#include "format/report_change.h"
#include "format/source.h"
#include "http/routes/route.h"
#include "json/pointer.h"
#include "json/text.h"
#include "model/model.h"
#include "service/blobs/media_import.h"
#include "service/blobs/media_keep.h"
#include "service/request_options.h"
#include "service/sessions/copies/copying.h"
#include "service/sessions/copies/reporting.h"
#include "service/sessions/routes.h"

/* A document given as a JSON string (gpt-oss, YAML …) or as JSON itself. */
static enum pl_status document_of(struct pl_exchange *x, struct pl_str *ret_text)
{
    const struct pl_json_node *node = pl_json_get(&x->body, x->body.root, PL_STR("document"));
    if (pl_json_kind(node) == PL_JSON_STRING)
        return pl_json_text(&x->arena, &x->body, node, ret_text);
    *ret_text = pl_json_span(&x->body, node);
    return PL_OK;
}

struct importing {
    struct pl_media_import media;
    struct pl_session_copy *copying; /* set when the links are fetched */
    struct pl_reporting reporting;
    struct pl_str report; /* arena */
    struct pl_exchange *x;
    struct pl_media_keep keep;
    struct pl_str turns; /* arena; turns with media to be stored first; {NULL, 0}: none */
};

/* Stores the linked media of the document, if requested. False: links must be fetched first. The
 * conversion reports unreadable documents. */
static bool store_media(struct pl_exchange *x, const struct pl_format *from,
                        struct pl_str *document, enum pl_status *ret_status)
{
    struct importing *importing = x->state;
    struct pl_str media = pl_body_text(x, "media");
    struct pl_media_import_options options = {
        .from = from,
        .is_expiring_only = pl_str_eq(media, PL_STR("store_expiring")),
    };
    struct pl_media_import_stored stored;
    if (!media.len || pl_str_eq(media, PL_STR("keep")))
        return true;
    enum pl_status status =
        pl_media_import_store(&importing->media, &x->arena, *document, &options, &stored, NULL);
    if (status != PL_OK) {
        *ret_status = status == PL_NOMEM ? status : PL_OK;
        return true;
    }
    if (pl_media_import_wants(&importing->media))
        return false;
    pl_exchange_header(x, "X-Media-Stored", "%zu", stored.n_stored);
    pl_exchange_header(x, "X-Media-Failed", "%zu", stored.n_notes);
    *document = stored.text;
    return true;
}

/* --- what a turn does not keep --------------------------------------------------------------- */

/* Takes the model that the document names, if this server has it. Otherwise the report says that
 * it was dropped. */
static enum pl_status take_model(struct pl_exchange *x, struct pl_str document,
                                 const struct pl_format *from, struct pl_session_copy *copying,
                                 struct pl_buf *report)
{
    PL_CLEANUP_SOURCE struct pl_source source;
    PL_CLEANUP_BUF struct pl_buf pointer;
    pl_buf_init(&pointer, 0);
    enum pl_status status = pl_source_open(&source, document, from, PL_MAX_ITEMS, NULL);
    if (status != PL_OK)
        return status == PL_NOMEM ? status : PL_OK; /* the error was reported */
    struct pl_val model = source.conv.settings.model;
    struct pl_str name = pl_arena_dup(&x->arena, pl_conv_text(&source.conv, model));
    const struct pl_model_info *info = name.len ? pl_model_find(x->setup->models, name) : NULL;
    if (!info || !model.node || pl_str_starts(name, PL_STR("replay/")))
        return source.conv.status;
    copying->record.model = pl_model_name(info, name);
    pl_json_pointer_of(&pointer, &source.doc, model.node);
    if (pointer.status != PL_OK)
        return pointer.status;
    return pl_report_change(report, &(struct pl_report_change){.kept = pl_buf_str(&pointer)});
}

/* Why a session drops a member of a turn of a turns document; NULL: it keeps it. */
static const char *why_not_kept(const struct pl_json_doc *doc, const struct pl_json_node *key)
{
    static const struct {
        const char *name;
        enum pl_json_kind kind;
    } members[] = {
        {"id", PL_JSON_STRING},
        {"sequence", PL_JSON_NUMBER},
        {"turn_id", PL_JSON_STRING},
        {"loop_id", PL_JSON_STRING},
        {"kind", PL_JSON_STRING},
        {"role", PL_JSON_STRING},
        {"status", PL_JSON_STRING},
        {"blocks", PL_JSON_ARRAY},
        {"tool_calls", PL_JSON_ARRAY},
        {"model", PL_JSON_STRING},
        {"usage", PL_JSON_OBJECT},
        {"duration_ms", PL_JSON_NUMBER},
        {"started_at", PL_JSON_STRING},
        {"context_window", PL_JSON_NUMBER},
        {"memory_refs", PL_JSON_ARRAY},
        {"parent_fork_tool_call_id", PL_JSON_STRING},
        {"timing", PL_JSON_OBJECT},
        {"metadata", PL_JSON_OBJECT},
        {"error", PL_JSON_STRING},
        {"error_info", PL_JSON_OBJECT},
        {"message_id", PL_JSON_STRING},
        {"name", PL_JSON_STRING},
        {"compaction_id", PL_JSON_STRING},
        {"summary_preview", PL_JSON_STRING},
        {"summary_full", PL_JSON_STRING},
        {"trigger", PL_JSON_STRING},
        {"archived_count", PL_JSON_NUMBER},
        {"tokens_before", PL_JSON_NUMBER},
        {"tokens_after", PL_JSON_NUMBER},
        {"saved_ratio", PL_JSON_NUMBER},
        {"client_message_id", PL_JSON_STRING},
    };
    enum pl_json_kind kind = pl_json_kind(key + 1);
    if (kind == PL_JSON_NULL)
        return NULL;
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        if (pl_json_key_is(doc, key, pl_str_of(members[i].name)))
            return kind == members[i].kind ? NULL : "it has the wrong type, so it is not read";
    return "a session has no place for it";
}

enum { MAX_UNKNOWN = 100 };

static enum pl_status tell_unknown(struct pl_exchange *x, struct pl_str turns,
                                   struct pl_buf *report)
{
    struct pl_json_doc doc;
    PL_VEC(struct pl_loss_note) notes = {0};
    struct pl_loss_note ids = {
        PL_LOSS_SYNTHESISED, PL_STR(""),
        PL_STR("every turn got a new id, turn_id and sequence; the old id is its message_id")};
    enum pl_status status = pl_json_parse(&x->arena, turns, &pl_json_own, &doc, NULL);
    if (status == PL_OK && !pl_vec_push(&notes, ids))
        status = PL_NOMEM;
    for (const struct pl_json_node *turn = status == PL_OK && pl_json_is(doc.root, PL_JSON_ARRAY)
                                               ? pl_json_first(doc.root)
                                               : NULL;
         turn && turn < pl_json_end(doc.root) && status == PL_OK; turn = pl_json_next(turn)) {
        for (const struct pl_json_node *key =
                 pl_json_is(turn, PL_JSON_OBJECT) ? pl_json_first_member(turn) : pl_json_end(turn);
             key < pl_json_end(turn) && status == PL_OK && notes.len < MAX_UNKNOWN;
             key = pl_json_next_member(key)) {
            const char *why = why_not_kept(&doc, key);
            if (!why)
                continue;
            PL_CLEANUP_BUF struct pl_buf pointer;
            pl_buf_init(&pointer, 0);
            pl_json_pointer_of(&pointer, &doc, key + 1);
            struct pl_loss_note note = {
                PL_LOSS_DROPPED, pl_arena_dup(&x->arena, pl_buf_str(&pointer)), pl_str_of(why)};
            if (pointer.status != PL_OK || !note.pointer.ptr || !pl_vec_push(&notes, note))
                status = PL_NOMEM;
        }
    }
    if (status == PL_OK)
        status = pl_report_change(
            report, &(struct pl_report_change){.added = notes.ptr, .n_added = notes.len});
    pl_vec_deinit(&notes);
    return status;
}

/* --- the import ------------------------------------------------------------------------------ */

static bool is_lossless(struct pl_str report)
{
    static const char end[] = "\"lossless\":true}";
    size_t n = sizeof end - 1;
    return report.len >= n && memcmp(report.ptr + report.len - n, end, n) == 0;
}

/* Media inside the document are stored as blobs before the turns. */
static enum pl_status look_for_media(struct pl_exchange *x, struct pl_str turns,
                                     struct pl_error *err)
{
    struct importing *importing = x->state;
    struct pl_json_doc doc;
    enum pl_status status = pl_json_parse(&x->arena, turns, &pl_json_own, &doc, err);
    if (status == PL_OK && pl_media_keep_is_needed(&doc, doc.root))
        importing->turns = turns;
    return status;
}

static enum pl_status add_turns(struct pl_exchange *x, struct pl_str document,
                                const struct pl_convert_opts *opts, struct pl_converted *converted,
                                struct pl_error *err)
{
    struct importing *importing = x->state;
    struct pl_session_copy *copying = importing->copying;
    enum pl_status status = pl_convert(document, opts, converted, err);
    struct pl_str turns =
        status == PL_OK ? pl_arena_dup(&x->arena, pl_buf_str(&converted->out)) : (struct pl_str){0};
    if (status == PL_OK)
        status = turns.ptr ? look_for_media(x, turns, err) : PL_NOMEM;
    copying->record.model = pl_body_text(x, "model");
    if (status == PL_OK && !copying->record.model.len)
        status = take_model(x, document, opts->from, copying, &converted->report);
    const struct pl_model_info *info =
        copying->record.model.len ? pl_model_find(x->setup->models, copying->record.model) : NULL;
    copying->context_window = info ? info->context_window : 0;
    if (status == PL_OK && !importing->turns.ptr)
        status = pl_session_copy_add_document(copying, &x->arena, turns, err);
    if (status == PL_OK && converted->from == opts->to)
        status = tell_unknown(x, turns, &converted->report);
    if (status != PL_OK)
        return status;
    struct pl_str report = pl_buf_str(&converted->report);
    if (importing->reporting.is_strict && !is_lossless(report))
        return pl_fail(err, PL_INVALID,
                       "The import would lose something, which strict=true refuses; the report "
                       "says what");
    importing->report = pl_arena_dup(&x->arena, report);
    return importing->report.ptr ? PL_OK : PL_NOMEM;
}

static void import_work(struct pl_exchange *x)
{
    struct importing *importing = x->state;
    struct pl_str from = pl_body_text(x, "from"), intent = pl_body_text(x, "intent"), document;
    struct pl_convert_opts opts = {
        .max_items = PL_MAX_ITEMS,
        .from = from.len ? pl_format_find(from) : NULL,
        .to = pl_format_find(PL_STR("turns")),
    };
    if (from.len && !opts.from) {
        from.len = from.len < 80 ? from.len : 80;
        pl_exchange_fail_name(x, "from", from);
        return;
    }
    enum pl_status status = document_of(x, &document);
    if (!pl_reporting_read(x, &importing->reporting) ||
        (status == PL_OK && !store_media(x, opts.from, &document, &status)))
        return;
    struct pl_session_copy *copying = pl_copying_begin(x);
    importing->copying = copying;
    x->state = importing;
    if (!copying)
        return;
    struct pl_error err = {0};
    struct pl_converted converted;
    pl_converted_init(&converted);
    if (status == PL_OK)
        status = add_turns(x, document, &opts, &converted, &err);
    copying->record.source = PL_STR("import");
    copying->record.intent = intent;
    if (status == PL_OK) {
        pl_report_header(x, importing->report);
    } else {
        pl_batch_destroy(copying->batch);
        pl_report_fail(x, status, &err, pl_buf_str(&converted.report));
    }
    pl_converted_deinit(&converted);
}

static void finish_import(struct pl_exchange *x)
{
    struct importing *importing = x->state;
    struct pl_session_copy *copying = importing->copying;
    if (!x->is_problem && !copying->record.intent.len)
        copying->record.intent =
            copying->title.len ? copying->title : PL_STR("Imported conversation");
    x->state = copying;
    pl_copying_finish_with(x, importing->reporting.is_in_body ? importing->report
                                                              : (struct pl_str){0});
}

static void add_kept(struct pl_exchange *x)
{
    struct importing *importing = x->state;
    struct pl_error err = {0};
    enum pl_status status =
        pl_session_copy_add_document(importing->copying, &x->arena, importing->turns, &err);
    if (status != PL_OK)
        pl_copying_fail(x, importing->copying, status, &err);
}

static void media_is_kept(struct pl_media_keep *keep)
{
    struct importing *importing = PL_CONTAINER_OF(keep, struct importing, keep);
    struct pl_exchange *x = importing->x;
    importing->turns = keep->document;
    if (keep->status == PL_OK) {
        pl_exchange_compute(x, add_kept, finish_import);
        return;
    }
    pl_copying_fail(x, importing->copying, keep->status, &keep->err);
    finish_import(x);
}

static void keep_media(struct pl_exchange *x)
{
    struct importing *importing = x->state;
    importing->x = x;
    importing->keep = (struct pl_media_keep){
        .shard = x->shard,
        .user_id = x->caller.user_id,
        .arena = &x->arena,
        .document = importing->turns,
        .is_lenient = true,
        .done = media_is_kept,
    };
    pl_media_keep_start(&importing->keep);
}

static void read_import(struct pl_exchange *x);

static void import_is_read(struct pl_exchange *x)
{
    struct importing *importing = x->state;
    if (!x->is_problem && pl_media_import_wants(&importing->media)) {
        pl_media_import_fetch(&importing->media, x, read_import);
        return;
    }
    if (!x->is_problem && importing->turns.ptr)
        keep_media(x);
    else
        finish_import(x);
}

static void read_import(struct pl_exchange *x)
{
    if (x->is_problem)
        import_is_read(x);
    else
        pl_exchange_compute(x, import_work, import_is_read);
}

static void session_import(struct pl_exchange *x)
{
    x->state = pl_exchange_room(x, sizeof(struct importing));
    if (x->state)
        read_import(x);
}

static const struct pl_route_param import_params[] = {
    PL_PARAMS_OF_REPORT,
    {NULL, NULL, NULL},
};

const struct pl_route pl_routes_imports[] = {
    {PL_METHOD_POST, "/api/sessions/import", PL_ROUTE_IDEMPOTENT | PL_ROUTE_LARGE, PL_FOR_SESSIONS,
     session_import, "session_import", "Create a session from a document in any format", "copies",
     "ImportRequest", "Imported", 201, import_params, .tells = "session:updated"},
    {0},
};
