/* A conversation in another format. */
#include <parley/parley.h>

#include <stdio.h>
#include <string.h>

int main(void)
{
    const char *text = "{\"model\": \"gpt-5\", \"max_tokens\": 300,"
                       " \"messages\": [{\"role\": \"user\", \"content\": \"Caf\\u00e9?\"}]}";
    struct parley_convert_opts opts = PARLEY_CONVERT_OPTS_INIT;
    struct parley_error err;
    char *out;

    opts.to = "gemini";
    if (parley_convert(text, strlen(text), &opts, &out, NULL, NULL, NULL, &err) != PARLEY_OK) {
        fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    printf("%s\n", out);
    parley_free(out);
    return 0;
}
