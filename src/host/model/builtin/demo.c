/* Models that need no network: they echo, or play a script that the user wrote (demo_script.h). For
 * a first look and for tests. Their output depends only on the conversation. */
#include "base/mem.h"
#include "base/table.h"
#include "json/json.h"
#include "json/number.h"
#include "json/text.h"
#include "model/builtin/demo_script.h"
#include "model/builtin/demo_tour.h"
#include "model/builtin/paced.h"
#include "model/vendor/vendors.h"

enum demo_kind { DEMO_ECHO, DEMO_SLOW, DEMO_AGENT };

static const struct pl_model_info models[] = {
    [DEMO_ECHO] = {"demo/echo", "Repeats your last message, word by word", 200000, false},
    [DEMO_SLOW] = {"demo/slow", "The same, at fifty words a second", 200000, false},
    [DEMO_AGENT] = {"demo/agent", "Shows everything an agent does, step by step; or runs a script",
                    200000, false},
};

#define SLOW_WORD_MS 20

struct demo_call {
    struct pl_paced paced;
    struct pl_demo_script script;
    size_t at_line;
    struct pl_str rest; /* of the text of this line */
    int64_t n_left;     /* repetitions left of REPEAT */
    int64_t word_ms;
    int64_t input_tokens, output_tokens;
    bool is_line_begun;
};

static struct demo_call *demo_of(struct pl_paced *paced)
{
    return PL_CONTAINER_OF(paced, struct demo_call, paced);
}

static void deinit(struct pl_paced *paced)
{
    pl_demo_script_deinit(&demo_of(paced)->script);
}

enum played { PLAYED, WAITS, FAILS };

/* Emits words of the current line until the slice is full. */
static enum played play_words(struct demo_call *call, const struct pl_demo_line *line, int *budget)
{
    if (!call->is_line_begun)
        call->rest = line->text;
    call->is_line_begun = true;
    while (call->rest.len) {
        if ((*budget)-- <= 0 || pl_paced_is_cancelled(&call->paced))
            return WAITS;
        pl_paced_say(&call->paced, line->verb == PL_DEMO_THINK, pl_word_take(&call->rest));
        if (call->word_ms)
            *budget = 0;
    }
    return PLAYED;
}

static enum played play_repeat(struct demo_call *call, const struct pl_demo_line *line, int *budget)
{
    if (!call->is_line_begun)
        call->n_left = line->number;
    call->is_line_begun = true;
    while (call->n_left > 0) {
        if ((*budget)-- <= 0 || pl_paced_is_cancelled(&call->paced))
            return WAITS;
        call->n_left--;
        pl_paced_say(&call->paced, false, line->text);
    }
    return PLAYED;
}

static enum played play_line(struct demo_call *call, const struct pl_demo_line *line, int *budget)
{
    switch (line->verb) {
    case PL_DEMO_SAY:
    case PL_DEMO_THINK:
        return play_words(call, line, budget);
    case PL_DEMO_REPEAT:
        return play_repeat(call, line, budget);
    case PL_DEMO_WAIT:
        if (call->is_line_begun)
            return PLAYED;
        call->is_line_begun = true;
        return WAITS;
    case PL_DEMO_CALL:
        call->paced.ops->on_call(call->paced.ctx, line->name, line->text, (struct pl_str){NULL, 0});
        return PLAYED;
    case PL_DEMO_BLOCK:
        call->paced.ops->on_block(
            call->paced.ctx, &(struct pl_model_block){.type = line->name, .content = line->text});
        return PLAYED;
    case PL_DEMO_ABOUT:
        if (call->paced.ops->on_about)
            call->paced.ops->on_about(call->paced.ctx, line->text);
        return PLAYED;
    case PL_DEMO_USAGE:
        call->input_tokens = line->number;
        call->output_tokens = line->number2;
        return PLAYED;
    default:
        return FAILS;
    }
}

static int64_t play(struct pl_paced *paced)
{
    struct demo_call *call = demo_of(paced);
    int budget = PL_PACED_SLICE;
    while (call->at_line < call->script.lines.len) {
        const struct pl_demo_line *line = &call->script.lines.ptr[call->at_line];
        enum played played = play_line(call, line, &budget);
        if (pl_paced_is_cancelled(paced) || played == FAILS)
            return PL_PACED_OVER;
        if (played == WAITS)
            return line->verb == PL_DEMO_WAIT ? line->number : call->word_ms;
        call->is_line_begun = false;
        call->at_line++;
    }
    return PL_PACED_OVER;
}

static void finish(struct pl_paced *paced)
{
    const struct demo_call *call = demo_of(paced);
    if (call->at_line < call->script.lines.len) {
        const struct pl_demo_line *line = &call->script.lines.ptr[call->at_line];
        bool is_overflow = line->verb == PL_DEMO_OVERFLOW;
        bool is_refusal = line->verb == PL_DEMO_REFUSE;
        pl_paced_fail(paced,
                      &(struct pl_model_failure){
                          .reason = is_overflow ? PL_STR("The context is too long.") : line->text,
                          .is_overflow = is_overflow,
                          .code = is_refusal && !line->number ? "upstream_broken" : NULL,
                          .vendor_status = is_refusal ? (int)line->number : 0,
                          .retry_after_ms = is_refusal ? line->number2 : 0,
                      });
        return;
    }
    struct pl_buf usage PL_CLEANUP_BUF;
    pl_buf_init(&usage, 0);
    pl_buf_addf(&usage, "{\"input_tokens\":%lld,\"output_tokens\":%lld}",
                (long long)call->input_tokens,
                (long long)(call->output_tokens ? call->output_tokens : paced->n_words));
    if (usage.status == PL_OK)
        pl_paced_end(paced, (struct pl_str){0}, pl_buf_str(&usage));
    else
        pl_paced_fail(paced, &(struct pl_model_failure){
                                 .reason = PL_STR("The demo model ran out of memory.")});
}

static const struct pl_paced_kind kind_of_call = {play, finish, deinit};

/* --- what the conversation says -------------------------------------------------------------- */

struct asked {
    struct pl_str text;    /* the last user message; arena */
    struct pl_str told;    /* text of the system turns; arena */
    struct pl_str results; /* tool results of the last answer; arena */
    size_t n_answers;      /* assistant turns after the last user message */
    int64_t n_input_words; /* of the whole context, estimated */
};

static bool is_of(const struct pl_json_doc *doc, const struct pl_json_node *object,
                  const char *name, const char *text)
{
    const struct pl_json_node *node = pl_json_get(doc, object, pl_str_of(name));
    return node && pl_json_text_is(doc, node, pl_str_of(text));
}

/* Appends the texts of the blocks of a type; other contents as JSON. */
static enum pl_status add_blocks(struct pl_arena *arena, const struct pl_json_doc *doc,
                                 const struct pl_json_node *turn, const char *type,
                                 struct pl_buf *to)
{
    const struct pl_json_node *blocks = pl_json_get(doc, turn, PL_STR("blocks"));
    if (!blocks || pl_json_kind(blocks) != PL_JSON_ARRAY)
        return PL_OK;
    for (const struct pl_json_node *b = pl_json_first(blocks); b < pl_json_end(blocks);
         b = pl_json_next(b)) {
        const struct pl_json_node *content = pl_json_get(doc, b, PL_STR("content"));
        if (!content || !is_of(doc, b, "type", type))
            continue;
        struct pl_str text = pl_json_span(doc, content);
        enum pl_status status = pl_json_kind(content) == PL_JSON_STRING
                                    ? pl_json_text(arena, doc, content, &text)
                                    : PL_OK;
        if (status != PL_OK)
            return status;
        pl_buf_add(to, text);
    }
    return to->status;
}

static int64_t place_of(const struct pl_json_doc *doc, const struct pl_json_node *turn)
{
    int64_t place = -1;
    const struct pl_json_node *node = pl_json_get(doc, turn, PL_STR("sequence"));
    if (node && pl_json_kind(node) == PL_JSON_NUMBER)
        (void)pl_json_number_int64(pl_json_span(doc, node), &place);
    return place;
}

struct heard {
    struct pl_buf text, told, results; /* owned */
    int64_t summed_up;                 /* position of the compaction; -1 if none */
    size_t n_answers;
};

/* If a user turn is older than the summary, its answers are part of the summary: their number
 * follows from the positions. */
static enum pl_status hear(struct pl_arena *arena, const struct pl_json_doc *doc,
                           const struct pl_json_node *turn, struct heard *heard)
{
    if (is_of(doc, turn, "role", "user")) {
        int64_t place = place_of(doc, turn);
        bool is_old = place >= 0 && place < heard->summed_up;
        heard->n_answers = is_old ? (size_t)(heard->summed_up - place - 1) : 0;
        pl_buf_clear(&heard->text);
        return add_blocks(arena, doc, turn, "text", &heard->text);
    }
    if (is_of(doc, turn, "role", "assistant")) {
        heard->n_answers++;
        pl_buf_clear(&heard->results);
        return add_blocks(arena, doc, turn, "tool_result", &heard->results);
    }
    if (!is_of(doc, turn, "role", "system"))
        return PL_OK;
    if (is_of(doc, turn, "kind", "compaction"))
        heard->summed_up = place_of(doc, turn);
    return add_blocks(arena, doc, turn, "text", &heard->told);
}

static enum pl_status keep(struct pl_arena *arena, const struct pl_buf *from, struct pl_str *ret)
{
    *ret = pl_arena_dup(arena, pl_buf_str(from));
    return from->len && !ret->ptr ? PL_NOMEM : PL_OK;
}

static enum pl_status read_asked(struct pl_arena *arena, struct pl_str turns, struct asked *ret,
                                 struct pl_error *err)
{
    struct pl_json_doc doc;
    enum pl_status status = pl_json_parse(arena, turns, &pl_json_own, &doc, err);
    if (status != PL_OK)
        return status;
    struct heard heard = {.summed_up = -1};
    pl_buf_init(&heard.text, 0);
    pl_buf_init(&heard.told, 0);
    pl_buf_init(&heard.results, 0);
    for (const struct pl_json_node *turn = pl_json_first(doc.root);
         turn < pl_json_end(doc.root) && status == PL_OK; turn = pl_json_next(turn))
        status = hear(arena, &doc, turn, &heard);
    struct asked asked = {.n_input_words = (int64_t)(turns.len / 5), .n_answers = heard.n_answers};
    if (status == PL_OK)
        status = keep(arena, &heard.text, &asked.text);
    if (status == PL_OK)
        status = keep(arena, &heard.told, &asked.told);
    if (status == PL_OK)
        status = keep(arena, &heard.results, &asked.results);
    pl_buf_deinit(&heard.text);
    pl_buf_deinit(&heard.told);
    pl_buf_deinit(&heard.results);
    if (status == PL_OK)
        *ret = asked;
    return status;
}

/* True if the text has a Chinese character, recognised by its first byte. */
static bool is_chinese(struct pl_str text)
{
    for (size_t i = 0; i < text.len; i++)
        if ((unsigned char)text.ptr[i] >= 0xE4 && (unsigned char)text.ptr[i] <= 0xE9)
            return true;
    return false;
}

static enum pl_status make_script(struct demo_call *call, enum demo_kind kind,
                                  const struct pl_models *models_there, const struct asked *asked,
                                  struct pl_error *err)
{
    enum pl_status status = pl_demo_script_read(asked->text, asked->n_answers, &call->script, err);
    for (size_t i = 0; status == PL_OK && i < call->script.lines.len; i++)
        switch (call->script.lines.ptr[i].verb) {
        case PL_DEMO_TOLD:
            call->script.lines.ptr[i] =
                (struct pl_demo_line){.verb = PL_DEMO_SAY, .text = asked->told};
            break;
        case PL_DEMO_RESULTS:
            call->script.lines.ptr[i] =
                (struct pl_demo_line){.verb = PL_DEMO_SAY, .text = asked->results};
            break;
        default:
            break;
        }
    if (status != PL_NOT_FOUND)
        return status;
    const char *own = NULL;
    if (kind == DEMO_AGENT && !pl_demo_tour_find(asked->text, &own))
        own = pl_demo_tour_script(is_chinese(asked->text));
    if (own)
        call->word_ms = pl_models_demo_word_ms(models_there);
    if (own)
        return pl_demo_script_read(pl_str_of(own), asked->n_answers, &call->script, err);
    struct pl_demo_line echo = {.verb = PL_DEMO_SAY, .text = asked->text};
    return pl_vec_push(&call->script.lines, echo) ? PL_OK : PL_NOMEM;
}

static enum pl_status start(struct pl_loop *loop, const struct pl_model_request *request,
                            const struct pl_model_info *info, const struct pl_model_ops *ops,
                            void *ctx, struct pl_model_call **ret_call, struct pl_error *err)
{
    enum demo_kind kind = (enum demo_kind)(info - models);
    struct demo_call *call = pl_mem_alloc(1, sizeof *call);
    if (!call)
        return PL_NOMEM;
    *call = (struct demo_call){.word_ms = kind == DEMO_SLOW ? SLOW_WORD_MS : 0};
    pl_paced_init(&call->paced, &kind_of_call, loop, ops, ctx);
    struct asked asked = {0};
    enum pl_status status = read_asked(&call->paced.arena, request->turns, &asked, err);
    if (status == PL_OK)
        status = make_script(call, kind, request->models, &asked, err);
    if (status != PL_OK) {
        pl_paced_destroy(&call->paced);
        return status;
    }
    call->input_tokens = asked.n_input_words;
    pl_paced_go_on(&call->paced, call->word_ms);
    *ret_call = &call->paced.base;
    return PL_OK;
}

const struct pl_provider pl_provider_demo = {
    .name = "demo",
    .models = models,
    .n_models = sizeof models / sizeof *models,
    .start = start,
};
