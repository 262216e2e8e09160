/* Reads the filters, terms and cursors of a list or a search of memories. */
#include "service/memories/memory_query.h"

#include "base/text/decimal.h"
#include "base/text/terms.h"
#include "io/clock.h"
#include "json/number.h"
#include "http/reply/base64url.h"
#include "service/request_options.h"

#include <stdio.h>

/* The search terms of a query, in the arena; {NULL, 0} if it has none. False after making a
 * problem. */
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

/* A parameter with two or three words: true is 1, false 0, any -1. */
static bool read_choice(struct pl_exchange *x, const char *name, int *ret_choice)
{
    static const struct {
        struct pl_str word;
        int choice;
    } words[] = {{PL_STR("true"), 1}, {PL_STR("false"), 0}, {PL_STR("any"), -1}};
    struct pl_str text = pl_target_param(&x->target, name);
    *ret_choice = -1;
    if (!text.ptr)
        return true;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (!pl_str_eq(text, words[i].word))
            continue;
        *ret_choice = words[i].choice;
        return true;
    }
    pl_option_refuse(x, "This parameter must be true, false or any.", "/%s", name);
    return false;
}

/* The cursor of a search counts the rows before it, because its order is not that of a column:
 * "+20 1795000000000". The time is the one that the first page used for recency, so that later
 * pages have the same order. */
static bool read_found_cursor(struct pl_str cursor, struct pl_memory_query *query)
{
    const char *space = memchr(cursor.ptr, ' ', cursor.len);
    size_t at = space ? (size_t)(space - cursor.ptr) : 0;
    return at > 1 && cursor.ptr[0] == '+' &&
           pl_decimal_read(pl_str_slice(cursor, 1, at), &query->offset) &&
           pl_decimal_read(pl_str_slice(cursor, at + 1, cursor.len), &query->now_ms);
}

static bool read_cursor(struct pl_exchange *x, const struct pl_page_args *args,
                        struct pl_memory_query *query)
{
    if (!args->cursor.len)
        return true;
    if (!query->terms.len)
        return pl_exchange_cursor_number(x, args, &query->before_id);
    return read_found_cursor(args->cursor, query) || pl_exchange_refuse_cursor(x);
}

void pl_memory_query_cursor(const struct pl_memory_query *query, const struct pl_memory_page *page,
                            const struct pl_list_walk *walk, char ret_cursor[PL_MEMORY_CURSOR_SIZE])
{
    if (!walk->has_more)
        ret_cursor[0] = '\0';
    else if (query->terms.len)
        snprintf(ret_cursor, PL_MEMORY_CURSOR_SIZE, "+%lld %lld",
                 (long long)query->offset + (long long)walk->n, (long long)query->now_ms);
    else
        snprintf(ret_cursor, PL_MEMORY_CURSOR_SIZE, "%lld", (long long)page->items[walk->n - 1].id);
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
        .now_ms = pl_clock_unix_ms(),
        .limit = args->limit,
        .offset = args->offset,
        .before_id = INT64_MAX,
    };
    return read_choice(x, "disabled", &ret_query->is_disabled) &&
           read_choice(x, "superseded", &ret_query->is_superseded) &&
           pl_param_time(x, "created_after", 0, &ret_query->created_after_ms) &&
           pl_param_time(x, "created_before", INT64_MAX, &ret_query->created_before_ms) &&
           read_terms(x, pl_target_param(target, "q"), true, &ret_query->terms) &&
           read_cursor(x, args, ret_query);
}

static bool read_body_page(struct pl_exchange *x, struct pl_page_args *ret_args)
{
    int64_t limit = 20;
    if (pl_body_has(x, "limit") && !pl_json_number_int64(pl_body_raw(x, "limit"), &limit))
        limit = 20;
    struct pl_str cursor = pl_body_text(x, "cursor");
    *ret_args = (struct pl_page_args){.limit = (size_t)limit};
    return !cursor.len || pl_base64url_decode(&x->arena, cursor, &ret_args->cursor) ||
           pl_exchange_refuse_cursor(x);
}

bool pl_memory_query_body(struct pl_exchange *x, struct pl_page_args *ret_args,
                          struct pl_memory_query *ret_query)
{
    if (!read_body_page(x, ret_args))
        return false;
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
        .limit = ret_args->limit,
        .before_id = INT64_MAX,
    };
    return read_terms(x, pl_body_text(x, "query"), pl_body_bool(x, "is_typing", false),
                      &ret_query->terms) &&
           read_cursor(x, ret_args, ret_query);
}
