#include "app/chat/chat_commands.h"

#include "app/server/server_commands.h"

const struct pl_option pl_chat_options[] = {
    {"model", PL_OPT_MODEL, .args = {"NAME"},
     .help = "The model that answers; by default the session's or the server's model"},
    {"session", PL_OPT_SESSION, .args = {"ID"},
     .help = "Continue this session; \"last\" is the one that changed last"},
    {"new", PL_OPT_NEW, .help = "Create a new session; this is the default without --session"},
    PL_OPTION_DATA,
    PL_OPTION_SERVER,
    {"json", PL_OPT_JSON, .help = "Print every event as JSON, one per line"},
    PL_OPTION_HELP,
    {0},
};

const char *const pl_chat_paragraphs[] = {
    "A conversation at the terminal. Each line you type is a message. The answer is printed as it "
    "arrives, with thinking dimmed, and one line per tool call and result. A \\ at the end of a "
    "line continues the message in the next line.",
    "When the model asks a question, its options are numbered. Answer with a number, with several "
    "where allowed (1, 3), or with your own text. A tool that needs confirmation is shown with its "
    "arguments: answer y, n, or a reason to refuse.",
    "Ctrl-C stops the current answer; its text so far is kept. A second Ctrl-C, or Ctrl-D, ends "
    "the command. The session is kept; --session continues it.",
    "In a pipe every line is a message, or the answer to a question, and only answers go to "
    "standard output. The exit code is 1 if an answer failed or a question is still open.",
    PL_TEXT_ANY_SERVER,
    NULL,
};

const struct pl_example pl_chat_examples[] = {
    {"chat", "Use the server's model, in a new session"},
    {"chat --model demo/agent", "Use another model"},
    {"chat --session last", "Continue the last session"},
    {NULL, NULL},
};

const struct pl_option pl_run_options[] = {
    {"var", PL_OPT_VAR, .args = {"NAME=VALUE"}, .is_repeatable = true,
     .help = "The value of a variable: {{NAME}} in the prompt"},
    {"model", PL_OPT_MODEL, .args = {"NAME"}, .is_repeatable = true,
     .help = "The model that answers; if repeated, the answers are printed side by side"},
    {"tool", PL_OPT_TOOL, .args = {"NAME"}, .is_repeatable = true,
     .help = "A tool of the server or of an extension that the model may use, in place of the "
             "prompt's own"},
    {"version", PL_OPT_VERSION, .args = {"V"},
     .help = "The version of a library prompt: a number, a label or latest (default)"},
    PL_OPTION_DATA,
    PL_OPTION_SERVER,
    PL_OPTION_JSON,
    PL_OPTION_HELP,
    {0},
};

const char *const pl_run_paragraphs[] = {
    "Runs a prompt once and prints the answer; no session is kept. The prompt is a file (- is "
    "standard input), or else a prompt of the server's library, by id or name.",
    "A file is a text, or a structured chat in JSON or YAML whose last message is the user's. Its "
    "variables are filled in as by \"parley render\".",
    "With several models each answer follows the name of its model. The exit code is 1 if one of "
    "them failed.",
    PL_TEXT_ANY_SERVER,
    NULL,
};

const struct pl_example pl_run_examples[] = {
    {"run greeting --var name=Ada", "Run a library prompt by name"},
    {"run question.txt --model demo/echo --model demo/agent", "Run a file with two models"},
    {"run -", "Run standard input"},
    {"run sum.txt --tool calc", "Let the model use a tool"},
    {NULL, NULL},
};
