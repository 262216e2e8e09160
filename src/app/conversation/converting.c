/* A document is read whole. NDJSON is converted line by line, and results are written before
 * waiting for more input, so the source may be a program that is still writing.
 *
 * Each line is a separate document: a line that fails is reported by its number and has no output
 * line. So the n-th line of the output belongs to the n-th line of the carry, and the report, which
 * has a line for every document, gives the line number of the source. */
#include "app/conversation/converting.h"
#include "app/frame/input.h"

#include "base/ascii.h"
#include "carry/carry.h"
#include "io/file/outfile.h"
#include "io/file/file_tree.h"
#include "json/parse/lenient.h"
#include "json/write.h"

enum {
    CHUNK_BYTES = 256 << 10,
    MAX_LINE_BYTES = 1 << 30,
};

struct job {
    const struct pl_converting *how;   /* borrowed */
    const struct pl_converting_at *at; /* borrowed */
    struct pl_convert_opts opts;       /* copy of how->opts, with the carry of this document */
    const char *name;                  /* source name in messages */
    struct pl_file carry;              /* owned */
    struct pl_buf imported;            /* owned; the document as structured chat */
    struct pl_converted made;          /* owned */
    struct pl_workspace space;         /* owned; reused for each line */
};

/* State of an NDJSON conversion. */
struct lines {
    struct job *job; /* borrowed */
    int fd;
    struct pl_buf text;        /* read but not converted, from `from` on */
    size_t from, searched;     /* offsets in text; no line ends before `searched` */
    size_t number;             /* of the last line read, from 1 */
    bool is_over;              /* end of input */
    struct pl_str carry_lines; /* not used yet */
    struct pl_buf out, report, carry;
    enum pl_exit code; /* the highest so far */
};

static void job_reset(struct job *job)
{
    pl_buf_clear(&job->made.out);
    pl_buf_clear(&job->made.report);
    pl_buf_clear(&job->made.carry);
    pl_buf_clear(&job->imported);
}

static enum pl_exit save(struct job *job, const char *path, const struct pl_buf *buf)
{
    struct pl_error err = {0};
    if (!path)
        return PL_EXIT_OK;
    /* With --out, directories are created; without it, a missing directory may be a typo. */
    enum pl_status status = job->at->out ? pl_path_make_parents(path, &err) : PL_OK;
    if (status == PL_OK)
        status = pl_file_write(path, pl_buf_str(buf), &err);
    return status == PL_OK ? PL_EXIT_OK : pl_console_fail(job->how->console, path, &err);
}

static enum pl_exit put_out(struct job *job, const struct pl_buf *buf)
{
    struct pl_error err = {0};
    if (job->at->out)
        return save(job, job->at->out, buf);
    if (pl_fd_write(1, pl_buf_str(buf), &err) == PL_OK)
        return PL_EXIT_OK;
    return pl_console_fail_out(job->how->console, &err);
}

/* The file name without directory and ending; empty for standard input. */
static struct pl_str stem_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    struct pl_str name = pl_str_of(slash ? slash + 1 : path);
    const char *dot = strrchr(name.ptr, '.');
    if (pl_str_eq(name, PL_STR("-")))
        return (struct pl_str){0};
    return dot && dot != name.ptr ? pl_str_slice(name, 0, (size_t)(dot - name.ptr)) : name;
}

/* --model: replaces the model of the prompt. */
static enum pl_status set_model(struct job *job, struct pl_error *err)
{
    struct pl_buf made;
    pl_buf_init(&made, 0);
    enum pl_status status =
        pl_export_set_model(pl_buf_str(&job->made.out), pl_str_of(job->how->model), &made, err);
    if (status != PL_OK) {
        pl_buf_deinit(&made);
        return status;
    }
    pl_buf_deinit(&job->made.out);
    job->made.out = made;
    return PL_OK;
}

/* Replaces the structured chat by the export made from it. If the source already is that export, it
 * is unchanged. */
static enum pl_status write_export(struct job *job, struct pl_str text, struct pl_error *err)
{
    struct pl_export_how how = job->how->export_how;
    struct pl_buf made;
    pl_buf_init(&made, 0);
    how.name = stem_of(job->at->in);
    enum pl_status status = PL_OK;
    if (job->how->import == job->how->export) {
        pl_buf_add(&made, text);
        status = made.status;
    } else {
        if (job->how->model)
            status = set_model(job, err);
        if (status == PL_OK)
            status = pl_export_converted(job->how->export, &how, job->opts.is_strict, &job->made,
                                         &made, err);
    }
    if (status == PL_OK) {
        pl_buf_deinit(&job->made.out);
        job->made.out = made;
    } else {
        pl_buf_deinit(&made);
    }
    return status;
}

/* Converts one document to job->made. */
static enum pl_status convert(struct job *job, struct pl_str text, struct pl_error *err)
{
    enum pl_status status = PL_OK;
    struct pl_str source = text;
    if (job->how->import) {
        status = job->how->import->read(&job->imported, text, err);
        source = pl_buf_str(&job->imported);
    }
    if (status == PL_OK)
        status = pl_convert(source, &job->opts, &job->made, err);
    if (status == PL_OK && job->how->export)
        status = write_export(job, text, err);
    if (status != PL_OK && !err->message[0])
        snprintf(err->message, sizeof err->message, "%s", pl_status_info(status)->text);
    err->status = status;
    return status;
}

static enum pl_exit read_carry(struct job *job)
{
    const char *path = job->at->with_carry;
    struct pl_error err = {0};
    if (!path)
        return PL_EXIT_OK;
    enum pl_status status = job->at->is_ndjson ? pl_file_read(path, 0, NULL, &job->carry, &err)
                                               : pl_input_read(path, &job->carry, &err);
    if (status == PL_OK && !job->carry.bytes.len)
        status = pl_fail(&err, PL_UNREADABLE, "this is not a carry: it is empty");
    if (status != PL_OK)
        return pl_console_fail(job->how->console, path, &err);
    job->opts.carry = job->carry.bytes;
    return PL_EXIT_OK;
}

/* Also writes the report of a refusal: it says why. */
static enum pl_exit convert_document(struct job *job)
{
    PL_CLEANUP_FILE struct pl_file file = {0};
    struct pl_error err = {0};
    if (pl_input_read(job->at->in, &file, &err) != PL_OK)
        return pl_console_fail(job->how->console, job->name, &err);
    enum pl_exit code = read_carry(job);
    if (code != PL_EXIT_OK)
        return code;
    enum pl_status status = convert(job, file.bytes, &err);
    if (job->made.report.len)
        code = save(job, job->at->report, &job->made.report);
    if (status != PL_OK)
        return pl_console_fail(job->how->console, job->name, &err);
    if (code == PL_EXIT_OK && job->made.carry.len)
        code = save(job, job->at->carry, &job->made.carry);
    return code == PL_EXIT_OK ? put_out(job, &job->made.out) : code;
}

static struct pl_str trimmed(struct pl_str s)
{
    while (s.len && pl_ascii_is_white(s.ptr[s.len - 1]))
        s.len--;
    while (s.len && pl_ascii_is_white(s.ptr[0]))
        s = pl_str_slice(s, 1, s.len);
    return s;
}

/* Writes a value as one line. A value with line breaks (from a multi-line argument, or from a carry
 * of such a document) is written without white space. */
static enum pl_status add_line(struct pl_buf *to, struct pl_str json, struct pl_error *err)
{
    json = trimmed(json);
    enum pl_status status = PL_OK;
    if (json.len && (memchr(json.ptr, '\n', json.len) || memchr(json.ptr, '\r', json.len))) {
        PL_CLEANUP_ARENA struct pl_arena arena;
        pl_arena_init(&arena, 0);
        struct pl_json_doc doc;
        struct pl_json_notes notes;
        status = pl_json_parse_lenient(&arena, json, &pl_json_made, &doc, &notes, err);
        if (status == PL_OK)
            pl_json_write_min(to, &doc, doc.root);
    } else {
        pl_buf_add(to, json);
    }
    pl_buf_addc(to, '\n');
    return status == PL_OK ? to->status : status;
}

/* Adds the report of one line: that of the conversion, or its error. */
static enum pl_status add_report(struct lines *lines, const struct pl_error *err)
{
    struct pl_str report = trimmed(pl_buf_str(&lines->job->made.report));
    struct pl_buf *to = &lines->report;
    pl_buf_addf(to, "{\"line\":%zu,", lines->number);
    if (report.len) {
        pl_buf_add(to, pl_str_slice(report, 1, report.len));
        pl_buf_addc(to, '\n');
        return to->status;
    }
    pl_buf_adds(to, "\"error\":");
    struct pl_json_out out = pl_json_out(to);
    pl_json_out_text(&out, pl_str_of(err->message));
    pl_buf_adds(to, "}\n");
    return to->status;
}

static void fail_line(struct lines *lines, struct pl_error *err)
{
    if (!err->has_position)
        err->column = 1;
    err->has_position = true;
    err->line = lines->number;
    enum pl_exit code = pl_console_fail(lines->job->how->console, lines->job->name, err);
    if (code > lines->code)
        lines->code = code;
}

/* Cuts the first line that is not blank off *rest. */
static struct pl_str take_line(struct pl_str *rest)
{
    struct pl_str line = {0};
    while (rest->len && !line.len) {
        const char *end = memchr(rest->ptr, '\n', rest->len);
        size_t len = end ? (size_t)(end - rest->ptr) : rest->len;
        line = trimmed(pl_str_slice(*rest, 0, len));
        *rest = pl_str_slice(*rest, len + 1, rest->len);
    }
    return line;
}

/* PL_OK also if the line failed and was reported; any other status ends the run. */
static enum pl_status convert_line(struct lines *lines, struct pl_str line, struct pl_error *err)
{
    struct job *job = lines->job;
    struct pl_error failure = {0};
    enum pl_status status = PL_OK;
    job_reset(job);
    if (job->at->with_carry) {
        job->opts.carry = take_line(&lines->carry_lines);
        if (!job->opts.carry.len)
            status = pl_fail(&failure, PL_INVALID, "the carry has no line for it");
    }
    if (status == PL_OK)
        status = convert(job, line, &failure);
    size_t n_out = lines->out.len;
    if (status == PL_OK)
        status = add_line(&lines->out, pl_buf_str(&job->made.out), &failure);
    if (status == PL_OK && job->at->carry)
        status = add_line(&lines->carry, pl_buf_str(&job->made.carry), &failure);
    if (status != PL_OK) {
        lines->out.len = n_out;
        failure.status = status;
        fail_line(lines, &failure);
    }
    if (job->at->report && add_report(lines, &failure) != PL_OK)
        return pl_fail(err, PL_NOMEM, "out of memory");
    return status == PL_NOMEM ? pl_fail(err, status, "out of memory") : PL_OK;
}

/* Writes all results before waiting for more input. */
static enum pl_exit flush(struct lines *lines)
{
    if (lines->job->at->out || !lines->out.len)
        return PL_EXIT_OK;
    enum pl_exit code = put_out(lines->job, &lines->out);
    pl_buf_clear(&lines->out);
    return code;
}

static enum pl_status read_more(struct lines *lines, struct pl_error *err)
{
    struct pl_buf *text = &lines->text;
    struct pl_str got;
    if (lines->from) {
        memmove(text->ptr, text->ptr + lines->from, text->len - lines->from);
        text->len -= lines->from;
        lines->searched -= lines->from;
        lines->from = 0;
    }
    if (text->len > MAX_LINE_BYTES)
        return pl_fail(err, PL_LIMIT, "line %zu is longer than the limit of %d bytes",
                       lines->number + 1, MAX_LINE_BYTES);
    char *to = pl_buf_reserve(text, CHUNK_BYTES);
    if (!to)
        return pl_fail(err, PL_NOMEM, "out of memory while reading");
    enum pl_status status = pl_fd_read(lines->fd, to, CHUNK_BYTES, &got, err);
    if (status == PL_OK) {
        text->len += got.len;
        lines->is_over = got.len == 0;
    }
    return status;
}

/* Converts the complete lines; the last one may lack its line break. */
static enum pl_status convert_ready(struct lines *lines, struct pl_error *err)
{
    enum pl_status status = PL_OK;
    while (status == PL_OK) {
        struct pl_str rest = pl_str_slice(pl_buf_str(&lines->text), lines->from, SIZE_MAX);
        struct pl_str fresh = pl_str_slice(pl_buf_str(&lines->text), lines->searched, SIZE_MAX);
        const char *end = fresh.len ? memchr(fresh.ptr, '\n', fresh.len) : NULL;
        lines->searched = lines->text.len;
        if (!end && !(lines->is_over && rest.len))
            return PL_OK;
        size_t len = end ? (size_t)(end - rest.ptr) : rest.len;
        lines->from += end ? len + 1 : len;
        lines->searched = lines->from;
        lines->number++;
        struct pl_str line = trimmed(pl_str_slice(rest, 0, len));
        if (line.len)
            status = convert_line(lines, line, err);
    }
    return status;
}

static enum pl_exit convert_all(struct lines *lines)
{
    struct pl_error err = {0};
    enum pl_status status = PL_OK;
    while (status == PL_OK && !lines->is_over) {
        enum pl_exit code = flush(lines);
        if (code != PL_EXIT_OK)
            return code;
        status = read_more(lines, &err);
        if (status == PL_OK)
            status = convert_ready(lines, &err);
    }
    if (status != PL_OK)
        return pl_console_fail(lines->job->how->console, lines->job->name, &err);
    return lines->job->at->out ? PL_EXIT_OK : flush(lines);
}

static enum pl_exit save_lines(struct lines *lines)
{
    enum pl_exit code = save(lines->job, lines->job->at->report, &lines->report);
    if (code == PL_EXIT_OK)
        code = save(lines->job, lines->job->at->carry, &lines->carry);
    if (code == PL_EXIT_OK && lines->job->at->out)
        code = put_out(lines->job, &lines->out);
    return code;
}

static enum pl_exit convert_lines(struct job *job)
{
    struct lines lines = {.job = job};
    struct pl_error err = {0};
    struct pl_buf *const bufs[] = {&lines.text, &lines.out, &lines.report, &lines.carry};
    for (size_t i = 0; i < sizeof bufs / sizeof *bufs; i++)
        pl_buf_init(bufs[i], 0);
    enum pl_exit code = read_carry(job);
    if (code != PL_EXIT_OK)
        return code;
    lines.carry_lines = job->carry.bytes;
    if (pl_fd_open(job->at->in, &lines.fd, &err) != PL_OK)
        return pl_console_fail(job->how->console, job->name, &err);
    code = convert_all(&lines);
    if (code == PL_EXIT_OK)
        code = save_lines(&lines);
    pl_fd_close(lines.fd);
    for (size_t i = 0; i < sizeof bufs / sizeof *bufs; i++)
        pl_buf_deinit(bufs[i]);
    return code > lines.code ? code : lines.code;
}

enum pl_exit pl_converting_run(const struct pl_converting *how, const struct pl_converting_at *at)
{
    struct job job = {.how = how, .at = at, .opts = how->opts, .name = pl_input_name(at->in)};
    pl_converted_init(&job.made);
    pl_workspace_init(&job.space);
    job.opts.way_home = &pl_carry_way;
    job.opts.workspace = &job.space;
    pl_buf_init(&job.imported, 0);
    enum pl_exit code = at->is_ndjson ? convert_lines(&job) : convert_document(&job);
    pl_converted_deinit(&job.made);
    pl_workspace_deinit(&job.space);
    pl_buf_deinit(&job.imported);
    pl_file_close(&job.carry);
    return code;
}
