/* Parses argv by a command's table of options. Checks values with fixed choices here, so that the
 * error can list them. */
#include "app/frame/options.h"

#include "base/text/suggest.h"

#include <stdio.h>
#include <stdlib.h>

/* The words that are not parsed yet. */
struct cursor {
    int argc;
    char *const *argv;
    int at;
};

static const struct pl_option *find_long(const struct pl_option *options, struct pl_str name)
{
    for (const struct pl_option *option = options; option->name; option++)
        if (pl_str_eq(pl_str_of(option->name), name))
            return option;
    return NULL;
}

static const struct pl_option *find_letter(const struct pl_option *options, char letter)
{
    for (const struct pl_option *option = options; option->name; option++)
        if (option->letter == letter)
            return option;
    return NULL;
}

static enum pl_status fail_unknown(const struct pl_option *options, const char *word,
                                   struct pl_error *err)
{
    struct pl_str name = pl_str_of(word);
    const char *equals = strchr(word, '=');
    if (equals)
        name.len = (size_t)(equals - word);
    struct pl_suggest suggest = pl_suggest(pl_str_slice(name, strspn(word, "-"), name.len));
    for (const struct pl_option *option = options; option->name; option++)
        if (!option->is_hidden)
            pl_suggest_offer(&suggest, option->name);
    if (suggest.best)
        return pl_fail(err, PL_USAGE, "unknown option \"%.*s\"; did you mean \"--%s\"?",
                       PL_STR_ARG(name), suggest.best);
    return pl_fail(err, PL_USAGE, "unknown option \"%.*s\"", PL_STR_ARG(name));
}

const char *pl_lang_choice(size_t i)
{
    static const char *const names[] = {"en", "zh", NULL};
    return names[i];
}

const char *pl_lang_asked(int argc, char *const *argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strncmp(argv[i], "--lang=", strlen("--lang=")) == 0)
            return argv[i] + strlen("--lang=");
        if (strcmp(argv[i], "--lang") == 0)
            return i + 1 < argc ? argv[i + 1] : NULL;
    }
    return NULL;
}

bool pl_lang_is_chinese(const char *lang)
{
    static const char *const names[] = {"LC_ALL", "LC_MESSAGES", "LANG"};
    for (size_t i = 0; lang && pl_lang_choice(i); i++)
        if (strcmp(lang, pl_lang_choice(i)) == 0)
            return strcmp(lang, "zh") == 0;
    const char *value = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names && !(value && *value); i++)
        value = getenv(names[i]);
    return value && strncmp(value, "zh", 2) == 0;
}

bool pl_choice_list(pl_choice_fn *choice, char *to, size_t size)
{
    size_t len = 0;
    to[0] = '\0';
    for (size_t i = 0; choice(i) && len < size; i++) {
        const char *separator = i == 0 ? "" : choice(i + 1) ? ", " : " or ";
        len += (size_t)snprintf(to + len, size - len, "%s%s", separator, choice(i));
    }
    return len < size;
}

/* The choice "WORD:NAME" matches WORD, a colon, and any name. */
static bool is_choice(const char *choice, const char *value)
{
    size_t n_head = strcspn(choice, ":") + 1;
    return strcmp(choice, value) == 0 ||
           (choice[n_head - 1] && strlen(value) > n_head && strncmp(choice, value, n_head) == 0);
}

enum pl_status pl_option_check_choice(const struct pl_option_use *use, struct pl_error *err)
{
    pl_choice_fn *choice = use->option->choice;
    if (!choice)
        return PL_OK;
    struct pl_suggest suggest = pl_suggest(pl_str_of(use->values[0]));
    for (size_t i = 0; choice(i); i++) {
        if (is_choice(choice(i), use->values[0]))
            return PL_OK;
        pl_suggest_offer(&suggest, choice(i));
    }
    char words[PL_FEW_CHOICES];
    const char *best = suggest.best;
    if (!pl_choice_list(choice, words, sizeof words))
        return pl_fail(err, PL_USAGE, "--%s does not accept \"%s\"%s%s%s; --help lists the values",
                       use->option->name, use->values[0], best ? "; did you mean \"" : "",
                       best ? best : "", best ? "\"?" : "");
    return pl_fail(err, PL_USAGE, "--%s must be %s, not \"%s\"%s%s%s", use->option->name, words,
                   use->values[0], best ? "; did you mean \"" : "", best ? best : "",
                   best ? "\"?" : "");
}

static enum pl_status fail_missing(const struct pl_option *option, struct pl_error *err)
{
    return pl_fail(err, PL_USAGE, "--%s needs %s: --%s %s%s%s", option->name,
                   option->args[1] ? "two values" : "a value", option->name, option->args[0],
                   option->args[1] ? " " : "", option->args[1] ? option->args[1] : "");
}

/* Reads the values of an option: first the text after "=" (`inline_value`, may be NULL), then the
 * next words. */
static enum pl_status read_values(struct cursor *cursor, const char *inline_value,
                                  struct pl_option_use *use, struct pl_error *err)
{
    for (size_t i = 0; i < 2 && use->option->args[i]; i++) {
        if (i == 0 && inline_value)
            use->values[i] = inline_value;
        else if (cursor->at < cursor->argc)
            use->values[i] = cursor->argv[cursor->at++];
        else
            return fail_missing(use->option, err);
    }
    if (inline_value && !use->option->args[0])
        return pl_fail(err, PL_USAGE, "--%s takes no value", use->option->name);
    return pl_option_check_choice(use, err);
}

static enum pl_status read_option(struct pl_args *args, const struct pl_option *options,
                                  struct cursor *cursor, const char *word, struct pl_error *err)
{
    const char *inline_value = NULL;
    struct pl_option_use use = {0};
    if (word[1] == '-') {
        struct pl_str name = pl_str_of(word + 2);
        const char *equals = strchr(word, '=');
        if (equals) {
            name.len = (size_t)(equals - word - 2);
            inline_value = equals + 1;
        }
        use.option = find_long(options, name);
    } else if (word[2] == '\0') {
        use.option = find_letter(options, word[1]);
    }
    if (!use.option)
        return fail_unknown(options, word, err);
    if (!use.option->is_repeatable && pl_args_has(args, use.option->id))
        return pl_fail(err, PL_USAGE, "--%s is given twice", use.option->name);
    enum pl_status status = read_values(cursor, inline_value, &use, err);
    if (status != PL_OK)
        return status;
    return pl_vec_push(&args->uses, use) ? PL_OK : pl_fail(err, PL_NOMEM, "out of memory");
}

enum pl_status pl_args_parse(struct pl_args *args, const struct pl_option *options, int argc,
                             char *const *argv, struct pl_error *err)
{
    *args = (struct pl_args){0};
    struct cursor cursor = {argc, argv, 0};
    bool reads_options = true;
    while (cursor.at < argc) {
        const char *word = argv[cursor.at++];
        bool is_option = reads_options && word[0] == '-' && word[1] != '\0';
        if (is_option && strcmp(word, "--") == 0) {
            reads_options = false;
        } else if (is_option) {
            enum pl_status status = read_option(args, options, &cursor, word, err);
            if (status != PL_OK)
                return status;
        } else if (!pl_vec_push(&args->operands, word)) {
            return pl_fail(err, PL_NOMEM, "out of memory");
        }
    }
    return PL_OK;
}

void pl_args_deinit(struct pl_args *args)
{
    pl_vec_deinit(&args->uses);
    pl_vec_deinit(&args->operands);
}

const struct pl_option_use *pl_args_find(const struct pl_args *args, enum pl_option_id id)
{
    for (size_t i = args->uses.len; i > 0; i--)
        if (args->uses.ptr[i - 1].option->id == id)
            return &args->uses.ptr[i - 1];
    return NULL;
}

bool pl_option_read_count(const char *text, uint64_t most, uint64_t *ret_count)
{
    uint64_t count = 0;
    for (const char *at = text; *at; at++) {
        bool is_digit = *at >= '0' && *at <= '9';
        if (!is_digit || __builtin_mul_overflow(count, 10, &count) ||
            __builtin_add_overflow(count, (uint64_t)(*at - '0'), &count) || count > most)
            return false;
    }
    if (count > 0)
        *ret_count = count;
    return count > 0;
}

bool pl_option_has_verb(const struct pl_option *option, const char *verb)
{
    size_t n = strlen(verb);
    for (const char *at = option->verbs; at && *at;) {
        size_t len = strcspn(at, ",");
        if (len == n && memcmp(at, verb, n) == 0)
            return true;
        at += len;
        at += strspn(at, ", ");
    }
    return !option->verbs;
}
