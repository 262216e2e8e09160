/* Looks up column names in the list of a verb's table. */
#include "app/table/choice.h"

#include "base/ascii.h"
#include "base/text/suggest.h"

enum { NAME_SIZE = 64 };

struct pl_str pl_column_name(const char *columns, size_t i)
{
    size_t n = strcspn(columns, ",");
    for (; i > 0 && columns[n]; i--) {
        columns += n + 1;
        n = strcspn(columns, ",");
    }
    return i ? (struct pl_str){0} : (struct pl_str){columns, n};
}

size_t pl_column_count(const char *columns)
{
    size_t n = 1;
    for (; *columns; columns++)
        n += *columns == ',';
    return n;
}

static enum pl_exit fail_unknown(struct pl_console *console, const char *command,
                                 struct pl_str name, const char *columns)
{
    struct pl_suggest suggest = pl_suggest(name);
    char words[PL_COLUMNS_MAX][NAME_SIZE];
    for (size_t i = 0; i < pl_column_count(columns) && i < PL_COLUMNS_MAX; i++) {
        struct pl_str word = pl_column_name(columns, i);
        size_t n = word.len < NAME_SIZE ? word.len : NAME_SIZE - 1;
        memcpy(words[i], word.ptr, n);
        words[i][n] = '\0';
        pl_suggest_offer(&suggest, words[i]);
    }
    if (suggest.best)
        return pl_usage_fail(console, command,
                             "--format: there is no column \"%.*s\"; did you mean \"%s\"?",
                             PL_STR_ARG(name), suggest.best);
    return pl_usage_fail(console, command, "--format: there is no column \"%.*s\"; there are %s",
                         PL_STR_ARG(name), columns);
}

static enum pl_exit add(struct pl_console *console, const char *command, const char *columns,
                        struct pl_str name, struct pl_column_choice *choice)
{
    size_t at = 0, n = pl_column_count(columns);
    while (at < n && !pl_str_eq(pl_column_name(columns, at), name))
        at++;
    if (at == n)
        return fail_unknown(console, command, name, columns);
    for (size_t i = 0; i < choice->n; i++)
        if (choice->at[i] == at)
            return pl_usage_fail(console, command, "--format: the column \"%.*s\" is named twice",
                                 PL_STR_ARG(name));
    choice->at[choice->n++] = at;
    return PL_EXIT_OK;
}

enum pl_exit pl_column_choice_read(struct pl_console *console, const char *command,
                                   const struct pl_args *args, const char *columns,
                                   struct pl_column_choice *ret_choice)
{
    static const enum pl_option_id others[] = {PL_OPT_JSON, PL_OPT_CSV};
    struct pl_column_choice choice = {.n = 0};
    const char *format = pl_args_value(args, PL_OPT_FORMAT);
    enum pl_exit code = PL_EXIT_OK;
    for (size_t i = 0; format && i < sizeof others / sizeof *others; i++) {
        const struct pl_option_use *other = pl_args_find(args, others[i]);
        if (other)
            return pl_usage_fail(console, command,
                                 "--format and --%s exclude each other; --%s has every field",
                                 other->option->name, other->option->name);
    }
    for (size_t i = 0; format && i < pl_column_count(format) && code == PL_EXIT_OK; i++)
        code = add(console, command, columns, pl_column_name(format, i), &choice);
    if (code == PL_EXIT_OK)
        *ret_choice = choice;
    return code;
}

static struct pl_str heading_of(struct pl_texts *texts, struct pl_str name)
{
    char *heading = pl_arena_alloc(&texts->arena, name.len + 1, 1);
    if (!heading) {
        texts->is_cut = true;
        return PL_STR("");
    }
    for (size_t i = 0; i < name.len; i++)
        heading[i] = name.ptr[i] == '_' ? ' ' : pl_ascii_upper(name.ptr[i]);
    heading[name.len] = '\0';
    return (struct pl_str){heading, name.len};
}

void pl_column_choice_begin(const struct pl_column_choice *choice, struct pl_texts *texts,
                            const struct pl_console *console, const char *names,
                            struct pl_columns *columns)
{
    size_t n = pl_column_count(names);
    pl_columns_init(columns, NULL, n);
    for (size_t i = 0; i < n; i++)
        pl_columns_add(columns, heading_of(texts, pl_column_name(names, i)));
    memcpy(columns->chosen, choice->at, choice->n * sizeof *choice->at);
    columns->n_chosen = choice->n;
    columns->is_plain = choice->n && !console->out_is_terminal;
}
