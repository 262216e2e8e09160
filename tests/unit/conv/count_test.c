#include "conv/count.h"

#include "unit/conv/talk.h"

static struct pl_tokens *vocabulary;
static struct pl_count_rule exact, about;

static int make_vocabulary(void **state)
{
    (void)state;
    if (pl_tokens_create(PL_ENCODING_O200K_BASE, &vocabulary) != PL_OK)
        return -1;
    exact = (struct pl_count_rule){vocabulary, {PL_ENCODING_O200K_BASE, 100, false}};
    about = (struct pl_count_rule){vocabulary, {PL_ENCODING_O200K_BASE, 120, true}};
    return 0;
}

static int drop_vocabulary(void **state)
{
    (void)state;
    pl_tokens_destroy(vocabulary);
    return 0;
}

static struct pl_tally count(const char *text)
{
    struct talk t;
    struct pl_tally tally = {0};
    talk_read(&t, text);
    assert_int_equal(pl_count_conv(&exact, &t.conv, &tally), PL_OK);
    talk_deinit(&t);
    return tally;
}

/* Tokens of one kind that `more` has beyond `less`. */
static uint64_t difference(const char *less, const char *more, enum pl_tally_kind kind)
{
    return count(more).by[kind] - count(less).by[kind];
}

static void a_message_costs_its_words_its_frame_and_the_reply(void **state)
{
    (void)state;
    struct pl_tally tally = count("[{\"user\":[\"hello world\"]}]");
    assert_int_equal(tally.by[PL_TALLY_MESSAGES], 2 + 3 + 3);
    assert_int_equal(pl_tally_total(&exact, &tally), 8);
    assert_false(pl_tally_is_estimated(&exact, &tally));
}

static void escapes_are_counted_as_what_they_mean(void **state)
{
    (void)state;
    assert_int_equal(count("[{\"user\":[\"\\u0068ello\\u0020world\"]}]").by[PL_TALLY_MESSAGES], 8);
}

static void instructions_are_counted_apart(void **state)
{
    (void)state;
    struct pl_tally tally = count("[{\"system\":[\"hello world\"]},{\"user\":[\"a\"]}]");
    assert_int_equal(tally.by[PL_TALLY_SYSTEM], 2 + 3);
    assert_int_equal(tally.by[PL_TALLY_MESSAGES], 1 + 3 + 3);
}

static void a_name_costs_a_token_more_than_its_words(void **state)
{
    (void)state;
    assert_int_equal(difference("[{\"user\":[\"a\"]}]", "[{\"user\":[\"a\"],\"name\":\"hello\"}]",
                                PL_TALLY_MESSAGES),
                     2);
}

static void a_call_and_its_result_cost_the_same_wherever_results_stand(void **state)
{
    (void)state;
    struct pl_tally apart =
        count("[{\"assistant\":[{\"call\":\"c1\",\"name\":\"read\",\"args\":\"{}\"}]},"
              "{\"tool\":[{\"result\":\"c1\",\"content\":[\"word\"]}]},{\"user\":[\"go on\"]}]");
    struct pl_tally together =
        count("[{\"assistant\":[{\"call\":\"c1\",\"name\":\"read\",\"args\":\"{}\"}]},"
              "{\"user\":[{\"result\":\"c1\",\"content\":[\"word\"]},\"go on\"]}]");
    assert_int_equal(apart.by[PL_TALLY_MESSAGES], together.by[PL_TALLY_MESSAGES]);
    assert_false(apart.is_estimated);
}

static void tools_cost_their_names_and_properties(void **state)
{
    (void)state;
    const char *bare = "{\"messages\":[],\"tools\":[]}";
    const char *flat = "{\"messages\":[],\"tools\":[{\"name\":\"read\",\"schema\":{}}]}";
    const char *full = "{\"messages\":[],\"tools\":[{\"name\":\"read\",\"schema\":{\"properties\":{"
                       "\"path\":{\"type\":\"string\"}}}}]}";
    assert_int_equal(count(bare).by[PL_TALLY_TOOLS], 0);
    /* 7 for the function, "read:", 12 for the list */
    assert_int_equal(count(flat).by[PL_TALLY_TOOLS], 7 + 2 + 12);
    /* 3 for properties, 3 for the property, "path:string:" */
    assert_true(difference(flat, full, PL_TALLY_TOOLS) >= 3 + 3 + 3);
    const char *listed =
        "{\"messages\":[],\"tools\":[{\"name\":\"read\",\"schema\":{"
        "\"properties\":{\"path\":{\"type\":\"string\",\"enum\":[\"a\",\"b\"]}}}}]}";
    assert_int_equal(difference(full, listed, PL_TALLY_TOOLS), 2 * (3 + 1) - 3);
    const char *nested = "{\"messages\":[],\"tools\":[{\"name\":\"read\",\"schema\":{"
                         "\"properties\":{\"path\":{\"type\":\"string\",\"items\":{\"type\":"
                         "\"string\"}}}}}]}";
    assert_true(difference(full, nested, PL_TALLY_TOOLS) > 3);
}

static void an_image_is_measured_by_its_header(void **state)
{
    (void)state;
    struct pl_tally known =
        count("[{\"user\":[{\"image\":\"data\",\"data\":"
              "\"iVBORw0KGgoAAAANSUhEUgAAASwAAADICAYAAABS39xV\"}]}]"); /* 300 by 200 */
    assert_int_equal(known.by[PL_TALLY_IMAGES], 255);
    assert_false(known.is_estimated);
    struct pl_tally unknown = count("[{\"user\":[{\"image\":\"https://x.test/a.png\"}]}]");
    assert_int_equal(unknown.by[PL_TALLY_IMAGES], 765);
    assert_true(unknown.is_estimated);
}

static void sound_and_films_are_guessed_when_they_are_only_linked(void **state)
{
    (void)state;
    struct pl_tally tally = count("[{\"user\":[{\"audio\":\"https://x.test/a\"}]},"
                                  "{\"user\":[{\"video\":\"https://x.test/b\"}]}]");
    assert_int_equal(tally.by[PL_TALLY_AUDIO], 300);
    assert_int_equal(tally.by[PL_TALLY_IMAGES], 30 * 290);
    assert_true(tally.is_estimated);
}

static void a_part_nobody_knows_costs_what_it_is_spelled_with(void **state)
{
    (void)state;
    struct pl_tally tally = count("[{\"assistant\":[{\"strange\":\"some words in it\"}]}]");
    assert_true(tally.by[PL_TALLY_MESSAGES] > 3 + 3 + 4);
    assert_true(tally.is_estimated);
}

static void an_estimate_scales_words_but_not_pictures(void **state)
{
    (void)state;
    struct pl_tally tally = {.by = {[PL_TALLY_MESSAGES] = 10, [PL_TALLY_IMAGES] = 85}};
    assert_int_equal(pl_tally_total(&exact, &tally), 95);
    assert_int_equal(pl_tally_total(&about, &tally), 12 + 85);
    assert_true(pl_tally_is_estimated(&about, &tally));
}

static void what_is_added_can_be_taken_away(void **state)
{
    (void)state;
    struct pl_tally a = {.by = {1, 2, 3, 4, 5}}, b = {.by = {5, 4, 3, 2, 1}, .is_estimated = true};
    pl_tally_add(&a, &b);
    for (int i = 0; i < PL_TALLY_KIND_COUNT; i++)
        assert_int_equal(a.by[i], 6);
    pl_tally_take(&a, &b);
    for (int i = 0; i < PL_TALLY_KIND_COUNT; i++)
        assert_int_equal(a.by[i], i + 1);
    assert_true(a.is_estimated);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_message_costs_its_words_its_frame_and_the_reply),
        cmocka_unit_test(escapes_are_counted_as_what_they_mean),
        cmocka_unit_test(instructions_are_counted_apart),
        cmocka_unit_test(a_name_costs_a_token_more_than_its_words),
        cmocka_unit_test(a_call_and_its_result_cost_the_same_wherever_results_stand),
        cmocka_unit_test(tools_cost_their_names_and_properties),
        cmocka_unit_test(an_image_is_measured_by_its_header),
        cmocka_unit_test(sound_and_films_are_guessed_when_they_are_only_linked),
        cmocka_unit_test(a_part_nobody_knows_costs_what_it_is_spelled_with),
        cmocka_unit_test(an_estimate_scales_words_but_not_pictures),
        cmocka_unit_test(what_is_added_can_be_taken_away),
    };
    return cmocka_run_group_tests_name("conv/count", tests, make_vocabulary, drop_vocabulary);
}
