/* A call to a model on its own loop, and all of its output, as lines:
 *
 *     say WORD | think WORD | call NAME ARGUMENTS PROOF | proof KIND JSON
 *     block TYPE CONTENT ID NAME DISPLAY | end MODEL USAGE | failed REASON | overflow REASON */
#ifndef PL_TESTS_MODEL_HEARD_H
#define PL_TESTS_MODEL_HEARD_H

#include "base/buf.h"
#include "json/json.h"
#include "model/model.h"
#include "unit/io/turning.h"

struct heard {
    struct pl_loop *loop;
    struct pl_model_call *call;
    struct pl_buf lines;
    struct pl_buf timing;
    size_t n_told;
    size_t cancel_at; /* cancels itself inside the n-th callback; 0: never */
    int64_t first_ms, last_ms;
    bool is_over;
};

static inline void heard_told(struct heard *heard)
{
    heard->last_ms = pl_clock_ms();
    if (!heard->n_told++)
        heard->first_ms = heard->last_ms;
    if (heard->n_told == heard->cancel_at) {
        pl_model_cancel(heard->call);
        heard->is_over = true;
    }
    pl_buf_addc(&heard->lines, '\n');
}

static inline void heard_text(void *ctx, bool is_thinking, struct pl_str text)
{
    struct heard *heard = ctx;
    pl_buf_addf(&heard->lines, "%s %.*s", is_thinking ? "think" : "say", PL_STR_ARG(text));
    heard_told(heard);
}

static inline void heard_block(void *ctx, const struct pl_model_block *block)
{
    struct heard *heard = ctx;
    pl_buf_addf(&heard->lines, "block %.*s %.*s %.*s %.*s %.*s", PL_STR_ARG(block->type),
                PL_STR_ARG(block->content), PL_STR_ARG(block->tool_call_id),
                PL_STR_ARG(block->tool_name), PL_STR_ARG(block->display_name));
    heard_told(heard);
}

static inline void heard_call(void *ctx, struct pl_str tool_name, struct pl_str arguments,
                              struct pl_str proof)
{
    struct heard *heard = ctx;
    pl_buf_addf(&heard->lines, "call %.*s %.*s%s%.*s", PL_STR_ARG(tool_name), PL_STR_ARG(arguments),
                proof.len ? " " : "", PL_STR_ARG(proof));
    heard_told(heard);
}

static inline void heard_end(void *ctx, struct pl_str model, struct pl_str usage,
                             struct pl_str timing)
{
    struct heard *heard = ctx;
    pl_buf_addf(&heard->lines, "end %.*s %.*s", PL_STR_ARG(model), PL_STR_ARG(usage));
    pl_buf_add(&heard->timing, timing);
    heard->call = NULL;
    heard->is_over = true;
    heard_told(heard);
}

static inline void heard_failed(void *ctx, const struct pl_model_failure *failure)
{
    struct heard *heard = ctx;
    pl_buf_addf(&heard->lines, "%s %.*s", failure->is_overflow ? "overflow" : "failed",
                PL_STR_ARG(failure->reason));
    heard->call = NULL;
    heard->is_over = true;
    heard_told(heard);
}

static inline void heard_proof(void *ctx, bool is_thinking, struct pl_str proof)
{
    struct heard *heard = ctx;
    pl_buf_addf(&heard->lines, "proof %s %.*s", is_thinking ? "thinking" : "text",
                PL_STR_ARG(proof));
    heard_told(heard);
}

static const struct pl_model_ops heard_ops = {heard_text, heard_block,  heard_call,
                                              heard_end,  heard_failed, heard_proof};

static inline void heard_init(struct heard *heard)
{
    *heard = (struct heard){.loop = make_loop()};
    pl_buf_init(&heard->lines, 0);
    pl_buf_init(&heard->timing, 0);
}

static inline void heard_deinit(struct heard *heard)
{
    pl_model_cancel(heard->call);
    pl_loop_destroy(heard->loop);
    pl_buf_deinit(&heard->lines);
    pl_buf_deinit(&heard->timing);
}

static inline enum pl_status
heard_start(struct heard *heard, const struct pl_model_request *request, struct pl_error *err)
{
    enum pl_status status =
        pl_model_start(heard->loop, request, &heard_ops, heard, &heard->call, err);
    assert_int_equal(heard->n_told, 0); /* no output before start has returned */
    return status;
}

/* Starts the call and runs it to the end. */
static inline void heard_play(struct heard *heard, const struct pl_model_request *request)
{
    struct pl_error err = {0};
    if (heard_start(heard, request, &err) != PL_OK)
        fail_msg("%s", err.message);
    turn_until(heard->loop, is_true, &heard->is_over);
}

static inline void heard_is(struct heard *heard, const char *lines)
{
    assert_int_equal(heard->lines.status, PL_OK);
    pl_buf_addc(&heard->lines, '\0');
    assert_string_equal(heard->lines.ptr, lines);
}

#endif
