/* Checks JSON files against a schema with libparley.
 *
 *     cc validate.c $(pkg-config --cflags --libs parley) -o validate
 *     ./validate order.schema.json order.json
 */
#include <parley/parley.h>

#include <stdio.h>
#include <stdlib.h>

/* All of a file, or NULL. The caller frees it. */
static char *read_file(const char *path, size_t *ret_size)
{
    FILE *file = fopen(path, "rb");
    char *text = NULL;
    long size;

    if (!file)
        return NULL;
    if (fseek(file, 0, SEEK_END) == 0 && (size = ftell(file)) >= 0 &&
        fseek(file, 0, SEEK_SET) == 0 && (text = malloc((size_t)size + 1)) != NULL) {
        *ret_size = fread(text, 1, (size_t)size, file);
        if (*ret_size != (size_t)size) {
            free(text);
            text = NULL;
        }
    }
    fclose(file);
    return text;
}

/* 0: valid, 1: invalid, 2: something else went wrong. */
static int check(struct parley_schema *schema, const char *path)
{
    struct parley_json *json = NULL;
    struct parley_error err;
    size_t size = 0;
    char *text = read_file(path, &size), *why = NULL;
    int is_valid = 0, result = 2;

    if (!text) {
        fprintf(stderr, "%s: cannot be read\n", path);
    } else if (parley_json_parse(text, size, 0, &json, &err) != PARLEY_OK) {
        fprintf(stderr, "%s:%zu:%zu: %s\n", path, err.line, err.column, err.message);
    } else if (parley_schema_validate(schema, json, NULL, &is_valid) != PARLEY_OK) {
        fprintf(stderr, "%s: validation gave up\n", path);
    } else if (is_valid) {
        printf("%s: ok\n", path);
        result = 0;
    } else if (parley_schema_explain(schema, json, NULL, PARLEY_EN, PARLEY_ERRORS, &why, NULL) ==
               PARLEY_OK) {
        printf("%s: %s\n", path, why);
        parley_free(why);
        result = 1;
    }
    parley_json_destroy(json);
    free(text);
    return result;
}

int main(int argc, char **argv)
{
    struct parley_schema *schema = NULL;
    struct parley_error err;
    size_t size = 0;
    char *text;
    int i, worst = 0;

    if (argc < 3) {
        fprintf(stderr, "usage: %s SCHEMA FILE...\n", argv[0]);
        return 2;
    }
    text = read_file(argv[1], &size);
    if (!text || parley_schema_compile(text, size, 0, NULL, 0, &schema, &err) != PARLEY_OK) {
        fprintf(stderr, "%s: %s\n", argv[1], text ? err.message : "cannot be read");
        free(text);
        return 2;
    }
    for (i = 2; i < argc; i++) {
        int result = check(schema, argv[i]);
        worst = result > worst ? result : worst;
    }
    parley_schema_destroy(schema);
    free(text);
    return worst;
}
