/* Finds the prompt and version that a path or body names, and reads a draft. */
#include "service/prompts/prompt_request.h"

#include "service/request_options.h"

/* --- finding --------------------------------------------------------------------------------- */

bool pl_prompt_find(struct pl_exchange *x, struct pl_prompt_row *ret_prompt)
{
    struct pl_error err = {0};
    struct pl_str id = x->args[0];
    enum pl_status status = pl_store_prompt_get(x->shard->server->store, &x->arena,
                                                x->caller.user_id, id, ret_prompt, &err);
    if (status == PL_NOT_FOUND)
        pl_exchange_problem(x, PL_PROBLEM_NOT_FOUND, NULL, "You have no prompt %.*s.",
                            (int)(id.len < 80 ? id.len : 80), id.ptr);
    else if (status != PL_OK)
        pl_exchange_fail(x, status, &err);
    return status == PL_OK;
}

bool pl_prompt_find_version(struct pl_exchange *x, const struct pl_prompt_row *prompt,
                            struct pl_str name, struct pl_prompt_version_row *ret_version)
{
    struct pl_error err = {0};
    int64_t number = 0;
    enum pl_status status = pl_prompt_version_number(&x->arena, prompt, name, &number);
    if (status == PL_OK)
        status = pl_store_prompt_version_get(x->shard->server->store, &x->arena, x->caller.user_id,
                                             prompt->id, number, ret_version, &err);
    if (status == PL_NOT_FOUND)
        pl_exchange_problem(x, PL_PROBLEM_NOT_FOUND, NULL,
                            "This prompt has no version or label %.*s.",
                            (int)(name.len < 80 ? name.len : 80), name.ptr);
    else if (status != PL_OK)
        pl_exchange_fail(x, status, &err);
    return status == PL_OK;
}

bool pl_prompt_find_named(struct pl_exchange *x, struct pl_prompt_row *ret_prompt,
                          struct pl_prompt_version_row *ret_version)
{
    struct pl_str name = pl_body_text(x, "version");
    if (!name.ptr)
        name = pl_body_raw(x, "version");
    return pl_prompt_find(x, ret_prompt) &&
           pl_prompt_find_version(x, ret_prompt, name, ret_version);
}

/* --- what the body says ---------------------------------------------------------------------- */

bool pl_prompt_body_folder(struct pl_exchange *x, struct pl_str *folder)
{
    if (!pl_body_has(x, "folder") || pl_prompt_folder(pl_body_text(x, "folder"), folder))
        return true;
    pl_option_refuse(x, "A folder has names separated by slashes, as in \"work/audit\".",
                     "/folder");
    return false;
}

bool pl_prompt_draft(struct pl_exchange *x, struct pl_prompt_text *ret_text)
{
    struct pl_str type = pl_body_text(x, "type"), text = pl_body_text(x, "content");
    struct pl_prompt_text draft = {!text.ptr, text.ptr ? text : pl_body_raw(x, "content")};
    struct pl_error err = {0};
    enum pl_status status = PL_OK;
    if (type.ptr && !pl_str_eq(type, pl_prompt_type_text(draft.is_structured))) {
        status = pl_fail(&err, PL_INVALID,
                         draft.is_structured
                             ? "The content of a text prompt must be a string."
                             : "The content of a structured prompt must be an object, a structured "
                               "chat.");
        pl_error_point(&err, "/content");
    }
    if (status == PL_OK)
        status = pl_prompt_check(&x->arena, &draft, "/content", &err);
    if (status != PL_OK) {
        pl_exchange_fail(x, status, &err);
        return false;
    }
    *ret_text = draft;
    return true;
}
