/* A conversation from standard input: what is wrong with it, how long it is, and what of it another
 * format cannot say. */
#include <parley/parley.h>

#include <stdio.h>

static int complain(const struct parley_error *err)
{
    fprintf(stderr, "%s\n", err->message);
    return 1;
}

int main(void)
{
    static char text[1 << 16];
    size_t size = fread(text, 1, sizeof text, stdin), there_size, home_size;
    struct parley_convert_opts to = PARLEY_CONVERT_OPTS_INIT, back = PARLEY_CONVERT_OPTS_INIT;
    struct parley_lint_opts rules = PARLEY_LINT_OPTS_INIT;
    struct parley_error err;
    const char *format;
    char *findings, *count, *there, *report, *carry, *home;

    if (parley_detect(text, size, &format, &err) != PARLEY_OK)
        return complain(&err);
    printf("format: %s\n", format);

    rules.target = "anthropic";
    if (parley_lint(text, size, &rules, &findings, NULL, &err) != PARLEY_OK)
        return complain(&err);
    printf("lint: %s\n", findings);
    parley_free(findings);

    if (parley_count(text, size, NULL, &count, NULL, &err) != PARLEY_OK)
        return complain(&err);
    printf("count: %s\n", count);
    parley_free(count);

    /* Report and carry are wanted here; NULL where they are not. */
    to.to = "anthropic";
    if (parley_convert(text, size, &to, &there, &there_size, &report, &carry, &err) != PARLEY_OK)
        return complain(&err);
    printf("report: %s\n", report);
    parley_free(report);

    /* With the carry the result becomes the source again, byte for byte. */
    back.to = "openai-chat";
    back.carry = carry;
    if (parley_convert(there, there_size, &back, &home, &home_size, NULL, NULL, &err) != PARLEY_OK)
        return complain(&err);
    printf("home: %zu of %zu bytes\n", home_size, size);
    parley_free(there);
    parley_free(carry);
    parley_free(home);
    return 0;
}
