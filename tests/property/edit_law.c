#include "property/edit_law.h"

#include "carry/carry.h"
#include "json/equal.h"
#include "json/pointer.h"
#include "json/text.h"
#include "property/edits.h"

struct law {
    const struct pl_edit_trip *trip;
    struct pl_arena arena;                         /* owned */
    struct pl_converted home, again, bare, strict; /* owned */
    struct pl_json_doc edited, there, report;
    bool is_lossless;
    size_t n_differences;
    struct pl_buf *why;
};

static enum pl_edit_fate wrong(struct law *law, const char *what, struct pl_str more)
{
    pl_buf_addf(law->why, "%s%.*s", what, (int)(more.len < 600 ? more.len : 600),
                more.ptr ? more.ptr : "");
    return PL_EDIT_WRONG;
}

static enum pl_status convert(struct pl_str text, const struct pl_format *from,
                              const struct pl_format *to, struct pl_str carry, bool is_strict,
                              struct pl_converted *ret, struct pl_error *err)
{
    struct pl_convert_opts opts = {
        .from = from, .to = to, .way_home = &pl_carry_way, .carry = carry, .is_strict = is_strict};
    return pl_convert(text, &opts, ret, err);
}

/* --- comparing two documents, without difference.c and same.c --------------------------------- */

/* Where a value is. */
enum where {
    IN_DATA, /* anything counts */
    ON_ROAD, /* the document and its messages */
    IN_TEXT, /* a text may be a string, a part or a list of one */
};

static bool is_one_of(const struct pl_json_doc *doc, const struct pl_json_node *key,
                      const char *const names[])
{
    for (size_t i = 0; names[i]; i++)
        if (pl_json_text_is(doc, key, pl_str_of(names[i])))
            return true;
    return false;
}

static enum where inside(struct law *law, const struct pl_json_node *object,
                         const struct pl_json_node *key, enum where where)
{
    static const char *const texts[] = {"content", "parts", "output", "stop", NULL};
    static const char *const roads[] = {"source", "message", NULL};
    static const char *const root_texts[] = {"contents", "system", "systemInstruction",
                                             "system_instruction", NULL};
    static const char *const root_roads[] = {"messages", "input",      "config", "settings",
                                             "choices",  "candidates", NULL};
    const struct pl_json_doc *doc = &law->there;
    bool is_root = object == doc->root;
    if (where == IN_DATA)
        return IN_DATA;
    if (is_one_of(doc, key, texts) || (is_root && is_one_of(doc, key, root_texts)))
        return IN_TEXT;
    return is_one_of(doc, key, roads) || (is_root && is_one_of(doc, key, root_roads)) ? ON_ROAD
                                                                                      : IN_DATA;
}

static const struct pl_json_node *only_text(const struct pl_json_doc *doc,
                                            const struct pl_json_node *n)
{
    static const char *const types[] = {"text", "input_text", "output_text", NULL};
    if (pl_json_kind(n) == PL_JSON_ARRAY && pl_json_count(n) == 1)
        n = pl_json_first(n);
    if (pl_json_kind(n) != PL_JSON_OBJECT)
        return pl_json_kind(n) == PL_JSON_STRING ? n : NULL;
    const struct pl_json_node *text = pl_json_get(doc, n, PL_STR("text")),
                              *type = pl_json_get(doc, n, PL_STR("type"));
    bool is_text = text && pl_json_kind(text) == PL_JSON_STRING &&
                   (!type || is_one_of(doc, type, types)) && pl_json_count(n) == 1 + !!type;
    return is_text ? text : NULL;
}

static bool says_same(struct law *law, const struct pl_json_node *a, const struct pl_json_node *b,
                      enum where where)
{
    bool is_same = false;
    const struct pl_json_node *a_text = only_text(&law->there, a),
                              *b_text = only_text(&law->edited, b);
    if (where == IN_TEXT && a_text && b_text)
        return pl_json_text_same(&law->there, a_text, &law->edited, b_text);
    if (pl_json_equal(&law->there, a, &law->edited, b, &is_same) != PL_OK || is_same)
        return is_same;
    if (!pl_json_is_container(a) || pl_json_kind(a) != pl_json_kind(b) ||
        pl_json_count(a) != pl_json_count(b))
        return false;
    bool is_object = pl_json_kind(a) == PL_JSON_OBJECT;
    const struct pl_json_node *m = pl_json_first(a), *n = pl_json_first(b);
    for (; m < pl_json_end(a); m = pl_json_next(m + is_object), n = pl_json_next(n + is_object)) {
        struct pl_str key = {0};
        const struct pl_json_node *other = n;
        if (is_object && pl_json_text(&law->arena, &law->there, m, &key) == PL_OK)
            other = pl_json_get(&law->edited, b, key);
        if (!other ||
            !says_same(law, m + is_object, other, is_object ? inside(law, a, m, where) : where))
            return false;
    }
    return true;
}

/* --- whether the report names a difference ---------------------------------------------------- */

/* Whether the pointers are equal or one is a prefix of the other. The root is a prefix of all, so
 * it only matches itself. */
static bool is_along(struct pl_str a, struct pl_str b)
{
    struct pl_str less = a.len < b.len ? a : b, more = a.len < b.len ? b : a;
    if (!less.len)
        return !more.len;
    return pl_str_starts(more, less) && (more.len == less.len || more.ptr[less.len] == '/');
}

static struct pl_str text_of(struct law *law, const struct pl_json_node *loss, const char *key)
{
    struct pl_str text = {0};
    const struct pl_json_node *n = pl_json_get(&law->report, loss, pl_str_of(key));
    if (n)
        (void)pl_json_text(&law->arena, &law->report, n, &text);
    return text;
}

/* Whether `named` is a new or moved element of a list that the pointer is in: then the others have
 * another position. */
static bool is_shifted(struct law *law, const struct pl_json_node *loss, struct pl_str named,
                       struct pl_str pointer)
{
    struct pl_str code = text_of(law, loss, "code");
    size_t end = named.len;
    while (end && named.ptr[end - 1] >= '0' && named.ptr[end - 1] <= '9')
        end--;
    return end && end < named.len && named.ptr[end - 1] == '/' &&
           (pl_str_eq(code, PL_STR("reordered")) || pl_str_eq(code, PL_STR("dropped"))) &&
           pl_str_starts(pointer, pl_str_slice(named, 0, end));
}

static bool is_reported(struct law *law, struct pl_str pointer)
{
    const struct pl_json_node *losses =
        pl_json_get(&law->report, law->report.root, PL_STR("losses"));
    for (const struct pl_json_node *loss = pl_json_first(losses); loss < pl_json_end(losses);
         loss = pl_json_next(loss)) {
        struct pl_str named = text_of(law, loss, "pointer");
        if (pl_json_get(&law->report, loss, PL_STR("pointer")) &&
            (is_along(named, pointer) || is_shifted(law, loss, named, pointer)))
            return true;
    }
    return false;
}

/* A difference at `at` of the edited target. In the list of a whole document that has another
 * length, every report is inside it. */
static void expect_report(struct law *law, const struct pl_json_node *at, bool is_list)
{
    PL_CLEANUP_BUF struct pl_buf pointer;
    pl_buf_init(&pointer, 0);
    pl_json_pointer_of(&pointer, &law->edited, at);
    law->n_differences++;
    bool is_root_list = is_list && !pointer.len && !law->is_lossless;
    if (!is_root_list && !is_reported(law, pl_buf_str(&pointer)) && !law->why->len)
        pl_buf_addf(law->why, "silent difference at %.*s", PL_STR_ARG(pl_buf_str(&pointer)));
}

static void compare_members(struct law *law, const struct pl_json_node *a,
                            const struct pl_json_node *b, enum where where);

static void compare_values(struct law *law, const struct pl_json_node *a,
                           const struct pl_json_node *b, enum where where)
{
    if (says_same(law, a, b, where))
        return;
    if (pl_json_kind(a) == PL_JSON_OBJECT && pl_json_kind(b) == PL_JSON_OBJECT) {
        compare_members(law, a, b, where);
        return;
    }
    bool are_lists = pl_json_kind(a) == PL_JSON_ARRAY && pl_json_kind(b) == PL_JSON_ARRAY;
    if (!are_lists || pl_json_count(a) != pl_json_count(b)) {
        expect_report(law, b, are_lists);
        return;
    }
    const struct pl_json_node *m = pl_json_first(a), *n = pl_json_first(b);
    for (; m < pl_json_end(a); m = pl_json_next(m), n = pl_json_next(n))
        compare_values(law, m, n, where);
}

static const struct pl_json_node *same_member(struct law *law, const struct pl_json_doc *doc,
                                              const struct pl_json_node *object,
                                              const struct pl_json_doc *key_doc,
                                              const struct pl_json_node *key)
{
    struct pl_str name = {0};
    (void)pl_json_text(&law->arena, key_doc, key, &name);
    return pl_json_get(doc, object, name);
}

static void compare_members(struct law *law, const struct pl_json_node *a,
                            const struct pl_json_node *b, enum where where)
{
    for (const struct pl_json_node *key = pl_json_first(b); key < pl_json_end(b);
         key = pl_json_next_member(key)) {
        const struct pl_json_node *other = same_member(law, &law->there, a, &law->edited, key);
        if (!other)
            expect_report(law, key + 1, false);
        else
            compare_values(law, other, same_member(law, &law->edited, b, &law->edited, key),
                           inside(law, a, other - 1, where));
    }
    for (const struct pl_json_node *key = pl_json_first(a); key < pl_json_end(a);
         key = pl_json_next_member(key))
        if (!same_member(law, &law->edited, b, &law->there, key))
            expect_report(law, b, false);
}

static enum pl_edit_fate compare(struct law *law)
{
    bool is_same = says_same(law, law->there.root, law->edited.root, ON_ROAD);
    compare_values(law, law->there.root, law->edited.root, ON_ROAD);
    if (law->why->len)
        return PL_EDIT_WRONG;
    if (is_same != !law->n_differences)
        return wrong(law, "two documents differ, and no difference is found", (struct pl_str){0});
    if (!is_same && law->is_lossless)
        return wrong(law, "a difference, and the report says lossless", (struct pl_str){0});
    return law->is_lossless ? PL_EDIT_ARRIVED : PL_EDIT_REPORTED;
}

/* --- there and back --------------------------------------------------------------------------- */

static enum pl_edit_fate check_refusal(struct law *law, enum pl_status status,
                                       const struct pl_error *err)
{
    const struct pl_edit_trip *t = law->trip;
    if (status != PL_INVALID && status != PL_SYNTAX)
        return wrong(law, "refused with another status than PL_INVALID: ", pl_str_of(err->message));
    if (!err->message[0])
        return wrong(law, "refused without a message", (struct pl_str){0});
    /* If it can be converted without a carry, it must convert with one. */
    if (convert(t->edited, t->to, t->from, (struct pl_str){0}, false, &law->bare, NULL) == PL_OK)
        return wrong(law, "refused, although it can be converted: ", pl_str_of(err->message));
    return PL_EDIT_REFUSED;
}

static bool check_strict(struct law *law)
{
    const struct pl_edit_trip *t = law->trip;
    struct pl_error err = {0};
    enum pl_status status = convert(t->edited, t->to, t->from, t->carry, true, &law->strict, &err);
    if (law->is_lossless)
        return status == PL_OK &&
               pl_str_eq(pl_buf_str(&law->strict.out), pl_buf_str(&law->home.out));
    return status == PL_INVALID && err.message[0] && !law->strict.out.len &&
           pl_str_eq(pl_buf_str(&law->strict.report), pl_buf_str(&law->home.report));
}

static enum pl_edit_fate check(struct law *law)
{
    const struct pl_edit_trip *t = law->trip;
    struct pl_error err = {0};
    struct pl_json_doc home;
    if (!pl_edit_parse(&law->arena, t->to, t->edited, &law->edited))
        return PL_EDIT_REFUSED;
    enum pl_status status = convert(t->edited, t->to, t->from, t->carry, false, &law->home, &err);
    if (status != PL_OK)
        return check_refusal(law, status, &err);
    struct pl_str out = pl_buf_str(&law->home.out);
    if (!pl_edit_parse(&law->arena, t->from, out, &home))
        return wrong(law, "the result does not parse: ", out);
    if (pl_json_parse(&law->arena, pl_buf_str(&law->home.report), NULL, &law->report, NULL) !=
        PL_OK)
        return wrong(law, "the report does not parse", (struct pl_str){0});
    const struct pl_json_node *lossless =
        pl_json_get(&law->report, law->report.root, PL_STR("lossless"));
    law->is_lossless = lossless && pl_json_kind(lossless) == PL_JSON_TRUE;
    if (!check_strict(law))
        return wrong(law, "strict does not refuse exactly what is reported", (struct pl_str){0});
    status = convert(out, t->from, t->to, (struct pl_str){0}, false, &law->again, &err);
    /* The rest may be too little for the other format: then the report says so for the whole
     * document. */
    if (status == PL_INVALID && !law->is_lossless && is_reported(law, PL_STR("")))
        return PL_EDIT_REPORTED;
    if (status != PL_OK)
        return wrong(law, "the result cannot be converted: ", pl_str_of(err.message));
    if (!pl_edit_parse(&law->arena, t->to, pl_buf_str(&law->again.out), &law->there))
        return wrong(law, "the target of the result does not parse", (struct pl_str){0});
    return compare(law);
}

enum pl_edit_fate pl_edit_law_check(const struct pl_edit_trip *trip, struct pl_buf *why)
{
    struct law law = {.trip = trip, .why = why};
    struct pl_converted *all[] = {&law.home, &law.again, &law.bare, &law.strict};
    pl_arena_init(&law.arena, 0);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        pl_converted_init(all[i]);
    enum pl_edit_fate fate = check(&law);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        pl_converted_deinit(all[i]);
    pl_arena_deinit(&law.arena);
    return fate;
}
