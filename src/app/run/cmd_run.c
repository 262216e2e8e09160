/* parley run: runs a prompt once, answered by one model or by several side by side, and leaves no
 * session; or once for each case of a file. The server runs a prompt of the library if the command
 * line adds nothing to it; anything else becomes a session for each model. */
#include "app/run/case_table.h"
#include "app/run/side_by_side.h"
#include "base/ascii.h"

#include <stdio.h>
#include <sys/stat.h>

/* Shared by a single run and a run over cases. */
struct run {
    struct pl_deed *deed;
    struct pl_run_checks checks; /* owned; of the command line */
    struct pl_asked_source source;
    const char *models[PL_RUN_MAX_MODELS]; /* NULL: the prompt's, or the server's */
    size_t n_models;
};

static enum pl_exit list_models(struct run *run)
{
    const struct pl_args *args = run->deed->args;
    for (size_t i = 0; i < args->uses.len; i++) {
        if (args->uses.ptr[i].option->id != PL_OPT_MODEL)
            continue;
        if (run->n_models == PL_RUN_MAX_MODELS)
            return pl_deed_usage(run->deed, "at most %d models can be used side by side",
                                 PL_RUN_MAX_MODELS);
        run->models[run->n_models++] = args->uses.ptr[i].values[0];
    }
    run->n_models = run->n_models ? run->n_models : 1;
    return PL_EXIT_OK;
}

static enum pl_exit worse(enum pl_exit a, enum pl_exit b)
{
    return a > b ? a : b;
}

/* --- once ------------------------------------------------------------------------------------ */

/* Starts all before the first is printed, so that they run in parallel. */
static enum pl_exit begin_all(struct run *run, struct pl_answering *at_work,
                              const struct pl_asked *asked)
{
    enum pl_exit code = PL_EXIT_OK;
    for (size_t i = 0; i < run->n_models && code == PL_EXIT_OK; i++)
        code = pl_answering_begin(at_work, i, asked, run->models[i]);
    return code;
}

/* Applies the checks to an answer that was shown; with several models, prints the usage of each at
 * a terminal. */
static enum pl_exit judge(struct run *run, struct pl_answering *at_work, size_t i)
{
    struct pl_deed *deed = run->deed;
    struct pl_run_answer answer;
    struct pl_run_result result;
    bool is_told = run->n_models > 1 && deed->console->err_is_terminal;
    if (!run->checks.list.len && !is_told)
        return PL_EXIT_OK;
    enum pl_exit code = pl_answering_read(at_work, i, &answer);
    if (code != PL_EXIT_OK)
        return code;
    const char *sum = pl_run_answer_sum(deed, &answer);
    if (is_told && sum)
        pl_console_hint(deed->console, "%s: %s", answer.model, sum);
    code = pl_run_judge(deed, &answer, &run->checks, NULL, &result);
    if (code != PL_EXIT_OK)
        return code;
    pl_run_result_explain(deed, NULL, &result);
    return result.is_passed ? PL_EXIT_OK : PL_EXIT_NO;
}

/* Prints the answers one below the other, each as it arrives. */
static enum pl_exit show_each(struct run *run, struct pl_answering *at_work)
{
    enum pl_exit worst = PL_EXIT_OK;
    for (size_t i = 0; i < run->n_models && worst <= PL_EXIT_NO; i++) {
        if (run->n_models > 1)
            pl_deed_put_heading(run->deed, pl_str_of(run->models[i]), i == 0);
        enum pl_exit code = pl_answering_show(at_work, i);
        if (code == PL_EXIT_OK)
            code = judge(run, at_work, i);
        worst = worse(worst, code);
    }
    return worst;
}

static void print_json(struct run *run, const struct pl_run_result *results)
{
    struct pl_console *console = run->deed->console;
    struct pl_json_out out = pl_json_out(pl_console_out(console));
    pl_json_out_open(&out, '{');
    pl_json_out_key(&out, "items");
    pl_json_out_open(&out, '[');
    for (size_t i = 0; i < run->n_models; i++)
        pl_run_result_out(&out, &results[i]);
    pl_json_out_close(&out, ']');
    pl_json_out_close(&out, '}');
    pl_console_puts(console, "\n");
}

/* Prints all answers after the last one ended: in columns, or as JSON. */
static enum pl_exit show_all(struct run *run, struct pl_answering *at_work)
{
    struct pl_deed *deed = run->deed;
    struct pl_run_result results[PL_RUN_MAX_MODELS];
    enum pl_exit code = PL_EXIT_OK, worst = PL_EXIT_OK;
    for (size_t i = 0; i < run->n_models && code == PL_EXIT_OK; i++) {
        struct pl_run_answer answer;
        if (!deed->api.is_json)
            pl_console_progress(deed->console, "%zu of %zu models have answered ...", i,
                                run->n_models);
        code = pl_answering_wait(at_work, i, &answer);
        if (code == PL_EXIT_OK)
            code = pl_run_judge(deed, &answer, &run->checks, NULL, &results[i]);
        if (code == PL_EXIT_OK)
            worst = worse(worst, results[i].is_passed ? PL_EXIT_OK : PL_EXIT_NO);
    }
    if (code != PL_EXIT_OK)
        return code;
    if (deed->api.is_json)
        print_json(run, results);
    else
        code = pl_side_by_side_print(deed, results, run->n_models);
    for (size_t i = 0; i < run->n_models; i++)
        pl_run_result_explain(deed, NULL, &results[i]);
    return worse(worst, code);
}

static enum pl_exit run_once(struct run *run)
{
    struct pl_deed *deed = run->deed;
    struct pl_render_var vars[PL_RUN_MAX_VARS];
    struct pl_answering at_work;
    struct pl_asked asked;
    size_t n_vars;
    enum pl_exit code = pl_asked_vars(deed, vars, &n_vars);
    if (code == PL_EXIT_OK)
        code = pl_asked_fill(deed, &run->source, vars, n_vars, run->source.name, &asked);
    if (code != PL_EXIT_OK)
        return code;
    code = pl_answering_open(&at_work, deed);
    if (code == PL_EXIT_OK)
        code = begin_all(run, &at_work, &asked);
    if (code == PL_EXIT_OK)
        code = deed->api.is_json || pl_side_by_side_fits(deed->console, run->n_models)
                   ? show_all(run, &at_work)
                   : show_each(run, &at_work);
    pl_answering_close(&at_work);
    return code;
}

/* --- over cases ------------------------------------------------------------------------------ */

/* Runs as many cases at once as there are slots for all models; case i always has the same
 * slots. */
struct batch {
    struct run *run;
    const struct pl_run_cases *cases;
    struct pl_answering at_work;
    size_t n_at_once;
    struct pl_run_result *results; /* owned by the deed */
};

static size_t slot_of(const struct batch *batch, size_t i, size_t j)
{
    return i % batch->n_at_once * batch->run->n_models + j;
}

static enum pl_exit begin_case(struct batch *batch, size_t i)
{
    struct run *run = batch->run;
    enum pl_exit code = PL_EXIT_OK;
    for (size_t j = 0; j < run->n_models && code == PL_EXIT_OK; j++)
        code = pl_answering_begin(&batch->at_work, slot_of(batch, i, j),
                                  &batch->cases->list.ptr[i].asked, run->models[j]);
    return code;
}

static enum pl_exit end_case(struct batch *batch, size_t i)
{
    struct run *run = batch->run;
    enum pl_exit code = PL_EXIT_OK;
    for (size_t j = 0; j < run->n_models && code == PL_EXIT_OK; j++) {
        struct pl_run_answer answer;
        code = pl_answering_wait(&batch->at_work, slot_of(batch, i, j), &answer);
        if (code == PL_EXIT_OK)
            code = pl_run_judge(run->deed, &answer, &run->checks, &batch->cases->list.ptr[i].checks,
                                &batch->results[i * run->n_models + j]);
        if (code == PL_EXIT_OK)
            pl_answering_forget(&batch->at_work, slot_of(batch, i, j));
    }
    return code;
}

static enum pl_exit run_all(struct batch *batch)
{
    size_t n_cases = batch->cases->list.len, n_begun = 0;
    enum pl_exit code = PL_EXIT_OK;
    for (size_t i = 0; i < n_cases && code == PL_EXIT_OK; i++) {
        for (; n_begun < n_cases && n_begun < i + batch->n_at_once && code == PL_EXIT_OK; n_begun++)
            code = begin_case(batch, n_begun);
        pl_console_progress(batch->run->deed->console, "%zu of %zu cases ...", i, n_cases);
        if (code == PL_EXIT_OK)
            code = end_case(batch, i);
    }
    return code;
}

static enum pl_exit run_cases(struct run *run, const struct pl_run_cases *cases)
{
    struct pl_deed *deed = run->deed;
    struct batch batch = {.run = run, .cases = cases, .n_at_once = PL_RUN_AT_ONCE / run->n_models};
    batch.results = pl_arena_alloc(&deed->api.texts.arena, cases->list.len * run->n_models,
                                   sizeof *batch.results);
    if (!batch.results)
        return pl_deed_stop(deed, PL_NOMEM);
    enum pl_exit code = pl_answering_open(&batch.at_work, deed);
    if (code == PL_EXIT_OK)
        code = run_all(&batch);
    pl_answering_close(&batch.at_work);
    struct pl_run_table table = {
        .deed = deed, .cases = cases, .n_models = run->n_models, .results = batch.results};
    return code == PL_EXIT_OK ? pl_run_table_print(&table) : code;
}

static enum pl_exit read_and_run_cases(struct run *run, const char *path)
{
    struct pl_run_cases cases;
    if (strcmp(path, "-") == 0 && strcmp(run->deed->words[0], "-") == 0)
        return pl_deed_usage(run->deed, "the prompt and --cases cannot both be standard input");
    enum pl_exit code = pl_run_cases_read(run->deed, path, &run->source, &cases);
    if (code == PL_EXIT_OK)
        code = run_cases(run, &cases);
    pl_run_cases_deinit(&cases);
    return code;
}

/* --- the command ----------------------------------------------------------------------------- */

static enum pl_exit run_here(struct pl_deed *deed, enum pl_asked_from from)
{
    struct run run = {.deed = deed};
    const char *cases = pl_deed_option(deed, PL_OPT_CASES);
    enum pl_exit code = list_models(&run);
    if (code == PL_EXIT_OK)
        code = pl_run_checks_read(deed, &run.checks);
    if (code == PL_EXIT_OK)
        code = pl_asked_source_read(deed, from, &run.source);
    run.source.schema = run.checks.schema;
    if (code == PL_EXIT_OK)
        code = cases ? read_and_run_cases(&run, cases) : run_once(&run);
    pl_run_checks_deinit(&run.checks);
    return code;
}

/* Whether an option is given that the server does not support for a prompt of its library. */
static bool adds_something(const struct pl_deed *deed)
{
    static const enum pl_option_id ids[] = {PL_OPT_SYSTEM, PL_OPT_ATTACH, PL_OPT_SCHEMA,
                                            PL_OPT_EXPECT, PL_OPT_CASES};
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
        if (pl_args_has(deed->args, ids[i]))
            return true;
    return false;
}

/* Whether a word looks like a message to a model and not like a name: it has white space or ends a
 * sentence, and does not end in a file extension. */
static bool reads_as_text(struct pl_str word)
{
    static const char *const ends[] = {"?", "!", ".", "…", "？", "！", "。"};
    bool has_space = false, is_sentence = false;
    size_t n_extension = 0;
    for (size_t i = 0; i < word.len; i++)
        has_space = has_space || pl_ascii_is_space(word.ptr[i]);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        size_t len = strlen(ends[i]);
        is_sentence = is_sentence ||
                      (word.len > len &&
                       pl_str_eq(pl_str_slice(word, word.len - len, word.len), pl_str_of(ends[i])));
    }
    while (n_extension < word.len && pl_ascii_is_alnum(word.ptr[word.len - 1 - n_extension]))
        n_extension++;
    bool is_path = n_extension && n_extension <= 5 && n_extension < word.len &&
                   word.ptr[word.len - 1 - n_extension] == '.';
    return (has_space || is_sentence) && !is_path;
}

/* Whether the library can have a prompt of this name: one line, and at most as long as a folder and
 * a name may be. */
static bool can_be_prompt(struct pl_str word)
{
    enum { MAX_BYTES = 2 * 200 * 4 };
    return word.len <= MAX_BYTES && !memchr(word.ptr, '\n', word.len);
}

/* A file takes precedence over a prompt of the library, and both over a text. */
static enum pl_exit find_source(struct pl_deed *deed, enum pl_asked_from *ret_from)
{
    const char *word = deed->words[0], *id = word;
    struct stat info;
    enum pl_exit code = PL_EXIT_OK;
    bool is_file = strcmp(word, "-") == 0 || (stat(word, &info) == 0 && !S_ISDIR(info.st_mode));
    if (!is_file && !can_be_prompt(pl_str_of(word)))
        id = NULL;
    else if (!is_file && reads_as_text(pl_str_of(word)))
        code = pl_named_prompt_look(deed, word, &id);
    if (code == PL_EXIT_OK)
        *ret_from = is_file ? PL_ASKED_FILE : id ? PL_ASKED_LIBRARY : PL_ASKED_TEXT;
    return code;
}

static enum pl_exit run(struct pl_deed *deed)
{
    static const char *const kinds[] = {[PL_ASKED_FILE] = "a file", [PL_ASKED_TEXT] = "a text"};
    enum pl_asked_from from;
    if (deed->chosen.n && !pl_args_has(deed->args, PL_OPT_CASES))
        return pl_deed_usage(deed, "--format chooses columns of the table of --cases FILE");
    enum pl_exit code = find_source(deed, &from);
    if (code != PL_EXIT_OK)
        return code;
    if (from != PL_ASKED_LIBRARY && pl_args_has(deed->args, PL_OPT_VERSION))
        return pl_deed_usage(deed,
                             "--version works only for a prompt of the library, but \"%s\" is %s",
                             deed->words[0], kinds[from]);
    return from != PL_ASKED_LIBRARY || adds_something(deed) ? run_here(deed, from)
                                                            : pl_prompt_answer(deed);
}

enum pl_exit pl_cmd_run(struct pl_console *console, const struct pl_args *args)
{
    return pl_deed_run_anywhere(console, "run", args, run);
}
