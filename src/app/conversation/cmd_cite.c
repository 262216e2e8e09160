/* parley cite: the citations of a conversation and their sources. */
#include "app/frame/commands.h"
#include "app/frame/input.h"

#include "conv/cite.h"
#include "format/format.h"
#include "json/parse/lenient.h"
#include "json/pointer.h"
#include "lib/locate.h"

#include <stdio.h>

struct job {
    struct pl_console *console; /* borrowed */
    const struct pl_args *args; /* borrowed */
    const char *name;           /* input name in messages */
    bool is_chinese;
    struct pl_file file;                   /* owned */
    PL_VEC(struct pl_file) source_files;   /* owned, with its elements */
    PL_VEC(struct pl_cite_source) sources; /* borrowed from argv and source_files */
    struct pl_arena arena;                 /* owned */
    struct pl_json_doc doc;
    struct pl_conv conv;   /* owned */
    struct pl_cites cites; /* owned */
};

static enum pl_exit read_source(struct job *job, const char *arg)
{
    const char *equals = strchr(arg, '=');
    if (!equals || equals == arg)
        return pl_usage_fail(job->console, "cite", "--source must be ID=FILE, not \"%s\"", arg);
    struct pl_file file = {0};
    struct pl_error err = {0};
    enum pl_status status = pl_file_read(equals + 1, (size_t)1 << 30, NULL, &file, &err);
    if (status != PL_OK)
        return pl_console_fail_as(job->console, equals + 1, status, &err);
    if (!pl_vec_push(&job->source_files, file)) {
        pl_file_close(&file);
        return pl_console_fail_as(job->console, NULL, PL_NOMEM, &err);
    }
    struct pl_cite_source source = {{arg, (size_t)(equals - arg)}, file.bytes};
    return pl_vec_push(&job->sources, source)
               ? PL_EXIT_OK
               : pl_console_fail_as(job->console, NULL, PL_NOMEM, &err);
}

/* Anchors and citation maps are of harmony; turns have them too. Chats are read as harmony, so that
 * anchors without a map are found. */
static enum pl_status choose_reader(const struct pl_json_doc *doc,
                                    const struct pl_format **ret_format, struct pl_error *err)
{
    const struct pl_format *format = pl_format_detect(doc);
    bool is_chat =
        !format || format == &pl_format_openai_chat || format == &pl_format_structured_chat;
    if (!is_chat && format != &pl_format_harmony && format != &pl_format_turns)
        return pl_fail(err, PL_INVALID,
                       "cite reads harmony and turns, but this is %s; convert it to harmony first",
                       format->name);
    *ret_format = is_chat ? &pl_format_harmony : format;
    return PL_OK;
}

static enum pl_exit read_inputs(struct job *job)
{
    enum pl_exit code = PL_EXIT_OK;
    for (size_t i = 0; i < job->args->uses.len && code == PL_EXIT_OK; i++)
        if (job->args->uses.ptr[i].option->id == PL_OPT_SOURCE)
            code = read_source(job, job->args->uses.ptr[i].values[0]);
    if (code != PL_EXIT_OK)
        return code;
    struct pl_error err = {0};
    struct pl_json_notes notes;
    enum pl_status status = pl_input_read(job->args->operands.ptr[0], &job->file, &err);
    if (status == PL_OK)
        status = pl_json_parse_lenient(&job->arena, job->file.bytes, &pl_json_any, &job->doc,
                                       &notes, &err);
    const struct pl_format *format = NULL;
    if (status == PL_OK)
        status = choose_reader(&job->doc, &format, &err);
    if (status == PL_OK)
        status = pl_conv_init(&job->conv, &job->arena, &job->doc);
    if (status == PL_OK)
        status = format->read(&job->conv, PL_KIND_REQUEST, &err);
    if (status == PL_OK)
        status = pl_cites_find(&job->conv, job->sources.ptr, job->sources.len, &job->cites);
    return status == PL_OK ? PL_EXIT_OK : pl_console_fail_as(job->console, job->name, status, &err);
}

struct line {
    struct job *job;
    const struct pl_cite *cite;
    struct pl_locator *locator;
};

static void put_place(const struct line *line)
{
    struct pl_console *console = line->job->console;
    struct pl_position at = pl_locator_find(line->locator, line->cite->text->off);
    pl_console_put_safe(console, pl_str_of(line->job->name));
    pl_console_putf(console, ":%zu:%zu: ", at.line, at.column);
}

/* Messages about an anchor, by enum pl_schema_lang. */
static const char *const words[][2] = {
    {"citation_map has no entry with this id; the anchor is shown as plain text",
     "citation_map 中没有这个 id 的条目；锚点会显示为普通文本"},
    {"page_number counts from 1", "page_number 从 1 开始"},
    {"a bbox is [x1, y1, x2, y2] with x1 < x2 and y1 < y2",
     "bbox 是 [x1, y1, x2, y2]，其中 x1 < x2 且 y1 < y2"},
    {"text_snippet is not in the text of the source", "来源的文本中没有 text_snippet"},
    {"error", "错误"},
    {"warning", "警告"},
};

static const char *in_words(const struct job *job, const char *english)
{
    for (size_t i = 0; i < sizeof words / sizeof *words && job->is_chinese; i++)
        if (strcmp(words[i][0], english) == 0)
            return words[i][1];
    return english;
}

static void put_problem(void *ctx, const char *sentence)
{
    const struct line *line = ctx;
    struct pl_console *console = line->job->console;
    bool is_error = pl_cite_is_wrong(line->cite);
    put_place(line);
    pl_console_put_styled(console, is_error ? PL_STYLE_BAD : PL_STYLE_BOLD,
                          in_words(line->job, is_error ? "error" : "warning"));
    pl_console_puts(console, ": [");
    pl_console_put_safe(console, line->cite->id);
    pl_console_putf(console, "] %s\n", in_words(line->job, sentence));
}

static void put_cites(struct job *job)
{
    struct pl_locator locator = pl_locator(job->doc.text);
    PL_CLEANUP_BUF struct pl_buf source;
    pl_buf_init(&source, 0);
    for (size_t i = 0; i < job->cites.list.len; i++) {
        struct line line = {job, &job->cites.list.ptr[i], &locator};
        pl_buf_clear(&source);
        pl_cite_describe(&source, &job->conv, line.cite);
        put_place(&line);
        pl_console_puts(job->console, "[");
        pl_console_put_safe(job->console, line.cite->id);
        pl_console_puts(job->console, "] ");
        pl_console_put_safe(job->console, pl_buf_str(&source));
        pl_console_puts(job->console, "\n");
        pl_cite_problems(line.cite, put_problem, &line);
    }
}

static bool has_error(const struct job *job)
{
    for (size_t i = 0; i < job->cites.list.len; i++)
        if (pl_cite_is_wrong(&job->cites.list.ptr[i]))
            return true;
    return false;
}

enum pl_exit pl_cmd_cite(struct pl_console *console, const struct pl_args *args)
{
    struct job job = {.console = console,
                      .args = args,
                      .name = pl_input_name(args->operands.ptr[0]),
                      .is_chinese = console->is_chinese};
    pl_arena_init(&job.arena, 0);
    enum pl_exit code = read_inputs(&job);
    if (code == PL_EXIT_OK) {
        if (pl_args_has(args, PL_OPT_JSON)) {
            pl_cites_write(pl_console_out(console), &job.conv, &job.cites);
            pl_console_puts(console, "\n");
        } else {
            put_cites(&job);
        }
        code = has_error(&job) ? PL_EXIT_NO : PL_EXIT_OK;
    }
    pl_cites_deinit(&job.cites);
    pl_conv_deinit(&job.conv);
    pl_arena_deinit(&job.arena);
    for (size_t i = 0; i < job.source_files.len; i++)
        pl_file_close(&job.source_files.ptr[i]);
    pl_vec_deinit(&job.source_files);
    pl_vec_deinit(&job.sources);
    pl_file_close(&job.file);
    return code;
}
