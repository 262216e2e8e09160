/* parley convert: converts to another format, with a loss report and a carry. This file parses the
 * command line; converting.c converts one source and convert_many.c a directory. */
#include "app/conversation/converting.h"
#include "app/frame/input.h"

#include "format/gpt_oss/gpt_oss.h"
#include "format/profile.h"
#include "io/file/outfile.h"
#include "io/file/file_tree.h"

static enum pl_exit read_options(struct pl_converting *how, const struct pl_args *args)
{
    const char *from = pl_args_value(args, PL_OPT_FROM), *to = pl_args_value(args, PL_OPT_TO);
    const char *kind = pl_args_value(args, PL_OPT_KIND), *mode = pl_args_value(args, PL_OPT_MODE);
    const char *profile = pl_args_value(args, PL_OPT_PROFILE);
    if (!to)
        return pl_usage_fail(how->console, "convert", "no target format; give --to FORMAT");
    how->import = from ? pl_export_find(pl_str_of(from)) : NULL;
    how->export = pl_export_find(pl_str_of(to));
    how->opts = (struct pl_convert_opts){
        .from = how->import ? &pl_format_structured_chat
                : from      ? pl_format_find(pl_str_of(from))
                            : NULL,
        .to = how->export ? &pl_format_structured_chat : pl_format_find(pl_str_of(to)),
        .kind = kind && strcmp(kind, "response") == 0 ? PL_KIND_RESPONSE : PL_KIND_REQUEST,
        .mode = !mode || strcmp(mode, "convert") == 0 ? PL_MODE_CONVERT
                : strcmp(mode, "repair") == 0         ? PL_MODE_REPAIR
                                                      : PL_MODE_GATEWAY,
        .profile = profile ? pl_profile_find(pl_str_of(profile)) : NULL,
        .is_strict = pl_args_has(args, PL_OPT_STRICT),
    };
    how->export_how = (struct pl_export_how){.appends_system = pl_args_has(args, PL_OPT_APPEND),
                                             .model_option = "--model NAME"};
    how->model = pl_args_value(args, PL_OPT_MODEL);
    if (how->model && (!how->export || how->import == how->export))
        return pl_usage_fail(how->console, "convert",
                             "--model goes with --to curl and the other forms of a prompt, not "
                             "with %s",
                             to);
    if (how->export_how.appends_system && (!how->export || !how->export->may_append))
        return pl_usage_fail(how->console, "convert",
                             "--append goes with --to claude: %s has no system prompt of its own",
                             to);
    how->opts.refuses_wrong_types = pl_mode_refuses_wrong_types(how->opts.mode, how->opts.kind);
    if (how->opts.profile && strcmp(how->opts.profile->format, to) != 0)
        return pl_usage_fail(how->console, "convert", "the profile %s is for %s, not for %s",
                             profile, how->opts.profile->format, to);
    return PL_EXIT_OK;
}

enum pl_exit pl_converting_check_ndjson(const struct pl_converting *how, const char *name)
{
    const char *text = how->import                            ? how->import->name
                       : how->export                          ? how->export->name
                       : how->opts.from == &pl_format_gpt_oss ? how->opts.from->name
                       : how->opts.to == &pl_format_gpt_oss   ? how->opts.to->name
                                                              : NULL;
    if (!text)
        return PL_EXIT_OK;
    return pl_usage_fail(how->console, "convert",
                         "%s is read as NDJSON (one JSON document per line), but %s is not JSON",
                         name, text);
}

static enum pl_exit convert_one(const struct pl_converting *how, const struct pl_args *args)
{
    struct pl_converting_at at = {
        .in = args->operands.ptr[0],
        .report = pl_args_value(args, PL_OPT_REPORT),
        .carry = pl_args_value(args, PL_OPT_CARRY),
        .with_carry = pl_args_value(args, PL_OPT_WITH_CARRY),
        .is_ndjson = pl_converting_is_ndjson(args, args->operands.ptr[0]),
    };
    if (pl_path_is_directory(at.in))
        return pl_usage_fail(how->console, "convert",
                             "%s is a directory; give --out DIR for the results", at.in);
    const struct pl_outfile_name outputs[] = {
        {"the result", "-"}, {"--report", at.report}, {"--carry", at.carry}};
    struct pl_error err = {0};
    if (pl_outfile_check_all(outputs, sizeof outputs / sizeof *outputs, &err) != PL_OK)
        return pl_usage_fail(how->console, "convert", "%s", err.message);
    enum pl_exit code = PL_EXIT_OK;
    if (at.is_ndjson)
        code = pl_converting_check_ndjson(how, pl_input_name(at.in));
    return code == PL_EXIT_OK ? pl_converting_run(how, &at) : code;
}

bool pl_converting_is_ndjson(const struct pl_args *args, const char *path)
{
    size_t len = strlen(path);
    struct pl_str end = PL_STR(".ndjson");
    return pl_args_has(args, PL_OPT_NDJSON) ||
           (len > end.len && pl_str_eq(pl_str_slice(pl_str_of(path), len - end.len, len), end));
}

enum pl_exit pl_cmd_convert(struct pl_console *console, const struct pl_args *args)
{
    struct pl_converting how = {.console = console};
    enum pl_exit code = read_options(&how, args);
    if (code != PL_EXIT_OK)
        return code;
    const char *out = pl_args_value(args, PL_OPT_OUT);
    if (out && strcmp(out, "-") != 0)
        return pl_convert_many(&how, args);
    if (args->operands.len > 1)
        return pl_usage_fail(console, "convert",
                             "several files need an output directory; give --out DIR");
    return convert_one(&how, args);
}
