/* Documents and schemas are shared by threads. Worth most under the thread sanitizer. */
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

/* Returns NULL when every answer was right. */
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_share_a_schema_and_its_documents),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
