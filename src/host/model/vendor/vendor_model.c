/* A vendor's model behind the interface of model.h: sends the prepared request, parses the stream
 * (stream/hear.h) and emits it. If a target of an alias's chain does not answer, the next one is
 * called, as long as nothing was emitted.
 *
 *     machine vendor-model
 *
 *     CHOOSING -> ASKING -> HEARING -> SAID -> OVER
 *     ASKING -> REFUSED -> OVER                       an error answer is collected
 *     ASKING, REFUSED, HEARING, SAID -> CHOOSING      the next of the chain
 *     HEARING, SAID -> CANCELLED -> OVER              from inside a callback
 *     CHOOSING, ASKING, HEARING -> OVER
 *
 * In SAID the end or a failure is known; the connection has a moment to end by itself. Callbacks
 * may cancel the call while a stream is parsed: the call exists until that returns. */
#include "base/mem.h"
#include "base/table.h"
#include "format/format.h"
#include "format/pieces/citation.h"
#include "io/move.h"
#include "json/text.h"
#include "model/vendor/vendor_model_int.h"
#include "model/vendor/vendor_said_int.h"
#include "stream/hear.h"

#include <stdio.h>

enum {
    MAX_ERROR_BODY = 256 << 10,
    LAST_BYTES_MS = 200, /* after the end of an answer, so that the connection can be reused */
};

enum state { VM_CHOOSING, VM_ASKING, VM_REFUSED, VM_HEARING, VM_SAID, VM_CANCELLED, VM_OVER };

#define TO(name) PL_TO(VM_##name)
#define WHY      "the times of the upstream call, and its caller has one for all of it"
static const struct pl_state states[] = {
    [VM_CHOOSING] = {"choosing", TO(ASKING) | TO(OVER)},
    [VM_ASKING] = {"asking", TO(REFUSED) | TO(HEARING) | TO(CHOOSING) | TO(OVER), PL_WAIT_SET,
                   PL_CANCEL_ENDS, .why = WHY},
    [VM_REFUSED] = {"refused", TO(CHOOSING) | TO(OVER), PL_WAIT_SET, PL_CANCEL_ENDS, .why = WHY},
    [VM_HEARING] = {"hearing", TO(SAID) | TO(CHOOSING) | TO(CANCELLED) | TO(OVER), PL_WAIT_SET,
                    PL_CANCEL_ENDS, .why = WHY},
    [VM_SAID] = {"said", TO(CHOOSING) | TO(CANCELLED) | TO(OVER), PL_WAIT_MS, PL_CANCEL_ENDS,
                 .limit_ms = LAST_BYTES_MS},
    [VM_CANCELLED] = {"cancelled", TO(OVER), PL_WAIT_OPEN, PL_CANCEL_LATER,
                      .why = "what is being told returns"},
    [VM_OVER] = {"over", 0},
};
#undef TO
static const struct pl_machine machine = PL_MACHINE("vendor-model", states);

struct vendor_call {
    struct pl_model_call base;      /* first */
    struct pl_loop *loop;           /* borrowed */
    struct pl_upstreams *upstreams; /* borrowed */
    const struct pl_model_ops *ops;
    void *ctx;
    struct pl_model_prepared *prepared; /* owned */
    size_t i;                           /* index of the target that is being called */
    struct pl_vendor_call *asked;       /* owned; NULL once it has ended */
    struct pl_hearing *hearing;         /* owned; NULL until there is a stream */
    struct pl_arena arena;              /* strings reported at the end */
    struct pl_str owner;                /* arena */
    struct pl_timer timer;              /* for the last bytes */
    struct pl_buf error_body;           /* of an error answer */
    int status;
    struct pl_vendor_said said; /* its strings: arena */
    struct pl_str traceparent;  /* arena; a header line, or empty */
    struct pl_buf cites;        /* the members of a citation_map */
    size_t n_cites;
    struct pl_str failure; /* arena; a sentence */
    int n_inside;          /* depth of callbacks from the stream: a cancel comes from inside */
    enum state state;
    bool is_overflow;
    const char *failure_code; /* static; NULL: derived from the status */
};

static void become(struct vendor_call *call, enum state to)
{
    call->state = (enum state)pl_move(&machine, call, call->state, to);
}

/* The end or a failure is known, and the stream is still wanted. */
static void is_said(struct vendor_call *call)
{
    if (call->state == VM_HEARING)
        become(call, VM_SAID);
}

static const struct pl_model_target *target_of(const struct vendor_call *call)
{
    return &call->prepared->targets[call->i];
}

static void destroy(struct vendor_call *call)
{
    become(call, VM_OVER);
    pl_timer_stop(call->loop, &call->timer);
    pl_vendor_cancel(PL_TAKE(call->asked));
    pl_hearing_destroy(call->hearing);
    pl_model_prepared_destroy(call->prepared);
    pl_buf_deinit(&call->error_body);
    pl_buf_deinit(&call->cites);
    pl_arena_deinit(&call->arena);
    pl_mem_free(call);
}

static void cancel(struct pl_model_call *base)
{
    struct vendor_call *call = (struct vendor_call *)base;
    pl_vendor_cancel(PL_TAKE(call->asked));
    if (call->n_inside)
        become(call, VM_CANCELLED);
    else
        destroy(call);
}

/* --- what is told at the end ----------------------------------------------------------------- */

/* Returns false if out of memory. */
static bool tell_block(struct vendor_call *call, struct pl_str text)
{
    PL_CLEANUP_BUF struct pl_buf json;
    pl_buf_init(&json, 0);
    pl_json_quote(&json, text);
    if (json.status != PL_OK)
        return false;
    struct pl_model_block block = {
        .type = PL_STR("system_notification"),
        .content = pl_buf_str(&json),
    };
    call->n_inside++;
    call->ops->on_block(call->ctx, &block);
    call->n_inside--;
    return true;
}

/* Emits, before the model's first text, the notice about settings that did not reach it, and the
 * prefill of the answer. */
static void tell_first(struct vendor_call *call)
{
    struct pl_str notice = call->prepared->notices[call->i];
    struct pl_str prefill = call->prepared->prefill;
    if (notice.len)
        (void)tell_block(call, notice);
    if (prefill.len && call->state != VM_CANCELLED) {
        call->n_inside++;
        call->ops->on_text(call->ctx, false, prefill);
        call->n_inside--;
    }
}

/* Returns false if out of memory. */
static bool tell_notice(struct vendor_call *call)
{
    PL_CLEANUP_BUF struct pl_buf text;
    pl_buf_init(&text, 0);
    if (!call->said.has_told)
        tell_first(call); /* an empty answer */
    pl_vendor_said_notice(&text, &call->said);
    if (!text.len || call->state == VM_CANCELLED)
        return text.status == PL_OK;
    return tell_block(call, pl_buf_str(&text));
}

/* Returns false if out of memory. */
static bool tell_about(struct vendor_call *call)
{
    PL_CLEANUP_BUF struct pl_buf json;
    pl_buf_init(&json, 0);
    if (!call->ops->on_about)
        return true;
    pl_vendor_said_about(&json, &call->said, &call->arena, pl_buf_str(&call->cites));
    if (json.status != PL_OK || call->cites.status != PL_OK)
        return false;
    call->ops->on_about(call->ctx, pl_buf_str(&json));
    return true;
}

static void tell_failure(struct vendor_call *call, struct pl_str sentence)
{
    call->ops->on_failed(call->ctx, &(struct pl_model_failure){
                                        .reason = sentence,
                                        .is_overflow = call->is_overflow,
                                        .code = call->failure_code,
                                        .vendor_status = call->status >= 400 ? call->status : 0,
                                    });
    destroy(call);
}

/* The strings belong to the call, so report first and destroy afterwards. */
static void tell_end(struct vendor_call *call)
{
    PL_CLEANUP_BUF struct pl_buf model, usage, timing;
    pl_buf_init(&model, 0);
    pl_buf_init(&usage, 0);
    pl_buf_init(&timing, 0);
    call->said.target = target_of(call);
    pl_vendor_said_model(&model, &call->said);
    pl_vendor_said_usage(&usage, &call->said);
    pl_vendor_said_timing(&timing, &call->said, pl_loop_now_ms(call->loop));
    bool is_whole = tell_notice(call) && model.status == PL_OK && usage.status == PL_OK &&
                    timing.status == PL_OK;
    if (call->state == VM_CANCELLED) {
        destroy(call);
        return;
    }
    if (!is_whole || !tell_about(call)) {
        tell_failure(call, PL_STR("Out of memory."));
        return;
    }
    call->ops->on_end(call->ctx, pl_buf_str(&model), pl_buf_str(&usage), pl_buf_str(&timing));
    destroy(call);
}

/* --- failing, or asking the next ------------------------------------------------------------- */

static enum pl_status ask(struct vendor_call *call, struct pl_error *err);

/* `may_go_on`: another vendor could succeed. */
static void fail(struct vendor_call *call, struct pl_str sentence, bool may_go_on)
{
    struct pl_error err = {0};
    pl_vendor_cancel(PL_TAKE(call->asked));
    if (may_go_on && !call->said.has_told && !call->is_overflow &&
        call->i + 1 < call->prepared->n) {
        become(call, VM_CHOOSING);
        PL_MODEL_COUNT(pl_target_counts(target_of(call)), n_fallbacks, 1);
        call->i++;
        if (ask(call, &err) == PL_OK)
            return;
        sentence = PL_STR("Out of memory.");
    }
    tell_failure(call, sentence);
}

static void settle(struct vendor_call *call)
{
    if (call->failure.len)
        fail(call, call->failure, true);
    else
        tell_end(call);
}

static void on_last_bytes(struct pl_timer *timer)
{
    settle(PL_CONTAINER_OF(timer, struct vendor_call, timer));
}

/* --- hearing --------------------------------------------------------------------------------- */

/* Returns false if the caller does not want more. */
static bool note_first(struct vendor_call *call)
{
    if (call->said.has_told)
        return true;
    call->said.first_ms = pl_loop_now_ms(call->loop);
    call->said.has_told = true;
    tell_first(call);
    return call->state != VM_CANCELLED;
}

static void hear_text(void *ctx, bool is_thinking, struct pl_str text)
{
    struct vendor_call *call = ctx;
    if (call->state == VM_CANCELLED)
        return;
    if (note_first(call))
        call->ops->on_text(call->ctx, is_thinking, text);
}

static void hear_refusal(void *ctx, struct pl_str text)
{
    struct vendor_call *call = ctx;
    call->said.has_refused = true;
    hear_text(ctx, false, text);
}

static void add_text(struct pl_buf *to, const char *key, struct pl_str text)
{
    if (!text.len)
        return;
    pl_buf_addf(to, ",\"%s\":", key);
    pl_json_quote(to, text);
}

/* Writes nothing if there is nothing to prove. */
static void write_proof(struct pl_buf *to, const struct vendor_call *call,
                        const struct pl_heard_proof *proof)
{
    if (!proof->signature.len && !proof->data.len && !proof->id.len)
        return;
    pl_buf_addf(to, "{\"vendor\":\"%s\"", target_of(call)->vendor->dialect);
    add_text(to, "signature", proof->signature);
    add_text(to, "id", proof->id);
    add_text(to, "data", proof->data);
    pl_buf_addc(to, '}');
}

static void out_of_memory(struct vendor_call *call)
{
    call->failure = PL_STR("Out of memory.");
    is_said(call);
}

static void hear_proof(void *ctx, enum pl_part_kind kind, const struct pl_heard_proof *proof)
{
    struct vendor_call *call = ctx;
    PL_CLEANUP_BUF struct pl_buf json;
    pl_buf_init(&json, 0);
    if (call->state == VM_CANCELLED || !call->ops->on_proof)
        return;
    write_proof(&json, call, proof);
    if (json.status != PL_OK)
        out_of_memory(call);
    if (json.status != PL_OK || !json.len)
        return;
    if (note_first(call))
        call->ops->on_proof(call->ctx, kind == PL_PART_THINKING || kind == PL_PART_REDACTED,
                            pl_buf_str(&json));
}

static void hear_call(void *ctx, struct pl_str id, struct pl_str name, struct pl_str arguments,
                      const struct pl_heard_proof *proof)
{
    struct vendor_call *call = ctx;
    PL_CLEANUP_BUF struct pl_buf json;
    pl_buf_init(&json, 0);
    (void)id; /* the session has ids of its own */
    if (call->state != VM_HEARING)
        return;
    write_proof(&json, call, proof);
    if (json.status != PL_OK) {
        out_of_memory(call);
        return;
    }
    if (note_first(call))
        call->ops->on_call(call->ctx, name, arguments.len ? arguments : PL_STR("{}"),
                           pl_buf_str(&json));
}

/* Adds an entry of the citation_map, and its anchor after the text that it supports. */
static void hear_citation(void *ctx, struct pl_str json)
{
    struct vendor_call *call = ctx;
    const struct pl_format *format = target_of(call)->format;
    struct pl_json_doc doc;
    struct pl_cited cited = {0};
    if (call->state != VM_HEARING || !call->ops->on_about || !format->cite)
        return;
    enum pl_status status = pl_json_parse(&call->arena, json, &pl_json_own, &doc, NULL);
    if (status == PL_NOMEM)
        out_of_memory(call);
    if (status != PL_OK || !format->cite(&doc, doc.root, &cited))
        return;
    char id[PL_CITE_ID_SIZE], anchor[PL_CITE_ID_SIZE + 16];
    pl_cite_id(id, call->n_cites++);
    pl_buf_addf(&call->cites, "%s\"%s\":", call->cites.len ? "," : "", id);
    pl_cited_write(&call->cites, format->name, &doc, &cited);
    if (call->cites.status != PL_OK) {
        out_of_memory(call);
        return;
    }
    int n = snprintf(anchor, sizeof anchor, "<cite id=\"%s\"/>", id);
    hear_text(ctx, false, (struct pl_str){anchor, (size_t)n});
}

static void hear_end(void *ctx, const struct pl_heard_end *end)
{
    struct vendor_call *call = ctx;
    struct pl_str *texts[] = {&call->said.end.word, &call->said.end.detail, &call->said.end.model,
                              &call->said.end.fingerprint, &call->said.end.ratings};
    call->said.end = *end;
    is_said(call);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct pl_str kept = pl_arena_dup(&call->arena, *texts[i]);
        if (texts[i]->len && !kept.ptr)
            out_of_memory(call);
        *texts[i] = kept;
    }
}

/* "anthropic broke off: Overloaded" */
static struct pl_str sentence(struct vendor_call *call, const char *what, struct pl_str says)
{
    PL_CLEANUP_BUF struct pl_buf text;
    pl_buf_init(&text, 0);
    pl_buf_addf(&text, "%s %s", target_of(call)->vendor->name, what);
    if (says.len) {
        pl_buf_adds(&text, ": ");
        pl_buf_add(&text, says);
    } else {
        pl_buf_addc(&text, '.');
    }
    struct pl_str kept = text.status == PL_OK ? pl_arena_dup(&call->arena, pl_buf_str(&text))
                                              : (struct pl_str){NULL, 0};
    return kept.len ? kept : PL_STR("Out of memory.");
}

static void hear_error(void *ctx, struct pl_str type, struct pl_str code, struct pl_str message)
{
    struct vendor_call *call = ctx;
    struct pl_str says = message.len ? message : code.len ? code : type;
    says = pl_vendor_redact(&call->arena, target_of(call)->vendor, pl_str_slice(says, 0, 1000));
    call->is_overflow = pl_vendor_says_overflow(message) || pl_vendor_says_overflow(code) ||
                        pl_vendor_says_overflow(type);
    call->failure = sentence(call, "broke off its answer", says);
    is_said(call);
}

static const struct pl_hear_ops hear_ops = {
    hear_text, hear_proof, hear_refusal, hear_call, hear_citation, hear_end, hear_error,
};

/* --- the answer ------------------------------------------------------------------------------ */

/* Explains the status of an error, with advice. */
static struct pl_str explain(struct vendor_call *call, struct pl_str says)
{
    const struct pl_model_target *target = target_of(call);
    const char *key = target->vendor->key_from ? target->vendor->key_from : "the configuration";
    char what[400];
    switch (call->status) {
    case 401:
    case 403:
        snprintf(what, sizeof what, "does not accept the key from %.100s (%d)", key, call->status);
        break;
    case 404:
        snprintf(what, sizeof what, "has no model %.*s (404)",
                 (int)(target->model.len < 100 ? target->model.len : 100), target->model.ptr);
        break;
    case 429:
        snprintf(what, sizeof what, "accepts no more requests for now (429)");
        break;
    default:
        snprintf(what, sizeof what, "answered with an error (%d)", call->status);
        break;
    }
    return sentence(call, what, says);
}

static void on_head(void *ctx, int status, struct pl_str content_type, struct pl_str retry_after)
{
    struct vendor_call *call = ctx;
    (void)content_type;
    (void)retry_after;
    call->status = status;
    if (status / 100 != 2)
        become(call, VM_REFUSED);
    else if (pl_hearing_create(target_of(call)->dialect, &hear_ops, call, &call->hearing) == PL_OK)
        become(call, VM_HEARING);
    else
        fail(call, PL_STR("Out of memory."), false);
}

/* Called after a part of the stream, or its end, was parsed. */
static void look_around(struct vendor_call *call, enum pl_status status)
{
    if (call->state == VM_CANCELLED) {
        destroy(call);
        return;
    }
    if (status != PL_OK)
        out_of_memory(call);
    if (call->state != VM_SAID)
        return;
    if (!call->asked || call->failure.len)
        settle(call);
    else if (!pl_timer_is_on(&call->timer))
        pl_move_limit(&machine, call->state, call->loop, &call->timer, 0, on_last_bytes);
}

static void on_body(void *ctx, struct pl_str piece)
{
    struct vendor_call *call = ctx;
    if (call->state == VM_REFUSED) {
        pl_buf_add(&call->error_body, piece);
        return;
    }
    call->n_inside++;
    enum pl_status status = pl_hearing_feed(call->hearing, piece);
    call->n_inside--;
    look_around(call, status);
}

static void on_end(void *ctx)
{
    struct vendor_call *call = ctx;
    call->asked = NULL;
    if (call->state != VM_REFUSED) {
        call->n_inside++;
        enum pl_status status = pl_hearing_finish(call->hearing);
        call->n_inside--;
        look_around(call, status);
        return;
    }
    struct pl_str body = pl_buf_str(&call->error_body);
    call->is_overflow = call->status == 413 || pl_vendor_says_overflow(body);
    struct pl_str says = pl_vendor_error_text(&call->arena, target_of(call), body);
    bool may_go_on = call->status != 400 && call->status != 413 && call->status != 422;
    fail(call, explain(call, says), may_go_on);
}

static void on_failed(void *ctx, enum pl_vendor_failure why, const char *says)
{
    struct vendor_call *call = ctx;
    call->asked = NULL;
    if (call->state == VM_SAID && !call->failure.len) {
        /* The answer is complete: how the connection ends does not matter. */
        settle(call);
        return;
    }
    const char *what = call->said.has_told ? "did not finish its answer" : "did not answer";
    call->failure_code = why == PL_VENDOR_TIMEOUT  ? "upstream_timeout"
                         : why == PL_VENDOR_BROKEN ? "upstream_broken"
                         : why == PL_VENDOR_MEMORY ? "out_of_memory"
                                                   : "upstream_unreachable";
    fail(call, sentence(call, what, pl_str_of(says)), why != PL_VENDOR_MEMORY);
}

static const struct pl_vendor_ops vendor_ops = {on_head, on_body, on_end, on_failed, NULL};

/* --- starting -------------------------------------------------------------------------------- */

static enum pl_status ask(struct vendor_call *call, struct pl_error *err)
{
    pl_hearing_destroy(PL_TAKE(call->hearing));
    pl_buf_clear(&call->error_body);
    call->failure = (struct pl_str){NULL, 0};
    call->said.has_refused = false;
    pl_buf_clear(&call->cites);
    call->n_cites = 0;
    /* A session has no client that would retry, so the last target is called in any case. */
    enum pl_cooldown_pass pass;
    call->i = pl_targets_enter(call->prepared->targets, call->prepared->n, call->i, &pass);
    if (call->i == call->prepared->n)
        call->i--;
    const char *headers[4] = {NULL};
    size_t n = 0;
    for (const char *const *own = pl_vendor_model_headers(target_of(call)); own && *own && n < 2;)
        headers[n++] = *own++;
    if (call->traceparent.len)
        headers[n++] = call->traceparent.ptr;
    struct pl_vendor_request request = {
        .target = target_of(call),
        .body = &call->prepared->bodies[call->i],
        .is_stream = true,
        .extra_headers = headers,
        .owner = call->owner,
        .is_patient = call->i + 1 == call->prepared->n,
        .pass = pass,
    };
    enum pl_status status =
        pl_vendor_start(call->upstreams, &request, &vendor_ops, call, &call->asked, err);
    if (status == PL_OK)
        become(call, VM_ASKING);
    return status;
}

static struct vendor_call *create(struct pl_loop *loop, struct pl_model_prepared *prepared,
                                  struct pl_upstreams *upstreams, const struct pl_model_ops *ops,
                                  void *ctx)
{
    struct vendor_call *call = pl_mem_alloc(1, sizeof *call);
    if (!call)
        return NULL;
    *call = (struct vendor_call){
        .base.cancel = cancel,
        .loop = loop,
        .upstreams = upstreams,
        .ops = ops,
        .ctx = ctx,
        .prepared = prepared,
        .said.started_ms = pl_loop_now_ms(loop),
        .said.end.counts = {-1, -1, -1, -1, -1, -1, -1},
    };
    pl_arena_init(&call->arena, 0);
    pl_buf_init(&call->error_body, MAX_ERROR_BODY);
    pl_buf_init(&call->cites, 0);
    return call;
}

/* The alias decides which target is called first; its request moves with it. */
static void spread(struct pl_model_prepared *prepared)
{
    uint8_t order[PL_VENDOR_MAX_CHAIN];
    struct pl_model_target targets[PL_VENDOR_MAX_CHAIN];
    struct pl_buf bodies[PL_VENDOR_MAX_CHAIN];
    struct pl_str notices[PL_VENDOR_MAX_CHAIN];
    pl_targets_spread(prepared->targets, prepared->n, order);
    for (size_t i = 0; i < prepared->n; i++) {
        targets[i] = prepared->targets[order[i]];
        bodies[i] = prepared->bodies[order[i]];
        notices[i] = prepared->notices[order[i]];
    }
    memcpy(prepared->targets, targets, prepared->n * sizeof *targets);
    memcpy(prepared->bodies, bodies, prepared->n * sizeof *bodies);
    memcpy(prepared->notices, notices, prepared->n * sizeof *notices);
}

/* Builds the header line, which ends in NUL. Returns false if out of memory. */
static bool keep_traceparent(struct vendor_call *call, struct pl_str traceparent)
{
    char line[96];
    if (!traceparent.len)
        return true;
    int n = snprintf(line, sizeof line, "traceparent: %.*s", (int)traceparent.len, traceparent.ptr);
    call->traceparent = pl_arena_dup(&call->arena, (struct pl_str){line, (size_t)n + 1});
    return call->traceparent.ptr != NULL;
}

enum pl_status pl_vendor_model_start(struct pl_loop *loop, const struct pl_model_request *request,
                                     const struct pl_model_ops *ops, void *ctx,
                                     struct pl_model_call **ret_call, struct pl_error *err)
{
    struct pl_model_prepared *prepared = request->prepared;
    enum pl_status status = prepared ? PL_OK : pl_vendor_model_prepare(request, &prepared, err);
    if (status != PL_OK)
        return status;
    status = request->upstreams ? pl_vendor_upstreams(loop, request->upstreams, err)
                                : pl_fail(err, PL_INVALID, "no vendor is available here");
    struct vendor_call *call =
        status == PL_OK ? create(loop, prepared, *request->upstreams, ops, ctx) : NULL;
    if (!call) {
        pl_model_prepared_destroy(prepared);
        return status == PL_OK ? pl_fail(err, PL_NOMEM, "out of memory") : status;
    }
    spread(prepared);
    call->owner = pl_arena_dup(&call->arena, request->owner);
    bool is_whole =
        (!request->owner.len || call->owner.ptr) && keep_traceparent(call, request->traceparent);
    status = is_whole ? ask(call, err) : pl_fail(err, PL_NOMEM, "out of memory");
    if (status != PL_OK) {
        destroy(call);
        return status;
    }
    *ret_call = &call->base;
    return PL_OK;
}
