/* Extensions in the audit (access/audit.h): what they were allowed and did, never the content. A
 * row is durable before a write or an execution that it announces. */
#include "ext/run/ext_int.h"

#include "access/audit.h"
#include "base/mem.h"
#include "json/text.h"
#include "shard/log.h"
#include "store/audit.h"

/* Rows that nobody waits for are collected for this long, or up to this number: one commit for
 * all. */
enum { GATHER_MS = 20, GATHER_ROWS = 256 };

struct auditing {
    struct pl_ext_shard *exts; /* borrowed */
    pl_batch_done_fn *done;
    void *ctx;
};

void pl_ext_put_texts(struct pl_json_out *out, const struct pl_ext_text *texts, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!texts[i].value.len)
            continue;
        pl_json_out_key(out, texts[i].key);
        pl_json_out_text(out, texts[i].value);
    }
}

static void on_committed(void *ctx, enum pl_status status, const struct pl_error *err)
{
    struct auditing *a = ctx;
    if (status != PL_OK)
        pl_log_say(a->exts->shard->server->log, a->exts->shard, PL_LOG_WARNING,
                   "an audit row of an extension could not be stored: %s", err->message);
    if (a->done)
        a->done(a->ctx, status, err);
    pl_mem_free(a);
}

/* The current batch, or a new one; NULL: out of memory. */
static struct pl_batch *batch_of(struct pl_ext_shard *exts)
{
    if (!exts->gathered)
        exts->gathered = pl_batch_create();
    return exts->gathered;
}

static void add_row(struct pl_ext_shard *exts, struct pl_batch *batch,
                    const struct pl_ext_audited *what)
{
    struct pl_audit_row row = {
        .at_ms = what->at_ms ? what->at_ms : pl_loop_unix_ms(exts->loop),
        .user_id = what->user_id,
        .action = pl_str_of(what->action),
        .object = what->object,
        .detail = what->detail,
    };
    pl_batch_add_audit(batch, &row);
}

void pl_ext_audit_write(struct pl_ext_shard *exts)
{
    struct pl_ext_unwritten *row = PL_TAKE(exts->unwritten);
    exts->last_unwritten = NULL;
    exts->n_unwritten = 0;
    for (struct pl_ext_unwritten *next; row; row = next) {
        next = row->next;
        row->write(row);
    }
}

/* Submits all collected rows as one batch: rows keep their order. */
static void submit(struct pl_ext_shard *exts, struct auditing *a)
{
    pl_timer_stop(exts->loop, &exts->gather);
    pl_audit_expect(exts->shard->server->audit);
    pl_store_submit(exts->shard->server->store, exts->loop, PL_TAKE(exts->gathered), on_committed,
                    a);
}

void pl_ext_audit(struct pl_ext_shard *exts, const struct pl_ext_audited *what,
                  pl_batch_done_fn *done, void *ctx)
{
    pl_ext_audit_write(exts);
    struct auditing *a = pl_mem_alloc(1, sizeof *a);
    struct pl_batch *batch = a ? batch_of(exts) : NULL;
    if (!batch) {
        struct pl_error err = {0};
        pl_mem_free(a);
        if (done)
            done(ctx, pl_fail(&err, PL_NOMEM, "out of memory"), &err);
        return;
    }
    *a = (struct auditing){exts, done, ctx};
    add_row(exts, batch, what);
    submit(exts, a);
}

static void on_gathered(struct pl_timer *timer)
{
    pl_ext_audit_flush(PL_CONTAINER_OF(timer, struct pl_ext_shard, gather));
}

void pl_ext_audit_flush(struct pl_ext_shard *exts)
{
    pl_ext_audit_write(exts);
    if (!exts->gathered)
        return;
    struct auditing *a = pl_mem_alloc(1, sizeof *a);
    if (!a) { /* keeps the rows, and tries again */
        pl_timer_start(exts->loop, &exts->gather, GATHER_MS, on_gathered);
        return;
    }
    *a = (struct auditing){.exts = exts};
    submit(exts, a);
}

void pl_ext_audit_later(struct pl_ext_shard *exts, const struct pl_ext_audited *what)
{
    pl_ext_audit_write(exts);
    struct pl_batch *batch = batch_of(exts);
    if (!batch) {
        pl_log_say(exts->shard->server->log, exts->shard, PL_LOG_WARNING,
                   "an audit row of an extension could not be stored: out of memory");
        return;
    }
    add_row(exts, batch, what);
    if (!pl_timer_is_on(&exts->gather))
        pl_timer_start(exts->loop, &exts->gather, GATHER_MS, on_gathered);
    if (pl_batch_n_writes(batch) >= GATHER_ROWS)
        pl_ext_audit_flush(exts);
}

void pl_ext_audit_defer(struct pl_ext_shard *exts, struct pl_ext_unwritten *row)
{
    row->next = NULL;
    if (exts->last_unwritten)
        exts->last_unwritten->next = row;
    else
        exts->unwritten = row;
    exts->last_unwritten = row;
    if (!pl_timer_is_on(&exts->gather))
        pl_timer_start(exts->loop, &exts->gather, GATHER_MS, on_gathered);
    if (++exts->n_unwritten >= GATHER_ROWS)
        pl_ext_audit_flush(exts);
}

void pl_ext_audit_tool_call(const struct pl_ext_ask *ask, const char *action,
                            pl_batch_done_fn *done, void *ctx)
{
    PL_CLEANUP_BUF struct pl_buf detail;
    struct pl_ext_shard *exts = ask->home->exts;
    const struct {
        const char *key;
        struct pl_str value;
    } members[] = {
        {"tool", ask->name},
        {"tool_call_id", ask->tool_call_id},
        {"session_id", ask->session_id},
        {"turn_id", ask->turn_id},
        {"loop_id", ask->loop_id},
        {"call_id", pl_str_of(ask->call_id)},
        {"params_hash", pl_str_of(ask->hash)},
        {"error", ask->is_failed ? pl_str_of(pl_tool_error_text(ask->error)) : PL_STR("")},
    };
    pl_buf_init(&detail, 0);
    struct pl_json_out out = pl_json_out(&detail);
    pl_json_out_open(&out, '{');
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        if (!members[i].value.len)
            continue;
        pl_json_out_key(&out, members[i].key);
        pl_json_out_text(&out, pl_str_slice(members[i].value, 0, 100));
    }
    if (ask->is_over) {
        pl_json_out_key(&out, "is_error");
        pl_json_out_bool(&out, ask->is_failed || ask->is_error);
        pl_json_out_key(&out, "duration_ms");
        pl_json_out_int(&out, pl_loop_now_ms(ask->home->loop) - ask->sent_ms);
    }
    pl_json_out_close(&out, '}');
    struct pl_ext_audited what = {
        .user_id = ask->user_id,
        .action = action,
        .object = ask->extension_id,
        .detail = pl_buf_str(&detail),
    };
    struct pl_error err = {0};
    if (detail.status == PL_OK && exts)
        pl_ext_audit(exts, &what, done, ctx);
    else if (done)
        done(ctx, pl_fail(&err, PL_NOMEM, exts ? "out of memory" : "the server ends"), &err);
}

void pl_ext_audit_life(struct pl_ext_instance *instance, const char *action, const char *why)
{
    PL_CLEANUP_BUF struct pl_buf detail;
    pl_buf_init(&detail, 0);
    struct pl_json_out out = pl_json_out(&detail);
    pl_json_out_open(&out, '{');
    pl_json_out_key(&out, "instance_id");
    pl_json_out_text(&out, pl_str_of(instance->id.text));
    pl_json_out_key(&out, "artifact");
    pl_json_out_text(&out, instance->known->package.artifact);
    pl_json_out_key(&out, "sandbox");
    pl_json_out_text(&out, pl_str_of(instance->sandbox));
    if (why) {
        PL_CLEANUP_BUF struct pl_buf clean;
        pl_buf_init(&clean, 0);
        pl_ext_redact_text(&clean, pl_str_of(why), &instance->secrets);
        pl_json_out_key(&out, "reason");
        pl_json_out_text(&out, pl_buf_str(&clean));
    }
    pl_json_out_close(&out, '}');
    if (detail.status != PL_OK)
        return;
    struct pl_ext_audited what = {
        .user_id = instance->place->user_id,
        .action = action,
        .object = instance->known->package.id,
        .detail = pl_buf_str(&detail),
    };
    pl_ext_audit(instance->exts, &what, NULL, NULL);
}
