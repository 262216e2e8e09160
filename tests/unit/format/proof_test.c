/* Proofs, which only a vendor can check, in turns: each goes back to its vendor and to no other. */
#include "unit/format/expect.h"

#include "format/profile.h"

#define ANTHROPIC                                                                                  \
    "{\"max_tokens\":9,\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":" \
    "\"q\"}]},{\"role\":"                                                                          \
    "\"assistant\",\"content\":[{\"type\":\"thinking\",\"thinking\":\"hm\",\"signature\":"         \
    "\"Ab+/\\u003d\"},{\"type\":\"thinking\",\"thinking\":\"\",\"signature\":\"Cd\"},{\"type\":"   \
    "\"redacted_thinking\",\"data\":\"Ef==\"},{\"type\":\"text\",\"text\":\"a\"}]}]}"
#define GEMINI                                                                                     \
    "{\"contents\":[{\"role\":\"user\",\"parts\":[{\"text\":\"q\"}]},{\"role\":\"model\","         \
    "\"parts\":[{\"text\":\"hm\",\"thought\":true,\"thoughtSignature\":\"t1\"},{\"text\":\"a\","   \
    "\"thoughtSignature\":\"t2\"},{\"functionCall\":{\"id\":\"c1\",\"name\":\"f\",\"args\":{}},"   \
    "\"thoughtSignature\":\"t3\"},{\"text\":\"\",\"thoughtSignature\":\"t4\"}]}]}"
#define RESPONSES                                                                                  \
    "{\"input\":[{\"role\":\"user\",\"content\":\"q\"},{\"type\":\"reasoning\",\"id\":\"rs_1\","   \
    "\"summary\":[{\"type\":\"summary_text\",\"text\":\"one\"},{\"type\":\"summary_text\","        \
    "\"text\":\"two\"}],\"encrypted_content\":\"Xy\"},{\"type\":\"function_call\",\"call_id\":"    \
    "\"c1\",\"name\":\"f\",\"arguments\":\"{}\"},{\"type\":\"function_call_output\",\"call_id\":"  \
    "\"c1\",\"name\":\"f\",\"output\":\"r\"},{\"type\":\"reasoning\",\"id\":\"rs_2\",\"summary\":" \
    "[],"                                                                                          \
    "\"encrypted_content\":\"Zz\"},{\"role\":\"assistant\",\"content\":\"a\"}]}"
#define CHAT                                                                                       \
    "{\"messages\":[{\"role\":\"user\",\"content\":\"q\"},{\"role\":\"assistant\","                \
    "\"reasoning_details\":[{\"type\":\"reasoning.text\",\"text\":\"hm\",\"signature\":\"s1\"},"   \
    "{\"type\":\"reasoning.encrypted\",\"data\":\"d1\"}],\"content\":null,\"tool_calls\":"         \
    "[{\"id\":\"c1\",\"type\":\"function\",\"function\":{\"name\":\"f\",\"arguments\":\"{}\"},"    \
    "\"extra_content\":{\"google\":{\"thought_signature\":\"g1\"}}}]},{\"role\":\"tool\","         \
    "\"tool_call_id\":\"c1\",\"content\":\"r\"}]}"

static const struct {
    const char *name, *text;
} vendors[] = {
    {"anthropic", ANTHROPIC},
    {"gemini", GEMINI},
    {"openai-responses", RESPONSES},
    {"openai-chat", CHAT},
};
enum { N_VENDORS = sizeof vendors / sizeof *vendors };

/* The output as a C string. */
static const char *out_of(struct pl_converted *c)
{
    pl_buf_addc(&c->out, '\0');
    assert_int_equal(c->out.status, PL_OK);
    return c->out.ptr;
}

static const char *as_turns(size_t vendor, struct pl_converted *c)
{
    *c = pl_test_convert(vendors[vendor].name, "turns", PL_KIND_REQUEST, PL_MODE_CONVERT,
                         vendors[vendor].text);
    return out_of(c);
}

static void expect_words(const char *text, const char *words, bool is_there)
{
    if ((strstr(text, words) != NULL) != is_there)
        fail_msg("%s is %sin\n%s", words, is_there ? "not " : "", text);
}

static void a_turn_keeps_the_proofs_of_every_vendor(void **state)
{
    (void)state;
    static const char *const kept[N_VENDORS][4] = {
        {"{\"type\":\"thinking\",\"content\":\"hm\",\"proof\":{\"vendor\":\"anthropic\","
         "\"signature\":\"Ab+/\\u003d\"}}",
         "{\"type\":\"thinking\",\"content\":\"\",\"proof\":{\"vendor\":\"anthropic\","
         "\"signature\":\"Cd\"}}",
         "{\"type\":\"thinking\",\"content\":\"\",\"proof\":{\"vendor\":\"anthropic\",\"data\":"
         "\"Ef==\"}}",
         "{\"type\":\"text\",\"content\":\"a\"}"},
        {"{\"type\":\"thinking\",\"content\":\"hm\",\"proof\":{\"vendor\":\"gemini\","
         "\"signature\":\"t1\"}}",
         "{\"type\":\"text\",\"content\":\"a\",\"proof\":{\"vendor\":\"gemini\",\"signature\":"
         "\"t2\"}}",
         "\"status\":\"pending\",\"proof\":{\"vendor\":\"gemini\",\"signature\":\"t3\"}}",
         "{\"type\":\"text\",\"content\":\"\",\"proof\":{\"vendor\":\"gemini\",\"signature\":"
         "\"t4\"}}"},
        {"{\"type\":\"thinking\",\"content\":\"one\",\"proof\":{\"vendor\":\"openai-responses\","
         "\"id\":\"rs_1\"}}",
         "{\"type\":\"thinking\",\"content\":\"two\",\"proof\":{\"vendor\":\"openai-responses\","
         "\"signature\":\"Xy\",\"id\":\"rs_1\"}}",
         "{\"type\":\"thinking\",\"content\":\"\",\"proof\":{\"vendor\":\"openai-responses\","
         "\"id\":\"rs_2\",\"data\":\"Zz\"}}",
         "\"result\":\"r\"}"},
        {"{\"type\":\"thinking\",\"content\":\"hm\",\"proof\":{\"vendor\":\"openai-chat\","
         "\"signature\":\"s1\"}}",
         "{\"type\":\"thinking\",\"content\":\"\",\"proof\":{\"vendor\":\"openai-chat\",\"data\":"
         "\"d1\"}}",
         "\"result\":\"r\",\"proof\":{\"vendor\":\"openai-chat\",\"signature\":\"g1\"}}",
         "\"tool_calls\":"},
    };
    for (size_t v = 0; v < N_VENDORS; v++) {
        struct pl_converted turns;
        const char *text = as_turns(v, &turns);
        for (size_t i = 0; i < 4; i++)
            expect_words(text, kept[v][i], true);
        pl_converted_deinit(&turns);
        pl_test_round_trip(vendors[v].name, "turns", vendors[v].text);
    }
}

static void proofs_go_back_to_the_vendor_they_came_from(void **state)
{
    (void)state;
    /* The part after max_tokens, which Anthropic requires and turns lack. */
    static const char *const from_here[N_VENDORS] = {"\"messages\"", "{", "{", "{"};
    for (size_t v = 0; v < N_VENDORS; v++) {
        struct pl_converted turns;
        const char *text = as_turns(v, &turns);
        struct pl_converted back =
            pl_test_convert("turns", vendors[v].name, PL_KIND_REQUEST, PL_MODE_CONVERT, text);
        expect_words(out_of(&back), strstr(vendors[v].text, from_here[v]), true);
        pl_converted_deinit(&back);
        pl_test_round_trip("turns", vendors[v].name, text);
        pl_converted_deinit(&turns);
    }
}

/* A turn with one block of every kind, signed by a vendor; the values of proofs begin with "px". */
#define SIGNED(vendor)                                                                             \
    "[{\"role\":\"user\",\"blocks\":[{\"type\":\"text\",\"content\":\"q\"}],\"tool_calls\":[]},"   \
    "{\"role\":\"assistant\",\"blocks\":[{\"type\":\"thinking\",\"content\":\"hm\",\"proof\":"     \
    "{\"vendor\":\"" vendor "\",\"signature\":\"px1\",\"id\":\"px2\"}},{\"type\":\"thinking\","    \
    "\"content\":\"\",\"proof\":{\"vendor\":\"" vendor                                             \
    "\",\"data\":\"px3\"}},{\"type\":\"text\",\"content\":\"a\",\"proof\":{\"vendor\":\"" vendor   \
    "\",\"signature\":\"px4\"}},{\"type\":\"text\",\"content\":\"\",\"proof\":{\"vendor\":"        \
    "\"" vendor "\",\"signature\":\"px5\"}}],\"tool_calls\":[{\"id\":\"c1\",\"tool_name\":\"f\","  \
    "\"arguments\":\"{}\",\"status\":\"done\",\"result\":\"r\",\"proof\":{\"vendor\":\"" vendor    \
    "\",\"signature\":\"px6\"}}]}]"

static const char *const signed_by[N_VENDORS] = {
    SIGNED("anthropic"),
    SIGNED("gemini"),
    SIGNED("openai-responses"),
    SIGNED("openai-chat"),
};

/* The value in Google's slot of a chat call belongs to Google. */
static bool may_have(size_t to, size_t from, int proof)
{
    return proof == 6 && to == 1 && from == 3;
}

static void no_proof_goes_to_another_vendor(void **state)
{
    (void)state;
    static const char *const places[] = {
        "/1/blocks/0/proof/signature", "/1/blocks/0/proof/id",
        "/1/blocks/1/proof/data",      "/1/blocks/2/proof/signature",
        "/1/blocks/3/proof/signature", "/1/tool_calls/0/proof/signature",
    };
    for (size_t i = 0; i < (size_t)N_VENDORS * N_VENDORS; i++) {
        size_t from = i / N_VENDORS, to = i % N_VENDORS;
        if (from == to)
            continue;
        struct pl_converted c = pl_test_convert("turns", vendors[to].name, PL_KIND_REQUEST,
                                                PL_MODE_CONVERT, signed_by[from]);
        for (int k = 1; k <= 6; k++) {
            char word[] = {'"', 'p', 'x', (char)('0' + k), '"', '\0'};
            bool is_there = may_have(to, from, k);
            expect_words(out_of(&c), word, is_there);
            if (pl_test_has_loss(&c, "dropped", places[k - 1]) == is_there)
                fail_msg("%s of %s at %s:\n%.*s", places[k - 1], vendors[from].name,
                         vendors[to].name, PL_STR_ARG(pl_buf_str(&c.report)));
        }
        pl_converted_deinit(&c);
    }
}

static void expect_in_gateway(const char *to, const char *profile, const char *text,
                              const char *words, bool is_there)
{
    struct pl_convert_opts opts = {.from = pl_format_find(PL_STR("turns")),
                                   .to = pl_format_find(pl_str_of(to)),
                                   .mode = PL_MODE_GATEWAY,
                                   .profile = pl_profile_find(pl_str_of(profile))};
    struct pl_converted made;
    pl_converted_init(&made);
    struct pl_error err = {0};
    if (pl_convert(pl_str_of(text), &opts, &made, &err) != PL_OK)
        fail_msg("%s", err.message);
    expect_words(out_of(&made), words, is_there);
    pl_converted_deinit(&made);
}

static void gemini_is_asked_not_to_look_for_signatures_that_others_made(void **state)
{
    (void)state;
    expect_in_gateway("gemini", "gemini@3", SIGNED("anthropic"), "skip_thought_signature_validator",
                      true);
    expect_in_gateway("gemini", "gemini@3", SIGNED("gemini"), "skip_thought_signature_validator",
                      false);
    expect_in_gateway("gemini", "gemini@3", SIGNED("gemini"), "\"thoughtSignature\":\"px6\"", true);
}

static void a_message_of_nothing_but_foreign_proofs_is_none_in_a_gateway(void **state)
{
    (void)state;
    const char *text =
        "[{\"role\":\"user\",\"blocks\":[{\"type\":\"text\",\"content\":\"q\"}],\"tool_calls\":[]},"
        "{\"role\":\"assistant\",\"blocks\":[{\"type\":\"text\",\"content\":\"\",\"proof\":"
        "{\"vendor\":\"gemini\",\"signature\":\"px\"}}],\"tool_calls\":[]},"
        "{\"role\":\"user\",\"blocks\":[{\"type\":\"text\",\"content\":\"w\"}],\"tool_calls\":[]}]";
    expect_in_gateway("anthropic", "anthropic@claude-sonnet-4-5", text, "assistant", false);
    expect_in_gateway(
        "gemini", "gemini@3", text,
        "{\"role\":\"model\",\"parts\":[{\"text\":\"\",\"thoughtSignature\":\"px\"}]}", true);
}

static void a_proof_of_nobody_known_is_reported(void **state)
{
    (void)state;
    expect_loss("turns", "anthropic", SIGNED("somebody"), "dropped", "/1/blocks/0/proof", true);
}

/* The server would not recognise an item by its id alone. */
static void reasoning_without_its_proof_does_not_go_back(void **state)
{
    (void)state;
    const char *text =
        "[{\"role\":\"assistant\",\"blocks\":[{\"type\":\"thinking\",\"content\":\"hm\","
        "\"proof\":{\"vendor\":\"openai-responses\",\"id\":\"rs_1\"}},{\"type\":\"text\","
        "\"content\":\"a\"}],\"tool_calls\":[]}]";
    expect_output("turns", "openai-responses", text,
                  "{\"input\":[{\"role\":\"assistant\",\"content\":\"a\"}]}");
    expect_loss("turns", "openai-responses", text, "dropped", "/0/blocks/0/proof/id", true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_turn_keeps_the_proofs_of_every_vendor),
        cmocka_unit_test(proofs_go_back_to_the_vendor_they_came_from),
        cmocka_unit_test(no_proof_goes_to_another_vendor),
        cmocka_unit_test(gemini_is_asked_not_to_look_for_signatures_that_others_made),
        cmocka_unit_test(a_message_of_nothing_but_foreign_proofs_is_none_in_a_gateway),
        cmocka_unit_test(a_proof_of_nobody_known_is_reported),
        cmocka_unit_test(reasoning_without_its_proof_does_not_go_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
