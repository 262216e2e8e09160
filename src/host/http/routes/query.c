/* Checks a query against the parameters of its route, the same lines that /openapi.json shows.
 * Unknown names and invalid values are refused, because a wrong filter would match everything or
 * nothing. */
#include "http/exchange_int.h"

#include "base/text/suggest.h"
#include "base/text/utf8.h"

#include <stdio.h>

enum { MAX_TOLD = 80 /* the longest name or value in a message */ };

static struct pl_str told(struct pl_str text)
{
    text = pl_str_slice(text, 0, text.len < MAX_TOLD ? text.len : MAX_TOLD);
    text.len = pl_utf8_valid_prefix(text);
    return text;
}

static bool refuse(struct pl_exchange *x, struct pl_str name, const char *detail)
{
    struct pl_error err = {0};
    snprintf(err.message, sizeof err.message, "%s", detail);
    pl_error_point(&err, "/%.*s", PL_STR_ARG(told(name)));
    pl_exchange_problem(x, PL_PROBLEM_INVALID_REQUEST, &err, "%s", detail);
    return false;
}

/* Finds a parameter of the route; NULL after making a problem. */
static const struct pl_route_param *find(struct pl_exchange *x, struct pl_str name)
{
    static const struct pl_route_param other = {"", "{}", ""};
    struct pl_suggest suggest = pl_suggest(name);
    const struct pl_route_param *param = x->route->params;
    for (; param && param->name; param++) {
        if (pl_str_eq(name, pl_str_of(param->name)))
            return param;
        pl_suggest_offer(&suggest, param->name);
    }
    if (x->route->flags & PL_ROUTE_ANY_QUERY)
        return &other;
    char detail[256];
    snprintf(detail, sizeof detail, "There is no query parameter \"%.*s\"%s%s%s",
             PL_STR_ARG(told(name)), suggest.best ? "; did you mean \"" : "",
             suggest.best ? suggest.best : "", suggest.best ? "\"?" : ".");
    (void)refuse(x, name, detail);
    return NULL;
}

/* Whether the list has the word. Appends the allowed words to `wish`; *ret_near is the nearest one,
 * or empty. */
static bool has_word(struct pl_arena *arena, const struct pl_json_doc *doc,
                     const struct pl_json_node *list, struct pl_str word, struct pl_buf *wish,
                     const char **ret_near)
{
    struct pl_suggest suggest = pl_suggest(word);
    bool is_in = false;
    uint32_t i = 0, n = pl_json_count(list);
    for (const struct pl_json_node *one = pl_json_first(list); one != pl_json_end(list);
         one = pl_json_next(one), i++) {
        struct pl_str raw = pl_json_raw(doc, one);
        is_in = is_in || pl_str_eq(raw, word);
        char *name = pl_arena_zalloc(arena, raw.len + 1, 1);
        if (name && raw.len) {
            memcpy(name, raw.ptr, raw.len);
            pl_suggest_offer(&suggest, name);
        }
        pl_buf_addf(wish, "%s%.*s", !i ? "" : i + 1 == n ? " or " : ", ", PL_STR_ARG(raw));
    }
    *ret_near = suggest.best ? suggest.best : "";
    return is_in;
}

/* Checks enums and booleans only. Handlers check numbers, times and names, since they know more
 * about them. */
static bool check_value(struct pl_exchange *x, const struct pl_route_param *param,
                        struct pl_str value)
{
    struct pl_json_doc schema;
    enum pl_status status = pl_json_parse(&x->arena, pl_str_of(param->schema), NULL, &schema, NULL);
    if (status != PL_OK) {
        pl_exchange_fail(x, status == PL_NOMEM ? status : PL_INTERNAL, NULL);
        return false;
    }
    const struct pl_json_node *words = pl_json_get(&schema, schema.root, PL_STR("enum"));
    const struct pl_json_node *type = pl_json_get(&schema, schema.root, PL_STR("type"));
    bool is_boolean = type && pl_json_is(type, PL_JSON_STRING) &&
                      pl_str_eq(pl_json_raw(&schema, type), PL_STR("boolean"));
    char text[512];
    const char *near = "";
    PL_CLEANUP_BUF struct pl_buf wish;
    pl_buf_init(&wish, sizeof text / 2);
    if (is_boolean) {
        pl_buf_adds(&wish, "true or false");
        if (pl_str_eq(value, PL_STR("true")) || pl_str_eq(value, PL_STR("false")))
            return true;
    } else if (!words || has_word(&x->arena, &schema, words, value, &wish, &near)) {
        return true;
    }
    snprintf(text, sizeof text, "The parameter %s must be %.*s, but is \"%.*s\"%s%s%s", param->name,
             PL_STR_ARG(pl_buf_str(&wish)), PL_STR_ARG(told(value)),
             *near ? "; did you mean \"" : "", near, *near ? "\"?" : ".");
    return refuse(x, pl_str_of(param->name), text);
}

/* Whether the query has this parameter before. A handler would use only the first one. */
static bool is_repeated(const struct pl_target *target, size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (pl_str_eq(target->params[i].name, target->params[at].name))
            return true;
    return false;
}

/* Checks only our own paths: vendors' clients send parameters that the vendors ignore (beta=true),
 * and probes add a random one to each request. */
bool pl_exchange_check_query(struct pl_exchange *x)
{
    bool is_own = pl_str_starts(pl_str_of(x->route->path), PL_STR("/api/"));
    for (size_t i = 0; i < x->target.n_params && is_own; i++) {
        struct pl_str name = x->target.params[i].name;
        const struct pl_route_param *param = find(x, name);
        if (!param)
            return false;
        if (is_repeated(&x->target, i))
            return refuse(x, name, "A query has each parameter once.");
        if (!check_value(x, param, x->target.params[i].value))
            return false;
    }
    return true;
}
