/* The table of all commands, the options they share, and the choices of common options. */
#include "app/chat/chat_commands.h"
#include "app/frame/commands.h"

#include "app/conversation/conversation_commands.h"
#include "app/extension/extension_commands.h"
#include "app/library/library_commands.h"
#include "app/server/server_commands.h"
#include "app/frame/verbs.h"
#include "format/format.h"
#include "schema/builtin.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

const char pl_program_summary[] =
    "converts LLM conversations between formats without losing anything";

const struct pl_exit_line pl_exit_lines[] = {
    {PL_EXIT_OK, "success"},
    {PL_EXIT_NO, "the answer is no: the input is invalid, lacks that pointer or has another form"},
    {PL_EXIT_USAGE, "the command line is wrong"},
    {PL_EXIT_UNREADABLE, "a file is missing, too large or not JSON, or the schema cannot be used"},
    {PL_EXIT_FAILED, "input, output or the server failed, or memory ran out"},
    {0, NULL},
};

const struct pl_place_line pl_env_lines[] = {
    {"NO_COLOR", "if set: no colours (by default only on a terminal)", NULL, PL_OPT_HELP},
    {"PARLEY_SERVER, PARLEY_KEY", "the server to use, and the key for it", NULL, PL_OPT_SERVER},
    {"PARLEY_DATA", "the data directory, if --data names none", NULL, PL_OPT_DATA},
    {"PARLEY_CONFIG", "the configuration file of the server, if --config names none", NULL,
     PL_OPT_DATA},
    {"PARLEY_HOST, PARLEY_PORT, ...", "the settings of \"parley serve\", see --print-config",
     "serve", PL_OPT_HELP},
    {"PAGER", "the pager for tables longer than the screen; less by default, no pager if empty",
     NULL, PL_OPT_NO_PAGER},
    {"VISUAL, EDITOR", "the editor of \"parley prompt edit\"; the first one that is set", "prompt",
     PL_OPT_HELP},
    {"PARLEY_TZDIR", "the directory of the time zone files; /usr/share/zoneinfo by default",
     "serve, task", PL_OPT_HELP},
    {"PARLEY_TRACE_MOVES",
     "if set: \"parley serve\" writes every change of state to standard error", "serve",
     PL_OPT_HELP},
    {"XDG_DATA_HOME, XDG_CONFIG_HOME, XDG_STATE_HOME",
     "where the files below are; ~/.local/share, ~/.config and ~/.local/state by default", NULL,
     PL_OPT_DATA},
    {"LC_ALL, LC_MESSAGES, LANG",
     "messages are in Chinese if the first one that is set starts with zh", NULL, PL_OPT_HELP},
    {0},
};

const struct pl_place_line pl_file_lines[] = {
    {"$XDG_CONFIG_HOME/parley/config.yaml", "the configuration of the server", NULL, PL_OPT_DATA},
    {"$XDG_DATA_HOME/parley", "the data directory: what the server stores", NULL, PL_OPT_DATA},
    {"$XDG_DATA_HOME/parley/parley.db", "the store, unless another one is configured", NULL,
     PL_OPT_DATA},
    {"$XDG_DATA_HOME/parley/parley.sock",
     "the control socket, by which commands find a running server", NULL, PL_OPT_DATA},
    {"$XDG_STATE_HOME/parley/history", "the history of what you typed", "chat", PL_OPT_HELP},
    {"/usr/share/zoneinfo", "the time zones", "serve, task", PL_OPT_HELP},
    {0},
};

static const char *schema_choice(size_t i)
{
    return pl_schema_builtins[i].name;
}

static const char *output_choice(size_t i)
{
    static const char *const names[] = {"flag", "basic", NULL};
    return names[i];
}

const char *pl_format_choice(size_t i)
{
    return pl_formats[i] ? pl_formats[i]->name : NULL;
}

static const char *shell_choice(size_t i)
{
    static const char *const names[] = {"bash", "zsh", "fish", NULL};
    return names[i];
}

const char *pl_command_choice(size_t i)
{
    return pl_commands[i].name;
}

static const struct pl_option validate_options[] = {
    {"as", PL_OPT_AS, .args = {"NAME"}, .choice = schema_choice,
     .help = "Check against a built-in schema"},
    {"schema", PL_OPT_SCHEMA, .args = {"FILE"}, .takes_file = true,
     .help = "Check against the schema in FILE (JSON Schema 2020-12)"},
    {"format-assertion", PL_OPT_FORMAT_ASSERTION,
     .help = "Enforce the keyword \"format\"; by default it is only an annotation"},
    {"output", PL_OPT_OUTPUT, .args = {"FORM"}, .choice = output_choice,
     .help = "Level of detail: flag is only valid or not; basic with --json is the standard's "
             "basic output document"},
    {"json", PL_OPT_JSON, .help = "Print JSON for machines, one object per file and line"},
    PL_OPTIONS_SHARED,
    {0},
};

static const char *const validate_paragraphs[] = {
    "Reads each FILE (- is standard input) and prints whether it is valid. Each error has a line, "
    "a column, a JSON Pointer, and a sentence with the value and what was expected.",
    "With --json a single file gives {\"valid\":true,\"errors\":[]}; each error has pointer, "
    "message, keyword, line and column. Several files give one such object per line, with the "
    "member \"file\" first. A file that is missing or is not JSON gives the same object with "
    "keyword null, and the run continues.",
    "With several files, the exit code is the highest.",
    "References ($ref) work within the schema and to the meta-schemas; nothing is downloaded.",
    NULL,
};

static const struct pl_example validate_examples[] = {
    {"validate --as envelope prompt.json", "Check one prompt envelope"},
    {"validate --schema order.schema.json orders/*.json", "Check many files against your schema"},
    {"validate --as pi --json - < message.json", "Check standard input, answer in JSON"},
    {NULL, NULL},
};

static const struct pl_option json_options[] = {
    {"pretty", PL_OPT_PRETTY, .help = "Indent by two spaces (default)"},
    {"minify", PL_OPT_MINIFY, .help = "Remove all white space between values"},
    {"canonical", PL_OPT_CANONICAL,
     .help = "Write the canonical form: keys sorted by bytes, fewest escapes, no white space; for "
             "hashing and comparing"},
    {"get", PL_OPT_GET, .args = {"POINTER"},
     .help = "Print the value at a JSON Pointer as it is spelled, and a newline"},
    {"raw", PL_OPT_RAW, .help = "With --get: print a string decoded, without its quotes"},
    {"set", PL_OPT_SET, .args = {"POINTER", "VALUE"}, .is_repeatable = true,
     .help = "Replace a value, or add it if only the last step of POINTER is missing"},
    {"insert", PL_OPT_INSERT, .args = {"POINTER", "VALUE"}, .is_repeatable = true,
     .help = "Insert before an array element (- as the last step: at the end), or add a new "
             "member"},
    {"remove", PL_OPT_REMOVE, .args = {"POINTER"}, .is_repeatable = true,
     .help = "Remove a member or an element with its comma"},
    {"lenient", PL_OPT_LENIENT,
     .help = "Accept comments, trailing commas, a byte-order mark and lone surrogates, and report "
             "each on standard error"},
    {"check", PL_OPT_CHECK,
     .help = "Print nothing: exit 0 if the input is JSON; with --pretty, --minify or --canonical, "
             "exit 1 if it does not already have that form"},
    PL_OPTIONS_SHARED,
    {0},
};

static const char *const json_paragraphs[] = {
    "Reads one FILE (- is standard input) as strict JSON (RFC 8259) and writes it in the chosen "
    "form. Strings and numbers keep their spelling, except in the canonical form.",
    "--set, --insert and --remove may be repeated and mixed. They apply in the given order, each "
    "to the result of the previous one. VALUE is JSON: a string needs its quotes. All other bytes "
    "stay the same, so the result ends with a newline only if the input did. With --lenient, "
    "comments and trailing commas stay too.",
    "Output is written only after everything has succeeded. The file itself is never changed.",
    NULL,
};

static const struct pl_example json_examples[] = {
    {"json data.json", "Show a file indented"},
    {"json --get /messages/0/role chat.json", "Print one value"},
    {"json --set /model '\"demo\"' --remove /user request.json > new.json",
     "Change two values and nothing else"},
    {"json --lenient --minify settings.jsonc", "Turn JSON with comments into JSON"},
    {"json --canonical a.json | sha256sum", "Hash the content of a file, not its spelling"},
    {NULL, NULL},
};

static const struct pl_option version_options[] = {
    {"json", PL_OPT_JSON, .help = "Print JSON for machines"},
    PL_OPTIONS_SHARED,
    {0},
};

static const char *const version_paragraphs[] = {
    "Prints the version of Parley, the instruction set that the JSON parser uses on this machine, "
    "and the version of PCRE2, which runs the regular expressions of schemas.",
    NULL,
};

static const struct pl_example version_examples[] = {
    {"version --json", "Use it in a script"},
    {NULL, NULL},
};

static const struct pl_option completion_options[] = {
    PL_OPTIONS_SHARED,
    {0},
};

static const char *const completion_paragraphs[] = {
    "Prints a completion script for the shell. \"make install\" installs these scripts; use this "
    "command without installing.",
    NULL,
};

static const struct pl_example completion_examples[] = {
    {"completion bash > ~/.local/share/bash-completion/completions/parley", "For bash"},
    {"completion zsh > ~/.zfunc/_parley", "For zsh, if ~/.zfunc is in fpath"},
    {"completion fish > ~/.config/fish/completions/parley.fish", "For fish"},
    {NULL, NULL},
};

static const struct pl_option help_options[] = {
    {"man", PL_OPT_MAN, .is_hidden = true, .help = "Print the manual page"},
    PL_OPTIONS_SHARED,
    {0},
};

static const char *const help_paragraphs[] = {
    "Shows all commands, or the usage of one command or of one of its actions.",
    NULL,
};

static const struct pl_example help_examples[] = {
    {"help validate", "Show the usage of validate"},
    {"help prompt run", "Show the usage of prompt run"},
    {NULL, NULL},
};

#define VERB_OPERANDS "an action and its arguments"

const struct pl_command pl_commands[] = {
    {"serve", "Serve sessions over HTTP, WebSocket and SSE", "[OPTION]...", pl_serve_paragraphs,
     pl_serve_options, pl_serve_examples, NULL, 0, 0, "no operand", pl_cmd_serve},
    {"chat", "Talk with a model at the terminal", "[--session ID] [OPTION]...", pl_chat_paragraphs,
     pl_chat_options, pl_chat_examples, NULL, 0, 0, "no operand", pl_cmd_chat},
    {"run", "Run a prompt once, with one model or several side by side",
     "[--var NAME=VALUE]... [--model NAME]... [--cases FILE] PROMPT|FILE|TEXT", pl_run_paragraphs,
     pl_run_options, pl_run_examples, NULL, 1, 1, "one PROMPT, FILE (- for standard input) or TEXT",
     pl_cmd_run, .offers = "prompts",
     .columns = "case,model,result,checks,time,in,out,cost,values"},
    {"models", "List, show and try the models", "[ACTION] [OPTION]... [NAME]", pl_models_paragraphs,
     pl_models_options, pl_models_examples, NULL, 0, SIZE_MAX, VERB_OPERANDS,
     .verbs = pl_models_verbs},
    {"open", "Open the page of the server in a browser", "[OPTION]...", pl_open_paragraphs,
     pl_open_options, pl_open_examples, NULL, 0, 0, "no operand", pl_cmd_open},
    {"session", "Use and manage the conversations of a server", "ACTION [OPTION]... [ARGUMENT]...",
     pl_session_paragraphs, pl_session_options, pl_session_examples, NULL, 1, SIZE_MAX,
     VERB_OPERANDS, .verbs = pl_session_verbs},
    {"prompt", "Store prompts with versions and labels, compare and run them",
     "ACTION [OPTION]... [ARGUMENT]...", pl_prompt_paragraphs, pl_prompt_options,
     pl_prompt_examples, NULL, 1, SIZE_MAX, VERB_OPERANDS, .verbs = pl_prompt_verbs},
    {"memory", "Manage memories, which apply across sessions", "ACTION [OPTION]... [ARGUMENT]...",
     pl_memory_paragraphs, pl_memory_options, pl_memory_examples, NULL, 1, SIZE_MAX, VERB_OPERANDS,
     .verbs = pl_memory_verbs},
    {"task", "Run prompts on a schedule, and explain cron expressions",
     "ACTION [OPTION]... [ARGUMENT]...", pl_task_paragraphs, pl_task_options, pl_task_examples,
     NULL, 1, SIZE_MAX, VERB_OPERANDS, .verbs = pl_task_verbs},
    {"blob", "Store images, audio and documents", "ACTION [OPTION]... [ARGUMENT]...",
     pl_blob_paragraphs, pl_blob_options, pl_blob_examples, NULL, 1, SIZE_MAX, VERB_OPERANDS,
     .verbs = pl_blob_verbs},
    {"ext", "Make, try and add extensions, which give models tools",
     "ACTION [OPTION]... [ARGUMENT]...", pl_ext_paragraphs, pl_ext_options, pl_ext_examples, NULL,
     1, SIZE_MAX, VERB_OPERANDS, .verbs = pl_ext_verbs},
    {"key", "Create, list, change, rotate and revoke the keys of a server",
     "ACTION [OPTION]... [ID]", pl_key_paragraphs, pl_key_options, pl_key_examples, NULL, 1,
     SIZE_MAX, VERB_OPERANDS, .verbs = pl_key_verbs},
    {"user", "Add, disable and remove the users of a server", "ACTION [OPTION]... [ARGUMENT]...",
     pl_user_paragraphs, pl_user_options, pl_user_examples, NULL, 1, SIZE_MAX, VERB_OPERANDS,
     .verbs = pl_user_verbs},
    {"usage", "Show what users, keys and models have used", "[OPTION]...", pl_usage_paragraphs,
     pl_usage_options, pl_usage_examples, NULL, 0, 0, "no operand", pl_cmd_usage,
     .columns = "group,requests,failed,aborted,unpriced,input,output,usd"},
    {"audit", "Show who did what to users, keys and shares", "[ACTION] [OPTION]...",
     pl_audit_paragraphs, pl_audit_options, pl_audit_examples, NULL, 0, SIZE_MAX, VERB_OPERANDS,
     .verbs = pl_audit_verbs},
    {"cluster", "Show the nodes of a cluster, and shut one down", "[ACTION] [OPTION]...",
     pl_cluster_paragraphs, pl_cluster_options, pl_cluster_examples, NULL, 0, SIZE_MAX,
     VERB_OPERANDS, .verbs = pl_cluster_verbs},
    {"reload", "Make the server read its configuration again", "[OPTION]...", pl_reload_paragraphs,
     pl_reload_options, pl_reload_examples, NULL, 0, 0, "no operand", pl_cmd_reload},
    {"backup", "Copy everything a server stores to a file", "[OPTION]... FILE",
     pl_backup_paragraphs, pl_backup_options, pl_backup_examples, NULL, 1, 1, "the FILE to write",
     pl_cmd_backup},
    {"restore", "Replace the store with a backup", "[OPTION]... [FILE]", pl_restore_paragraphs,
     pl_restore_options, pl_restore_examples, NULL, 0, 1, "the FILE that backup has written",
     pl_cmd_restore},
    {"doctor", "Check this machine and its data for problems", "[OPTION]...", pl_doctor_paragraphs,
     pl_doctor_options, pl_doctor_examples, NULL, 0, 0, "no operand", pl_cmd_doctor},
    {"validate", "Check JSON files against a schema",
     "(--as NAME | --schema FILE) [OPTION]... FILE...", validate_paragraphs, validate_options,
     validate_examples, NULL, 1, SIZE_MAX, "a FILE to check (- for standard input)",
     pl_cmd_validate},
    {"convert", "Translate a conversation into another format", "--to FORMAT [OPTION]... FILE...",
     pl_convert_paragraphs, pl_convert_options, pl_convert_examples, NULL, 1, SIZE_MAX,
     "a FILE (- for standard input)", pl_cmd_convert},
    {"detect", "Detect the format of a conversation", "FILE", pl_detect_paragraphs,
     pl_detect_options, pl_detect_examples, NULL, 1, 1, "one FILE (- for standard input)",
     pl_cmd_detect},
    {"lint", "Find mistakes in a conversation", "[--as FORMAT] [OPTION]... FILE",
     pl_lint_paragraphs, pl_lint_options, pl_lint_examples, NULL, 1, 1,
     "one FILE (- for standard input)", pl_cmd_lint},
    {"media", "Make a message from a video", "frames --every TIME [OPTION]... VIDEO",
     pl_media_paragraphs, pl_media_options, pl_media_examples, NULL, 2, 2,
     "an action and one VIDEO", pl_cmd_media},
    {"render", "Fill in the variables of a prompt", "[--var NAME=VALUE]... [OPTION]... FILE",
     pl_render_paragraphs, pl_render_options, pl_render_examples, NULL, 1, 1,
     "one FILE (- for standard input)", pl_cmd_render},
    {"cite", "Show the sources of a conversation", "[--source ID=FILE]... [OPTION]... FILE",
     pl_cite_paragraphs, pl_cite_options, pl_cite_examples, NULL, 1, 1,
     "one FILE (- for standard input)", pl_cmd_cite},
    {"handoff", "Hand a task over to another agent", "ACTION [OPTION]... FILE",
     pl_handoff_paragraphs, pl_handoff_options, pl_handoff_examples, NULL, 1, SIZE_MAX,
     VERB_OPERANDS, .verbs = pl_handoff_verbs},
    {"json", "Format, query and edit JSON", "[OPTION]... FILE", json_paragraphs, json_options,
     json_examples, NULL, 1, 1, "one FILE (- for standard input)", pl_cmd_json},
    {"stream", "Translate a stream of events", "--from DIALECT --to DIALECT FILE",
     pl_stream_paragraphs, pl_stream_options, pl_stream_examples, NULL, 1, 1,
     "one FILE (- for standard input)", pl_cmd_stream},
    {"tokens", "Count the tokens of a conversation", "[OPTION]... FILE", pl_tokens_paragraphs,
     pl_tokens_options, pl_tokens_examples, NULL, 1, 1, "one FILE (- for standard input)",
     pl_cmd_tokens},
    {"trim", "Shorten a conversation to a number of tokens", "--max-tokens N [OPTION]... FILE",
     pl_trim_paragraphs, pl_trim_options, pl_trim_examples, NULL, 1, 1,
     "one FILE (- for standard input)", pl_cmd_trim},
    {"version", "Show the version of Parley and its parts", "[--json]", version_paragraphs,
     version_options, version_examples, NULL, 0, 0, "no operand", pl_cmd_version},
    {"completion", "Print a completion script for a shell", "bash|zsh|fish", completion_paragraphs,
     completion_options, completion_examples, shell_choice, 1, 1, "one shell: bash, zsh or fish",
     pl_cmd_completion},
    {"help", "Show help", "[COMMAND [ACTION]]", help_paragraphs, help_options, help_examples,
     pl_command_choice, 0, 2, "at most a COMMAND and one of its actions", pl_cmd_help},
    {0},
};

const struct pl_command *pl_command_find(const char *name)
{
    for (const struct pl_command *command = pl_commands; command->name; command++)
        if (strcmp(command->name, name) == 0)
            return command;
    return NULL;
}

enum pl_exit pl_command_run(const struct pl_command *command, struct pl_console *console,
                            const struct pl_args *args)
{
    return command->verbs ? pl_verb_run(console, command, args) : command->run(console, args);
}

enum pl_exit pl_usage_fail(struct pl_console *console, const char *command, const char *format, ...)
{
    struct pl_error err = {.status = PL_USAGE};
    va_list args;
    va_start(args, format);
    vsnprintf(err.message, sizeof err.message, format, args);
    va_end(args);
    pl_console_fail(console, NULL, &err);
    pl_console_hint(console, "See \"parley %s%s--help\".", command ? command : "",
                    command ? " " : "");
    return PL_EXIT_USAGE;
}
