/* parley audit: lists who did what, and verifies the log. */
#include "app/frame/verbs.h"

enum { MAX_ROWS = 1000, MAX_DETAIL = 100 };

static enum pl_exit run_list(struct pl_deed *deed)
{
    static const struct pl_deed_param params[] = {{PL_OPT_LIMIT, "limit"}, {0}};
    struct pl_texts *texts = &deed->api.texts;
    struct pl_columns columns;
    enum pl_exit code = pl_deed_check_count(deed, PL_OPT_LIMIT, MAX_ROWS);
    if (code == PL_EXIT_OK)
        code = pl_deed_ask(deed, "GET", pl_deed_query(deed, "/api/audit", params));
    if (code != PL_EXIT_OK || deed->api.is_json)
        return code == PL_EXIT_OK ? pl_deed_print(deed) : code;
    pl_deed_begin_table(deed, &columns);
    for (const struct pl_json_node *one = NULL; (one = pl_deed_item(deed, one));) {
        pl_columns_add(&columns, pl_deed_number(deed, one, "number"));
        pl_columns_add(&columns, pl_time_of(texts, pl_deed_text(deed, one, "at")));
        static const char *const members[] = {"action", "object", "user_id", "key_id"};
        for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
            struct pl_str text = pl_deed_text(deed, one, members[i]);
            pl_columns_add(&columns, text.len ? text : PL_STR("-"));
        }
        const struct pl_json_node *detail = pl_json_get(&deed->answer, one, PL_STR("detail"));
        bool has_detail = detail && pl_json_kind(detail) != PL_JSON_NULL;
        pl_columns_add(&columns, has_detail ? pl_line_of(texts, pl_json_span(&deed->answer, detail),
                                                         MAX_DETAIL)
                                            : PL_STR("-"));
    }
    return pl_deed_print_table(deed, &columns, NULL);
}

static enum pl_exit run_verify(struct pl_deed *deed)
{
    enum pl_exit code = pl_deed_ask(deed, "GET", "/api/audit/verify");
    if (code != PL_EXIT_OK)
        return code;
    const struct pl_json_node *root = deed->answer.root;
    const struct pl_json_node *ok = pl_json_get(&deed->answer, root, PL_STR("chain_ok"));
    bool is_ok = ok && pl_json_kind(ok) == PL_JSON_TRUE;
    if (deed->api.is_json)
        code = pl_deed_print(deed);
    else if (is_ok)
        pl_console_say(deed->console, "the audit log is whole: %lld rows",
                       (long long)pl_api_int(&deed->answer, root, "rows", 0));
    else
        pl_console_say(deed->console, "the audit log is broken at row %lld: %.*s",
                       (long long)pl_api_int(&deed->answer, root, "broken_at", 0),
                       PL_STR_ARG(pl_deed_text(deed, root, "problem")));
    return code == PL_EXIT_OK && !is_ok ? PL_EXIT_NO : code;
}

const struct pl_verb pl_audit_verbs[] = {
    {"list", "", 0, 0, "List the newest rows; also without an action", run_list, .is_default = true,
     .columns = "number,at,action,object,by,key,detail"},
    {"verify", "", 0, 0, "Check the chain of hashes; exit 1 if it is broken", run_verify},
    {0},
};
