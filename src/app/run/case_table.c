/* A row for each case and model. If the terminal is wide enough, the models are columns. */
#include "app/run/case_table.h"

#include "io/system/terminal_raw.h"

#include <stdio.h>

enum { MODEL_CELLS = 30, OTHER_CELLS = 24, MAX_VALUES = 200 };

static const struct pl_run_result *result_of(const struct pl_run_table *table, size_t i, size_t j)
{
    return &table->results[i * table->n_models + j];
}

static struct pl_str keep(const struct pl_run_table *table, const char *text)
{
    return pl_str_of(pl_deed_keep(table->deed, pl_str_of(text)));
}

static struct pl_str number(const struct pl_run_table *table, int64_t n)
{
    char text[32];
    snprintf(text, sizeof text, "%lld", (long long)n);
    return keep(table, text);
}

/* A mark for each check, in order. */
static struct pl_str marks(const struct pl_run_table *table, const struct pl_run_result *result)
{
    PL_CLEANUP_BUF struct pl_buf to;
    pl_buf_init(&to, 0);
    for (size_t i = 0; i < result->n_verdicts; i++)
        pl_buf_adds(&to, result->verdicts[i].is_passed ? "✓" : "✗");
    if (!result->n_verdicts)
        pl_buf_addc(&to, '-');
    if (to.status != PL_OK)
        table->deed->api.texts.is_cut = true;
    return pl_str_of(pl_deed_keep(table->deed, pl_buf_str(&to)));
}

static struct pl_str seconds(const struct pl_run_table *table, const struct pl_run_answer *answer)
{
    char text[40];
    snprintf(text, sizeof text, "%lld.%lld s", (long long)answer->duration_ms / 1000,
             (long long)answer->duration_ms / 100 % 10);
    return keep(table, text);
}

static struct pl_str cost(const struct pl_run_table *table, const struct pl_run_answer *answer)
{
    char text[40];
    snprintf(text, sizeof text, "$%.4f", answer->cost_usd);
    return answer->has_cost ? keep(table, text) : PL_STR("-");
}

static struct pl_str values(const struct pl_run_table *table, const struct pl_run_case *one)
{
    PL_CLEANUP_BUF struct pl_buf to;
    pl_buf_init(&to, 0);
    for (size_t i = 0; i < one->n_values; i++) {
        pl_buf_adds(&to, i ? ", " : "");
        pl_buf_add(&to, one->values[i].name);
        pl_buf_addc(&to, '=');
        pl_buf_add(&to, one->values[i].value);
    }
    if (to.status != PL_OK)
        table->deed->api.texts.is_cut = true;
    return pl_line_of(&table->deed->api.texts, pl_buf_str(&to), MAX_VALUES);
}

static enum pl_exit print(const struct pl_run_table *table, struct pl_columns *columns)
{
    pl_deed_page(table->deed);
    enum pl_status status =
        table->deed->api.texts.is_cut ? PL_NOMEM : pl_columns_print(columns, table->deed->console);
    pl_columns_deinit(columns);
    return status == PL_OK ? PL_EXIT_OK : pl_deed_stop(table->deed, status);
}

static void add_row(const struct pl_run_table *table, struct pl_columns *columns, size_t i,
                    size_t j)
{
    const struct pl_run_result *result = result_of(table, i, j);
    const struct pl_run_answer *answer = &result->answer;
    pl_columns_add(columns, number(table, (int64_t)i + 1));
    pl_columns_add(columns, answer->model ? pl_str_of(answer->model) : PL_STR("-"));
    pl_columns_add(columns, pl_str_of(result->is_passed ? "pass" : "fail"));
    pl_columns_add(columns, marks(table, result));
    pl_columns_add(columns, seconds(table, answer));
    pl_columns_add(columns, number(table, answer->input_tokens));
    pl_columns_add(columns, number(table, answer->output_tokens));
    pl_columns_add(columns, cost(table, answer));
    pl_columns_add(columns, values(table, &table->cases->list.ptr[i]));
}

static enum pl_exit print_rows(const struct pl_run_table *table)
{
    struct pl_columns columns;
    pl_deed_begin_table(table->deed, &columns);
    for (size_t i = 0; i < table->cases->list.len; i++)
        for (size_t j = 0; j < table->n_models; j++)
            add_row(table, &columns, i, j);
    return print(table, &columns);
}

/* "pass ✓✓ 0.1 s 12+5 $0.0001" */
static struct pl_str cell(const struct pl_run_table *table, const struct pl_run_result *result)
{
    PL_CLEANUP_BUF struct pl_buf to;
    pl_buf_init(&to, 0);
    pl_buf_adds(&to, pl_console_word(table->deed->console, result->is_passed ? "pass" : "fail"));
    pl_buf_addc(&to, ' ');
    if (result->n_verdicts) {
        pl_buf_add(&to, marks(table, result));
        pl_buf_addc(&to, ' ');
    }
    pl_buf_add(&to, seconds(table, &result->answer));
    pl_buf_addf(&to, " %lld+%lld ", (long long)result->answer.input_tokens,
                (long long)result->answer.output_tokens);
    pl_buf_add(&to, cost(table, &result->answer));
    if (to.status != PL_OK)
        table->deed->api.texts.is_cut = true;
    return pl_str_of(pl_deed_keep(table->deed, pl_buf_str(&to)));
}

static enum pl_exit print_columns(const struct pl_run_table *table)
{
    const char *names[PL_RUN_MAX_MODELS + 2] = {"CASE"};
    struct pl_columns columns;
    for (size_t j = 0; j < table->n_models; j++)
        names[j + 1] = table->results[j].answer.model ? table->results[j].answer.model : "-";
    names[table->n_models + 1] = "VALUES";
    pl_columns_init(&columns, names, table->n_models + 2);
    for (size_t i = 0; i < table->cases->list.len; i++) {
        pl_columns_add(&columns, number(table, (int64_t)i + 1));
        for (size_t j = 0; j < table->n_models; j++)
            pl_columns_add(&columns, cell(table, result_of(table, i, j)));
        pl_columns_add(&columns, values(table, &table->cases->list.ptr[i]));
    }
    return print(table, &columns);
}

static bool has_room_for_columns(const struct pl_run_table *table)
{
    size_t n_columns, n_rows;
    pl_terminal_size(&n_columns, &n_rows);
    return table->n_models > 1 && !table->deed->chosen.n && table->deed->console->out_is_terminal &&
           n_columns >= table->n_models * MODEL_CELLS + OTHER_CELLS;
}

/* --- for machines ---------------------------------------------------------------------------- */

static void out_case(const struct pl_run_table *table, struct pl_json_out *out, size_t i)
{
    const struct pl_run_case *one = &table->cases->list.ptr[i];
    pl_json_out_open(out, '{');
    pl_json_out_key(out, "case");
    pl_json_out_int(out, (int64_t)i + 1);
    pl_json_out_key(out, "line");
    pl_json_out_int(out, (int64_t)one->line);
    pl_json_out_key(out, "variables");
    pl_json_out_open(out, '{');
    for (size_t k = 0; k < one->n_values; k++) {
        pl_json_out_key_str(out, one->values[k].name);
        pl_json_out_text(out, one->values[k].value);
    }
    pl_json_out_close(out, '}');
    pl_json_out_key(out, "items");
    pl_json_out_open(out, '[');
    for (size_t j = 0; j < table->n_models; j++)
        pl_run_result_out(out, result_of(table, i, j));
    pl_json_out_close(out, ']');
    pl_json_out_close(out, '}');
}

static void print_json(const struct pl_run_table *table, size_t n_passed)
{
    struct pl_console *console = table->deed->console;
    struct pl_json_out out = pl_json_out(pl_console_out(console));
    pl_json_out_open(&out, '{');
    pl_json_out_key(&out, "cases");
    pl_json_out_open(&out, '[');
    for (size_t i = 0; i < table->cases->list.len; i++)
        out_case(table, &out, i);
    pl_json_out_close(&out, ']');
    pl_json_out_key(&out, "passed");
    pl_json_out_int(&out, (int64_t)n_passed);
    pl_json_out_key(&out, "failed");
    pl_json_out_int(&out, (int64_t)(table->cases->list.len - n_passed));
    pl_json_out_close(&out, '}');
    pl_console_puts(console, "\n");
}

/* --- all of it ------------------------------------------------------------------------------- */

static bool is_passed(const struct pl_run_table *table, size_t i)
{
    bool is_good = true;
    for (size_t j = 0; j < table->n_models; j++)
        is_good = is_good && result_of(table, i, j)->is_passed;
    return is_good;
}

enum pl_exit pl_run_table_print(const struct pl_run_table *table)
{
    struct pl_deed *deed = table->deed;
    size_t n_cases = table->cases->list.len, n_passed = 0;
    for (size_t i = 0; i < n_cases; i++)
        n_passed += is_passed(table, i);
    enum pl_exit code = PL_EXIT_OK;
    if (deed->api.is_json)
        print_json(table, n_passed);
    else
        code = has_room_for_columns(table) ? print_columns(table) : print_rows(table);
    for (size_t i = 0; i < n_cases && !deed->api.is_json; i++) {
        char place[512];
        snprintf(place, sizeof place, "%s:%zu", table->cases->name, table->cases->list.ptr[i].line);
        for (size_t j = 0; j < table->n_models; j++)
            pl_run_result_explain(deed, place, result_of(table, i, j));
    }
    if (!deed->api.is_json)
        pl_console_hint(deed->console, "%zu of %zu cases passed", n_passed, n_cases);
    return code != PL_EXIT_OK ? code : n_passed == n_cases ? PL_EXIT_OK : PL_EXIT_NO;
}
