/* Options, paragraphs and examples of `parley chat` and `parley run`. */
#include "app/chat/chat_commands.h"

#include "app/server/server_commands.h"

const struct pl_option pl_chat_options[] = {
    {"model", PL_OPT_MODEL, .args = {"NAME"}, .words = "models",
     .help = "The model that answers; by default the session's or the server's model"},
    {"session", PL_OPT_SESSION, .args = {"ID"}, .words = "sessions",
     .help = "Continue this session: its id, a unique beginning of its id, or \"last\" for the "
             "session that changed last"},
    {"new", PL_OPT_NEW, .help = "Create a new session; this is the default without --session"},
    PL_OPTION_DATA,
    PL_OPTION_SERVER,
    {"json", PL_OPT_JSON, .help = "Print every event as JSON, one per line"},
    PL_OPTIONS_SHARED,
    {0},
};

const char *const pl_chat_paragraphs[] = {
    "A conversation at the terminal. Enter sends a message; Alt-Enter, or a \\ at the end of a "
    "line, "
    "begins a new line; pasted text is one message. Arrows move and bring back what you typed "
    "before, Ctrl-R searches it. What you type is kept in ~/.local/state/parley/history (or "
    "$XDG_STATE_HOME/parley/history), for you alone.",
    "The answer is rendered as it arrives. Thoughts are folded and tools are one line each; Ctrl-O "
    "shows all of them. Below an answer are its time, its tokens and, if prices are known, its "
    "cost.",
    "Lines that begin with / are commands: /help lists them, Tab completes them. A line that "
    "begins "
    "with // is a message that begins with /.",
    "A question from the model appears as a menu: choose with the arrows and Enter, or press the "
    "key of an answer; Space marks answers if several are allowed. A tool that needs confirmation "
    "is shown with its arguments: press y, n, or r to refuse with a reason. Keys that you pressed "
    "before the question do not answer it.",
    "Ctrl-C stops the current answer; its text so far is kept. Ctrl-C twice at the prompt, or "
    "Ctrl-D, "
    "ends the command. The session is kept; --session continues it and shows what was said.",
    "With TERM=dumb there are no keys and no Markdown: each line is a message, and a question is "
    "answered with a number or words.",
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
     .help = "The value of the variable {{NAME}} in the prompt; @FILE reads the value from a file, "
             "and @@ is one @"},
    {"system", PL_OPT_SYSTEM, 's', .args = {"TEXT"},
     .help = "The system prompt, in place of the file's"},
    {"attach", PL_OPT_ATTACH, 'a', .args = {"FILE"}, .takes_file = true, .is_repeatable = true,
     .help = "Send a file with the message: text, a picture, sound, a video or a PDF"},
    {"schema", PL_OPT_SCHEMA, .args = {"FILE"}, .takes_file = true,
     .help = "Ask for JSON of this schema (JSON Schema 2020-12), and check that the answer is"},
    {"expect", PL_OPT_EXPECT, .args = {"CHECK"}, .is_repeatable = true,
     .help = "Check the answer: contains:TEXT, lacks:TEXT, regex:PATTERN, schema:FILE or "
             "model-graded:MODEL=CRITERION"},
    {"cases", PL_OPT_CASES, .args = {"FILE"}, .takes_file = true,
     .help = "Run the prompt once for each case of a file: CSV whose columns are variables and "
             "\"expect\", or JSON Lines; then a table says which cases passed"},
    {"format", PL_OPT_FORMAT, .args = {"COLUMNS"}, .words = "columns",
     .help = "With --cases: show these columns only, such as case,result; in a pipe without "
             "headings, with a tab between cells"},
    {"no-pager", PL_OPT_NO_PAGER, .help = "With --cases: do not use a pager"},
    {"model", PL_OPT_MODEL, .args = {"NAME"}, .words = "models", .is_repeatable = true,
     .help = "The model that answers; if repeated, the answers are printed side by side"},
    {"tool", PL_OPT_TOOL, .args = {"NAME"}, .is_repeatable = true,
     .help = "A tool of the server or of an extension that the model may use, in place of the "
             "prompt's own"},
    {"version", PL_OPT_VERSION, .args = {"V"},
     .help = "The version of a library prompt: a number, a label or latest (default)"},
    PL_OPTION_DATA,
    PL_OPTION_SERVER,
    PL_OPTION_JSON,
    PL_OPTIONS_SHARED,
    {0},
};

const char *const pl_run_paragraphs[] = {
    "Runs a prompt once and prints the answer; no session is kept. The prompt is a file (- is "
    "standard input), or else a prompt of the server's library, by id or name, or else a text: "
    "words that contain a space or end a sentence.",
    "A file is a text, or a structured chat in JSON or YAML whose last message is the user's. Its "
    "variables are filled in as by \"parley render\".",
    "Several models answer side by side in columns, or one below the other where the terminal is "
    "narrow; each with its time, its tokens and, where prices are known, its cost. In a pipe each "
    "answer follows the name of its model.",
    "With --cases the command prints no answers, but a table with a row for each case and model: "
    "whether it passed, a mark for each check (first those of the command line), the time, the "
    "tokens in and out, and the cost. A column \"expect\" contains a check in the syntax of "
    "--expect; there may be several such columns, and in JSON the value may be a list. If the file "
    "has a mistake, no model is asked and the exit code is 3.",
    "The exit code is 1 if an answer failed or failed a check; standard error has the reason. "
    "--json prints one object with everything.",
    PL_TEXT_ANY_SERVER,
    NULL,
};

const struct pl_example pl_run_examples[] = {
    {"run 'Why is the sky blue?'", "Ask a question"},
    {"run greeting --var name=Ada", "Run a library prompt by name"},
    {"run question.txt --model demo/echo --model demo/agent", "Run a file with two models"},
    {"run -", "Run standard input"},
    {"run sum.txt --tool calc", "Let the model use a tool"},
    {"run letter.txt -s 'Answer in French.' -a scan.pdf", "Give a system prompt and a file"},
    {"run order.txt --schema order.json --expect lacks:TODO",
     "Check the answer; exit 1 if it fails"},
    {"run trip.txt --cases cases.csv --model demo/echo --model demo/slow",
     "Try every case with two models"},
    {NULL, NULL},
};
