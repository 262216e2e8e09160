/* What a vendor is sent: the context of a session in the vendor's dialect. The turns become the
 * document format/turns_read.c reads, with the settings and tools of the call, and
 * format/convert.h makes a request of it that the model's profile accepts. */
#include "base/mem.h"
#include "format/convert.h"
#include "json/text.h"
#include "model/facts.h"
#include "model/vendor_model_int.h"

enum { MAX_OUTPUT = 8192 }; /* of a model nothing is known about, where a number must be given */

static const char planning_line[] =
    "You are in planning mode: think about what should be done and say it, but change nothing. "
    "Tools that read may be used; anything that writes, sends or runs waits until the person has "
    "agreed to the plan.";

/* {"settings":{…},"tools":[…],"turns":[…]} */
static void write_settings(struct pl_buf *to, const struct pl_model_target *target)
{
    const struct pl_model_facts *facts = pl_model_facts_find(target->model);
    bool is_named = target->format != &pl_format_gemini; /* which has it in the address */
    pl_buf_adds(to, "{");
    if (is_named) {
        pl_buf_adds(to, "\"model\":");
        pl_json_quote(to, target->model);
        pl_buf_adds(to, ",\"stream\":true");
    }
    if (target->format == &pl_format_anthropic)
        pl_buf_addf(to, ",\"max_tokens\":%lld",
                    (long long)(facts && facts->max_output ? facts->max_output : MAX_OUTPUT));
    pl_buf_adds(to, "}");
}

static void write_turns(struct pl_buf *to, const struct pl_model_request *request)
{
    struct pl_str rest = pl_str_slice(request->turns, 1, request->turns.len);
    if (!request->is_planning) {
        pl_buf_add(to, request->turns);
        return;
    }
    pl_buf_adds(to, "[{\"role\":\"system\",\"blocks\":[{\"type\":\"text\",\"content\":");
    pl_json_quote(to, PL_STR(planning_line));
    pl_buf_adds(to, rest.len > 1 ? "}]}," : "}]}");
    pl_buf_add(to, rest);
}

static void write_document(struct pl_buf *to, const struct pl_model_request *request,
                           const struct pl_model_target *target)
{
    pl_buf_adds(to, "{\"settings\":");
    write_settings(to, target);
    pl_buf_adds(to, ",\"tools\":");
    pl_buf_add(to, request->tools.len ? request->tools : PL_STR("[]"));
    pl_buf_adds(to, ",\"turns\":");
    write_turns(to, request);
    pl_buf_adds(to, "}");
}

/* Responses keeps answers unless it is told not to, and gives reasoning back only when asked for
 * it; the history is ours. */
static void ask_for_reasoning(struct pl_buf *body, const struct pl_model_target *target)
{
    const struct pl_model_facts *facts = pl_model_facts_find(target->model);
    if (target->format != &pl_format_openai_responses || !body->len)
        return;
    body->len--; /* the closing brace of the request */
    pl_buf_adds(body, ",\"store\":false");
    if (facts && facts->reasons)
        pl_buf_adds(body, ",\"include\":[\"reasoning.encrypted_content\"]");
    pl_buf_addc(body, '}');
}

static bool binds_thinking(const struct pl_model_target *target)
{
    return target->format == &pl_format_anthropic && target->profile &&
           target->profile->binds_thinking;
}

const char *const *pl_vendor_model_headers(const struct pl_model_target *target)
{
    static const char *const binding[] = {"anthropic-beta: thinking-binding-controls-2026-08-01",
                                          NULL};
    return binds_thinking(target) ? binding : NULL;
}

/* A summary, another plan or other tools change what stood before earlier thinking. Newer models of
 * Claude then refuse all of the request, unless they are told to pass over that thinking. */
static void let_thinking_go(struct pl_buf *body, const struct pl_model_target *target)
{
    static const char block[] = "\"signature\":\"";
    if (!binds_thinking(target) || !memmem(body->ptr, body->len, block, sizeof block - 1))
        return;
    body->len--; /* the closing brace of the request */
    pl_buf_adds(body, ",\"thinking\":{\"type\":\"adaptive\",\"block_binding\":"
                      "{\"prefix_mismatch_behavior\":\"drop_block\"}}}");
}

static enum pl_status make_body(const struct pl_model_request *request,
                                const struct pl_model_target *target, struct pl_buf *ret_body,
                                struct pl_error *err)
{
    PL_CLEANUP_BUF struct pl_buf document;
    pl_buf_init(&document, 0);
    write_document(&document, request, target);
    if (document.status != PL_OK)
        return pl_fail(err, document.status, "out of memory");
    struct pl_convert_opts opts = {
        .from = &pl_format_turns,
        .to = target->format,
        .kind = PL_KIND_REQUEST,
        .mode = PL_MODE_GATEWAY,
        .profile = target->profile,
        .says_links = true,
        .needs_no_carry = true,
    };
    struct pl_converted converted;
    pl_converted_init(&converted);
    enum pl_status status = pl_convert(pl_buf_str(&document), &opts, &converted, err);
    ask_for_reasoning(&converted.out, target);
    let_thinking_go(&converted.out, target);
    if (status == PL_OK)
        status = converted.out.status;
    if (status == PL_OK) {
        *ret_body = converted.out;
        pl_buf_init(&converted.out, 0);
    }
    pl_converted_deinit(&converted);
    return status == PL_NOMEM ? pl_fail(err, PL_NOMEM, "out of memory") : status;
}

void pl_model_prepared_destroy(struct pl_model_prepared *prepared)
{
    if (!prepared)
        return;
    for (size_t i = 0; i < prepared->n; i++)
        pl_buf_deinit(&prepared->bodies[i]);
    pl_arena_deinit(&prepared->arena);
    pl_mem_free(prepared);
}

enum pl_status pl_vendor_model_prepare(const struct pl_model_request *request,
                                       struct pl_model_prepared **ret_prepared,
                                       struct pl_error *err)
{
    struct pl_model_prepared *prepared = pl_mem_alloc(1, sizeof *prepared);
    if (!prepared)
        return pl_fail(err, PL_NOMEM, "out of memory");
    *prepared = (struct pl_model_prepared){0};
    pl_arena_init(&prepared->arena, 0);
    struct pl_model_target targets[PL_VENDOR_MAX_CHAIN];
    struct pl_str name = pl_arena_dup(&prepared->arena, request->model);
    enum pl_status status = name.ptr ? PL_OK : pl_fail(err, PL_NOMEM, "out of memory");
    size_t n = status == PL_OK ? pl_model_targets(request->models, name, targets) : 0;
    for (size_t i = 0; status == PL_OK && i < n; i++) {
        /* One of ours plays for itself and is nobody's second choice. */
        if (!targets[i].vendor)
            continue;
        prepared->targets[prepared->n] = targets[i];
        pl_buf_init(&prepared->bodies[prepared->n], 0);
        status = make_body(request, &targets[i], &prepared->bodies[prepared->n], err);
        prepared->n += status == PL_OK;
    }
    if (status == PL_OK && !prepared->n)
        status = pl_model_missing(request->models, request->model, err);
    if (status == PL_OK)
        *ret_prepared = prepared;
    else
        pl_model_prepared_destroy(prepared);
    return status;
}
