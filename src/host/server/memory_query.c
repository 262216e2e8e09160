#include "server/memory_query.h"

#include "base/terms.h"
#include "base/utc.h"
#include "io/clock.h"
#include "json/number.h"

#include <stdio.h>

void pl_memory_refuse(struct pl_exchange *x, enum pl_problem problem, const char *pointer,
                      const char *detail)
{
    struct pl_error err = {0};
    (void)pl_fail(&err, PL_INVALID, "%s", detail);
    pl_error_point(&err, "%s", pointer);
    pl_exchange_problem(x, problem, &err, "%s", detail);
}

/* The terms a question looks for, in the arena; {NULL, 0} when there is nothing to look for. False
 * after making a problem. */
static bool read_terms(struct pl_exchange *x, struct pl_str words, bool is_typing,
                       struct pl_str *ret_terms)
{
    struct pl_buf terms PL_CLEANUP_BUF;
    pl_buf_init(&terms, 0);
    pl_terms_of_query(words, is_typing ? PL_TERMS_TYPING : PL_TERMS_ASKED, &terms);
    *ret_terms = pl_arena_dup(&x->arena, pl_buf_str(&terms));
    bool is_whole = terms.status == PL_OK && (ret_terms->ptr || !terms.len);
    if (!is_whole)
        pl_exchange_fail(x, PL_NOMEM, NULL);
    return is_whole;
}

/* A parameter that is one of two or three words: true is 1, false 0, any -1. */
static bool read_choice(struct pl_exchange *x, const char *name, int *ret_choice)
{
    static const struct {
        struct pl_str word;
        int choice;
    } words[] = {{PL_STR("true"), 1}, {PL_STR("false"), 0}, {PL_STR("any"), -1}};
    struct pl_str text = pl_target_param(&x->target, name);
    char pointer[32];
    *ret_choice = -1;
    if (!text.ptr)
        return true;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (!pl_str_eq(text, words[i].word))
            continue;
        *ret_choice = words[i].choice;
        return true;
    }
    snprintf(pointer, sizeof pointer, "/%s", name);
    pl_memory_refuse(x, PL_PROBLEM_INVALID_REQUEST, pointer,
                     "This parameter is true, false or any.");
    return false;
}

static bool read_time(struct pl_exchange *x, const char *name, int64_t *unix_ms)
{
    struct pl_str text = pl_target_param(&x->target, name);
    int64_t unix_us = 0;
    char pointer[32];
    if (!text.ptr)
        return true;
    if (pl_utc_read(text, &unix_us)) {
        *unix_ms = unix_us / 1000;
        return true;
    }
    snprintf(pointer, sizeof pointer, "/%s", name);
    pl_memory_refuse(x, PL_PROBLEM_INVALID_REQUEST, pointer,
                     "This parameter is a time such as 2026-01-01T00:00:00Z.");
    return false;
}

static bool read_cursor(struct pl_exchange *x, const struct pl_page_args *args,
                        struct pl_memory_query *query)
{
    if (!args->cursor.len)
        return true;
    if (!query->terms.len)
        return pl_exchange_cursor_number(x, args, &query->before_id);
    pl_memory_refuse(x, PL_PROBLEM_INVALID_REQUEST, "/cursor",
                     "What q finds is read on by offset, not by cursor.");
    return false;
}

bool pl_memory_query_params(struct pl_exchange *x, const struct pl_page_args *args,
                            struct pl_memory_query *ret_query)
{
    const struct pl_target *target = &x->target;
    *ret_query = (struct pl_memory_query){
        .user_id = x->caller.user_id,
        .type = pl_target_param(target, "type"),
        .skill_name = pl_target_param(target, "skill_name"),
        .record_type = pl_target_param(target, "record_type"),
        .scope = pl_target_param(target, "scope"),
        .owner = pl_target_param(target, "owner"),
        .topic = pl_target_param(target, "topic"),
        .mem0_id = pl_target_param(target, "mem0_id"),
        .source_session = pl_target_param(target, "source_session"),
        .created_before_ms = INT64_MAX,
        .now_ms = pl_clock_unix_ms(),
        .limit = args->limit,
        .offset = args->offset,
        .before_id = INT64_MAX,
    };
    return read_choice(x, "disabled", &ret_query->is_disabled) &&
           read_choice(x, "superseded", &ret_query->is_superseded) &&
           read_time(x, "created_after", &ret_query->created_after_ms) &&
           read_time(x, "created_before", &ret_query->created_before_ms) &&
           read_terms(x, pl_target_param(target, "q"), true, &ret_query->terms) &&
           read_cursor(x, args, ret_query);
}

bool pl_memory_query_body(struct pl_exchange *x, struct pl_memory_query *ret_query)
{
    int64_t limit = 20;
    if (pl_body_has(x, "limit") && !pl_json_number_int64(pl_body_raw(x, "limit"), &limit))
        limit = 20;
    *ret_query = (struct pl_memory_query){
        .user_id = x->caller.user_id,
        .type = pl_body_text(x, "type"),
        .skill_name = pl_body_text(x, "skill_name"),
        .record_type = pl_body_text(x, "record_type"),
        .scope = pl_body_text(x, "scope"),
        .owner = pl_body_text(x, "owner"),
        .topic = pl_body_text(x, "topic"),
        .is_disabled = pl_body_bool(x, "include_disabled", false) ? -1 : 0,
        .is_superseded = pl_body_bool(x, "include_superseded", false) ? -1 : 0,
        .created_before_ms = INT64_MAX,
        .now_ms = pl_clock_unix_ms(),
        .limit = (size_t)limit,
        .before_id = INT64_MAX,
    };
    return read_terms(x, pl_body_text(x, "query"), pl_body_bool(x, "is_typing", false),
                      &ret_query->terms);
}
