/* Vendors: the meaning of names, how each is called, when a call is retried, and that keys are
 * never revealed. */
#include "unit/io/peer.h"
#include "unit/io/turning.h"

#include "base/mem.h"
#include "model/facts.h"
#include "model/vendor/vendors.h"

#define KEY "sk-test-1234567890abcdef"

/* --- configuring ----------------------------------------------------------------------------- */

static struct pl_models *models; /* those of the test */

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

static void configure(const struct pl_vendor_config *vendors, size_t n_vendors,
                      const struct pl_alias_config *aliases, size_t n_aliases)
{
    struct pl_error err = {0};
    struct pl_models_config config = {
        .vendors = vendors,
        .n_vendors = n_vendors,
        .aliases = aliases,
        .n_aliases = n_aliases,
        .first_byte_ms = 2000,
        .idle_ms = 2000,
    };
    if (use(&config, &err) != PL_OK)
        fail_msg("%s", err.message);
}

static void configure_one(const char *dialect, const char *base_url)
{
    struct pl_vendor_config vendor = {.name = "peer",
                                      .dialect = dialect,
                                      .base_url = base_url,
                                      .key = KEY,
                                      .key_from = "PEER_KEY"};
    configure(&vendor, 1, NULL, 0);
}

static int forget(void **state)
{
    (void)state;
    forget_models();
    return 0;
}

static const struct pl_vendor_config known[] = {
    {.name = "anthropic",
     .dialect = "anthropic",
     .base_url = "https://api.anthropic.com",
     .key = KEY,
     .key_from = "ANTHROPIC_API_KEY"},
    {.name = "ollama", .dialect = "openai-chat", .base_url = "http://127.0.0.1:11434"},
};

static void names_find_their_vendor(void **state)
{
    (void)state;
    struct pl_model_target targets[PL_VENDOR_MAX_CHAIN];
    configure(known, 2, NULL, 0);
    static const struct {
        const char *name, *vendor, *model;
        int64_t window;
    } cases[] = {
        {"anthropic/claude-opus-4-8", "anthropic", "claude-opus-4-8", 1000000},
        {"anthropic/something-new", "anthropic", "something-new", 0},
        {"claude-haiku-4-5", "anthropic", "claude-haiku-4-5", 200000},
        {"ollama/qwen3:8b", "ollama", "qwen3:8b", 0},
        {"demo/echo", NULL, "demo/echo", 0},
        {"echo", NULL, "demo/echo", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pl_str name = pl_str_of(cases[i].name);
        assert_int_equal(pl_model_targets(models, name, targets), 1);
        assert_true(pl_str_eq(targets[0].model, pl_str_of(cases[i].model)));
        assert_int_equal(targets[0].vendor != NULL, cases[i].vendor != NULL);
        if (targets[0].vendor)
            assert_string_equal(targets[0].vendor->name, cases[i].vendor);
        assert_ptr_equal(pl_model_find(models, name), targets[0].info);
        if (cases[i].vendor)
            assert_int_equal(targets[0].info->context_window, cases[i].window);
    }
    assert_null(pl_model_find(models, PL_STR("nobody/knows")));
    assert_null(pl_model_find(models, PL_STR("gpt-4o")));
    assert_null(pl_model_find(models, PL_STR("anthropic/")));
    assert_null(pl_model_find(models, PL_STR("anthropic/a\"b")));
}

static void a_model_has_the_profile_of_its_family(void **state)
{
    (void)state;
    struct pl_model_target target[PL_VENDOR_MAX_CHAIN];
    configure(known, 2, NULL, 0);
    assert_int_equal(pl_model_targets(models, PL_STR("claude-opus-4-8-20261001"), target), 1);
    assert_string_equal(target[0].profile->name, "anthropic@claude-opus-4-8");
    assert_int_equal(pl_model_targets(models, PL_STR("claude-2.1"), target), 1);
    assert_true(target[0].profile->is_default);
}

static void one_without_a_key_says_what_to_set(void **state)
{
    (void)state;
    struct pl_error err = {0};
    configure(known, 2, NULL, 0);
    assert_int_equal(pl_model_missing(models, PL_STR("gemini/gemini-2.5-pro"), &err), PL_NOT_FOUND);
    assert_non_null(strstr(err.message, "GEMINI_API_KEY"));
    assert_int_equal(pl_model_missing(models, PL_STR("gpt-5"), &err), PL_NOT_FOUND);
    assert_non_null(strstr(err.message, "OPENAI_API_KEY"));
    assert_int_equal(pl_model_missing(models, PL_STR("nobody/knows"), &err), PL_NOT_FOUND);
    assert_non_null(strstr(err.message, "There is no model nobody/knows"));
}

static bool is_listed(const char *name)
{
    const struct pl_model_info *info;
    for (size_t i = 0; (info = pl_model_at(models, i)); i++)
        if (strcmp(info->name, name) == 0)
            return true;
    return false;
}

static void only_what_can_be_asked_is_listed(void **state)
{
    (void)state;
    assert_false(is_listed("anthropic/claude-opus-4-8"));
    configure(known, 2, NULL, 0);
    assert_string_equal(pl_model_at(models, 0)->name, "demo/echo");
    assert_true(is_listed("anthropic/claude-opus-4-8"));
    assert_false(is_listed("openai/gpt-5"));
    const char *listed[] = {"mine", NULL};
    struct pl_vendor_config vendor = {.name = "corp",
                                      .dialect = "openai-chat",
                                      .base_url = "https://llm.example/v1",
                                      .models = listed};
    configure(&vendor, 1, NULL, 0);
    assert_true(is_listed("corp/mine"));
    assert_non_null(pl_model_find(models, PL_STR("mine")));
}

static void an_alias_is_a_chain(void **state)
{
    (void)state;
    struct pl_model_target targets[PL_VENDOR_MAX_CHAIN];
    const char *chain[] = {"claude-opus-4-8", "gpt-5", "ollama/llama3", NULL};
    struct pl_alias_config alias = {"best", chain};
    configure(known, 2, &alias, 1);
    /* The second one does not exist. */
    assert_int_equal(pl_model_targets(models, PL_STR("best"), targets), 2);
    assert_true(pl_str_eq(targets[0].model, PL_STR("claude-opus-4-8")));
    assert_true(pl_str_eq(targets[1].model, PL_STR("llama3")));
    const struct pl_model_info *info = pl_model_find(models, PL_STR("best"));
    assert_true(pl_str_eq(pl_model_name(info, PL_STR("best")), PL_STR("best")));
    assert_int_equal(info->context_window, 272000);
    assert_true(is_listed("best"));
}

static void what_cannot_be_is_refused_without_the_key(void **state)
{
    (void)state;
    const char *none[] = {NULL};
    const struct pl_vendor_config wrong[] = {
        {.name = "demo", .dialect = "anthropic", .base_url = "https://x.example"},
        {.name = "a b", .dialect = "anthropic", .base_url = "https://x.example"},
        {.name = "x", .dialect = "turns", .base_url = "https://x.example"},
        {.name = "x", .dialect = "anthropic", .base_url = "ftp://x.example"},
        {.name = "x", .dialect = "anthropic", .base_url = "https://user@x.example"},
        {.name = "x", .dialect = "anthropic", .base_url = "https://x.example", .key = KEY "\nx"},
        {.name = "x", .dialect = "anthropic", .base_url = "https://x.example", .profile = "no"},
    };
    struct pl_error err = {0};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct pl_models_config config = {.vendors = &wrong[i], .n_vendors = 1};
        assert_int_equal(use(&config, &err), PL_INVALID);
        assert_null(strstr(err.message, "1234567890"));
    }
    struct pl_alias_config alias = {"empty", none};
    struct pl_models_config config = {.aliases = &alias, .n_aliases = 1};
    assert_int_equal(use(&config, &err), PL_INVALID);
}

/* --- asking ---------------------------------------------------------------------------------- */

struct brought {
    struct pl_buf body;
    char type[64], retry_after[64], sentence[160];
    int status;
    enum pl_vendor_failure why;
    bool is_over, has_failed;
};

static void on_head(void *ctx, int status, struct pl_str type, struct pl_str retry_after)
{
    struct brought *b = ctx;
    assert_int_equal(b->status, 0); /* reported once */
    b->status = status;
    snprintf(b->type, sizeof b->type, "%.*s", PL_STR_ARG(type));
    snprintf(b->retry_after, sizeof b->retry_after, "%.*s", PL_STR_ARG(retry_after));
}

static void on_body(void *ctx, struct pl_str piece)
{
    pl_buf_add(&((struct brought *)ctx)->body, piece);
}

static void on_end(void *ctx)
{
    struct brought *b = ctx;
    assert_false(b->is_over);
    b->is_over = true;
}

static void on_failed(void *ctx, enum pl_vendor_failure why, const char *sentence)
{
    struct brought *b = ctx;
    assert_false(b->is_over);
    b->is_over = b->has_failed = true;
    b->why = why;
    snprintf(b->sentence, sizeof b->sentence, "%s", sentence);
}

static const struct pl_vendor_ops ops = {on_head, on_body, on_end, on_failed, NULL};

struct world {
    struct pl_loop *loop;
    struct pl_upstreams *upstreams;
    struct peer peer;
    struct pl_vendor_call *call;
    struct brought b;
    bool is_patient;
};

static int make_world(void **state)
{
    struct world *world = calloc(1, sizeof *world);
    world->loop = make_loop();
    world->is_patient = true;
    pl_buf_init(&world->b.body, 0);
    *state = world;
    return 0;
}

static int drop_world(void **state)
{
    struct world *world = *state;
    pl_upstreams_destroy(world->upstreams);
    turn_for(world->loop, 5);
    pl_loop_destroy(world->loop);
    pl_buf_deinit(&world->b.body);
    forget_models();
    free(world);
    return 0;
}

static void start(struct world *world, const char *model, bool is_stream,
                  const char *const *headers)
{
    struct pl_error err = {0};
    struct pl_model_target targets[PL_VENDOR_MAX_CHAIN];
    struct pl_buf body;
    assert_int_equal(pl_model_targets(models, pl_str_of(model), targets), 1);
    assert_int_equal(pl_vendor_upstreams(world->loop, &world->upstreams, &err), PL_OK);
    pl_buf_init(&body, 0);
    pl_buf_adds(&body, "{\"a\":1}");
    struct pl_vendor_request request = {
        .target = &targets[0],
        .body = &body,
        .is_stream = is_stream,
        .extra_headers = headers,
        .owner = PL_STR("user_a"),
        .is_patient = world->is_patient,
    };
    enum pl_status status =
        pl_vendor_start(world->upstreams, &request, &ops, &world->b, &world->call, &err);
    if (status != PL_OK)
        fail_msg("%s", err.message);
    assert_int_equal(body.len, 0);
}

static const char *const fine[] = {
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 2\r\n\r\nok", NULL};

static void each_dialect_has_its_path_and_its_key(void **state)
{
    struct world *world = *state;
    static const struct {
        const char *dialect, *base, *model;
        bool is_stream;
        const char *request, *key;
    } cases[] = {
        {"anthropic", "", "peer/claude-x", true, "POST /v1/messages HTTP/1.1\r\n",
         "x-api-key: " KEY "\r\n"},
        {"openai-chat", "/", "peer/gpt-x", true, "POST /v1/chat/completions HTTP/1.1\r\n",
         "Authorization: Bearer " KEY "\r\n"},
        {"openai-chat", "/api/v1/", "peer/gpt-x", true,
         "POST /api/v1/chat/completions HTTP/1.1\r\n", "Authorization: Bearer " KEY "\r\n"},
        {"openai-responses", "/v1", "peer/gpt-x", false, "POST /v1/responses HTTP/1.1\r\n",
         "Authorization: Bearer " KEY "\r\n"},
        {"gemini", "", "peer/gemini-x", false,
         "POST /v1beta/models/gemini-x:generateContent HTTP/1.1\r\n",
         "x-goog-api-key: " KEY "\r\n"},
        {"gemini", "/v1beta", "peer/models/gemini-x", true,
         "POST /v1beta/models/gemini-x:streamGenerateContent?alt=sse HTTP/1.1\r\n",
         "x-goog-api-key: " KEY "\r\n"},
        {"gemini", "", "peer/a/../b", true,
         "POST /v1beta/models/a%2F..%2Fb:streamGenerateContent?alt=sse HTTP/1.1\r\n",
         "x-goog-api-key: " KEY "\r\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char base[128];
        open_peer(&world->peer, fine, false);
        snprintf(base, sizeof base, "http://127.0.0.1:%u%s", (unsigned)world->peer.port,
                 cases[i].base);
        configure_one(cases[i].dialect, base);
        world->b.is_over = false;
        world->b.status = 0;
        start(world, cases[i].model, cases[i].is_stream, NULL);
        turn_until(world->loop, is_true, &world->b.is_over);
        assert_int_equal(world->b.status, 200);
        assert_int_equal(strncmp(world->peer.heard, cases[i].request, strlen(cases[i].request)), 0);
        assert_non_null(strstr(world->peer.heard, cases[i].key));
        assert_non_null(strstr(world->peer.heard, "Content-Type: application/json\r\n"));
        assert_int_equal(strstr(world->peer.heard, "anthropic-version: 2023-06-01\r\n") != NULL,
                         i == 0);
        assert_non_null(strstr(world->peer.heard, "\r\n\r\n{\"a\":1}"));
        close_peer(&world->peer);
    }
}

static void open_and_configure(struct world *world, const char *const *says,
                               const char *const *then)
{
    char base[64];
    open_peer(&world->peer, says, false);
    world->peer.then = then;
    snprintf(base, sizeof base, "http://127.0.0.1:%u", (unsigned)world->peer.port);
    configure_one("anthropic", base);
}

static void a_clients_headers_go_along_but_no_key_of_its_own(void **state)
{
    struct world *world = *state;
    const char *headers[] = {"anthropic-beta: thinking", "Anthropic-Version: 2024-01-01",
                             "X-Api-Key: the-clients", NULL};
    open_and_configure(world, fine, NULL);
    start(world, "peer/claude-x", true, headers);
    turn_until(world->loop, is_true, &world->b.is_over);
    assert_non_null(strstr(world->peer.heard, "anthropic-beta: thinking\r\n"));
    assert_non_null(strstr(world->peer.heard, "Anthropic-Version: 2024-01-01\r\n"));
    assert_null(strstr(world->peer.heard, "2023-06-01"));
    assert_null(strstr(world->peer.heard, "the-clients"));
    assert_non_null(strstr(world->peer.heard, "x-api-key: " KEY));
    close_peer(&world->peer);
}

static void what_passes_is_tried_again_with_the_same_body(void **state)
{
    struct world *world = *state;
    static const char *const busy[] = {
        "HTTP/1.1 529 Busy\r\nContent-Length: 4\r\nretry-after-ms: 30\r\n\r\nbusy", NULL};
    open_and_configure(world, busy, fine);
    int64_t began_ms = pl_clock_ms();
    start(world, "peer/claude-x", true, NULL);
    turn_until(world->loop, is_true, &world->b.is_over);
    assert_int_equal(world->b.status, 200);
    assert_true(pl_str_eq(pl_buf_str(&world->b.body), PL_STR("ok")));
    assert_string_equal(world->b.type, "text/event-stream");
    assert_int_equal(world->peer.n_requests, 2);
    assert_int_equal(world->peer.n_connections, 1);
    assert_non_null(strstr(world->peer.heard, "\r\n\r\n{\"a\":1}"));
    assert_true(pl_clock_ms() - began_ms >= 30);
    close_peer(&world->peer);
}

static void retry_after_is_kept_in_seconds(void **state)
{
    struct world *world = *state;
    static const char *const busy[] = {
        "HTTP/1.1 429 Busy\r\nContent-Length: 0\r\nRetry-After: 1\r\n\r\n", NULL};
    open_and_configure(world, busy, fine);
    int64_t began_ms = pl_clock_ms();
    start(world, "peer/claude-x", true, NULL);
    turn_until(world->loop, is_true, &world->b.is_over);
    assert_int_equal(world->b.status, 200);
    assert_true(pl_clock_ms() - began_ms >= 1000);
    close_peer(&world->peer);
}

static void what_is_to_wait_for_too_long_is_told_at_once(void **state)
{
    struct world *world = *state;
    static const char *const busy[] = {
        "HTTP/1.1 429 Busy\r\nContent-Length: 4\r\nRetry-After: 3600\r\n\r\nbusy", NULL};
    open_and_configure(world, busy, fine);
    start(world, "peer/claude-x", true, NULL);
    turn_until(world->loop, is_true, &world->b.is_over);
    assert_int_equal(world->b.status, 429);
    assert_string_equal(world->b.retry_after, "3600");
    assert_true(pl_str_eq(pl_buf_str(&world->b.body), PL_STR("busy")));
    assert_int_equal(world->peer.n_requests, 1);
    close_peer(&world->peer);
}

static void two_retries_are_enough(void **state)
{
    struct world *world = *state;
    static const char *const busy[] = {
        "HTTP/1.1 503 Busy\r\nContent-Length: 4\r\nRetry-After: 0\r\n\r\nbusy", NULL};
    open_and_configure(world, busy, NULL);
    start(world, "peer/claude-x", true, NULL);
    turn_until(world->loop, is_true, &world->b.is_over);
    assert_int_equal(world->b.status, 503);
    assert_true(pl_str_eq(pl_buf_str(&world->b.body), PL_STR("busy")));
    assert_int_equal(world->peer.n_requests, 3);
    close_peer(&world->peer);
}

/* Also if the request may have been carried out: a gateway that gave up, a server that failed. */
static void what_is_wrong_is_not_tried_again(void **state)
{
    struct world *world = *state;
    static const int statuses[] = {400, 409, 500, 502, 504};
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++) {
        char answer[96];
        snprintf(answer, sizeof answer,
                 "HTTP/1.1 %d No\r\nRetry-After: 0\r\nContent-Length: 2\r\n\r\nno", statuses[i]);
        const char *const wrong[] = {answer, NULL};
        open_and_configure(world, wrong, fine);
        world->b.is_over = false;
        world->b.status = 0;
        start(world, "peer/claude-x", true, NULL);
        turn_until(world->loop, is_true, &world->b.is_over);
        assert_int_equal(world->b.status, statuses[i]);
        assert_int_equal(world->peer.n_requests, 1);
        close_peer(&world->peer);
    }
}

static void without_patience_there_is_one_request(void **state)
{
    struct world *world = *state;
    static const char *const busy[] = {
        "HTTP/1.1 429 Busy\r\nContent-Length: 4\r\nRetry-After: 0\r\n\r\nbusy", NULL};
    open_and_configure(world, busy, fine);
    world->is_patient = false;
    start(world, "peer/claude-x", true, NULL);
    turn_until(world->loop, is_true, &world->b.is_over);
    assert_int_equal(world->b.status, 429);
    assert_string_equal(world->b.retry_after, "0");
    assert_int_equal(world->peer.n_requests, 1);
    close_peer(&world->peer);
}

static void an_answer_that_breaks_off_is_not_asked_for_again(void **state)
{
    struct world *world = *state;
    static const char *const half[] = {"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf", NULL};
    open_and_configure(world, half, fine);
    world->peer.closes = true;
    start(world, "peer/claude-x", true, NULL);
    turn_until(world->loop, is_true, &world->b.is_over);
    assert_true(world->b.has_failed);
    assert_int_equal(world->b.why, PL_VENDOR_BROKEN);
    assert_int_equal(world->peer.n_requests, 1);
    close_peer(&world->peer);
}

static void nobody_there_is_knocked_at_three_times(void **state)
{
    struct world *world = *state;
    open_and_configure(world, fine, NULL);
    close_peer(&world->peer);
    int64_t began_ms = pl_clock_ms();
    start(world, "peer/claude-x", true, NULL);
    turn_until(world->loop, is_true, &world->b.is_over);
    assert_true(world->b.has_failed);
    assert_int_equal(world->b.why, PL_VENDOR_REFUSED);
    assert_true(pl_clock_ms() - began_ms >= 2500);
    assert_null(strstr(world->b.sentence, "1234567890"));
}

static void a_call_can_be_cancelled_between_two_tries(void **state)
{
    struct world *world = *state;
    static const char *const busy[] = {
        "HTTP/1.1 503 Busy\r\nContent-Length: 0\r\nRetry-After: 20\r\n\r\n", NULL};
    open_and_configure(world, busy, NULL);
    start(world, "peer/claude-x", true, NULL);
    turn_for(world->loop, 100);
    pl_vendor_cancel(world->call);
    turn_for(world->loop, 20);
    assert_false(world->b.is_over);
    assert_int_equal(world->b.status, 0);
    close_peer(&world->peer);
}

/* --- errors of vendors, and costs ------------------------------------------------------------ */

static void errors_are_found_and_have_no_key_in_them(void **state)
{
    (void)state;
    PL_CLEANUP_ARENA struct pl_arena arena;
    pl_arena_init(&arena, 0);
    struct pl_vendor vendor = {.name = "x", .dialect = "anthropic", .key = KEY};
    struct pl_model_target target = {.vendor = &vendor};
    static const struct {
        const char *body, *says;
    } cases[] = {
        {"{\"type\":\"error\",\"error\":{\"type\":\"x\",\"message\":\"Over\\u006coaded\"}}",
         "Overloaded"},
        {"{\"error\":{\"message\":\"Wrong key: " KEY ".\",\"code\":null}}", "Wrong key: [key]."},
        {"{\"error\":{\"message\":\"Wrong key: sk-test-1234...cdef\"}}", "Wrong key: [key]...cdef"},
        {"[{\"error\":{\"code\":400,\"message\":\"Bad\",\"status\":\"X\"}}]", "Bad"},
        {"{\"error\":\"model not found\"}", "model not found"},
        {"{\"detail\":\"Not Found\"}", "Not Found"},
        {"<html>" KEY "</html>", ""},
        {"{\"error\":{}}", ""},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pl_str said = pl_vendor_error_text(&arena, &target, pl_str_of(cases[i].body));
        assert_int_equal(said.len, strlen(cases[i].says));
        assert_true(pl_str_eq(said, pl_str_of(cases[i].says)));
    }
}

static void an_overflow_is_known_in_every_vendors_words(void **state)
{
    (void)state;
    static const char *const words[] = {
        "prompt is too long: 210000 tokens > 200000 maximum",
        "input length and `max_tokens` exceed context limit: 190000 + 64000 > 200000",
        "This model's maximum context length is 8192 tokens. However, you requested 9000",
        "Your input exceeds the context window of this model.",
        "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
        "the request exceeds the available context size, try increasing it",
        "context_length_exceeded",
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        assert_true(pl_vendor_says_overflow(pl_str_of(words[i])));
    assert_false(pl_vendor_says_overflow(PL_STR("max_tokens: 99999999 > 8192")));
    assert_false(pl_vendor_says_overflow(PL_STR("")));
}

static void a_cost_is_said_only_when_it_is_known(void **state)
{
    (void)state;
    struct pl_counts counts = {1000000, 100000, -1, 400000, 100000, -1, -1};
    /* 0.5 M at 1 $, 0.4 M at 0.10 $, 0.1 M at 1.25 $, 0.1 M at 5 $ */
    assert_int_equal(pl_model_cost(PL_STR("claude-haiku-4-5-20251001"), &counts), 1165000);
    assert_int_equal(pl_model_cost(PL_STR("models/claude-haiku-4-5"), &counts), 1165000);
    /* Above 200,000 tokens the price differs. */
    assert_int_equal(pl_model_cost(PL_STR("gemini-2.5-pro"), &counts), -1);
    assert_int_equal(pl_model_cost(PL_STR("llama3"), &counts), -1);
    assert_int_equal(pl_model_cost(PL_STR("claude-9"), &counts), -1);
    /* A longer name is another model: it has neither the price nor the window of the shorter
     * one. */
    assert_int_equal(pl_model_prices(PL_STR("gemini-2.0-flash-lite-001")).input, 75000);
    assert_int_equal(pl_model_prices(PL_STR("gpt-5.1-codex-mini")).output, 2000000);
    assert_int_equal(pl_model_prices(PL_STR("gpt-4o-mini-audio-preview")).input, -1);
    counts = (struct pl_counts){-1, -1, -1, -1, -1, -1, -1};
    assert_int_equal(pl_model_cost(PL_STR("claude-haiku-4-5"), &counts), -1);
    counts = (struct pl_counts){10, 1, -1, -1, -1, -1, -1};
    assert_int_equal(pl_model_cost(PL_STR("gpt-4o-mini"), &counts), 2);
    assert_string_equal(pl_model_prices(PL_STR("gpt-4o-mini")).dated, "2026-10-27");
    assert_int_equal(pl_model_prices(PL_STR("llama3")).input, -1);
    /* The prices of other vendors for the same model are unknown. */
    struct pl_vendor vendor = {.name = "openai-chat"}, other = {.name = "corp"};
    struct pl_model_target target = {.vendor = &vendor, .model = PL_STR("gpt-4o-mini")};
    assert_int_equal(pl_target_cost(&target, &counts), 2);
    target.vendor = &other;
    assert_int_equal(pl_target_cost(&target, &counts), -1);
    assert_int_equal(pl_target_prices(&target).input, -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define FORGETTING(test) cmocka_unit_test_teardown(test, forget)
#define IN_WORLD(test)   cmocka_unit_test_setup_teardown(test, make_world, drop_world)
        FORGETTING(names_find_their_vendor),
        FORGETTING(a_model_has_the_profile_of_its_family),
        FORGETTING(one_without_a_key_says_what_to_set),
        FORGETTING(only_what_can_be_asked_is_listed),
        FORGETTING(an_alias_is_a_chain),
        FORGETTING(what_cannot_be_is_refused_without_the_key),
        IN_WORLD(each_dialect_has_its_path_and_its_key),
        IN_WORLD(a_clients_headers_go_along_but_no_key_of_its_own),
        IN_WORLD(what_passes_is_tried_again_with_the_same_body),
        IN_WORLD(retry_after_is_kept_in_seconds),
        IN_WORLD(what_is_to_wait_for_too_long_is_told_at_once),
        IN_WORLD(two_retries_are_enough),
        IN_WORLD(what_is_wrong_is_not_tried_again),
        IN_WORLD(without_patience_there_is_one_request),
        IN_WORLD(an_answer_that_breaks_off_is_not_asked_for_again),
        IN_WORLD(nobody_there_is_knocked_at_three_times),
        IN_WORLD(a_call_can_be_cancelled_between_two_tries),
        cmocka_unit_test(errors_are_found_and_have_no_key_in_them),
        cmocka_unit_test(an_overflow_is_known_in_every_vendors_words),
        cmocka_unit_test(a_cost_is_said_only_when_it_is_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
