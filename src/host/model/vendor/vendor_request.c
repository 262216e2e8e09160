/* Builds the request to a vendor: the context of a session in the vendor's dialect. The turns
 * become the document that format/turns/read.c reads, with the settings and tools of the call, and
 * format/convert.h converts it into a request that the model's profile accepts. */
#include "base/mem.h"
#include "format/convert.h"
#include "json/text.h"
#include "model/facts.h"
#include "model/vendor/vendor_model_int.h"
#include "model/vendor/vendor_media.h"
#include "model/vendor/vendor_settings.h"

/* {"settings":{…},"tools":[…],"turns":[…]} */
static enum pl_status write_document(struct pl_arena *arena, struct pl_buf *to,
                                     const struct pl_model_request *request,
                                     const struct pl_model_target *target)
{
    pl_buf_adds(to, "{\"settings\":");
    enum pl_status status = pl_vendor_settings_write(arena, target, request->settings, to);
    pl_buf_adds(to, ",\"tools\":");
    pl_buf_add(to, request->tools.len ? request->tools : PL_STR("[]"));
    pl_buf_adds(to, ",\"turns\":");
    pl_buf_add(to, request->turns);
    if (request->prefill.len && request->turns.len > 2) {
        to->len--; /* the closing bracket of the turns */
        pl_buf_adds(to, ",{\"role\":\"assistant\",\"blocks\":[{\"type\":\"text\",\"content\":");
        pl_json_quote(to, request->prefill);
        pl_buf_adds(to, "}]}]");
    }
    pl_buf_adds(to, "}");
    return status == PL_OK ? to->status : status;
}

/* Responses stores answers unless the request forbids it, and returns reasoning only on request. We
 * keep the history ourselves. */
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

/* A summary, another plan or other tools change the context before earlier thinking. Newer Claude
 * models then refuse the whole request, unless it asks them to ignore that thinking. */
static enum pl_status let_thinking_go(struct pl_arena *arena, struct pl_buf *body,
                                      const struct pl_model_target *target)
{
    static const char block[] = "\"signature\":\"", thinking[] = "\"thinking\":{\"type\":";
    static const char binding[] =
        "{\"thinking\":{\"block_binding\":{\"prefix_mismatch_behavior\":\"drop_block\"}}}";
    static const char whole[] = "{\"thinking\":{\"type\":\"adaptive\",\"block_binding\":"
                                "{\"prefix_mismatch_behavior\":\"drop_block\"}}}";
    if (!binds_thinking(target) || !memmem(body->ptr, body->len, block, sizeof block - 1))
        return PL_OK;
    bool is_said = memmem(body->ptr, body->len, thinking, sizeof thinking - 1);
    return pl_vendor_body_merge(arena, is_said ? PL_STR(binding) : PL_STR(whole), body);
}

/* Puts the notice before the existing one. */
static enum pl_status add_notice(struct pl_arena *arena, struct pl_str notice,
                                 struct pl_str *notice_now)
{
    PL_CLEANUP_BUF struct pl_buf text;
    pl_buf_init(&text, 0);
    if (!notice.len)
        return PL_OK;
    pl_buf_add(&text, notice);
    pl_buf_adds(&text, notice_now->len ? " " : "");
    pl_buf_add(&text, *notice_now);
    if (text.status != PL_OK)
        return text.status;
    *notice_now = pl_arena_dup(arena, pl_buf_str(&text));
    return notice_now->ptr ? PL_OK : PL_NOMEM;
}

static enum pl_status make_body(struct pl_arena *arena, const struct pl_model_request *request,
                                const struct pl_model_target *target, struct pl_buf *ret_body,
                                struct pl_str *ret_notice, struct pl_error *err)
{
    PL_CLEANUP_BUF struct pl_buf document;
    pl_buf_init(&document, 0);
    enum pl_status status = write_document(arena, &document, request, target);
    if (status != PL_OK)
        return pl_fail(err, status, "the request could not be written: %s",
                       pl_status_info(status)->text);
    struct pl_convert_opts opts = {
        .from = &pl_format_turns,
        .to = target->format,
        .kind = PL_KIND_REQUEST,
        .mode = PL_MODE_GATEWAY,
        .profile = target->profile,
        .is_own = true,
        .keeps_provider = true, /* it is already the vendor's own name */
    };
    struct pl_converted converted;
    pl_converted_init(&converted);
    status = pl_convert(pl_buf_str(&document), &opts, &converted, err);
    if (status == PL_OK)
        ask_for_reasoning(&converted.out, target);
    if (status == PL_OK)
        status = let_thinking_go(arena, &converted.out, target);
    if (status == PL_OK)
        status = pl_vendor_settings_merge(arena, target, request->settings, &converted.out);
    if (status == PL_OK && request->tells_settings)
        status =
            pl_vendor_settings_notice(arena, target, pl_buf_str(&converted.report), ret_notice);
    struct pl_str media = {0};
    if (status == PL_OK && request->tells_settings)
        status = pl_vendor_media_notice(arena, target, request->turns,
                                        pl_buf_str(&converted.report), &media);
    if (status == PL_OK)
        status = add_notice(arena, media, ret_notice);
    if (status == PL_OK)
        status = add_notice(arena, request->notice, ret_notice);
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

struct pl_str pl_model_prepared_body(const struct pl_model_prepared *prepared,
                                     const struct pl_format **ret_format)
{
    if (!prepared)
        return (struct pl_str){0};
    *ret_format = prepared->targets[0].format;
    return pl_buf_str(&prepared->bodies[0]);
}

size_t pl_model_prepared_n(const struct pl_model_prepared *prepared)
{
    return prepared->n;
}

struct pl_str pl_model_prepared_at(const struct pl_model_prepared *prepared, size_t i,
                                   struct pl_str *ret_format)
{
    *ret_format = pl_str_of(prepared->targets[i].format->name);
    return pl_buf_str(&prepared->bodies[i]);
}

enum pl_status pl_model_prepared_replace(struct pl_model_prepared *prepared, size_t i,
                                         struct pl_str body)
{
    struct pl_buf copy;
    pl_buf_init(&copy, 0);
    pl_buf_add(&copy, body);
    if (copy.status != PL_OK) {
        pl_buf_deinit(&copy);
        return PL_NOMEM;
    }
    pl_buf_deinit(&prepared->bodies[i]);
    prepared->bodies[i] = copy;
    return PL_OK;
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
    prepared->prefill = pl_arena_dup(&prepared->arena, request->prefill);
    if (request->prefill.len && !prepared->prefill.ptr)
        status = pl_fail(err, PL_NOMEM, "out of memory");
    size_t n = status == PL_OK ? pl_model_targets(request->models, name, targets) : 0;
    for (size_t i = 0; status == PL_OK && i < n; i++) {
        /* A built-in model (demo, replay) is called directly and is never a fallback. */
        if (!targets[i].vendor)
            continue;
        prepared->targets[prepared->n] = targets[i];
        pl_buf_init(&prepared->bodies[prepared->n], 0);
        status = make_body(&prepared->arena, request, &targets[i], &prepared->bodies[prepared->n],
                           &prepared->notices[prepared->n], err);
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
