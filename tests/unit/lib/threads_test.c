/* Threads share documents and schemas. Most useful with the thread sanitizer. */
#include "parley/parley.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

enum { N_THREADS = 4, N_ROUNDS = 200 };

static const char good[] = "{\"a\":\"xx\",\"b\":[1,2]}";
static const char bad[] = "{\"a\":\"y\",\"b\":[]}";

struct shared {
    struct parley_schema *schema;
    struct parley_json *good, *bad;
};

/* Returns NULL if every answer was correct. */
static void *ask_often(void *arg)
{
    struct shared *shared = arg;
    for (int i = 0; i < N_ROUNDS; i++) {
        int is_good = 0, is_bad = 1;
        char *text = NULL;
        if (parley_schema_validate(shared->schema, shared->good, NULL, &is_good) != PARLEY_OK ||
            parley_schema_validate(shared->schema, shared->bad, NULL, &is_bad) != PARLEY_OK ||
            parley_schema_explain(shared->schema, shared->bad, NULL, PARLEY_EN, PARLEY_ERRORS,
                                  &text, NULL) != PARLEY_OK)
            return (void *)"a call failed";
        int has_both = strstr(text, "\"/a\"") && strstr(text, "\"/b\"");
        parley_free(text);
        if (!is_good || is_bad || !has_both)
            return (void *)"an answer was wrong";
    }
    return NULL;
}

static void threads_share_a_schema_and_its_documents(void **state)
{
    (void)state;
    static const char text[] =
        "{\"properties\":{\"a\":{\"pattern\":\"^x+$\"},\"b\":{\"minItems\":1}}}";
    struct shared shared = {0};
    assert_int_equal(parley_schema_compile(text, strlen(text), 0, NULL, 0, &shared.schema, NULL),
                     PARLEY_OK);
    assert_int_equal(parley_json_parse(good, strlen(good), 0, &shared.good, NULL), PARLEY_OK);
    assert_int_equal(parley_json_parse(bad, strlen(bad), 0, &shared.bad, NULL), PARLEY_OK);
    pthread_t threads[N_THREADS];
    for (int i = 0; i < N_THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, ask_often, &shared), 0);
    for (int i = 0; i < N_THREADS; i++) {
        void *complaint;
        pthread_join(threads[i], &complaint);
        assert_null(complaint);
    }
    parley_json_destroy(shared.good);
    parley_json_destroy(shared.bad);
    parley_schema_destroy(shared.schema);
}

enum { N_STRINGS = 300 };

/* The texts that one thread borrowed. */
struct borrower {
    const struct parley_json *json;
    const char *texts[N_STRINGS];
};

/* Returns NULL if every text was correct. */
static void *borrow_all(void *arg)
{
    struct borrower *borrower = arg;
    struct parley_iter iter = parley_iter_of(parley_json_root(borrower->json));
    const struct parley_value *value;
    for (int i = 0; parley_iter_next(&iter, NULL, &value); i++) {
        struct parley_found found;
        size_t size;
        if (parley_value_text(borrower->json, value, &borrower->texts[i], &size, NULL) !=
                PARLEY_OK ||
            size != 2 || borrower->texts[i][0] != '\n' || borrower->texts[i][1] != 'a' + i % 26)
            return (void *)"a text was wrong";
        if (parley_value_relative(borrower->json, value, "0#", &found, NULL) != PARLEY_OK ||
            found.index != (size_t)i)
            return (void *)"an index was wrong";
    }
    return NULL;
}

static void threads_borrow_the_same_texts(void **state)
{
    (void)state;
    char text[N_STRINGS * 6 + 2] = "[";
    struct borrower borrowers[N_THREADS];
    struct parley_json *json = NULL;
    pthread_t threads[N_THREADS];
    for (int i = 0; i < N_STRINGS; i++) {
        const char one[] = {
            '"', '\\', 'n', (char)('a' + i % 26), '"', i + 1 < N_STRINGS ? ',' : ']'};
        memcpy(text + 1 + i * 6, one, 6);
    }
    assert_int_equal(parley_json_parse(text, N_STRINGS * 6 + 1, 0, &json, NULL), PARLEY_OK);
    for (int i = 0; i < N_THREADS; i++) {
        borrowers[i].json = json;
        assert_int_equal(pthread_create(&threads[i], NULL, borrow_all, &borrowers[i]), 0);
    }
    for (int i = 0; i < N_THREADS; i++) {
        void *complaint;
        pthread_join(threads[i], &complaint);
        assert_null(complaint);
    }
    for (int i = 1; i < N_THREADS; i++)
        assert_memory_equal(borrowers[i].texts, borrowers[0].texts, sizeof borrowers[0].texts);
    parley_json_destroy(json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_share_a_schema_and_its_documents),
        cmocka_unit_test(threads_borrow_the_same_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
