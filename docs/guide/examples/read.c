/* Who says what in a conversation of openai-chat, from standard input. */
#include <parley/parley.h>

#include <stdio.h>

static int complain(const struct parley_error *err)
{
    fprintf(stderr, "line %zu, %s: %s\n", err->line, err->pointer, err->message);
    return 1;
}

/* A text of the document: borrowed, so it has a size instead of a NUL at its end. */
static int print_member(const struct parley_json *json, const struct parley_value *object,
                        const char *key)
{
    const struct parley_value *value;
    const char *text;
    size_t size;
    struct parley_error err;

    if (parley_value_get(json, object, key, &value, &err) != PARLEY_OK ||
        parley_value_text(json, value, &text, &size, &err) != PARLEY_OK)
        return complain(&err);
    printf("%s: %.*s\n", key, (int)size, text);
    return 0;
}

static int print_message(const struct parley_json *json, const struct parley_value *message)
{
    const struct parley_value *role, *name;
    struct parley_found place;
    struct parley_error err;

    if (parley_value_get(json, message, "role", &role, &err) != PARLEY_OK ||
        parley_value_relative(json, message, "0#", &place, &err) != PARLEY_OK)
        return complain(&err);
    printf("\nmessage %zu\n", place.index);
    if (print_member(json, message, "role") != 0)
        return 1;
    if (!parley_value_is(json, role, "assistant"))
        return print_member(json, message, "content");
    /* One pointer is enough for several steps. */
    if (parley_value_find(json, message, "/tool_calls/0/function", &name, NULL) == PARLEY_OK)
        return print_member(json, name, "name") || print_member(json, name, "arguments");
    return print_member(json, message, "content");
}

int main(void)
{
    static char text[1 << 16];
    size_t size = fread(text, 1, sizeof text, stdin);
    struct parley_json *json;
    const struct parley_value *limit, *messages, *message;
    struct parley_iter iter;
    struct parley_error err;
    int64_t n_tokens;
    int result = 0;

    if (parley_json_parse(text, size, 0, &json, &err) != PARLEY_OK)
        return complain(&err);
    result = print_member(json, parley_json_root(json), "model");
    if (parley_json_get(json, "/max_tokens", &limit, &err) == PARLEY_OK &&
        parley_value_int64(json, limit, &n_tokens, &err) == PARLEY_OK)
        printf("at most %lld tokens\n", (long long)n_tokens);
    if (parley_json_get(json, "/messages", &messages, &err) != PARLEY_OK) {
        result = complain(&err);
    } else {
        iter = parley_iter_of(messages);
        while (result == 0 && parley_iter_next(&iter, NULL, &message))
            result = print_message(json, message);
    }
    parley_json_destroy(json);
    return result;
}
