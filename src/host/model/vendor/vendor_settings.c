/* Converts the settings of a session to the terms of a vendor, and reports those that did not reach
 * it. */
#include "model/vendor/vendor_settings.h"

#include "json/json.h"
#include "json/merge.h"
#include "json/number.h"
#include "json/text.h"
#include "json/write.h"
#include "model/facts.h"

enum {
    MAX_OUTPUT = 8192, /* for an unknown model, if a number is required */
    MAX_NOTICE = 2000,
};

/* --- what everybody reads -------------------------------------------------------------------- */

/* Settings that have another name in the document, or none. */
static const struct {
    const char *session, *document; /* NULL: written separately, or not at all */
} names[] = {
    {"effort", "reasoning_effort"},
    {"thinking", "thinking_budget"},
    {"vendor", NULL},
};

enum { N_NAMES = sizeof names / sizeof *names };

static const char *document_name(const struct pl_json_doc *doc, const struct pl_json_node *key,
                                 bool *ret_is_other)
{
    for (size_t i = 0; i < N_NAMES; i++) {
        *ret_is_other = pl_json_text_is(doc, key, pl_str_of(names[i].session));
        if (*ret_is_other)
            return names[i].document;
    }
    return NULL;
}

/* true is unlimited, false is none, a number is that many tokens. */
static void write_thinking(struct pl_buf *to, const struct pl_json_doc *doc,
                           const struct pl_json_node *value)
{
    if (pl_json_kind(value) == PL_JSON_TRUE)
        pl_buf_adds(to, "-1");
    else if (pl_json_kind(value) == PL_JSON_FALSE)
        pl_buf_adds(to, "0");
    else
        pl_json_write_min(to, doc, value);
}

static void begin_member(struct pl_buf *to, const char *key)
{
    pl_buf_addf(to, "%s\"%s\":", to->len && to->ptr[to->len - 1] != '{' ? "," : "", key);
}

static void write_session(struct pl_buf *to, const struct pl_json_doc *doc)
{
    for (const struct pl_json_node *k = pl_json_first_member(doc->root); k < pl_json_end(doc->root);
         k = pl_json_next_member(k)) {
        bool is_other;
        const char *name = document_name(doc, k, &is_other);
        if (is_other && !name)
            continue;
        if (pl_json_kind(k + 1) == PL_JSON_NULL)
            continue;
        if (name) {
            begin_member(to, name);
        } else {
            pl_buf_adds(to, to->len && to->ptr[to->len - 1] != '{' ? "," : "");
            pl_buf_add(to, pl_json_span(doc, k));
            pl_buf_addc(to, ':');
        }
        if (pl_json_text_is(doc, k, PL_STR("thinking")))
            write_thinking(to, doc, k + 1);
        else
            pl_json_write_min(to, doc, k + 1);
    }
}

static bool has_limit(const struct pl_json_doc *doc)
{
    const struct pl_json_node *limit = pl_json_get(doc, doc->root, PL_STR("max_tokens"));
    return limit && pl_json_kind(limit) == PL_JSON_NUMBER;
}

enum pl_status pl_vendor_settings_write(struct pl_arena *arena,
                                        const struct pl_model_target *target,
                                        struct pl_str settings, struct pl_buf *to)
{
    const struct pl_model_facts *facts = pl_model_facts_find(target->model);
    struct pl_json_doc doc;
    enum pl_status status =
        pl_json_parse(arena, settings.len ? settings : PL_STR("{}"), &pl_json_own, &doc, NULL);
    if (status != PL_OK)
        return status;
    pl_buf_addc(to, '{');
    if (target->format != &pl_format_gemini) { /* Gemini has it in the URL */
        begin_member(to, "model");
        pl_json_quote(to, target->model);
        begin_member(to, "stream");
        pl_buf_adds(to, "true");
    }
    if (target->format == &pl_format_anthropic && !has_limit(&doc)) {
        begin_member(to, "max_tokens");
        pl_buf_addf(to, "%lld",
                    (long long)(facts && facts->max_output ? facts->max_output : MAX_OUTPUT));
    }
    write_session(to, &doc);
    pl_buf_addc(to, '}');
    return to->status;
}

/* --- what one vendor reads ------------------------------------------------------------------- */

enum pl_status pl_vendor_body_merge(struct pl_arena *arena, struct pl_str patch,
                                    struct pl_buf *body)
{
    struct pl_json_doc doc, change;
    PL_CLEANUP_BUF struct pl_buf merged;
    pl_buf_init(&merged, 0);
    enum pl_status status = pl_json_parse(arena, pl_buf_str(body), &pl_json_own, &doc, NULL);
    if (status == PL_OK)
        status = pl_json_parse(arena, patch, &pl_json_own, &change, NULL);
    if (status == PL_OK)
        status = pl_json_merge_write(arena, &merged, &doc, doc.root, &change, change.root);
    if (status != PL_OK)
        return status;
    pl_buf_clear(body);
    pl_buf_add(body, pl_buf_str(&merged));
    return body->status;
}

/* Members that we set ourselves, or whose answer we could not read. */
static bool is_ours(const struct pl_json_doc *doc, const struct pl_json_node *key)
{
    static const char *const ours[] = {"model", "stream", "messages", "input", "contents"};
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        if (pl_json_text_is(doc, key, pl_str_of(ours[i])))
            return true;
    return false;
}

static enum pl_status merge_of(struct pl_arena *arena, const struct pl_json_doc *doc,
                               const struct pl_json_node *members, struct pl_buf *body)
{
    PL_CLEANUP_BUF struct pl_buf patch;
    pl_buf_init(&patch, 0);
    struct pl_json_out out = pl_json_out(&patch);
    pl_json_out_open(&out, '{');
    for (const struct pl_json_node *k = pl_json_first_member(members); k < pl_json_end(members);
         k = pl_json_next_member(k)) {
        if (is_ours(doc, k))
            continue;
        struct pl_str name;
        enum pl_status status = pl_json_text(arena, doc, k, &name);
        if (status != PL_OK)
            return status;
        pl_json_out_key_str(&out, name);
        pl_json_out_raw(&out, pl_json_span(doc, k + 1));
    }
    pl_json_out_close(&out, '}');
    if (patch.status != PL_OK)
        return patch.status;
    struct pl_str text = pl_arena_dup(arena, pl_buf_str(&patch));
    return text.ptr ? pl_vendor_body_merge(arena, text, body) : PL_NOMEM;
}

enum pl_status pl_vendor_settings_merge(struct pl_arena *arena,
                                        const struct pl_model_target *target,
                                        struct pl_str settings, struct pl_buf *body)
{
    const char *dialect = target->vendor->dialect, *name = target->vendor->name;
    bool is_openai = pl_str_starts(pl_str_of(dialect), PL_STR("openai-"));
    const char *const who[] = {is_openai && strcmp(name, "openai") != 0 ? "openai" : NULL, dialect,
                               strcmp(name, dialect) != 0 ? name : NULL};
    struct pl_json_doc doc;
    if (!settings.len)
        return PL_OK;
    enum pl_status status = pl_json_parse(arena, settings, &pl_json_own, &doc, NULL);
    const struct pl_json_node *vendor =
        status == PL_OK ? pl_json_member(&doc, doc.root, "vendor", PL_JSON_OBJECT) : NULL;
    for (size_t i = 0; vendor && i < sizeof who / sizeof *who && status == PL_OK; i++) {
        const struct pl_json_node *members =
            who[i] ? pl_json_member(&doc, vendor, who[i], PL_JSON_OBJECT) : NULL;
        if (members)
            status = merge_of(arena, &doc, members, body);
    }
    return status;
}

/* --- what did not arrive --------------------------------------------------------------------- */

/* "settings/response_format" -> "response_format", in the terms of a session. */
static void write_name(struct pl_buf *to, struct pl_str pointer)
{
    struct pl_str settings = PL_STR("/settings/");
    struct pl_str name = pl_str_starts(pointer, settings)
                             ? pl_str_slice(pointer, settings.len, pointer.len)
                             : pl_str_slice(pointer, 1, pointer.len);
    if (pl_str_starts(pointer, PL_STR("/tools")))
        name = PL_STR("tools");
    for (size_t i = 0; i < N_NAMES; i++)
        if (names[i].document && pl_str_eq(name, pl_str_of(names[i].document)))
            name = pl_str_of(names[i].session);
    pl_buf_add(to, name);
}

static bool is_told(struct pl_str code, struct pl_str pointer)
{
    bool is_lost = pl_str_eq(code, PL_STR("dropped")) || pl_str_eq(code, PL_STR("approximated"));
    return is_lost &&
           (pl_str_starts(pointer, PL_STR("/settings/")) ||
            pl_str_starts(pointer, PL_STR("/tools"))) &&
           !pl_str_eq(pointer, PL_STR("/settings/stream"));
}

static enum pl_status add_loss(struct pl_arena *arena, const struct pl_json_doc *doc,
                               const struct pl_json_node *loss, struct pl_buf *to)
{
    static const char *const keys[] = {"code", "pointer", "detail"};
    struct pl_str texts[3] = {0};
    for (size_t i = 0; i < 3; i++) {
        const struct pl_json_node *node = pl_json_member(doc, loss, keys[i], PL_JSON_STRING);
        enum pl_status status = node ? pl_json_text(arena, doc, node, &texts[i]) : PL_OK;
        if (status != PL_OK)
            return status;
    }
    if (!is_told(texts[0], texts[1]) || to->len > MAX_NOTICE)
        return PL_OK;
    pl_buf_adds(to, to->len ? "; " : "");
    write_name(to, texts[1]);
    pl_buf_adds(to, pl_str_eq(texts[0], PL_STR("dropped")) ? ": not sent" : ": changed");
    if (texts[2].len) {
        pl_buf_adds(to, " (");
        pl_buf_add(to, texts[2]);
        pl_buf_addc(to, ')');
    }
    return PL_OK;
}

enum pl_status pl_vendor_settings_notice(struct pl_arena *arena,
                                         const struct pl_model_target *target, struct pl_str report,
                                         struct pl_str *ret_notice)
{
    struct pl_json_doc doc;
    PL_CLEANUP_BUF struct pl_buf list, text;
    pl_buf_init(&list, 0);
    pl_buf_init(&text, 0);
    *ret_notice = (struct pl_str){0};
    enum pl_status status = pl_json_parse(arena, report, &pl_json_own, &doc, NULL);
    const struct pl_json_node *losses =
        status == PL_OK ? pl_json_member(&doc, doc.root, "losses", PL_JSON_ARRAY) : NULL;
    for (const struct pl_json_node *n = losses ? pl_json_first(losses) : NULL;
         n && n < pl_json_end(losses) && status == PL_OK; n = pl_json_next(n))
        status = add_loss(arena, &doc, n, &list);
    if (status != PL_OK || !list.len)
        return status == PL_OK ? list.status : status;
    pl_buf_addf(&text, "%s/", target->vendor->name);
    pl_buf_add(&text, target->model);
    pl_buf_adds(&text, " does not take all settings: ");
    pl_buf_add(&text, pl_buf_str(&list));
    pl_buf_addc(&text, '.');
    if (text.status != PL_OK)
        return text.status;
    *ret_notice = pl_arena_dup(arena, pl_buf_str(&text));
    return ret_notice->ptr ? PL_OK : PL_NOMEM;
}
