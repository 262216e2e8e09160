/* A model that runs out of memory says so, at the start or in place of its end, and leaks nothing.
 */
#include "fault/fault.h"
#include "model/model.h"
#include "unit/io/turning.h"

struct scene {
    enum pl_status status;
    bool is_over;
};

static void on_text(void *ctx, bool is_thinking, struct pl_str text)
{
    (void)ctx, (void)is_thinking, (void)text;
}

static void on_block(void *ctx, const struct pl_model_block *block)
{
    (void)ctx, (void)block;
}

static void on_call(void *ctx, struct pl_str tool_name, struct pl_str arguments)
{
    (void)ctx, (void)tool_name, (void)arguments;
}

static void on_end(void *ctx, struct pl_str model, struct pl_str usage, struct pl_str timing)
{
    struct scene *scene = ctx;
    (void)model, (void)usage, (void)timing;
    scene->is_over = true;
}

static void on_failed(void *ctx, struct pl_str reason, bool is_overflow)
{
    struct scene *scene = ctx;
    (void)reason, (void)is_overflow;
    scene->status = PL_NOMEM;
    scene->is_over = true;
}

static const struct pl_model_ops ops = {on_text, on_block, on_call, on_end, on_failed};

static enum pl_status play(void *ctx)
{
    const struct pl_model_request *request = ctx;
    struct pl_loop *loop = NULL;
    struct pl_model_call *call = NULL;
    struct scene scene = {0};
    enum pl_status status = pl_loop_create(&loop, NULL);
    if (status == PL_OK)
        status = pl_model_start(loop, request, &ops, &scene, &call, NULL);
    if (status == PL_OK) {
        turn_until(loop, is_true, &scene.is_over);
        status = scene.status;
    } else {
        assert_null(call);
    }
    pl_loop_destroy(loop);
    return status;
}

static void a_demo_survives_running_out_of_memory(void **state)
{
    (void)state;
    struct pl_model_request request = {
        .model = PL_STR("demo/agent"),
        .turns = PL_STR("[{\"role\":\"user\",\"blocks\":[{\"type\":\"text\",\"content\":"
                        "\"#!demo\\nsay a\\u0020b\\ncall x {}\\nblock text 1\"}]}]"),
    };
    assert_true(pl_fault_each(play, &request) > 4);
}

static void a_replay_survives_running_out_of_memory(void **state)
{
    (void)state;
    struct pl_model_request request = {
        .model = PL_STR("replay/sess_01900000-0000-7000-8000-000000000000"),
        .turns = PL_STR("[{\"model\":\"m\\u0041\",\"usage\":{\"n\":1},\"blocks\":["
                        "{\"type\":\"text\",\"content\":\"a\\u0020b\"},"
                        "{\"type\":\"tool_ui\",\"content\":{},\"tool_name\":\"x\\u0041\"}]}]"),
    };
    assert_true(pl_fault_each(play, &request) > 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_demo_survives_running_out_of_memory),
        cmocka_unit_test(a_replay_survives_running_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
