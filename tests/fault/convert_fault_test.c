/* Conversions with every allocation refused in turn: to the target, home with the carry, home after
 * an edit, repaired, refused because of a loss, through gpt-oss, and responses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "carry/carry.h"
#include "fault/fault.h"
#include "format/convert.h"
#include "format/profile.h"

#include <string.h>

#define CHAT                                                                                       \
    "{\"model\":\"m\",\"temperature\":0.70,\"messages\":[{\"role\":\"system\",\"content\":\"s\"}," \
    "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"a\\u00e9\\/\"},"                \
    "{\"type\":\"image_url\",\"image_url\":{\"url\":\"data:image/png;base64,iVBORw0=\"}}]},"       \
    "{\"role\":\"assistant\",\"content\":null,\"tool_calls\":["                                    \
    "{\"id\":\"c1\",\"type\":\"function\",\"function\":{\"name\":\"f\",\"arguments\":"             \
    "\"{\\\"x\\\": 1.0}\"}},"                                                                      \
    "{\"id\":\"c2\",\"type\":\"function\",\"function\":{\"name\":\"g\",\"arguments\":\"oops\"}}]}" \
    ",{\"role\":\"tool\",\"tool_call_id\":\"c1\",\"content\":\"r\"},"                              \
    "{\"role\":\"tool\",\"tool_call_id\":\"c2\",\"content\":\"r\"},"                               \
    "{\"role\":\"assistant\",\"content\":\"done\",\"unknown\":{\"k\":[1,2]}}],"                    \
    "\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"f\",\"description\":\"d\","        \
    "\"parameters\":{\"type\":\"object\",\"properties\":{\"x\":{\"type\":\"number\"}}}}}],"        \
    "\"stop\":[\"a\",\"b\"],\"seed\":7}"

#define ANTHROPIC                                                                                  \
    "{\"model\":\"m\",\"max_tokens\":9,\"system\":[{\"type\":\"text\",\"text\":\"s\","             \
    "\"cache_control\":{\"type\":\"ephemeral\"}}],\"messages\":[{\"role\":\"user\",\"content\":"   \
    "\"q\"},{\"role\":\"assistant\",\"content\":[{\"type\":\"thinking\",\"thinking\":\"t\","       \
    "\"signature\":\"AA==\"},{\"type\":\"tool_use\",\"id\":\"c\",\"name\":\"f\",\"input\":{"       \
    "\"a\" : 1e2}}]},{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":"   \
    "\"c\",\"content\":[{\"type\":\"text\",\"text\":\"r\"},{\"type\":\"image\",\"source\":{"       \
    "\"type\":\"base64\",\"media_type\":\"image/png\",\"data\":\"iVBORw0=\"}}]}]}]}"

#define GEMINI                                                                                     \
    "{\"systemInstruction\":{\"parts\":[{\"text\":\"s\"}]},\"contents\":[{\"role\":\"user\","      \
    "\"parts\":[{\"text\":\"q\"},{\"inlineData\":{\"mimeType\":\"image/png\",\"data\":\"AA==\"}}"  \
    "]},{\"role\":\"model\",\"parts\":[{\"functionCall\":{\"name\":\"f\",\"args\":{\"x\":1}},"     \
    "\"thoughtSignature\":\"AA==\"}]},{\"role\":\"user\",\"parts\":[{\"functionResponse\":{"       \
    "\"name\":\"f\",\"response\":{\"result\":\"r\"}}}]}],\"generationConfig\":{\"topK\":4,"        \
    "\"responseSchema\":{\"type\":\"OBJECT\",\"properties\":{\"a\":{\"type\":\"STRING\"}}}}}"

#define RESPONSES                                                                                  \
    "{\"model\":\"m\",\"instructions\":\"i\",\"input\":[{\"role\":\"user\",\"content\":[{"         \
    "\"type\":\"input_text\",\"text\":\"q\"}]},{\"type\":\"reasoning\",\"id\":\"r\",\"summary\":[" \
    "],\"encrypted_content\":\"AA==\"},{\"type\":\"function_call\",\"call_id\":\"c\",\"name\":"    \
    "\"f\",\"arguments\":\"{}\"},{\"type\":\"function_call_output\",\"call_id\":\"c\",\"output\":" \
    "\"o\"}],\"text\":{\"format\":{\"type\":\"json_object\"}}}"

#define HARMONY                                                                                    \
    "[{\"id\":\"a\",\"role\":\"user\",\"created_at\":1.5,\"content\":[{\"type\":\"text\","         \
    "\"text\":\"x\"},{\"type\":\"text\",\"text\":\"y\"}]},{\"id\":\"b\",\"role\":\"assistant\","   \
    "\"content\":null,\"tool_calls\":[{\"id\":\"c\",\"type\":\"function\",\"function\":{\"name\":" \
    "\"f\",\"arguments\":\"{}\"}}]},{\"id\":\"d\",\"role\":\"tool\",\"tool_call_id\":\"c\","       \
    "\"content\":[{\"type\":\"text\",\"text\":\"r\"}],\"metadata\":{\"latency_ms\":3}}]"

#define ENVELOPE                                                                                   \
    "{\"version\":\"1.0\",\"messages\":[{\"id\":\"m\",\"role\":\"user\",\"segments\":[{\"kind\":"  \
    "\"text\",\"content\":\"q\"},{\"kind\":\"static_var\",\"name\":\"n\",\"value\":\"v\"},"        \
    "{\"kind\":\"document\",\"fileName\":\"a.txt\",\"mimeType\":\"text/plain\",\"snippet\":"       \
    "\"words\",\"sizeBytes\":5}],\"timestamp\":5}]}"

#define FILLED                                                                                     \
    "[{\"id\":\"e\",\"role\":\"user\",\"blocks\":[{\"type\":\"text\",\"content\":\"a \\u00e4 b\"," \
    "\"variables\":[{\"name\":\"n\",\"from\":2,\"to\":3}]},{\"type\":\"text\",\"content\":"        \
    "\"tea\","                                                                                     \
    "\"segment\":{\"kind\":\"memory\",\"items\":[{\"title\":\"t\",\"content\":\"tea\"}]}}]}]"

#define STRUCTURED                                                                                 \
    "{\"protocol\":\"structured-chat\",\"system_prompt\":\"s {{x}}\",\"messages\":[{\"id\":"       \
    "\"m\",\"role\":\"user\",\"content\":\"q\"}],\"config\":{\"temperature\":1.0,\"zzz\":[]}}"

#define TURNS                                                                                      \
    "[{\"id\":\"e\",\"sequence\":1,\"turn_id\":\"t\",\"loop_id\":\"root\",\"kind\":\"message\","   \
    "\"role\":\"assistant\",\"status\":\"completed\",\"blocks\":[{\"type\":\"thinking\","          \
    "\"content\":\"h\",\"proof\":{\"vendor\":\"openai-responses\",\"signature\":\"A\\u003d\","     \
    "\"id\":\"rs\"}},{\"type\":\"tool_use\",\"content\":null,\"tool_call_id\":\"c\"}],"            \
    "\"tool_calls\":[{\"id\":\"c\",\"tool_name\":\"f\",\"arguments\":\"{}\",\"status\":\"done\","  \
    "\"result\":\"r\"}],\"started_at\":\"2026-11-15T08:30:00Z\"}]"

#define THINKING                                                                                   \
    "{\"model\":\"m\",\"max_tokens\":9,\"temperature\":0.5,\"messages\":[{\"role\":\"user\","      \
    "\"content\":\"q\"}],\"thinking\":{\"type\":\"enabled\",\"budget_tokens\":1024},"              \
    "\"output_config\":{\"task_budget\":{\"total\":9}},\"tools\":[{\"name\":\"f\","                \
    "\"input_schema\":{\"type\":\"object\"}}],\"tool_choice\":{\"type\":\"any\"}}"

#define GPT_OSS                                                                                    \
    "<|start|>system<|message|>s<|end|><|start|>user<|message|>q \xe4\xb8\xad<|end|>"              \
    "<|start|>assistant<|channel|>analysis<|message|>t<|end|><|start|>assistant<|channel|>"        \
    "commentary to=functions.f <|constrain|>json<|message|>{\"a\": 1}<|call|>"                     \
    "<|start|>functions.f to=assistant<|channel|>commentary<|message|>r<|end|>"

struct job {
    const char *from, *to, *text, *more; /* more: what an edit puts before the last bracket */
    enum pl_mode mode;
    enum pl_format_kind kind;
    bool is_strict;
    const char *profile;
    const char *was, *is; /* an edit changes the first bytes to the second */
};

/* A conversion checks that a failure leaves its outputs unchanged. */
static enum pl_status convert(struct pl_str text, const struct pl_convert_opts *opts,
                              struct pl_converted *ret)
{
    struct pl_error err;
    pl_converted_init(ret);
    enum pl_status status = pl_convert(text, opts, ret, &err);
    if (status != PL_OK) {
        assert_int_equal(ret->out.len, 0);
        assert_int_equal(ret->carry.len, 0);
    } else {
        assert_true(ret->out.len && ret->carry.len && ret->report.len);
    }
    return status;
}

/* Adds one element to the document. */
static enum pl_status edit(struct pl_buf *to, struct pl_str text, const char *more)
{
    size_t last = text.len;
    while (last > 0 && text.ptr[last - 1] != ']')
        last--;
    assert_true(last > 0);
    pl_buf_add(to, pl_str_slice(text, 0, last - 1));
    pl_buf_adds(to, more);
    pl_buf_add(to, pl_str_slice(text, last - 1, text.len));
    return to->status;
}

/* Replaces bytes in one place of the document. */
static enum pl_status change(struct pl_buf *to, struct pl_str text, const struct job *job)
{
    size_t at = pl_str_find(text, pl_str_of(job->was));
    assert_true(at != SIZE_MAX);
    pl_buf_add(to, pl_str_slice(text, 0, at));
    pl_buf_adds(to, job->is);
    pl_buf_add(to, pl_str_slice(text, at + strlen(job->was), text.len));
    return to->status;
}

static enum pl_status goes_there_and_home(void *ctx)
{
    const struct job *job = ctx;
    struct pl_converted there, back;
    PL_CLEANUP_BUF struct pl_buf edited;
    pl_buf_init(&edited, 0);
    pl_converted_init(&back);
    struct pl_convert_opts opts = {
        .from = pl_format_find(pl_str_of(job->from)),
        .to = pl_format_find(pl_str_of(job->to)),
        .mode = job->mode,
        .kind = job->kind,
        .is_strict = job->is_strict,
        .way_home = &pl_carry_way,
        .profile = job->profile ? pl_profile_find(pl_str_of(job->profile)) : NULL};
    enum pl_status status = convert(pl_str_of(job->text), &opts, &there);
    if (status == PL_OK && job->mode == PL_MODE_CONVERT) {
        opts = (struct pl_convert_opts){.from = opts.to,
                                        .to = opts.from,
                                        .kind = job->kind,
                                        .way_home = &pl_carry_way,
                                        .carry = pl_buf_str(&there.carry)};
        struct pl_str out = pl_buf_str(&there.out);
        status = job->more  ? edit(&edited, out, job->more)
                 : job->was ? change(&edited, out, job)
                            : PL_OK;
        bool is_edited = job->more || job->was;
        if (status == PL_OK)
            status = convert(is_edited ? pl_buf_str(&edited) : out, &opts, &back);
        if (status == PL_OK && !is_edited)
            assert_true(pl_str_eq(pl_buf_str(&back.out), pl_str_of(job->text)));
    }
    pl_converted_deinit(&there);
    pl_converted_deinit(&back);
    return status;
}

static void try_all(struct job *jobs, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        print_message("# %s -> %s\n", jobs[i].from, jobs[i].to);
        assert_true(pl_fault_each(goes_there_and_home, &jobs[i]) > 5);
    }
}

#define TRY_ALL(jobs) try_all(jobs, sizeof(jobs) / sizeof *(jobs))

static void conversions_survive_every_refused_allocation(void **state)
{
    (void)state;
    struct job jobs[] = {
        {"openai-chat", "anthropic", CHAT},
        {"openai-chat", "openai-responses", CHAT},
        {"openai-chat", "envelope", CHAT},
        {"openai-chat", "turns", CHAT},
        {"anthropic", "gemini", ANTHROPIC},
        {"anthropic", "openai-chat", ANTHROPIC},
        {"gemini", "anthropic", GEMINI},
        {"gemini", "harmony", GEMINI},
        {"openai-responses", "anthropic", RESPONSES},
        {"openai-responses", "gemini", RESPONSES},
        {"harmony", "structured-chat", HARMONY},
        {"harmony", "openai-chat", HARMONY},
        {"envelope", "anthropic", ENVELOPE},
        {"envelope", "structured-chat", ENVELOPE},
        {"envelope", "turns", ENVELOPE},
        {"turns", "envelope", FILLED},
        {"structured-chat", "openai-chat", STRUCTURED},
        {"turns", "openai-chat", TURNS},
        {"turns", "turns", TURNS},
        {"turns", "openai-responses", TURNS},
        {"openai-responses", "turns", RESPONSES},
    };
    TRY_ALL(jobs);
}

static void values_of_the_wrong_type_survive_every_refused_allocation(void **state)
{
    (void)state;
    struct job jobs[] = {
        {"openai-chat", "anthropic",
         "{\"temperature\":\"warm\",\"model\":5,\"messages\":[{\"role\":\"user\",\"content\":[{"
         "\"type\":"
         "\"file\",\"file\":{\"file_data\":5,\"filename\":[]}},{\"type\":\"text\",\"text\":\"hi\"}]"
         "}],"
         "\"tools\":{\"a\":1}}"},
    };
    TRY_ALL(jobs);
}

static void settings_that_are_made_to_fit_survive_every_refused_allocation(void **state)
{
    (void)state;
    struct job jobs[] = {
        {"anthropic", "anthropic", THINKING, .mode = PL_MODE_GATEWAY,
         .profile = "anthropic@claude-opus-5-5"},
        {"anthropic", "openai-chat", THINKING, .mode = PL_MODE_GATEWAY,
         .profile = "openai-chat@gpt-6"},
        {"anthropic", "openai-chat", THINKING, .mode = PL_MODE_GATEWAY,
         .profile = "openai-chat@gpt-5.1"},
    };
    TRY_ALL(jobs);
}

static void gpt_oss_survives_every_refused_allocation(void **state)
{
    (void)state;
    struct job jobs[] = {
        {"openai-chat", "gpt-oss", CHAT},
        {"gpt-oss", "openai-chat", GPT_OSS},
        {"gpt-oss", "anthropic", GPT_OSS},
    };
    TRY_ALL(jobs);
}

static void edits_survive_every_refused_allocation(void **state)
{
    (void)state;
    struct job jobs[] = {
        {"openai-responses", "anthropic", RESPONSES, ",{\"role\":\"user\",\"content\":\"new\"}"},
        {"harmony", "gemini", HARMONY, ",{\"role\":\"user\",\"parts\":[{\"text\":\"new\"}]}"},
        {"turns", "openai-chat", TURNS, ",{\"role\":\"user\",\"content\":\"new\"}"},
    };
    TRY_ALL(jobs);
}

#define LONG "words that are long enough to stand in the target only, and not in its carry as well"

/* Values that are set, members that are merged, edits that are lost and reported, and a source that
 * is given up. */
static void changes_survive_every_refused_allocation(void **state)
{
    (void)state;
    struct job jobs[] = {
        {"openai-chat", "anthropic", CHAT, .was = "done", .is = "finished"},
        {"openai-chat", "gemini", CHAT, .was = "\"x\": 1.0", .is = "\"x\": 2, \"y\": [3]"},
        {"anthropic", "openai-chat", ANTHROPIC, .was = "{\"model\"", .is = "{\"z\":1,\"model\""},
        {"gpt-oss", "openai-chat", GPT_OSS, .was = "q ", .is = "another q "},
        {"harmony", "envelope",
         "[{\"id\":\"a\",\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"" LONG
         "\"}]}]",
         .was = LONG, .is = "short"},
    };
    TRY_ALL(jobs);
}

static void repairs_survive_every_refused_allocation(void **state)
{
    (void)state;
    static const char unanswered[] =
        "{\"model\":\"m\",\"messages\":[{\"role\":\"assistant\",\"content\":\"x\"},"
        "{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"c1\",\"type\":"
        "\"function\",\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}}]},{\"role\":\"user\","
        "\"content\":\"q\"},{\"role\":\"tool\",\"tool_call_id\":\"zz\",\"content\":\"late\"}]}";
    static const char out_of_bounds[] =
        "{\"model\":\"m\",\"x\":1,\"seed\":9007199254740991,\"n\":20,\"max_tokens\":1,"
        "\"stop\":[\"\",\"a\"],\"safety_identifier\":\"" LONG LONG "\",\"messages\":[{\"role\":"
        "\"user\",\"x\":{\"y\":1},\"content\":[{\"type\":\"image_url\",\"x\":2,\"image_url\":{"
        "\"url\":\"data:image/jpg;base64,iVBO\\nRw0\"}}]}],\"tools\":[{\"type\":\"function\","
        "\"x\":3,\"function\":{\"name\":\"3d\"}},{\"type\":\"function\",\"function\":{\"name\":"
        "\"3d\"}}],\"tool_choice\":{\"type\":\"function\",\"function\":{\"name\":\"g\"}}}";
    static const char schemas[] =
        "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"q\"}],\"tools\":[{"
        "\"type\":\"function\",\"function\":{\"name\":\"f\",\"strict\":true,\"parameters\":{"
        "\"oneOf\":[{\"properties\":{\"a\":{\"minimum\":1}},\"required\":[\"a\"]},{"
        "\"properties\":{\"a\":{}}}]}}}],\"response_format\":{\"type\":\"json_schema\","
        "\"json_schema\":{\"name\":\"s\",\"schema\":{\"type\":\"object\",\"properties\":{\"b\":{"
        "\"oneOf\":[{\"type\":\"string\",\"maxLength\":2}]}}}}}}";
    struct job jobs[] = {
        {"openai-chat", "anthropic", schemas, .mode = PL_MODE_REPAIR},
        {"openai-chat", "openai-responses", schemas, .mode = PL_MODE_REPAIR},
        {"openai-chat", "openai-chat", out_of_bounds, .mode = PL_MODE_REPAIR},
        {"openai-chat", "openai-responses", out_of_bounds, .mode = PL_MODE_REPAIR},
        {"openai-chat", "gemini", out_of_bounds, .mode = PL_MODE_REPAIR},
        {"openai-chat", "openai-chat", unanswered, .mode = PL_MODE_REPAIR},
        {"openai-chat", "anthropic", unanswered, .mode = PL_MODE_REPAIR},
        {"openai-chat", "gemini", unanswered, .mode = PL_MODE_GATEWAY},
        {"anthropic", "anthropic", ANTHROPIC, .mode = PL_MODE_GATEWAY},
    };
    TRY_ALL(jobs);
}

static void responses_survive_every_refused_allocation(void **state)
{
    (void)state;
    static const char answer[] =
        "{\"id\":\"x\",\"object\":\"chat.completion\",\"created\":1,\"model\":\"m\",\"choices\":[{"
        "\"index\":0,\"finish_reason\":\"tool_calls\",\"message\":{\"role\":\"assistant\","
        "\"content\":\"a\",\"tool_calls\":[{\"id\":\"c\",\"type\":\"function\",\"function\":{"
        "\"name\":\"f\",\"arguments\":\"{}\"}}]}}],\"usage\":{\"prompt_tokens\":1,"
        "\"completion_tokens\":2,\"total_tokens\":3}}";
    struct job jobs[] = {
        {"openai-chat", "anthropic", answer, .kind = PL_KIND_RESPONSE},
        {"openai-chat", "gemini", answer, .kind = PL_KIND_RESPONSE},
        {"openai-chat", "openai-responses", answer, .kind = PL_KIND_RESPONSE},
    };
    TRY_ALL(jobs);
}

static void a_refused_loss_survives_every_refused_allocation(void **state)
{
    (void)state;
    struct job job = {"openai-chat", "anthropic", CHAT, .is_strict = true};
    assert_true(pl_fault_each_expecting(goes_there_and_home, &job, PL_INVALID) > 5);
    struct job broken = {"openai-chat", "anthropic", "{\"messages\":7}"};
    assert_true(pl_fault_each_expecting(goes_there_and_home, &broken, PL_INVALID) > 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(conversions_survive_every_refused_allocation),
        cmocka_unit_test(values_of_the_wrong_type_survive_every_refused_allocation),
        cmocka_unit_test(settings_that_are_made_to_fit_survive_every_refused_allocation),
        cmocka_unit_test(gpt_oss_survives_every_refused_allocation),
        cmocka_unit_test(edits_survive_every_refused_allocation),
        cmocka_unit_test(changes_survive_every_refused_allocation),
        cmocka_unit_test(repairs_survive_every_refused_allocation),
        cmocka_unit_test(responses_survive_every_refused_allocation),
        cmocka_unit_test(a_refused_loss_survives_every_refused_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
