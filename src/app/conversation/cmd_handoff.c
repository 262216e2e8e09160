/* parley handoff: packets that hand a task over to another agent. */
#include "app/frame/commands.h"
#include "app/frame/input.h"
#include "app/frame/verbs.h"

#include "base/text/utc.h"
#include "base/text/utf8.h"
#include "handoff/handoff.h"
#include "format/source.h"
#include "io/clock.h"
#include "json/parse/lenient.h"
#include "json/text.h"
#include "json/write.h"

#include <stdio.h>

/* A parsed document. */
struct reading {
    struct pl_file file; /* owned */
    struct pl_buf inner; /* owned; the document of gpt-oss text */
    struct pl_json_doc doc;
    const struct pl_format *format; /* gpt-oss; NULL: JSON */
};

struct job {
    struct pl_console *console; /* borrowed */
    const struct pl_args *args; /* borrowed */
    const char *path, *name;    /* of the input; its name in messages */
    struct pl_arena arena;      /* owned */
    struct reading input, previous;
    bool has_previous;
    char timestamp[PL_UTC_SIZE];
    PL_VEC(struct pl_str) texts; /* owned; steps, then constraints, then the criteria of done */
    PL_VEC(struct pl_handoff_artifact) artifacts; /* owned */
    struct pl_handoff_reasons reasons;            /* owned */
};

static struct pl_str value_of(const struct job *job, enum pl_option_id id)
{
    const struct pl_option_use *use = pl_args_find(job->args, id);
    return use ? pl_str_of(use->values[0]) : (struct pl_str){0};
}

static enum pl_exit read_document(struct job *job, const char *path, struct reading *to)
{
    struct pl_error err = {0};
    struct pl_json_notes notes;
    enum pl_status status = pl_input_read(path, &to->file, &err);
    struct pl_str text = to->file.bytes;
    if (status == PL_OK)
        status = pl_source_unwrap(&text, &to->format, &to->inner, &err);
    if (status == PL_OK)
        status = pl_json_parse_lenient(&job->arena, text, &pl_json_any, &to->doc, &notes, &err);
    return status == PL_OK ? PL_EXIT_OK
                           : pl_console_fail_as(job->console, pl_input_name(path), status, &err);
}

static enum pl_exit read_inputs(struct job *job)
{
    for (size_t i = 0; i < job->args->uses.len; i++) {
        const struct pl_option_use *use = &job->args->uses.ptr[i];
        if (use->values[0] && !pl_utf8_is_valid(pl_str_of(use->values[0])))
            return pl_usage_fail(job->console, "handoff", "the value of --%s is not UTF-8",
                                 use->option->name);
    }
    enum pl_exit code = read_document(job, job->path, &job->input);
    const struct pl_option_use *previous = pl_args_find(job->args, PL_OPT_PREVIOUS);
    if (code == PL_EXIT_OK && previous) {
        code = read_document(job, previous->values[0], &job->previous);
        job->has_previous = true;
    }
    return code;
}

/* Appends all values of a repeatable option to job->texts. Returns their number. */
static size_t gather(struct job *job, enum pl_option_id id)
{
    size_t n = 0;
    for (size_t i = 0; i < job->args->uses.len; i++)
        if (job->args->uses.ptr[i].option->id == id &&
            pl_vec_push(&job->texts, pl_str_of(job->args->uses.ptr[i].values[0])))
            n++;
    return n;
}

static enum pl_exit gather_artifacts(struct job *job)
{
    struct pl_error err = {0};
    for (size_t i = 0; i < job->args->uses.len; i++) {
        const struct pl_option_use *use = &job->args->uses.ptr[i];
        if (use->option->id != PL_OPT_ARTIFACT)
            continue;
        const char *equals = strchr(use->values[0], '=');
        if (!equals || equals == use->values[0])
            return pl_usage_fail(job->console, "handoff",
                                 "--artifact must be NAME=PLACE, not "
                                 "\"%s\"",
                                 use->values[0]);
        struct pl_handoff_artifact artifact = {{use->values[0], (size_t)(equals - use->values[0])},
                                               pl_str_of(equals + 1)};
        if (!pl_vec_push(&job->artifacts, artifact))
            return pl_console_fail_as(job->console, NULL, PL_NOMEM, &err);
    }
    return PL_EXIT_OK;
}

static enum pl_status make_packet(struct job *job, struct pl_handoff_opts *opts,
                                  struct pl_error *err)
{
    const struct pl_format *format =
        job->input.format ? job->input.format : pl_format_detect(&job->input.doc);
    if (!format)
        return pl_fail(err, PL_INVALID, "this is not a conversation in a known format");
    struct pl_conv conv;
    enum pl_status status = pl_conv_init(&conv, &job->arena, &job->input.doc);
    if (status == PL_OK)
        status = format->read(&conv, PL_KIND_REQUEST, err);
    if (status == PL_OK)
        status = conv.status;
    if (status == PL_OK)
        status = pl_handoff_make(pl_console_out(job->console), &conv, opts, err);
    pl_conv_deinit(&conv);
    return status;
}

static enum pl_exit make(struct job *job)
{
    struct pl_error err = {0};
    struct pl_handoff_opts opts = {
        .source = value_of(job, PL_OPT_SOURCE),
        .target = value_of(job, PL_OPT_TARGET),
        .timestamp = {job->timestamp, PL_UTC_SIZE},
        .objective = value_of(job, PL_OPT_OBJECTIVE),
        .status = value_of(job, PL_OPT_STATUS),
        .next = value_of(job, PL_OPT_NEXT),
        .summary = value_of(job, PL_OPT_SUMMARY),
        .id = value_of(job, PL_OPT_ID),
        .trace = value_of(job, PL_OPT_TRACE),
        .previous = job->has_previous ? &job->previous.doc : NULL,
    };
    if (!opts.target.len)
        return pl_usage_fail(job->console, "handoff", "no receiver; give --target AGENT");
    enum pl_exit code = gather_artifacts(job);
    if (code != PL_EXIT_OK)
        return code;
    size_t n_steps = gather(job, PL_OPT_STEP), n_constraints = gather(job, PL_OPT_CONSTRAINT);
    size_t n_done = gather(job, PL_OPT_DONE);
    opts.steps = (struct pl_handoff_texts){job->texts.ptr, n_steps};
    opts.constraints = (struct pl_handoff_texts){job->texts.ptr + n_steps, n_constraints};
    opts.done = (struct pl_handoff_texts){job->texts.ptr + n_steps + n_constraints, n_done};
    opts.artifacts = job->artifacts.ptr;
    opts.n_artifacts = job->artifacts.len;
    enum pl_status status = make_packet(job, &opts, &err);
    if (status != PL_OK)
        return pl_console_fail_as(job->console, job->name, status, &err);
    pl_console_puts(job->console, "\n");
    return PL_EXIT_OK;
}

static enum pl_exit look(struct job *job)
{
    struct pl_error err = {0};
    enum pl_status status = pl_handoff_check(&job->arena, &job->input.doc,
                                             job->has_previous ? &job->previous.doc : NULL,
                                             value_of(job, PL_OPT_AGENT), &job->reasons, &err);
    return status == PL_OK ? PL_EXIT_OK : pl_console_fail_as(job->console, job->name, status, &err);
}

static void put_problem(struct job *job, const struct pl_handoff_reason *problem)
{
    static const char *const opens[] = {" (at ", "（位于 "}, *const closes[] = {")", "）"};
    enum pl_schema_lang lang = job->reasons.lang;
    pl_console_put_safe(job->console, pl_str_of(job->name));
    pl_console_puts(job->console, ": ");
    pl_console_put_safe(job->console, problem->message);
    if (problem->pointer.len) {
        pl_console_puts(job->console, opens[lang]);
        pl_console_put_safe(job->console, problem->pointer);
        pl_console_puts(job->console, closes[lang]);
    }
    pl_console_puts(job->console, "\n");
}

static enum pl_exit check(struct job *job)
{
    static const char *const fine[] = {"ok", "没有问题"};
    enum pl_schema_lang lang = job->console->is_chinese ? PL_SCHEMA_ZH : PL_SCHEMA_EN;
    job->reasons.lang = lang;
    enum pl_exit code = look(job);
    if (code != PL_EXIT_OK)
        return code;
    bool is_valid = job->reasons.list.len == 0;
    if (pl_args_has(job->args, PL_OPT_JSON)) {
        struct pl_json_out out = pl_json_out(pl_console_out(job->console));
        pl_json_out_open(&out, '{');
        pl_json_out_key(&out, "valid");
        pl_json_out_bool(&out, is_valid);
        pl_json_out_key(&out, "errors");
        pl_handoff_reasons_write(&out, &job->reasons);
        pl_json_out_close(&out, '}');
        pl_console_puts(job->console, "\n");
        return is_valid ? PL_EXIT_OK : PL_EXIT_NO;
    }
    for (size_t i = 0; i < job->reasons.list.len; i++)
        put_problem(job, &job->reasons.list.ptr[i]);
    if (is_valid) {
        pl_console_put_safe(job->console, pl_str_of(job->name));
        pl_console_puts(job->console, ": ");
        pl_console_put_styled(job->console, PL_STYLE_GOOD, fine[lang]);
        pl_console_puts(job->console, "\n");
    }
    return is_valid ? PL_EXIT_OK : PL_EXIT_NO;
}

static enum pl_exit answer(struct job *job, bool is_accepted)
{
    struct pl_handoff_answer said = {
        .is_accepted = is_accepted && job->reasons.list.len == 0,
        .agent = value_of(job, PL_OPT_AGENT),
        .timestamp = {job->timestamp, PL_UTC_SIZE},
        .reasons = &job->reasons,
    };
    const struct pl_json_node *meta =
        pl_json_get(&job->input.doc, job->input.doc.root, PL_STR("meta"));
    const struct pl_json_node *target =
        meta ? pl_json_get(&job->input.doc, meta, PL_STR("target_agent")) : NULL;
    if (!said.agent.len && target && pl_json_kind(target) == PL_JSON_STRING &&
        pl_json_text(&job->arena, &job->input.doc, target, &said.agent) != PL_OK)
        said.agent = (struct pl_str){0};
    pl_handoff_answer_write(pl_console_out(job->console), &job->arena, &job->input.doc, &said);
    pl_console_puts(job->console, "\n");
    return said.is_accepted == is_accepted ? PL_EXIT_OK : PL_EXIT_NO;
}

static enum pl_exit accept(struct job *job)
{
    enum pl_exit code = look(job);
    return code == PL_EXIT_OK ? answer(job, true) : code;
}

/* Puts the given reasons before those of the rules. */
static enum pl_exit refuse(struct job *job)
{
    struct pl_error err = {0};
    struct pl_handoff_reasons rules = {0};
    enum pl_exit code = look(job);
    if (code != PL_EXIT_OK)
        return code;
    rules = job->reasons;
    job->reasons = (struct pl_handoff_reasons){0};
    bool is_done = true;
    for (size_t i = 0; i < job->args->uses.len; i++)
        if (job->args->uses.ptr[i].option->id == PL_OPT_REASON)
            is_done &= pl_vec_push(&job->reasons.list,
                                   (struct pl_handoff_reason){
                                       PL_STR(""), pl_str_of(job->args->uses.ptr[i].values[0])});
    for (size_t i = 0; i < rules.list.len; i++)
        is_done &= pl_vec_push(&job->reasons.list, rules.list.ptr[i]);
    pl_handoff_reasons_deinit(&rules);
    if (!is_done)
        return pl_console_fail_as(job->console, NULL, PL_NOMEM, &err);
    if (!job->reasons.list.len)
        return pl_usage_fail(job->console, "handoff",
                             "the packet is correct, so a refusal needs a reason; give --reason "
                             "TEXT");
    return answer(job, false);
}

static enum pl_exit with_packet(struct pl_deed *deed, enum pl_exit (*fn)(struct job *job))
{
    struct job job = {.console = deed->console, .args = deed->args, .path = deed->words[0]};
    job.name = pl_input_name(job.path);
    pl_arena_init(&job.arena, 0);
    pl_buf_init(&job.input.inner, 0);
    pl_buf_init(&job.previous.inner, 0);
    pl_utc_write(job.timestamp, pl_clock_unix_ms());
    enum pl_exit code = read_inputs(&job);
    if (code == PL_EXIT_OK)
        code = fn(&job);
    pl_handoff_reasons_deinit(&job.reasons);
    pl_vec_deinit(&job.texts);
    pl_vec_deinit(&job.artifacts);
    pl_arena_deinit(&job.arena);
    pl_buf_deinit(&job.input.inner);
    pl_buf_deinit(&job.previous.inner);
    pl_file_close(&job.input.file);
    pl_file_close(&job.previous.file);
    return code;
}

static enum pl_exit handoff_make(struct pl_deed *deed)
{
    return with_packet(deed, make);
}

static enum pl_exit handoff_check(struct pl_deed *deed)
{
    return with_packet(deed, check);
}

static enum pl_exit handoff_accept(struct pl_deed *deed)
{
    return with_packet(deed, accept);
}

static enum pl_exit handoff_refuse(struct pl_deed *deed)
{
    return with_packet(deed, refuse);
}

const struct pl_verb pl_handoff_verbs[] = {
    {"make", "FILE", 1, 1, "Make a packet of a conversation", handoff_make, .is_offline = true},
    {"check", "FILE", 1, 1, "Check a packet", handoff_check, .is_offline = true},
    {"accept", "FILE", 1, 1, "Accept a packet that is correct", handoff_accept, .is_offline = true},
    {"refuse", "FILE", 1, 1, "Refuse a packet, with reasons", handoff_refuse, .is_offline = true},
    {0},
};
