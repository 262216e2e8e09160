/* Builds the request of a model call, counts its tokens, and writes it as a document. */
#include "agent/context/request.h"

#include "agent/context/ask_how.h"
#include "agent/context/inline_media.h"
#include "agent/tools/ext_tool.h"
#include "agent/tools/offer.h"
#include "base/text/utf8.h"
#include "json/number.h"
#include "json/text.h"

static const char planning_line[] =
    "You are in planning mode: think about what should be done and say it, but change nothing. "
    "Tools that read may be used; anything that writes, sends or runs waits until the person has "
    "agreed to the plan. When it is complete, call planning_exit with it, if you have that tool.";

static enum pl_status keep(struct pl_arena *arena, const struct pl_buf *from, struct pl_str *ret)
{
    if (from->status != PL_OK)
        return from->status;
    *ret = pl_arena_dup(arena, pl_buf_str(from));
    return ret->ptr ? PL_OK : PL_NOMEM;
}

/* Reduces a context to what follows a summary: the message being answered. */
static void sum_up(struct pl_context *context)
{
    for (size_t i = context->n_turns; i > 0 && !context->has_asked; i--)
        if (pl_turn_row_is_user(&context->turns[i - 1])) {
            context->asked = context->turns[i - 1];
            context->has_asked = true;
        }
    context->is_compacted = false;
    context->n_turns = 0;
}

static enum pl_status read_context(struct pl_store *store, struct pl_arena *arena,
                                   const struct pl_request_query *query, struct pl_request *request,
                                   struct pl_context *ret_context, struct pl_error *err)
{
    const struct pl_session_record *record = query->record;
    enum pl_status status =
        pl_context_read(store, arena, record->id, query->loop_id, ret_context, err);
    if (status == PL_OK)
        status = pl_context_find_asked(store, arena, record->id, query->loop_id, ret_context, err);
    if (status == PL_OK && record->memory_enabled && pl_recall_is_for(query->loop_id, query->model))
        status = pl_recall_read(store, arena, record, ret_context, query->unix_ms, &request->recall,
                                err);
    if (status == PL_OK && query->summary.ptr)
        sum_up(ret_context);
    if (status == PL_OK && !query->is_answering)
        ret_context->has_asked = false; /* a new message comes next */
    return status;
}

/* The purpose of the front (format/turns/read.c). */
static void write_segment(struct pl_buf *to, const char *kind, struct pl_str items)
{
    pl_buf_addf(to, "{\"kind\":\"%s\",\"items\":", kind);
    pl_buf_add(to, items.len ? items : PL_STR("[]"));
    pl_buf_adds(to, "}");
}

/* --- additions of extensions ------------------------------------------------------------------ */

static enum pl_status add_texts(struct pl_arena *arena, const struct pl_json_doc *doc,
                                const struct pl_json_node *blocks, struct pl_buf *to)
{
    for (const struct pl_json_node *n = pl_json_first(blocks); n < pl_json_end(blocks);
         n = pl_json_next(n)) {
        const struct pl_json_node *text = pl_json_member(doc, n, "text", PL_JSON_STRING);
        struct pl_str words = {0};
        if (text && pl_json_text(arena, doc, text, &words) != PL_OK)
            return PL_NOMEM;
        pl_buf_addf(to, "%s%.*s", to->len && words.len ? "\n" : "", PL_STR_ARG(words));
    }
    return to->status;
}

static enum pl_status read_asked(struct pl_arena *arena, const struct pl_context *context,
                                 struct pl_request *request, struct pl_error *err)
{
    const struct pl_turn_row *row = pl_context_newest_user(context);
    if (!row)
        return PL_OK;
    request->asked_turn_id = row->turn_id;
    return pl_memory_question(arena, row, &request->asked, err);
}

/* A message of an extension: a text, or an object with a content that is a text or a list of blocks
 * with texts. */
static enum pl_status message_text(struct pl_arena *arena, const struct pl_json_doc *doc,
                                   const struct pl_json_node *message, struct pl_buf *to)
{
    const struct pl_json_node *content = pl_json_is(message, PL_JSON_OBJECT)
                                             ? pl_json_get(doc, message, PL_STR("content"))
                                             : message;
    struct pl_str words = {0};
    if (pl_json_is(content, PL_JSON_ARRAY))
        return add_texts(arena, doc, content, to);
    if (pl_json_is(content, PL_JSON_STRING) && pl_json_text(arena, doc, content, &words) != PL_OK)
        return PL_NOMEM;
    pl_buf_add(to, words);
    return to->status;
}

static enum pl_status write_added(struct pl_arena *arena, const struct pl_json_doc *doc,
                                  const struct pl_json_node *messages, struct pl_buf *to)
{
    enum pl_status status = PL_OK;
    size_t number = 0;
    for (const struct pl_json_node *n = pl_json_first(messages);
         n < pl_json_end(messages) && status == PL_OK; n = pl_json_next(n)) {
        PL_CLEANUP_BUF struct pl_buf text;
        pl_buf_init(&text, 0);
        status = message_text(arena, doc, n, &text);
        if (!text.len)
            continue;
        number++;
        pl_buf_addf(to,
                    "%s{\"id\":\"entry_added_%zu\",\"turn_id\":\"turn_added_%zu\",\"role\":"
                    "\"user\",\"blocks\":[{\"type\":\"text\",\"content\":",
                    to->len ? "," : "", number, number);
        pl_json_quote(to, pl_buf_str(&text));
        pl_buf_adds(to, "}]}");
    }
    return status == PL_OK ? to->status : status;
}

static enum pl_status take_agent_start(struct pl_arena *arena, struct pl_str agent_start,
                                       struct pl_request *request, struct pl_context *context)
{
    struct pl_json_doc doc;
    PL_CLEANUP_BUF struct pl_buf added;
    pl_buf_init(&added, 0);
    if (!agent_start.len)
        return PL_OK;
    enum pl_status status = pl_json_parse(arena, agent_start, &pl_json_own, &doc, NULL);
    if (status != PL_OK)
        return status;
    const struct pl_json_node *prompt =
        pl_json_member(&doc, doc.root, "system_prompt", PL_JSON_STRING);
    const struct pl_json_node *turn =
        pl_json_member(&doc, doc.root, "prompt_turn_id", PL_JSON_STRING);
    const struct pl_json_node *messages = pl_json_member(&doc, doc.root, "messages", PL_JSON_ARRAY);
    if (prompt)
        status = pl_json_text(arena, &doc, prompt, &request->system_prompt);
    if (status == PL_OK && messages)
        status = write_added(arena, &doc, messages, &added);
    if (status == PL_OK && turn)
        status = pl_json_text(arena, &doc, turn, &context->added_after);
    return status == PL_OK ? keep(arena, &added, &context->added) : status;
}

/* Constant parts come first, because vendors cache the beginning. */
static enum pl_status write_turns(struct pl_arena *arena, const struct pl_request_query *query,
                                  const struct pl_context *context, struct pl_request *request)
{
    struct pl_buf turns PL_CLEANUP_BUF, memory PL_CLEANUP_BUF, skills PL_CLEANUP_BUF;
    pl_buf_init(&turns, 0);
    pl_buf_init(&memory, 0);
    pl_buf_init(&skills, 0);
    write_segment(&memory, "memory", request->recall.parts[PL_MEMORY_NOTES].items);
    write_segment(&skills, "skills", request->recall.parts[PL_MEMORY_SKILLS].items);
    if (memory.status != PL_OK || skills.status != PL_OK)
        return PL_NOMEM;
    const struct pl_front fronts[] = {
        {.text = request->system_prompt},
        {.text = query->is_planning ? PL_STR(planning_line) : (struct pl_str){0}},
        {.text = request->recall.parts[PL_MEMORY_NOTES].text, .segment = pl_buf_str(&memory)},
        {.text = request->recall.parts[PL_MEMORY_SKILLS].text, .segment = pl_buf_str(&skills)},
        {.text = query->summary},
    };
    enum pl_status status =
        pl_context_write(context, fronts, sizeof fronts / sizeof *fronts, query->unix_ms, &turns);
    return status == PL_OK ? keep(arena, &turns, &request->turns) : status;
}

/* --- media ----------------------------------------------------------------------------------- */

/* The number of tokens that the request may have; 0: unknown. */
static int64_t room_of(struct pl_arena *arena, const struct pl_request_query *query,
                       const struct pl_request *request)
{
    const struct pl_model_info *info = pl_model_find(query->models, query->model);
    struct pl_json_doc doc;
    int64_t n_answer = 0, window = info ? info->context_window : 0;
    if (request->settings.len &&
        pl_json_parse(arena, request->settings, &pl_json_own, &doc, NULL) == PL_OK) {
        const struct pl_json_node *n = pl_json_member(&doc, doc.root, "max_tokens", PL_JSON_NUMBER);
        if (n && !pl_json_number_int64(pl_json_span(&doc, n), &n_answer))
            n_answer = 0;
    }
    return n_answer < window ? window - n_answer : window;
}

static enum pl_status count_tokens(const struct pl_request *request, struct pl_str turns,
                                   const struct pl_models *models, int64_t *ret_tokens,
                                   struct pl_error *err)
{
    struct pl_request counted = *request;
    struct pl_segments segments;
    counted.turns = turns;
    enum pl_status status = pl_request_count(&counted, models, &segments, err);
    if (status == PL_OK)
        *ret_tokens = (int64_t)segments.counted.n_tokens;
    return status;
}

/* Replaces blobs by data. Leaves out the oldest images if the request exceeds the window. The size
 * of an image is an estimate, so the request is counted again, a few times. */
static enum pl_status fit_media(struct pl_store *store, struct pl_arena *arena,
                                const struct pl_request_query *query, struct pl_request *request,
                                struct pl_error *err)
{
    enum { MAX_ROUNDS = 3 };
    struct pl_inline_opts opts = {
        .user_id = query->record->user_id,
        .max_bytes = PL_INLINE_MAX_BYTES,
        .max_tokens = -1,
        .is_upright = true,
    };
    struct pl_inlined inlined;
    int64_t room = room_of(arena, query, request);
    enum pl_status status = pl_media_inline(store, arena, &opts, request->turns, &inlined, err);
    int64_t most = (int64_t)(request->turns.len + request->tools.len + inlined.n_most_tokens);
    /* Nothing has more tokens than bytes. */
    for (int i = 0; i < MAX_ROUNDS && status == PL_OK && room && most > room; i++) {
        int64_t n_tokens = 0;
        if (!inlined.n_old_tokens)
            break;
        status = count_tokens(request, inlined.turns, query->models, &n_tokens, err);
        if (status != PL_OK || n_tokens <= room)
            break;
        int64_t left = (int64_t)inlined.n_old_tokens - (n_tokens - room);
        opts.max_tokens = left > 0 ? left : 0;
        status = pl_media_inline(store, arena, &opts, request->turns, &inlined, err);
    }
    if (status != PL_OK)
        return status;
    request->turns = inlined.turns;
    request->media_notes = inlined.notes;
    request->notice = request->tells_settings ? inlined.words : inlined.new_words;
    return PL_OK;
}

enum pl_status pl_request_read(struct pl_store *store, struct pl_arena *arena,
                               const struct pl_request_query *query, struct pl_request *ret_request,
                               struct pl_error *err)
{
    struct pl_request request = {.model = query->model};
    struct pl_context context;
    struct pl_ask_how how = {0};
    struct pl_buf tools PL_CLEANUP_BUF;
    pl_buf_init(&tools, 0);
    enum pl_status status = pl_ask_how_read(arena, query->record, query->loop_id, &how, err);
    request.system_prompt = how.system_prompt;
    request.settings = how.settings;
    request.is_limited = pl_offer_is_limited(how.tools);
    if (status == PL_OK)
        status = read_context(store, arena, query, &request, &context, err);
    if (status == PL_OK)
        status = read_asked(arena, &context, &request, err);
    if (status == PL_OK)
        status = take_agent_start(arena, query->agent_start, &request, &context);
    if (status == PL_OK)
        status = write_turns(arena, query, &context, &request);
    if (status == PL_OK)
        status = pl_offer_write(arena, how.tools, query->model, query->record->memory_enabled,
                                query->ext, query->record->user_id, &tools);
    if (status == PL_OK)
        status = keep(arena, &tools, &request.tools);
    const struct pl_model_info *info = pl_model_find(query->models, query->model);
    if (status == PL_OK)
        status = pl_tools_defer(arena, query->ext, query->record->user_id,
                                info ? info->context_window : 0, request.turns, &request.tools);
    if (status != PL_OK)
        return status;
    /* Only for the first turn of an answer: after a tool call the answer has already begun. */
    request.tells_settings =
        context.n_turns && pl_turn_row_is_user(&context.turns[context.n_turns - 1]);
    request.prefill = request.tells_settings ? how.prefill : (struct pl_str){0};
    request.n_turns = context.n_turns;
    status = fit_media(store, arena, query, &request, err);
    if (status == PL_OK)
        *ret_request = request;
    return status;
}

struct pl_model_request pl_request_ask(const struct pl_request *request,
                                       const struct pl_models *models)
{
    return (struct pl_model_request){
        .models = models,
        .model = request->model,
        .turns = request->turns,
        .tools = request->tools,
        .settings = request->settings,
        .prefill = request->prefill,
        .tells_settings = request->tells_settings,
        .notice = request->notice,
    };
}

/* --- the request as a document --------------------------------------------------------------- */

enum pl_status pl_request_write(const struct pl_request *request, struct pl_buf *to)
{
    pl_buf_adds(to, "{\"settings\":{\"model\":");
    pl_json_quote(to, request->model);
    pl_buf_adds(to, "},\"tools\":");
    pl_buf_add(to, request->tools.len ? request->tools : PL_STR("[]"));
    pl_buf_adds(to, ",\"turns\":");
    pl_buf_add(to, request->turns);
    pl_buf_adds(to, "}");
    return to->status;
}

/* The vendor's body has no marks for memories and values of variables, so they are recognized by
 * their text. The document itself has marks. */
struct telling {
    struct pl_arena arena;
    PL_VEC(struct pl_segment_known) known;
    bool is_oom;
};

static void add_known(struct telling *t, struct pl_str words, enum pl_segment_kind kind)
{
    struct pl_segment_known known = {
        .words = words, .kind = kind, .is_anybodys = kind == PL_SEGMENT_STATIC_VAR};
    t->is_oom |= words.len && !pl_vec_push(&t->known, known);
}

/* The code points from `from` to `to`. */
static struct pl_str cut(struct pl_str text, int64_t from, int64_t to)
{
    size_t at = 0, begin = 0;
    for (int64_t n = 0; n < to && at < text.len; n++) {
        begin = n == from ? at : begin;
        if (pl_utf8_next(text, &at) < 0)
            return (struct pl_str){0};
    }
    return pl_str_slice(text, from < to ? begin : at, at);
}

static void add_variables(struct telling *t, const struct pl_json_doc *doc,
                          const struct pl_json_node *block)
{
    const struct pl_json_node *list = pl_json_member(doc, block, "variables", PL_JSON_ARRAY);
    const struct pl_json_node *content = pl_json_member(doc, block, "content", PL_JSON_STRING);
    struct pl_str text = {0};
    if (list && content)
        t->is_oom |= pl_json_text(&t->arena, doc, content, &text) != PL_OK;
    for (const struct pl_json_node *n = list ? pl_json_first(list) : NULL;
         n && n < pl_json_end(list) && text.len; n = pl_json_next(n)) {
        const struct pl_json_node *from = pl_json_member(doc, n, "from", PL_JSON_NUMBER);
        const struct pl_json_node *to = pl_json_member(doc, n, "to", PL_JSON_NUMBER);
        int64_t begin, end;
        if (from && to && pl_json_number_int64(pl_json_span(doc, from), &begin) &&
            pl_json_number_int64(pl_json_span(doc, to), &end))
            add_known(t, cut(text, begin, end), PL_SEGMENT_STATIC_VAR);
    }
}

static enum pl_status tell_apart(struct telling *t, const struct pl_request *request)
{
    struct pl_json_doc doc;
    static const char mark[] = "\"variables\":[";
    add_known(t, request->recall.parts[PL_MEMORY_NOTES].text, PL_SEGMENT_MEMORY);
    add_known(t, request->recall.parts[PL_MEMORY_SKILLS].text, PL_SEGMENT_SKILLS);
    if (!memmem(request->turns.ptr, request->turns.len, mark, sizeof mark - 1))
        return t->is_oom ? PL_NOMEM : PL_OK;
    enum pl_status status = pl_json_parse(&t->arena, request->turns, &pl_json_own, &doc, NULL);
    for (const struct pl_json_node *turn = status == PL_OK ? pl_json_first(doc.root) : NULL;
         turn && turn < pl_json_end(doc.root); turn = pl_json_next(turn)) {
        const struct pl_json_node *blocks = pl_json_member(&doc, turn, "blocks", PL_JSON_ARRAY);
        for (const struct pl_json_node *n = blocks ? pl_json_first(blocks) : NULL;
             n && n < pl_json_end(blocks); n = pl_json_next(n))
            add_variables(t, &doc, n);
    }
    return t->is_oom ? PL_NOMEM : status;
}

static enum pl_status count(const struct pl_request *request, bool has_marks, struct pl_str body,
                            const struct pl_format *format, struct pl_segments *ret_segments,
                            struct pl_error *err)
{
    struct telling t = {0};
    pl_arena_init(&t.arena, 0);
    enum pl_status status = has_marks ? PL_OK : tell_apart(&t, request);
    if (status == PL_OK)
        status = pl_segments_count(body, format, t.known.ptr, t.known.len, ret_segments, err);
    pl_vec_deinit(&t.known);
    pl_arena_deinit(&t.arena);
    return status;
}

enum pl_status pl_request_count(const struct pl_request *request, const struct pl_models *models,
                                struct pl_segments *ret_segments, struct pl_error *err)
{
    struct pl_model_request ask = pl_request_ask(request, models);
    struct pl_model_prepared *prepared = NULL;
    const struct pl_format *format = pl_format_find(PL_STR("turns"));
    struct pl_buf document PL_CLEANUP_BUF;
    pl_buf_init(&document, 0);
    enum pl_status status = pl_model_prepare(&ask, &prepared, err);
    /* A request that cannot be made (its model is gone, or there is no message yet) is counted as
     * the document itself. */
    if (!prepared && status != PL_NOMEM)
        status = pl_request_write(request, &document);
    struct pl_str body =
        prepared ? pl_model_prepared_body(prepared, &format) : pl_buf_str(&document);
    if (status == PL_OK)
        status = count(request, !prepared, body, format, ret_segments, err);
    pl_model_prepared_destroy(prepared);
    return status;
}
