/* Another model, no seed, and one more message: every other byte stays as it is. */
#include <parley/parley.h>

#include <stdio.h>

int main(void)
{
    static char text[1 << 16];
    size_t size = fread(text, 1, sizeof text, stdin), edited_size;
    const struct parley_change changes[] = {
        {PARLEY_SET, "/model", "\"demo\""},
        {PARLEY_REMOVE, "/seed", NULL},
        {PARLEY_INSERT, "/messages/-", "{\"role\": \"user\", \"content\": \"And tomorrow?\"}"},
    };
    struct parley_json *json = NULL;
    struct parley_error err;
    char *edited;

    if (parley_json_parse(text, size, PARLEY_LENIENT, &json, &err) != PARLEY_OK ||
        parley_json_edit(json, changes, 3, &edited, &edited_size, &err) != PARLEY_OK) {
        fprintf(stderr, "line %zu, %s: %s\n", err.line, err.pointer, err.message);
        parley_json_destroy(json);
        return 1;
    }
    fwrite(edited, 1, edited_size, stdout);
    parley_free(edited);
    parley_json_destroy(json);
    return 0;
}
