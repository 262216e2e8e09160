/* Replaces parts that only one vendor has by text, calls or sources that the target can hold. It
 * walks the messages once and rebuilds only those that have such parts. */
#include "format/adapt/restate.h"

#include "base/map.h"
#include "format/pieces/hosted_tools.h"

struct restate {
    struct pl_conv *conv;
    const struct pl_conversion *conversion;
    PL_VEC(struct pl_part) parts;    /* owned; replaces conv->parts … */
    PL_VEC(struct pl_part) children; /* owned; … and conv->children */
    struct pl_map calls;             /* owned; id of a call -> its number */
    PL_VEC(struct pl_gist *) called; /* owned; the first gist with number i + 1 */
    struct pl_hosted_tools tools;    /* tools of the source that the target has too */
    uint32_t open[PL_SERVICE_COUNT]; /* number of the last call without an id; 0: answered */
};

/* ---- pairing calls and results ---- */

static bool has_others(const struct pl_conv *conv)
{
    for (size_t i = 0; i < conv->parts.len; i++)
        if (conv->parts.ptr[i].kind == PL_PART_OTHER)
            return true;
    for (size_t i = 0; i < conv->children.len; i++)
        if (conv->children.ptr[i].kind == PL_PART_OTHER)
            return true;
    return false;
}

static void fail(struct restate *r)
{
    if (r->conv->status == PL_OK)
        r->conv->status = PL_NOMEM;
}

static struct pl_gist *gist_of(struct restate *r, const struct pl_part *part)
{
    struct pl_gist gist = {0};
    if (part->kind != PL_PART_OTHER || !part->node ||
        !r->conversion->from->tell(r->conv, part->node, &gist))
        return NULL;
    struct pl_gist *kept = pl_arena_alloc(r->conv->arena, 1, sizeof *kept);
    if (kept)
        *kept = gist;
    else
        fail(r);
    return kept;
}

/* The number of the call that a result answers, or 0. A result without an id answers the last
 * call. */
static uint32_t call_of(struct restate *r, const struct pl_gist *gist)
{
    struct pl_str id = pl_conv_text(r->conv, gist->id);
    if (gist->has_call)
        return 0;
    if (!id.len)
        return r->open[gist->service];
    const struct pl_map_entry *entry = pl_map_get(&r->calls, id);
    return entry ? (uint32_t)entry->value : 0;
}

static struct pl_gist *first_of(const struct restate *r, const struct pl_gist *gist)
{
    return r->called.ptr[gist->number - r->conversion->n_called_before - 1];
}

/* A call and its result get the same number. */
static void number(struct restate *r, struct pl_gist *gist)
{
    struct pl_str id = pl_conv_text(r->conv, gist->id);
    bool is_new = false;
    gist->number = call_of(r, gist);
    bool is_answer = gist->number != 0;
    if (!is_answer && !pl_vec_push(&r->called, gist))
        fail(r);
    if (!is_answer)
        gist->number = r->conversion->n_called_before + (uint32_t)r->called.len;
    r->open[gist->service] = gist->has_call && !gist->has_result ? gist->number : 0;
    if (!id.len)
        return;
    struct pl_map_entry *entry = pl_map_put(&r->calls, id, &is_new);
    if (entry)
        entry->value = gist->number;
    else
        fail(r);
}

/* For a target with one item for both: attaches the result to its call, the last one before it. */
static bool joins_call(struct restate *r, const struct pl_gist *gist)
{
    if (!r->conversion->to->joins_services || gist->has_call || r->conv->status != PL_OK)
        return false;
    struct pl_gist *call = first_of(r, gist);
    if (!call->has_call || call->has_result || call->answer)
        return false;
    call->answer = gist;
    return true;
}

/* ---- text ---- */

static struct pl_part *push(struct restate *r, bool is_child)
{
    struct pl_part *part = is_child ? pl_vec_add(&r->children) : pl_vec_add(&r->parts);
    if (!part)
        fail(r);
    else
        *part = (struct pl_part){0};
    return part;
}

static void push_text(struct restate *r, bool is_child, struct pl_val text)
{
    struct pl_part *part = push(r, is_child);
    if (!part)
        return;
    part->kind = PL_PART_TEXT;
    part->text = text;
}

static void push_line(struct restate *r, bool is_child, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void push_line(struct restate *r, bool is_child, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    struct pl_str line = pl_conv_vprintf(r->conv, format, args);
    va_end(args);
    if (line.ptr)
        push_text(r, is_child, pl_val_text(line));
}

static bool has_words(struct restate *r, struct pl_val val)
{
    return pl_val_is_set(val) && !pl_conv_is_blank(r->conv, val);
}

/* Whether a part is a source that was found: an address without content. */
static bool is_source(const struct pl_part *part)
{
    return part->kind == PL_PART_FILE && !pl_val_is_set(part->data) && !pl_val_is_set(part->text) &&
           pl_val_is_set(part->url);
}

static void push_source(struct restate *r, bool is_child, const struct pl_part *source)
{
    struct pl_str title = pl_conv_text(r->conv, source->name);
    struct pl_str url = pl_conv_text(r->conv, source->url);
    if (title.len)
        push_line(r, is_child, "- %.*s (%.*s)\n", PL_STR_ARG(title), PL_STR_ARG(url));
    else
        push_line(r, is_child, "- %.*s\n", PL_STR_ARG(url));
    pl_conv_know(r->conv, source->name.node);
    pl_conv_know(r->conv, source->url.node);
}

static void push_parts(struct restate *r, bool is_child, const struct pl_gist *gist)
{
    for (uint32_t i = 0; i < gist->n_parts; i++) {
        const struct pl_part *part = &gist->parts[i];
        if (is_source(part)) {
            push_source(r, is_child, part);
            continue;
        }
        struct pl_part *copy = push(r, is_child);
        if (copy)
            *copy = *part;
        if (copy && i + 1 == gist->n_parts && !pl_val_is_set(copy->cache))
            copy->cache = gist->cache;
    }
}

/* ---- passages ---- */

enum { MOST_PIECES = 9 };

/* Our words, then a value of the source. */
static void add_pieces(struct pl_val *run, struct pl_piece *pieces, const char *words,
                       struct pl_val val)
{
    if (*words)
        pieces[run->n_pieces++].text = pl_val_text(pl_str_of(words));
    if (pl_val_is_set(val))
        pieces[run->n_pieces++].text = val;
}

/* "[Document: TITLE, from ADDRESS]", "[Context: …]" and the first text. They are one text, so that
 * what is added to it belongs to the first text on the way home. */
static struct pl_val heading_of(struct restate *r, const char *lead, const struct pl_gist *gist,
                                struct pl_val first)
{
    const struct pl_val none = {0};
    struct pl_piece *pieces = pl_arena_zalloc(r->conv->arena, MOST_PIECES, sizeof *pieces);
    struct pl_val run = {.kind = PL_VAL_RUN, .pieces = pieces};
    if (!pieces) {
        fail(r);
        return none;
    }
    const char *what = pl_val_is_set(gist->url) ? "[Search result" : "[Document";
    bool has_name = pl_conv_text(r->conv, gist->name).len > 0;
    bool has_url = pl_conv_text(r->conv, gist->url).len > 0;
    bool has_context = has_words(r, gist->context);
    add_pieces(&run, pieces, lead, none);
    add_pieces(&run, pieces, what, none);
    if (has_name)
        add_pieces(&run, pieces, ": ", gist->name);
    if (has_url)
        add_pieces(&run, pieces, ", from ", gist->url);
    if (has_context)
        add_pieces(&run, pieces, "]\n[Context: ", gist->context);
    add_pieces(&run, pieces, "]\n", first);
    pl_conv_know(r->conv, gist->name.node);
    pl_conv_know(r->conv, gist->url.node);
    return run;
}

static void push_passages(struct restate *r, bool is_child, const char *lead,
                          const struct pl_gist *gist)
{
    const struct pl_part *first = gist->n_parts ? &gist->parts[0] : NULL;
    bool joins_first = first && first->kind == PL_PART_TEXT && first->text.kind == PL_VAL_NODE;
    struct pl_val heading =
        heading_of(r, lead, gist, joins_first ? first->text : (struct pl_val){0});
    size_t n_before = is_child ? r->children.len : r->parts.len;
    if (joins_first) {
        push_parts(r, is_child, gist);
        if (r->conv->status == PL_OK)
            (is_child ? r->children.ptr : r->parts.ptr)[n_before].text = heading;
    } else {
        push_text(r, is_child, heading);
        push_parts(r, is_child, gist);
    }
    push_line(r, is_child, "\n[End of %s]",
              pl_val_is_set(gist->url) ? "search result" : "document");
}

/* One text with a title becomes a document if the target has documents; these have no address. */
static bool push_document(struct restate *r, bool is_child, const struct pl_part *part,
                          const struct pl_gist *gist)
{
    if (!r->conversion->to->has_documents || gist->n_parts != 1 ||
        gist->parts[0].kind != PL_PART_TEXT || pl_val_is_set(gist->url))
        return false;
    struct pl_part *document = push(r, is_child);
    if (!document)
        return true;
    *document = (struct pl_part){
        .kind = PL_PART_FILE,
        .node = part->node,
        .text = gist->parts[0].text,
        .name = gist->name,
        .context = gist->context,
        .cache = gist->cache,
    };
    return true;
}

/* ---- calls ---- */

static struct pl_str tool_of(struct restate *r, const struct pl_gist *gist)
{
    static const char *const names[PL_SERVICE_COUNT] = {
        [PL_SERVICE_SEARCH] = "web_search",   [PL_SERVICE_FETCH] = "web_fetch",
        [PL_SERVICE_CODE] = "code_execution", [PL_SERVICE_MCP] = "mcp",
        [PL_SERVICE_FILES] = "file_search",   [PL_SERVICE_OTHER] = "tool",
    };
    struct pl_str name = pl_conv_text(r->conv, gist->name);
    struct pl_str server = pl_conv_text(r->conv, gist->server);
    pl_conv_know(r->conv, gist->name.node);
    pl_conv_know(r->conv, gist->server.node);
    if (server.len)
        return pl_conv_printf(r->conv, "%.*s of %.*s", PL_STR_ARG(name), PL_STR_ARG(server));
    return name.len ? name : pl_str_of(names[gist->service]);
}

static void push_call(struct restate *r, bool is_child, const char *lead,
                      const struct pl_gist *gist)
{
    struct pl_str tool = tool_of(r, gist);
    push_line(r, is_child, "%s[Call of %.*s]\n", lead, PL_STR_ARG(tool));
    if (has_words(r, gist->input))
        push_text(r, is_child, gist->input);
    push_line(r, is_child, "\n[End of call]");
}

/* The source's own status word or number: the target has another one, or only a failure flag. */
static void report_outcome(struct restate *r, const struct pl_gist *gist)
{
    const struct pl_json_node *word = gist->is_error.val.node;
    if (word && pl_json_kind(word) == PL_JSON_STRING)
        pl_conv_loss(r->conv, PL_LOSS_MOVED, word, "the target has its own word for it");
    else if (word && pl_json_kind(word) == PL_JSON_NUMBER && gist->is_error.value)
        pl_conv_loss(r->conv, PL_LOSS_APPROXIMATED, word,
                     "the target says that it failed, not with which code");
}

static void push_result(struct restate *r, bool is_child, const char *lead,
                        const struct pl_gist *gist)
{
    struct pl_str tool = tool_of(r, gist);
    bool has_failed = gist->is_error.is_set && gist->is_error.value;
    push_line(r, is_child, "%s[%s of %.*s]\n", lead, has_failed ? "Error" : "Result",
              PL_STR_ARG(tool));
    pl_conv_know(r->conv, gist->is_error.val.node);
    report_outcome(r, gist);
    if (has_words(r, gist->output))
        push_text(r, is_child, gist->output);
    if (has_words(r, gist->errors)) {
        if (has_words(r, gist->output))
            push_line(r, is_child, "\n[Errors]\n");
        push_text(r, is_child, gist->errors);
    }
    push_parts(r, is_child, gist);
    push_line(r, is_child, "\n[End of %s]", has_failed ? "error" : "result");
}

/* ---- rebuilding the parts ---- */

/* A request may use only tools that it declares. */
static bool is_native(const struct restate *r, const struct pl_gist *gist)
{
    return (r->conversion->to->services[r->conversion->kind] & PL_SERVICE_BIT(gist->service)) &&
           (r->conversion->kind == PL_KIND_RESPONSE ||
            pl_hosted_tools_have(&r->tools, gist->service));
}

/* Reports a part that was restated. */
static void report(struct restate *r, const struct pl_part *part, const struct pl_gist *gist)
{
    pl_conv_know(r->conv, pl_conv_node(r->conv, part->node, "type"));
    if (gist->id.node)
        pl_conv_loss(r->conv, PL_LOSS_APPROXIMATED, gist->id.node,
                     "a number shows which call and which result belong together");
    pl_conv_loss(r->conv, PL_LOSS_APPROXIMATED, part->node, "%s",
                 gist->service == PL_SERVICE_PASSAGES
                     ? "the target has no such block; it is written as text, with its title and "
                       "source"
                     : "the target has no such tool; the call and its result are written as text");
}

/* A result need not name its tool: its call does. */
static void name_result(struct restate *r, struct pl_gist *gist)
{
    number(r, gist);
    if (r->conv->status != PL_OK || pl_val_is_set(gist->name))
        return;
    const struct pl_gist *call = first_of(r, gist);
    gist->name = call->name;
    gist->server = call->server;
}

/* Writes text between two marker lines. Text that is not first in its message begins on a new
 * line. */
static void say(struct restate *r, const struct pl_part *part, struct pl_gist *gist, bool is_child,
                bool is_first)
{
    const char *lead = is_first ? "" : "\n";
    if (gist->service == PL_SERVICE_PASSAGES && push_document(r, is_child, part, gist))
        return;
    report(r, part, gist);
    if (gist->service != PL_SERVICE_PASSAGES)
        name_result(r, gist);
    if (gist->service == PL_SERVICE_PASSAGES) {
        push_passages(r, is_child, lead, gist);
        return;
    }
    if (gist->has_call)
        push_call(r, is_child, lead, gist);
    if (gist->has_result)
        push_result(r, is_child, gist->has_call ? "\n" : lead, gist);
}

static void deal(struct restate *r, const struct pl_part *part, bool is_child, bool is_first)
{
    struct pl_gist *gist = gist_of(r, part);
    bool is_request = r->conversion->kind == PL_KIND_REQUEST;
    if (gist && gist->service == PL_SERVICE_IMAGE) {
        push_parts(r, is_child, gist);
        return;
    }
    if (gist && !is_child && is_native(r, gist)) {
        number(r, gist);
        pl_conv_know(r->conv, pl_conv_node(r->conv, part->node, "type"));
        if (gist->language.node) /* the text does not contain it */
            pl_conv_loss(r->conv, PL_LOSS_MOVED, gist->language.node,
                         "the kind of the tool determines the language of its programs");
        report_outcome(r, gist);
        if (joins_call(r, gist))
            return;
        struct pl_part *copy = push(r, is_child);
        if (copy) {
            *copy = *part;
            copy->gist = gist;
        }
        return;
    }
    /* People see an answer, and could not tell such lines from the model's own text. */
    if (gist && is_request) {
        say(r, part, gist, is_child, is_first);
        return;
    }
    struct pl_part *copy = push(r, is_child);
    if (copy)
        *copy = *part;
}

static void deal_children(struct restate *r, const struct pl_part *result)
{
    const struct pl_part *children = pl_conv_children(r->conv, result);
    size_t first = r->children.len;
    for (uint32_t i = 0; i < result->n_children && r->conv->status == PL_OK; i++)
        deal(r, &children[i], true, i == 0);
    if (r->conv->status != PL_OK)
        return;
    struct pl_part *dealt = &r->parts.ptr[r->parts.len - 1];
    dealt->children = (uint32_t)first;
    dealt->n_children = (uint32_t)(r->children.len - first);
}

static void deal_all(struct restate *r)
{
    struct pl_conv *conv = r->conv;
    for (size_t i = 0; i < conv->messages.len; i++) {
        struct pl_message *m = &conv->messages.ptr[i];
        size_t first = r->parts.len;
        for (uint32_t k = 0; k < m->n_parts && conv->status == PL_OK; k++) {
            const struct pl_part *part = pl_conv_parts(conv, m) + k;
            deal(r, part, false, k == 0);
            if (part->kind == PL_PART_RESULT)
                deal_children(r, part);
        }
        if (conv->status != PL_OK)
            return;
        m->parts = (uint32_t)first;
        m->n_parts = (uint32_t)(r->parts.len - first);
    }
}

#define SWAP(a, b)                                                                                 \
    do {                                                                                           \
        __typeof__(a) kept = (a);                                                                  \
        (a) = (b);                                                                                 \
        (b) = kept;                                                                                \
    } while (0)

enum pl_status pl_restate(struct pl_conv *conv, const struct pl_conversion *conversion,
                          struct pl_error *err)
{
    if (conversion->from == conversion->to || !conversion->from->tell || !has_others(conv))
        return PL_OK;
    struct restate r = {
        .conv = conv, .conversion = conversion, .tools = pl_hosted_tools_for(conv, conversion)};
    deal_all(&r);
    if (conv->status == PL_OK) {
        SWAP(conv->parts.ptr, r.parts.ptr);
        SWAP(conv->parts.len, r.parts.len);
        SWAP(conv->parts.cap, r.parts.cap);
        SWAP(conv->children.ptr, r.children.ptr);
        SWAP(conv->children.len, r.children.len);
        SWAP(conv->children.cap, r.children.cap);
    }
    conv->n_called = (uint32_t)r.called.len;
    pl_vec_deinit(&r.parts);
    pl_vec_deinit(&r.children);
    pl_vec_deinit(&r.called);
    pl_map_deinit(&r.calls);
    return pl_conv_check(conv, err);
}
