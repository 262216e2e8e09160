/* A model that runs out of memory reports it, at the start or in place of its end, and leaks
 * nothing. */
#include "fault/fault.h"
#include "model/vendor/vendors.h"
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

static void on_call(void *ctx, struct pl_str tool_name, struct pl_str arguments,
                    struct pl_str proof)
{
    (void)proof;
    (void)ctx, (void)tool_name, (void)arguments;
}

static void on_end(void *ctx, struct pl_str model, struct pl_str usage, struct pl_str timing)
{
    struct scene *scene = ctx;
    (void)model, (void)usage, (void)timing;
    scene->is_over = true;
}

static void on_failed(void *ctx, const struct pl_model_failure *failure)
{
    struct scene *scene = ctx;
    (void)failure;
    scene->status = PL_NOMEM;
    scene->is_over = true;
}

static const struct pl_model_ops ops = {on_text, on_block, on_call, on_end, on_failed, NULL};

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

static struct pl_models *models; /* the test's */

static enum pl_status use(const struct pl_models_config *config, struct pl_error *err)
{
    struct pl_models *made;
    enum pl_status status = pl_models_create(config, &made, err);
    if (status == PL_OK) {
        pl_models_destroy(models);
        models = made;
    }
    return status;
}

static void forget_models(void)
{
    pl_models_destroy(PL_TAKE(models));
}

static enum pl_status configure(void *ctx)
{
    (void)ctx;
    struct pl_error err = {0};
    const char *listed[] = {"big", "small", NULL};
    const char *chain[] = {"corp/big", "corp/small", NULL};
    struct pl_vendor_config vendors[] = {
        {.name = "anthropic",
         .dialect = "anthropic",
         .base_url = "https://api.anthropic.com",
         .key = "k",
         .key_from = "K"},
        {.name = "corp",
         .dialect = "openai-chat",
         .base_url = "http://127.0.0.1:1/",
         .models = listed},
    };
    struct pl_alias_config alias = {"any", chain};
    struct pl_models_config config = {
        .vendors = vendors, .n_vendors = 2, .aliases = &alias, .n_aliases = 1};
    return use(&config, &err);
}

static enum pl_status configure_and_forget(void *ctx)
{
    enum pl_status status = configure(ctx);
    /* A configuration is complete or absent. */
    assert_int_equal(pl_model_find(models, PL_STR("any")) != NULL, status == PL_OK);
    forget_models();
    return status;
}

static void configuring_survives_running_out_of_memory(void **state)
{
    (void)state;
    assert_true(pl_fault_each(configure_and_forget, NULL) > 1);
}

static enum pl_status prepare(void *ctx)
{
    struct pl_model_prepared *prepared = NULL;
    enum pl_status status = pl_model_prepare(ctx, &prepared, NULL);
    assert_int_equal(prepared != NULL, status == PL_OK);
    pl_model_prepared_destroy(prepared);
    return status;
}

static void what_a_vendor_is_sent_survives_running_out_of_memory(void **state)
{
    (void)state;
    struct pl_model_request request = {
        .model = PL_STR("any"),
        .turns = PL_STR(
            "[{\"role\":\"user\",\"blocks\":[{\"type\":\"text\",\"content\":\"a\\u0020b\"}]}]"),
        .tools = PL_STR("[{\"name\":\"clock\",\"description\":\"d\",\"input_schema\":{}}]"),
    };
    assert_int_equal(configure(NULL), PL_OK);
    request.models = models;
    assert_true(pl_fault_each(prepare, &request) > 4);
    request.model = PL_STR("anthropic/claude-x");
    assert_true(pl_fault_each(prepare, &request) > 4);
    forget_models();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_demo_survives_running_out_of_memory),
        cmocka_unit_test(a_replay_survives_running_out_of_memory),
        cmocka_unit_test(configuring_survives_running_out_of_memory),
        cmocka_unit_test(what_a_vendor_is_sent_survives_running_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
