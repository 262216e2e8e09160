/* Tables of the library commands: options, verbs, examples, and the paragraphs of help and manual
 * page. */
#include "app/library/library_commands.h"

#include "app/server/server_commands.h"

static const char *prompt_type_choice(size_t i)
{
    static const char *const names[] = {"text", "structured", NULL};
    return names[i];
}

static const char *prompt_format_choice(size_t i)
{
    return i == 0 ? "text" : pl_export_choice(i - 1);
}

static const char *when_there_choice(size_t i)
{
    static const char *const names[] = {"version", "skip", "copy", NULL};
    return names[i];
}

static const char *media_choice(size_t i)
{
    static const char *const names[] = {"keep", "store", NULL};
    return names[i];
}

static const char *memory_type_choice(size_t i)
{
    static const char *const names[] = {"feedback", "experience", NULL};
    return names[i];
}

static const char *overlap_choice(size_t i)
{
    static const char *const names[] = {"skip", "queue", "allow", "replace", NULL};
    return names[i];
}

/* --- prompt ---------------------------------------------------------------------------------- */

const struct pl_option pl_prompt_options[] = {
    {"yes", PL_OPT_YES, .verbs = "delete", .help = "delete without a question"},
    {"folder", PL_OPT_FOLDER, .args = {"FOLDER"}, .verbs = "list, new, edit, import",
     .help = "list shows only prompts in this folder and below; otherwise the folder to write to"},
    {"tag", PL_OPT_TAG, .args = {"TAG"}, .is_repeatable = true, .verbs = "list, new, edit",
     .help = "list shows only prompts with this tag; otherwise the complete set of tags"},
    {"label", PL_OPT_LABEL, .args = {"LABEL"}, .verbs = "list",
     .help = "only prompts with this label"},
    {"query", PL_OPT_QUERY, .args = {"TEXT"}, .is_hidden = true, .verbs = "list",
     .help = "another name of --search"},
    {"search", PL_OPT_QUERY, 'q', .args = {"TEXT"}, .verbs = "list",
     .help = "search name, description, tags and text; best match first"},
    {"pinned", PL_OPT_PINNED, .verbs = "list", .help = "only pinned prompts"},
    {"limit", PL_OPT_LIMIT, .args = {"N"}, .verbs = "list, versions",
     .help = "the maximum number; 20 by default"},
    {"version", PL_OPT_VERSION, .args = {"V"}, .verbs = "show, run, export",
     .help = "a number, a label or latest (default)"},
    {"raw", PL_OPT_RAW, .verbs = "show", .help = "print only the content, byte for byte"},
    {"file", PL_OPT_FILE, 'f', .args = {"FILE"}, .takes_file = true, .verbs = "new, edit, diff",
     .help = "read the content from FILE instead of the editor (- is standard input); diff "
             "compares with FILE"},
    {"type", PL_OPT_TYPE, .args = {"TYPE"}, .choice = prompt_type_choice,
     .verbs = "new, edit, diff",
     .help = "the type of the content; by default detected from the file, or unchanged"},
    {"name", PL_OPT_NAME, .args = {"NAME"}, .verbs = "edit", .help = "a new name"},
    {"description", PL_OPT_DESCRIPTION, .args = {"TEXT"}, .verbs = "new, edit",
     .help = "the purpose of the prompt"},
    {"note", PL_OPT_NOTE, .args = {"TEXT"}, .verbs = "new, edit, rollback",
     .help = "a note about the version"},
    {"remove", PL_OPT_REMOVE, .verbs = "label", .help = "delete the label"},
    {"var", PL_OPT_VAR, .args = {"NAME=VALUE"}, .is_repeatable = true, .verbs = "run",
     .help = "the value of a variable"},
    {"model", PL_OPT_MODEL, .args = {"NAME"}, .words = "models", .is_repeatable = true,
     .verbs = "run",
     .help = "the model that answers; if repeated, the answers are printed side by side"},
    {"tool", PL_OPT_TOOL, .args = {"NAME"}, .is_repeatable = true, .verbs = "run",
     .help = "a tool of the server or of an extension that the model may use, in place of the "
             "prompt's own"},
    {"answer", PL_OPT_ANSWER, .verbs = "run", .help = "print only the answer, and keep no session"},
    {"no-wait", PL_OPT_NO_WAIT, .verbs = "run",
     .help = "print the sessions, and do not wait for answers"},
    {"to", PL_OPT_TO, .args = {"FORMAT"}, .choice = prompt_format_choice, .verbs = "export",
     .help = "the format; by default the prompt's own (text or structured-chat)"},
    {"append", PL_OPT_APPEND, .verbs = "export",
     .help = "with --to claude: add the system prompt to the command's own"},
    {"model", PL_OPT_MODEL, .args = {"NAME"}, .words = "models", .verbs = "export",
     .help = "the model of the export, in place of the prompt's; curl and anthropic need one"},
    {"out", PL_OPT_OUT, 'o', .args = {"FILE"}, .takes_file = true, .verbs = "export",
     .help = "write to FILE instead of standard output"},
    {"all", PL_OPT_ALL, .verbs = "export", .help = "write the whole library to a directory"},
    {"prune", PL_OPT_PRUNE, .verbs = "export",
     .help = "with --all, remove files of earlier exports whose prompts no longer exist"},
    {"from", PL_OPT_FROM, .args = {"FORMAT"}, .verbs = "import",
     .help = "a format, yaml, markdown, langfuse or text; by default detected from name and "
             "content"},
    {"when-there", PL_OPT_WHEN_THERE, .args = {"WHAT"}, .choice = when_there_choice,
     .verbs = "import",
     .help = "if a prompt with that id, or folder and name, exists: add a version (default), skip "
             "the file, or create another prompt"},
    {"media", PL_OPT_MEDIA, .args = {"WHAT"}, .choice = media_choice, .verbs = "import",
     .help = "store downloads media from URLs and stores them as blobs"},
    PL_OPTIONS_TABLE("list, versions, folders, tags", "name,version"),
    PL_OPTION_DATA,
    PL_OPTION_SERVER,
    PL_OPTION_JSON,
    PL_OPTIONS_SHARED,
    {0},
};

const char *const pl_prompt_paragraphs[] = {
    "The server stores prompts in folders. Each prompt has numbered, immutable versions, and "
    "labels that move from version to version. A prompt is a text or a structured chat (system "
    "prompt, messages, variables). ID may be a name or folder/name.",
    "edit opens the latest version in $VISUAL or $EDITOR, a structured chat as YAML. An unchanged "
    "text makes no version. If it cannot be saved, because it is invalid or somebody else saved "
    "first, it stays in a file whose path is printed.",
    "diff gives exit 1 if the versions differ. Changed words are coloured on a terminal, otherwise "
    "[-removed-]{+added+}.",
    "run follows the session like \"parley session chat\". With several models the sessions run "
    "side by side, and each answer is printed under the name of its model.",
    "export --all writes only files that differ, so git shows what changed. import reads them into "
    "this or another server. import ignores hidden files and directories.",
    PL_TEXT_SERVER,
    NULL,
};

const struct pl_example pl_prompt_examples[] = {
    {"prompt new greeting --file hello.md --folder team --tag mail", "Store a text as a prompt"},
    {"prompt list --folder team -q mail", "Find prompts"},
    {"prompt edit team/greeting --note 'friendlier'", "Write the next version in your editor"},
    {"prompt diff team/greeting 1 2", "Show the changes"},
    {"prompt label team/greeting production latest", "Choose the version to use"},
    {"prompt run team/greeting --version production --var name=Ada --model demo/echo --answer",
     "Run it with a model, and print the answer"},
    {"prompt export team/greeting --to anthropic -o request.json", "Write it as a request"},
    {"prompt export --all prompts/ --prune", "Export the library for git"},
    {"prompt import prompts/ old/*.prompt.yml", "Create prompts from files"},
    {NULL, NULL},
};

/* --- memory ---------------------------------------------------------------------------------- */

const struct pl_option pl_memory_options[] = {
    {"yes", PL_OPT_YES, .verbs = "delete", .help = "delete without a question"},
    {"type", PL_OPT_TYPE, .args = {"TYPE"}, .choice = memory_type_choice,
     .help = "The type: feedback that was given, or an experience"},
    {"topic", PL_OPT_TOPIC, .args = {"TEXT"}, .help = "The topic"},
    {"scope", PL_OPT_SCOPE, .args = {"TEXT"}, .help = "The scope"},
    {"owner", PL_OPT_OWNER, .args = {"TEXT"}, .help = "The owner"},
    {"skill", PL_OPT_SKILL, .args = {"NAME"}, .help = "The skill it belongs to"},
    {"record-type", PL_OPT_RECORD, .args = {"TYPE"}, .help = "memory or skill_comment"},
    {"mem0-id", PL_OPT_MEM0, .args = {"ID"}, .verbs = "list, add, edit",
     .help = "its id in another system"},
    {"session", PL_OPT_SESSION, .args = {"ID"}, .words = "sessions", .verbs = "list, add, edit",
     .help = "the session it came from"},
    {"reason", PL_OPT_REASON, .args = {"TEXT"}, .verbs = "add, edit", .help = "why it was stored"},
    {"content", PL_OPT_CONTENT, .args = {"TEXT"}, .verbs = "edit",
     .help = "the text; - is standard input"},
    {"disabled", PL_OPT_DISABLED, .verbs = "list, search, add",
     .help = "list shows only disabled memories, search also includes them; add creates a disabled "
             "one"},
    {"superseded", PL_OPT_SUPERSEDED, .verbs = "list, search",
     .help = "list shows only superseded memories, search also includes them"},
    {"after", PL_OPT_AFTER, .args = {"INSTANT"}, .verbs = "list",
     .help = "only memories created after this, such as 2026-11-16T00:00:00Z"},
    {"before", PL_OPT_BEFORE, .args = {"INSTANT"}, .verbs = "list",
     .help = "only memories created before this"},
    {"limit", PL_OPT_LIMIT, .args = {"N"}, .verbs = "list, search",
     .help = "the maximum number; 20 by default"},
    {"remove", PL_OPT_REMOVE, .verbs = "supersede", .help = "undo it"},
    PL_OPTIONS_TABLE("list, search", "id,content"),
    PL_OPTION_DATA,
    PL_OPTION_SERVER,
    PL_OPTION_JSON,
    PL_OPTIONS_SHARED,
    {0},
};

const char *const pl_memory_paragraphs[] = {
    "Memories are short texts that the server adds to the sessions they fit. Disabled and "
    "superseded memories are kept but not used.",
    "With list and search, the options for fields (--type, --topic, --scope ...) filter; with add "
    "and edit they set the field.",
    "import reads the output of export; memories get new ids, hit counts and times. It writes "
    "batches of 100, each completely or not at all.",
    PL_TEXT_SERVER,
    NULL,
};

const struct pl_example pl_memory_examples[] = {
    {"memory add 'Answers in German, please' --type feedback --topic language", "Store a memory"},
    {"memory search 'which language'", "Find memories"},
    {"memory list --topic language --json", "List a topic, for a script"},
    {"memory supersede 3 7", "Replace memory 3 by 7"},
    {"memory export > memories.ndjson", "Export them"},
    {NULL, NULL},
};

/* --- task ------------------------------------------------------------------------------------ */

const struct pl_option pl_task_options[] = {
    {"yes", PL_OPT_YES, .verbs = "delete", .help = "delete without a question"},
    {"cron", PL_OPT_CRON, .args = {"EXPRESSION"}, .verbs = "new, edit",
     .help = "the cron expression, in quotes"},
    {"zone", PL_OPT_ZONE, .args = {"ZONE"}, .words = "zones",
     .help = "The time zone of the expression, such as Europe/Berlin; UTC by default. For "
             "calendar, the zone of its days"},
    {"prompt", PL_OPT_PROMPT, .args = {"TEXT"}, .verbs = "new, edit",
     .help = "the text to send; - is standard input"},
    {"use", PL_OPT_USE, .args = {"PROMPT[@LABEL]"}, .words = "prompts", .verbs = "new, edit",
     .help = "send a prompt of the library instead, by id or name, optionally with a label or "
             "version"},
    {"var", PL_OPT_VAR, .args = {"NAME=VALUE"}, .is_repeatable = true, .verbs = "new, edit",
     .help = "the value of a variable of --use"},
    {"model", PL_OPT_MODEL, .args = {"NAME"}, .words = "models", .verbs = "new, edit",
     .help = "the model that answers"},
    {"overlap", PL_OPT_OVERLAP, .args = {"WHAT"}, .choice = overlap_choice, .verbs = "new, edit",
     .help = "if the previous run is still running: skip this one (default), queue it, allow both, "
             "or replace the previous one"},
    {"expires", PL_OPT_EXPIRES, .args = {"INSTANT"}, .verbs = "new, edit",
     .help = "disable the task at this time, such as 2027-01-01T00:00:00Z; empty: never"},
    {"skip-confirmations", PL_OPT_SKIP_CONFIRMATIONS, .verbs = "new, edit",
     .help = "confirm tools automatically; what is denied stays denied"},
    {"stopped", PL_OPT_STOPPED, .verbs = "new", .help = "create the task disabled"},
    {"title", PL_OPT_TITLE, .args = {"TEXT"}, .verbs = "edit", .help = "a new title"},
    {"follow", PL_OPT_FOLLOW, .verbs = "run", .help = "print the answer until it is complete"},
    {"from", PL_OPT_FROM, .args = {"INSTANT"}, .verbs = "next, explain, occurrences, calendar",
     .help = "list times after this, such as 2026-03-29T00:00:00Z; for calendar the first day, "
             "such as 2026-11-16; today by default"},
    {"to", PL_OPT_TO, .args = {"INSTANT"}, .verbs = "calendar, occurrences",
     .help = "the end; for calendar a week later by default"},
    {"count", PL_OPT_COUNT, .args = {"N"}, .verbs = "next, explain, occurrences",
     .help = "the number of times; 10 by default"},
    {"query", PL_OPT_QUERY, 'q', .args = {"TEXT"}, .verbs = "list",
     .help = "only tasks whose title contains this"},
    {"limit", PL_OPT_LIMIT, .args = {"N"}, .verbs = "list, runs",
     .help = "the maximum number; 20 by default"},
    PL_OPTIONS_TABLE("list, runs, occurrences", "title,next"),
    PL_OPTION_DATA,
    PL_OPTION_SERVER,
    PL_OPTION_JSON,
    PL_OPTIONS_SHARED,
    {0},
};

const char *const pl_task_paragraphs[] = {
    "A task sends a prompt to a model at the times of its cron expression. Each run is a new "
    "session. One run makes up for the times missed in the last 15 minutes. Ten failures in a row "
    "disable a task.",
    "The five fields of EXPRESSION are minute, hour, day of month, month and day of week: values, "
    "names (JAN, MON), ranges (9-17), steps (*/15), lists (1,15). L is the last day of the month, "
    "5L its last Friday, MON#2 its second Monday; 0 and 7 are Sunday. If both day fields are "
    "restricted, a day that matches either one is due. @yearly, @monthly, @weekly, @daily and "
    "@hourly are abbreviations. Quote the expression: it is one argument.",
    "When the clock is set forward, a skipped fixed time is due once, at the change. When it is "
    "set back, a time that occurs twice is due the first time. With * or a step in minutes or "
    "hours, the schedule follows elapsed time.",
    "next and explain give exit 1 if the expression is wrong, or not due within 8 years.",
    PL_TEXT_SERVER,
    NULL,
};

const struct pl_example pl_task_examples[] = {
    {"task next '0 9 * * MON-FRI' --zone Europe/Berlin", "List the next times"},
    {"task explain '0 9 * * MON#2'", "Explain an expression"},
    {"task next '30 2 * * *' --zone America/New_York --from 2026-03-07T00:00:00Z --count 3",
     "Show a daylight saving change"},
    {"task new 'morning news' --cron '0 7 * * *' --zone Asia/Shanghai --prompt 'What is new?'",
     "Ask a question every morning"},
    {"task new report --cron @weekly --use team/report@production --var team=blue",
     "Use a prompt of the library"},
    {"task run task_... --follow", "Run it now"},
    {"task calendar --from 2026-11-16 --to 2026-12-01", "List what is due and what ran"},
    {NULL, NULL},
};

/* --- blob ------------------------------------------------------------------------------------ */

const struct pl_option pl_blob_options[] = {
    {"yes", PL_OPT_YES, .verbs = "delete", .help = "delete without a question"},
    {"name", PL_OPT_NAME, .args = {"NAME"}, .verbs = "add, fetch",
     .help = "the name of the blob; by default the file's name"},
    {"type", PL_OPT_TYPE, .args = {"TYPE"}, .verbs = "add",
     .help = "the media type, such as image/png; the content is checked in any case"},
    {"out", PL_OPT_OUT, 'o', .args = {"FILE"}, .takes_file = true, .verbs = "get",
     .help = "the file to write"},
    {"range", PL_OPT_RANGE, .args = {"FROM-TO"}, .verbs = "get",
     .help = "only these bytes: 0-99, 100- or -50 (the last 50)"},
    {"limit", PL_OPT_LIMIT, .args = {"N"}, .verbs = "list",
     .help = "the maximum number; 20 by default"},
    PL_OPTIONS_TABLE("list", "id,name"),
    PL_OPTION_DATA,
    PL_OPTION_SERVER,
    PL_OPTION_JSON,
    PL_OPTIONS_SHARED,
    {0},
};

const char *const pl_blob_paragraphs[] = {
    "Blobs are images, audio files and documents that the server stores. Equal contents are stored "
    "once. Messages refer to a blob by its URL, /api/blobs/ID.",
    "add takes files of any size (- is standard input) and continues if one fails. fetch makes the "
    "server download a URL; the server never connects to a private address.",
    PL_TEXT_SERVER,
    NULL,
};

const struct pl_example pl_blob_examples[] = {
    {"blob add plan.pdf photo.png", "Store two files and print their ids"},
    {"blob get blob_... -o photo.png", "Read one back"},
    {"blob get blob_... --range 0-15 | xxd", "Show the first bytes"},
    {"blob fetch https://example.org/logo.png", "Download a URL before it expires"},
    {NULL, NULL},
};

const struct pl_option pl_models_options[] = {
    PL_OPTIONS_TABLE("list", "model,window"),
    PL_OPTION_DATA,
    PL_OPTION_SERVER,
    PL_OPTION_JSON,
    PL_OPTIONS_SHARED,
    {0},
};

const char *const pl_models_paragraphs[] = {
    "Shows the models that the server can ask, with their context windows in tokens and their list "
    "prices in dollars per million tokens. A model whose provider has no key cannot be asked. The "
    "default ACTION is list.",
    "\"test\" asks a model for one word, which costs a few tokens. The exit code is 1 if it does "
    "not "
    "answer.",
    PL_TEXT_ANY_SERVER,
    NULL,
};

const struct pl_example pl_models_examples[] = {
    {"models", "List all models"},
    {"models show demo/echo", "Show one"},
    {"models test demo/echo", "See whether it answers"},
    {NULL, NULL},
};

const struct pl_option pl_open_options[] = {
    PL_OPTION_DATA,
    PL_OPTION_SERVER,
    PL_OPTIONS_SHARED,
    {0},
};

const char *const pl_open_paragraphs[] = {
    "Prints the address of the page of a running server. At a terminal on a desktop, xdg-open "
    "opens "
    "it in the browser.",
    PL_TEXT_SERVER,
    NULL,
};

const struct pl_example pl_open_examples[] = {
    {"open", "The server of the data directory"},
    {"open --server https://parley.example.com", "Another server"},
    {NULL, NULL},
};
