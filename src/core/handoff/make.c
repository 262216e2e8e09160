/* Makes a packet from a conversation: the objective, the steps done, the constraints, and the open
 * points. */
#include "handoff/handoff_int.h"

#include "base/map.h"
#include "base/text/utf8.h"
#include "json/text.h"
#include "json/write.h"

enum { MAX_WORDS = 400 /* code points of a text quoted in a summary */, MAX_ARGS = 120 };

struct make {
    struct pl_conv *conv;
    const struct pl_handoff_opts *opts;
    const struct pl_json_doc *previous; /* NULL: the first hop */
    struct pl_json_out out;
    struct pl_map answered; /* ids of calls with a result that is not an error */
    struct pl_map results;  /* ids of calls with any result */
};

/* At most n code points, with "…" when there were more. */
static struct pl_str cut(struct pl_conv *conv, struct pl_str text, size_t n)
{
    size_t at = 0;
    for (; n && at < text.len; n--)
        (void)pl_utf8_next(text, &at);
    return at == text.len ? text : pl_conv_printf(conv, "%.*s…", (int)at, text.ptr);
}

/* The text of a message: its first text part; empty when it has none. */
static struct pl_str words_of(struct pl_conv *conv, const struct pl_message *message)
{
    for (uint32_t k = 0; k < message->n_parts; k++) {
        const struct pl_part *part = &pl_conv_parts(conv, message)[k];
        if (part->kind == PL_PART_TEXT && !pl_conv_is_blank(conv, part->text))
            return pl_conv_text(conv, part->text);
    }
    return (struct pl_str){0};
}

/* The text of message i, if it has this role. */
static struct pl_str words_in_role(struct pl_conv *conv, size_t i, enum pl_role role)
{
    const struct pl_message *message = &conv->messages.ptr[i];
    return message->role == role ? words_of(conv, message) : (struct pl_str){0};
}

static struct pl_str first_words(struct pl_conv *conv, enum pl_role role)
{
    struct pl_str words = {0};
    for (size_t i = 0; i < conv->messages.len && !words.len; i++)
        words = words_in_role(conv, i, role);
    return words;
}

static struct pl_str last_words(struct pl_conv *conv, enum pl_role role)
{
    struct pl_str words = {0};
    for (size_t i = conv->messages.len; i-- > 0 && !words.len;)
        words = words_in_role(conv, i, role);
    return words;
}

/* Whether a result is a placeholder: the tool still runs, or a person is asked. */
static bool is_open(struct pl_conv *conv, const struct pl_part *result)
{
    struct pl_str status = pl_conv_text(conv, result->status);
    return pl_str_eq(status, PL_STR("awaiting_answer")) || pl_str_eq(status, PL_STR("pending"));
}

static void note_results(struct make *m)
{
    struct pl_conv *conv = m->conv;
    bool is_new;
    for (size_t i = 0; i < conv->parts.len && conv->status == PL_OK; i++) {
        const struct pl_part *part = &conv->parts.ptr[i];
        if (part->kind != PL_PART_RESULT || is_open(conv, part))
            continue;
        struct pl_str id = pl_conv_text(conv, part->id);
        bool is_error = part->is_error.is_set && part->is_error.value;
        if (!pl_map_put(&m->results, id, &is_new) ||
            (!is_error && !pl_map_put(&m->answered, id, &is_new)))
            conv->status = PL_NOMEM;
    }
}

/* Content copied from the previous packet. */

static struct pl_str before(struct make *m, const char *first, const char *second)
{
    return m->previous
               ? pl_handoff_text(m->conv->arena, m->previous, first, second, &m->conv->status)
               : (struct pl_str){0};
}

static struct pl_str first_of(struct pl_str a, struct pl_str b)
{
    return a.len ? a : b;
}

static void put(struct make *m, const char *key, struct pl_str text)
{
    if (!text.len)
        return;
    pl_json_out_key(&m->out, key);
    pl_json_out_text(&m->out, text);
}

/* Copies the elements of a list of the previous packet. */
static void put_before(struct make *m, const char *first, const char *second)
{
    const struct pl_json_node *list =
        m->previous ? pl_handoff_node(m->previous, first, second) : NULL;
    if (!list || pl_json_kind(list) != PL_JSON_ARRAY)
        return;
    for (const struct pl_json_node *n = pl_json_first(list); n < pl_json_end(list);
         n = pl_json_next(n))
        pl_json_out_raw(&m->out, pl_json_span(m->previous, n));
}

/* Adds the texts that are not known yet. */
static void put_texts(struct make *m, struct pl_handoff_texts texts,
                      const struct pl_json_node *known)
{
    for (size_t i = 0; i < texts.len; i++)
        if (!known || !pl_handoff_has(m->previous, known, texts.ptr[i]))
            pl_json_out_text(&m->out, texts.ptr[i]);
}

/* The parts of the packet. */

static void put_meta(struct make *m, struct pl_str source, struct pl_str objective)
{
    char hash[PL_HANDOFF_HASH + 1];
    pl_handoff_hash(objective, hash);
    pl_json_out_key(&m->out, "meta");
    pl_json_out_open(&m->out, '{');
    put(m, "source_agent", source);
    put(m, "target_agent", m->opts->target);
    put(m, "timestamp", m->opts->timestamp);
    put(m, "objective_hash", pl_str_of(hash));
    pl_json_out_close(&m->out, '}');
}

/* A call answered without an error is a completed step. */
static void put_steps(struct make *m)
{
    struct pl_conv *conv = m->conv;
    pl_json_out_key(&m->out, "completed_steps");
    pl_json_out_open(&m->out, '[');
    put_before(m, "context", "completed_steps");
    const struct pl_json_node *known =
        m->previous ? pl_handoff_node(m->previous, "context", "completed_steps") : NULL;
    for (size_t i = 0; i < conv->parts.len; i++) {
        const struct pl_part *part = &conv->parts.ptr[i];
        if (part->kind != PL_PART_CALL || !pl_map_get(&m->answered, pl_conv_text(conv, part->id)))
            continue;
        struct pl_str name = pl_conv_text(conv, part->name);
        struct pl_str args = cut(conv, pl_conv_text(conv, part->args), MAX_ARGS);
        struct pl_str step = pl_conv_printf(conv, "%.*s %.*s", PL_STR_ARG(name), PL_STR_ARG(args));
        if (!known || !pl_handoff_has(m->previous, known, step))
            pl_json_out_text(&m->out, step);
    }
    put_texts(m, m->opts->steps, known);
    pl_json_out_close(&m->out, ']');
}

/* The open point: an unanswered call, or a question. */
static struct pl_str next_step(struct make *m)
{
    struct pl_conv *conv = m->conv;
    for (size_t i = conv->parts.len; i-- > 0;) {
        const struct pl_part *part = &conv->parts.ptr[i];
        if (part->kind != PL_PART_CALL || pl_map_get(&m->results, pl_conv_text(conv, part->id)))
            continue;
        struct pl_str name = pl_conv_text(conv, part->name);
        struct pl_str args = cut(conv, pl_conv_text(conv, part->args), MAX_ARGS);
        return pl_conv_printf(conv, "run %.*s %.*s", PL_STR_ARG(name), PL_STR_ARG(args));
    }
    const struct pl_message *last =
        conv->messages.len ? &conv->messages.ptr[conv->messages.len - 1] : NULL;
    struct pl_str words = last ? words_of(conv, last) : (struct pl_str){0};
    if (last && last->role == PL_ROLE_USER && words.len) {
        words = cut(conv, words, MAX_WORDS);
        return pl_conv_printf(conv, "answer the user: %.*s", PL_STR_ARG(words));
    }
    return PL_STR("continue towards the objective");
}

/* Adds a constraint unless it was added before. */
static void put_constraint(struct make *m, struct pl_map *said, struct pl_str text)
{
    bool is_new = false;
    if (!pl_map_put(said, text, &is_new))
        m->conv->status = PL_NOMEM;
    else if (is_new)
        pl_json_out_text(&m->out, text);
}

static void put_constraints_before(struct make *m, struct pl_map *said)
{
    const struct pl_json_node *list =
        m->previous ? pl_handoff_node(m->previous, "context", "constraints") : NULL;
    if (!pl_json_is(list, PL_JSON_ARRAY))
        return;
    for (const struct pl_json_node *n = pl_json_first(list); n < pl_json_end(list);
         n = pl_json_next(n)) {
        struct pl_str text = {0};
        if (!pl_json_is(n, PL_JSON_STRING))
            continue;
        if (pl_json_text(m->conv->arena, m->previous, n, &text) != PL_OK)
            m->conv->status = PL_NOMEM;
        else
            put_constraint(m, said, text);
    }
}

/* The system instructions also apply to the next agent. */
static void put_constraints(struct make *m)
{
    struct pl_conv *conv = m->conv;
    struct pl_map said = {0};
    pl_json_out_key(&m->out, "constraints");
    pl_json_out_open(&m->out, '[');
    put_constraints_before(m, &said);
    for (size_t i = 0; i < conv->messages.len; i++) {
        const struct pl_message *message = &conv->messages.ptr[i];
        bool is_rule = message->role <= PL_ROLE_DEVELOPER && !message->is_summary;
        for (uint32_t k = 0; is_rule && k < message->n_parts; k++) {
            const struct pl_part *part = &pl_conv_parts(conv, message)[k];
            if (part->kind == PL_PART_TEXT && !pl_conv_is_blank(conv, part->text))
                put_constraint(m, &said, pl_conv_text(conv, part->text));
        }
    }
    for (size_t i = 0; i < m->opts->constraints.len; i++)
        put_constraint(m, &said, m->opts->constraints.ptr[i]);
    pl_json_out_close(&m->out, ']');
    pl_map_deinit(&said);
}

/* The artifacts written so far. */
struct artifacts {
    struct pl_map names, places;
    unsigned n_of_kind[PL_PART_KIND_COUNT];
};

/* Reserves a name; false if it is taken. */
static bool take_name(struct make *m, struct artifacts *known, struct pl_str name)
{
    bool is_new = false;
    if (!pl_map_put(&known->names, name, &is_new))
        m->conv->status = PL_NOMEM;
    return is_new;
}

static void note_place(struct make *m, struct artifacts *known, struct pl_str place)
{
    bool is_new;
    if (!pl_map_put(&known->places, place, &is_new))
        m->conv->status = PL_NOMEM;
}

static void put_previous_artifacts(struct make *m, struct artifacts *known)
{
    const struct pl_json_node *list =
        m->previous ? pl_handoff_node(m->previous, "context", "artifacts") : NULL;
    if (!list || pl_json_kind(list) != PL_JSON_OBJECT)
        return;
    for (const struct pl_json_node *key = pl_json_first_member(list); key < pl_json_end(list);
         key = pl_json_next_member(key)) {
        struct pl_str name = {0}, place = {0};
        if (pl_json_text(m->conv->arena, m->previous, key, &name) != PL_OK ||
            (pl_json_kind(key + 1) == PL_JSON_STRING &&
             pl_json_text(m->conv->arena, m->previous, key + 1, &place) != PL_OK))
            m->conv->status = PL_NOMEM;
        if (!take_name(m, known, name))
            continue;
        note_place(m, known, place);
        pl_json_out_key_str(&m->out, name);
        pl_json_out_raw(&m->out, pl_json_span(m->previous, key + 1));
    }
}

static const char *const kind_names[PL_PART_KIND_COUNT] = {
    [PL_PART_IMAGE] = "image",
    [PL_PART_AUDIO] = "audio",
    [PL_PART_VIDEO] = "video",
    [PL_PART_FILE] = "file",
};

/* Media with an address in the conversation, by name or by kind and number. */
static void put_media(struct make *m, struct artifacts *known, const struct pl_part *parts,
                      size_t n)
{
    struct pl_conv *conv = m->conv;
    for (size_t i = 0; i < n; i++) {
        const struct pl_part *part = &parts[i];
        struct pl_str place =
            pl_conv_text(conv, pl_val_is_set(part->url) ? part->url : part->file_id);
        if (!kind_names[part->kind] || !place.len || pl_map_get(&known->places, place))
            continue;
        struct pl_str name = pl_conv_text(conv, part->name);
        while (conv->status == PL_OK && (!name.len || !take_name(m, known, name)))
            name = pl_conv_printf(conv, "%s_%u", kind_names[part->kind],
                                  ++known->n_of_kind[part->kind]);
        note_place(m, known, place);
        pl_json_out_key_str(&m->out, name);
        pl_json_out_text(&m->out, place);
    }
}

/* A given artifact replaces an earlier one of the same name. */
static void put_artifacts(struct make *m)
{
    struct artifacts known = {0};
    pl_json_out_key(&m->out, "artifacts");
    pl_json_out_open(&m->out, '{');
    for (size_t i = 0; i < m->opts->n_artifacts; i++) {
        if (!take_name(m, &known, m->opts->artifacts[i].name))
            continue;
        note_place(m, &known, m->opts->artifacts[i].place);
        pl_json_out_key_str(&m->out, m->opts->artifacts[i].name);
        pl_json_out_text(&m->out, m->opts->artifacts[i].place);
    }
    put_previous_artifacts(m, &known);
    put_media(m, &known, m->conv->parts.ptr, m->conv->parts.len);
    put_media(m, &known, m->conv->children.ptr, m->conv->children.len);
    pl_json_out_close(&m->out, '}');
    pl_map_deinit(&known.names);
    pl_map_deinit(&known.places);
}

/* The summary of the last compaction; empty: none. */
static struct pl_str compacted(struct pl_conv *conv)
{
    for (size_t i = conv->messages.len; i-- > 0;) {
        const struct pl_message *message = &conv->messages.ptr[i];
        if (message->is_summary && message->n_parts)
            return pl_conv_text(conv, pl_conv_parts(conv, message)->text);
    }
    return (struct pl_str){0};
}

static struct pl_str make_summary(struct make *m)
{
    struct pl_conv *conv = m->conv;
    struct pl_str user = cut(conv, last_words(conv, PL_ROLE_USER), MAX_WORDS);
    struct pl_str assistant = cut(conv, last_words(conv, PL_ROLE_ASSISTANT), MAX_WORDS);
    struct pl_str past = before(m, "history_summary", NULL);
    struct pl_str summary = compacted(conv);
    return pl_conv_printf(conv, "%.*s%s%.*s%s%zu messages.%s%.*s%s%.*s", PL_STR_ARG(past),
                          past.len ? " " : "", PL_STR_ARG(summary), summary.len ? " " : "",
                          conv->messages.len, user.len ? " The user last said: " : "",
                          PL_STR_ARG(user), assistant.len ? " The assistant last said: " : "",
                          PL_STR_ARG(assistant));
}

static void put_context(struct make *m, struct pl_str objective)
{
    pl_json_out_key(&m->out, "context");
    pl_json_out_open(&m->out, '{');
    put(m, "primary_objective", objective);
    put(m, "status", first_of(m->opts->status, PL_STR("in_progress")));
    put_steps(m);
    put(m, "next_immediate_step", m->opts->next.len ? m->opts->next : next_step(m));
    put_constraints(m);
    put_artifacts(m);
    pl_json_out_close(&m->out, '}');
    put(m, "history_summary", m->opts->summary.len ? m->opts->summary : make_summary(m));
}

static bool is_last_visited(const struct make *m, struct pl_str agent)
{
    const struct pl_json_node *list =
        m->previous ? pl_handoff_node(m->previous, "visited", NULL) : NULL;
    const struct pl_json_node *last = NULL;
    if (!list || pl_json_kind(list) != PL_JSON_ARRAY)
        return false;
    for (const struct pl_json_node *n = pl_json_first(list); n < pl_json_end(list);
         n = pl_json_next(n))
        last = n;
    return last && pl_json_kind(last) == PL_JSON_STRING &&
           pl_json_text_is(m->previous, last, agent);
}

static void put_journey(struct make *m, struct pl_str source)
{
    put(m, "handoff_id", m->opts->id);
    pl_json_out_key(&m->out, "hop_count");
    pl_json_out_int(&m->out, (m->previous ? pl_handoff_hops(m->previous) : 0) + 1);
    pl_json_out_key(&m->out, "visited");
    pl_json_out_open(&m->out, '[');
    put_before(m, "visited", NULL);
    if (!is_last_visited(m, source))
        pl_json_out_text(&m->out, source);
    pl_json_out_close(&m->out, ']');
    put(m, "trace_id", first_of(m->opts->trace, before(m, "trace_id", NULL)));
    const struct pl_json_node *done =
        m->previous ? pl_handoff_node(m->previous, "definition_of_done", NULL) : NULL;
    if (m->opts->done.len) {
        pl_json_out_key(&m->out, "definition_of_done");
        pl_json_out_open(&m->out, '[');
        put_texts(m, m->opts->done, NULL);
        pl_json_out_close(&m->out, ']');
    } else if (done) {
        pl_json_out_key(&m->out, "definition_of_done");
        pl_json_out_raw(&m->out, pl_json_span(m->previous, done));
    }
}

static enum pl_status may_go(struct make *m, struct pl_str source, struct pl_str objective,
                             struct pl_error *err)
{
    struct pl_str was = before(m, "context", "primary_objective");
    char hash[PL_HANDOFF_HASH + 1], hash_was[PL_HANDOFF_HASH + 1];
    pl_handoff_hash(objective, hash);
    if (!objective.len)
        return pl_fail(err, PL_INVALID,
                       "there is no user message to take the objective from; give the objective");
    if (m->previous &&
        (!pl_handoff_hash_of(m->conv->arena, m->previous, hash_was, &m->conv->status) ||
         strcmp(hash, hash_was) != 0))
        return pl_fail(err, PL_INVALID, "the objective must not change; it was \"%.*s\"",
                       PL_STR_ARG(was));
    struct pl_str trace = before(m, "trace_id", NULL);
    if (trace.len && m->opts->trace.len && !pl_str_eq(trace, m->opts->trace))
        return pl_fail(err, PL_INVALID, "trace_id must not change; it was \"%.*s\"",
                       PL_STR_ARG(trace));
    if (m->previous && pl_handoff_hops(m->previous) >= PL_HANDOFF_MAX_HOPS)
        return pl_fail(err, PL_INVALID, "the task has already made %d hops, which is the maximum",
                       PL_HANDOFF_MAX_HOPS);
    if (pl_handoff_is_circle(m->conv->arena, m->previous, source, m->opts->target,
                             &m->conv->status))
        return pl_fail(err, PL_INVALID, PL_HANDOFF_CIRCLE, PL_STR_ARG(m->opts->target),
                       PL_STR_ARG(source));
    return PL_OK;
}

static enum pl_status make(struct make *m, struct pl_error *err)
{
    struct pl_conv *conv = m->conv;
    struct pl_str source = first_of(m->opts->source, before(m, "meta", "target_agent"));
    struct pl_str objective =
        first_of(m->opts->objective, before(m, "context", "primary_objective"));
    if (!objective.len)
        objective = first_words(conv, PL_ROLE_USER);
    if (!source.len)
        source = PL_STR("assistant");
    note_results(m);
    enum pl_status status = conv->status;
    if (status == PL_OK)
        status = may_go(m, source, objective, err);
    if (conv->status != PL_OK)
        status = conv->status; /* an error may be due to lack of memory */
    if (status != PL_OK)
        return status;
    pl_json_out_open(&m->out, '{');
    put(m, "protocol", PL_STR("harmony_handoff_v1"));
    put_meta(m, source, objective);
    put_context(m, objective);
    put_journey(m, source);
    pl_json_out_close(&m->out, '}');
    return conv->status;
}

enum pl_status pl_handoff_make(struct pl_buf *to, struct pl_conv *conv,
                               const struct pl_handoff_opts *opts, struct pl_error *err)
{
    PL_CLEANUP_BUF struct pl_buf packet;
    pl_buf_init(&packet, 0);
    struct make m = {
        .conv = conv, .opts = opts, .previous = opts->previous, .out = pl_json_out(&packet)};
    enum pl_status status = make(&m, err);
    pl_map_deinit(&m.answered);
    pl_map_deinit(&m.results);
    if (status == PL_OK)
        status = packet.status;
    if (status == PL_OK) {
        pl_buf_add(to, pl_buf_str(&packet));
        status = to->status;
    }
    return status;
}
