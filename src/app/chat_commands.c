#include "app/chat_commands.h"

#include "app/server_commands.h"

const struct pl_option pl_chat_options[] = {
    {"model", PL_OPT_MODEL, .args = {"NAME"},
     .help = "The model that answers; the session's or the server's own by default"},
    {"session", PL_OPT_SESSION, .args = {"ID"},
     .help = "Go on with this session; \"last\" is the one that changed last"},
    {"new", PL_OPT_NEW, .help = "Begin a new session, which it does without --session anyway"},
    PL_OPTION_DATA,
    PL_OPTION_SERVER,
    {"json", PL_OPT_JSON, .help = "Print every event as JSON, one per line"},
    PL_OPTION_HELP,
    {0},
};

const char *const pl_chat_paragraphs[] = {
    "A conversation at the terminal. What you type is a message; the answer is printed as it "
    "comes, "
    "thoughts dimmed, calls of tools and their results in a line each. A \\ at the end of a line "
    "goes on in the next.",
    "When the model asks something, its options are numbered: answer with a number, with several "
    "where several may be chosen (1, 3), or in your own words. A tool that wants to be confirmed "
    "is "
    "shown with its arguments: y, n, or why not.",
    "Ctrl-C stops the answer that is coming, and what was said so far stays. A second Ctrl-C, or "
    "Ctrl-D, ends the command; the session stays, and --session goes on with it.",
    "Through a pipe every line is a message, or the answer to a question, and only answers go to "
    "standard output. The exit code is 1 when one failed or still waits for an answer.",
    PL_TEXT_SERVER,
    NULL,
};

const struct pl_example pl_chat_examples[] = {
    {"chat", "With the server's model, in a new session"},
    {"chat --model demo/agent", "With another one"},
    {"chat --session last", "Go on where you were"},
    {NULL, NULL},
};

const struct pl_option pl_run_options[] = {
    {"var", PL_OPT_VAR, .args = {"NAME=VALUE"}, .is_repeatable = true,
     .help = "The value of a variable: {{NAME}} in the prompt"},
    {"model", PL_OPT_MODEL, .args = {"NAME"}, .is_repeatable = true,
     .help = "The model that answers; given several times, they answer side by side"},
    {"version", PL_OPT_VERSION, .args = {"V"},
     .help = "Of a prompt of the library: a number, a label, or latest, which it is if not said"},
    PL_OPTION_DATA,
    PL_OPTION_SERVER,
    PL_OPTION_JSON,
    PL_OPTION_HELP,
    {0},
};

const char *const pl_run_paragraphs[] = {
    "Runs a prompt once and prints the answer; no session is left behind. The prompt is a file (- "
    "is "
    "standard input), or else one of the server's library, by its id or its name.",
    "A file is a text, or a structured chat in JSON or YAML with a message of the user at its end. "
    "Its variables are filled in as \"parley render\" does.",
    "With several models each answer stands below the name of its model. The exit code is 1 when "
    "one "
    "of them failed.",
    PL_TEXT_SERVER,
    NULL,
};

const struct pl_example pl_run_examples[] = {
    {"run greeting --var name=Ada", "A prompt of the library, by its name"},
    {"run question.txt --model demo/echo --model demo/agent", "A file, asked of two models"},
    {"run -", "What comes on standard input"},
    {NULL, NULL},
};
