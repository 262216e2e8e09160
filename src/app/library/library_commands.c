#include "app/library_commands.h"

#include "app/server_commands.h"

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
    {"folder", PL_OPT_FOLDER, .args = {"FOLDER"}, .verbs = "list, new, edit, import",
     .help = "list shows only prompts in it and below; for the others, where they go"},
    {"tag", PL_OPT_TAG, .args = {"TAG"}, .is_repeatable = true, .verbs = "list, new, edit",
     .help = "list shows only prompts that have it; for the others, all tags there are to be"},
    {"label", PL_OPT_LABEL, .args = {"LABEL"}, .verbs = "list",
     .help = "only prompts that have it"},
    {"query", PL_OPT_QUERY, .args = {"TEXT"}, .is_hidden = true, .verbs = "list",
     .help = "what other commands call --search"},
    {"search", PL_OPT_QUERY, 'q', .args = {"TEXT"}, .verbs = "list",
     .help = "look for words in name, description, tags and text; the best first"},
    {"pinned", PL_OPT_PINNED, .verbs = "list", .help = "only pinned ones"},
    {"limit", PL_OPT_LIMIT, .args = {"N"}, .verbs = "list, versions",
     .help = "how many at most; 20 if not said"},
    {"version", PL_OPT_VERSION, .args = {"V"}, .verbs = "show, run, export",
     .help = "a number, a label, or latest, which it is if not said"},
    {"raw", PL_OPT_RAW, .verbs = "show", .help = "nothing but the content, byte for byte"},
    {"file", PL_OPT_FILE, 'f', .args = {"FILE"}, .takes_file = true, .verbs = "new, edit, diff",
     .help = "the content, instead of the editor (- is standard input); diff compares with this "
             "draft"},
    {"type", PL_OPT_TYPE, .args = {"TYPE"}, .choice = prompt_type_choice,
     .verbs = "new, edit, diff",
     .help = "what the content is; told from the file, or as it was, if not said"},
    {"name", PL_OPT_NAME, .args = {"NAME"}, .verbs = "edit", .help = "a new name"},
    {"description", PL_OPT_DESCRIPTION, .args = {"TEXT"}, .verbs = "new, edit",
     .help = "what it is for"},
    {"note", PL_OPT_NOTE, .args = {"TEXT"}, .verbs = "new, edit, rollback",
     .help = "what the version is about"},
    {"remove", PL_OPT_REMOVE, .verbs = "label", .help = "take it away"},
    {"var", PL_OPT_VAR, .args = {"NAME=VALUE"}, .is_repeatable = true, .verbs = "run",
     .help = "the value of a variable"},
    {"model", PL_OPT_MODEL, .args = {"NAME"}, .is_repeatable = true, .verbs = "run",
     .help = "who answers; several times: all of them, side by side"},
    {"answer", PL_OPT_ANSWER, .verbs = "run", .help = "only the answer; no session is kept"},
    {"no-wait", PL_OPT_NO_WAIT, .verbs = "run",
     .help = "print the sessions, and do not wait for what is said"},
    {"to", PL_OPT_TO, .args = {"FORMAT"}, .choice = prompt_format_choice, .verbs = "export",
     .help = "the format; its own (text or structured-chat) if not said"},
    {"out", PL_OPT_OUT, 'o', .args = {"FILE"}, .takes_file = true, .verbs = "export",
     .help = "write to FILE instead of standard output"},
    {"all", PL_OPT_ALL, .verbs = "export", .help = "the whole library, into a directory"},
    {"prune", PL_OPT_PRUNE, .verbs = "export",
     .help = "with --all, also remove what an earlier one wrote and is gone from the library"},
    {"from", PL_OPT_FROM, .args = {"FORMAT"}, .verbs = "import",
     .help = "a format, yaml, markdown, langfuse or text; told from name and content if "
             "not said"},
    {"when-there", PL_OPT_WHEN_THERE, .args = {"WHAT"}, .choice = when_there_choice,
     .verbs = "import",
     .help = "when a prompt of that id, or folder and name, is there: add a version (if not "
             "said), skip the file, or make another prompt"},
    {"media", PL_OPT_MEDIA, .args = {"WHAT"}, .choice = media_choice, .verbs = "import",
     .help = "store fetches media behind URLs and keeps them as blobs"},
    PL_OPTION_DATA,
    PL_OPTION_SERVER,
    PL_OPTION_JSON,
    PL_OPTION_HELP,
    {0},
};

const char *const pl_prompt_paragraphs[] = {
    "A server keeps prompts in folders, each with numbered versions that never change and labels "
    "that move from one version to another. A prompt is a text or a structured chat (system "
    "prompt, "
    "messages, variables). Wherever an ID is asked for, a name or folder/name does as well.",
    "edit opens the latest version in $VISUAL or $EDITOR, a structured chat as YAML. What is saved "
    "unchanged makes no version. When it cannot be saved, because it is not valid or somebody else "
    "was quicker, what was written stays in a file whose path is printed.",
    "diff is exit 1 when the two differ. Changed words are in colour on a terminal, otherwise "
    "[-removed-]{+added+}.",
    "run follows the session as \"parley session chat\" does. With several models the sessions run "
    "side by side, and each answer is printed under the name of its model.",
    "export --all writes only what differs, so a directory under git shows what changed; import "
    "reads it again, into this or another server. import leaves out hidden files and directories.",
    PL_TEXT_SERVER,
    NULL,
};

const struct pl_example pl_prompt_examples[] = {
    {"prompt new greeting --file hello.md --folder team --tag mail", "Keep a text as a prompt"},
    {"prompt list --folder team -q mail", "What is there?"},
    {"prompt edit team/greeting --note 'friendlier'", "Write the next version in your editor"},
    {"prompt diff team/greeting 1 2", "See what changed"},
    {"prompt label team/greeting production latest", "Say which version is to be used"},
    {"prompt run team/greeting --version production --var name=Ada --model demo/echo --answer",
     "Ask a model, and print its answer"},
    {"prompt export team/greeting --to anthropic -o request.json", "Take it elsewhere"},
    {"prompt export --all prompts/ --prune", "Make a directory what the library is, for git"},
    {"prompt import prompts/ old/*.prompt.yml", "Make prompts of files"},
    {NULL, NULL},
};

/* --- memory ---------------------------------------------------------------------------------- */

const struct pl_option pl_memory_options[] = {
    {"type", PL_OPT_TYPE, .args = {"TYPE"}, .choice = memory_type_choice,
     .help = "What it is: advice that was given, or something that was found out"},
    {"topic", PL_OPT_TOPIC, .args = {"TEXT"}, .help = "What it is about"},
    {"scope", PL_OPT_SCOPE, .args = {"TEXT"}, .help = "Where it holds"},
    {"owner", PL_OPT_OWNER, .args = {"TEXT"}, .help = "Whose it is"},
    {"skill", PL_OPT_SKILL, .args = {"NAME"}, .help = "The skill it belongs to"},
    {"record-type", PL_OPT_RECORD, .args = {"TYPE"}, .help = "memory or skill_comment"},
    {"mem0-id", PL_OPT_MEM0, .args = {"ID"}, .verbs = "list, add, edit",
     .help = "its id elsewhere"},
    {"session", PL_OPT_SESSION, .args = {"ID"}, .verbs = "list, add, edit",
     .help = "the session it came from"},
    {"reason", PL_OPT_REASON, .args = {"TEXT"}, .verbs = "add, edit",
     .help = "why it was written down"},
    {"content", PL_OPT_CONTENT, .args = {"TEXT"}, .verbs = "edit",
     .help = "what it says; - is standard input"},
    {"disabled", PL_OPT_DISABLED, .verbs = "list, search, add",
     .help = "list shows only disabled ones, search these too; add makes one"},
    {"superseded", PL_OPT_SUPERSEDED, .verbs = "list, search",
     .help = "list shows only superseded ones, search these too"},
    {"after", PL_OPT_AFTER, .args = {"INSTANT"}, .verbs = "list",
     .help = "only those made after it, like 2026-11-16T00:00:00Z"},
    {"before", PL_OPT_BEFORE, .args = {"INSTANT"}, .verbs = "list",
     .help = "only those made before it"},
    {"limit", PL_OPT_LIMIT, .args = {"N"}, .verbs = "list, search",
     .help = "how many at most; 20 if not said"},
    {"remove", PL_OPT_REMOVE, .verbs = "supersede", .help = "take it back"},
    PL_OPTION_DATA,
    PL_OPTION_SERVER,
    PL_OPTION_JSON,
    PL_OPTION_HELP,
    {0},
};

const char *const pl_memory_paragraphs[] = {
    "Memories are short texts that a server brings up in sessions they fit. Those that are "
    "disabled "
    "or superseded are kept, and never brought up.",
    "With list and search, the options that name a member (--type, --topic, --scope ...) leave out "
    "what has another value; with add and edit they are what is written.",
    "import reads what export writes; ids, hits and times are made anew. It goes in batches of "
    "100, "
    "each of them whole or not at all.",
    PL_TEXT_SERVER,
    NULL,
};

const struct pl_example pl_memory_examples[] = {
    {"memory add 'Answers in German, please' --type feedback --topic language",
     "Remember something"},
    {"memory search 'which language'", "What is known about it?"},
    {"memory list --topic language --json", "All of a topic, for a script"},
    {"memory supersede 3 7", "7 says it better than 3"},
    {"memory export > memories.ndjson", "Take them elsewhere"},
    {NULL, NULL},
};

/* --- task ------------------------------------------------------------------------------------ */

const struct pl_option pl_task_options[] = {
    {"cron", PL_OPT_CRON, .args = {"EXPRESSION"}, .verbs = "new, edit", .help = "when, in quotes"},
    {"zone", PL_OPT_ZONE, .args = {"ZONE"},
     .help = "The time zone the expression is meant in, like Europe/Berlin; UTC if not said. "
             "calendar: the zone of its days"},
    {"prompt", PL_OPT_PROMPT, .args = {"TEXT"}, .verbs = "new, edit",
     .help = "what is said; - is standard input"},
    {"use", PL_OPT_USE, .args = {"PROMPT[@LABEL]"}, .verbs = "new, edit",
     .help = "a prompt of the library instead, by id or name, and perhaps a label or a "
             "version"},
    {"var", PL_OPT_VAR, .args = {"NAME=VALUE"}, .is_repeatable = true, .verbs = "new, edit",
     .help = "the value of a variable of --use"},
    {"model", PL_OPT_MODEL, .args = {"NAME"}, .verbs = "new, edit",
     .help = "the model that answers"},
    {"overlap", PL_OPT_OVERLAP, .args = {"WHAT"}, .choice = overlap_choice, .verbs = "new, edit",
     .help = "when the run before is still at work: leave this one out (if not said), "
             "start it afterwards, start it too, or stop the other"},
    {"expires", PL_OPT_EXPIRES, .args = {"INSTANT"}, .verbs = "new, edit",
     .help = "stop it then, like 2027-01-01T00:00:00Z; an empty one is never"},
    {"skip-confirmations", PL_OPT_SKIP_CONFIRMATIONS, .verbs = "new, edit",
     .help = "tools that ask for confirmation get it; what is denied stays denied"},
    {"stopped", PL_OPT_STOPPED, .verbs = "new", .help = "make it, but do not start it yet"},
    {"title", PL_OPT_TITLE, .args = {"TEXT"}, .verbs = "edit", .help = "a new title"},
    {"follow", PL_OPT_FOLLOW, .verbs = "run", .help = "print what is said, until it is complete"},
    {"from", PL_OPT_FROM, .args = {"INSTANT"}, .verbs = "next, explain, occurrences, calendar",
     .help = "what comes after it, like 2026-03-29T00:00:00Z; of the calendar the first day, like "
             "2026-11-16; today if not said"},
    {"to", PL_OPT_TO, .args = {"INSTANT"}, .verbs = "calendar, occurrences",
     .help = "the end; of the calendar a week later if not said"},
    {"count", PL_OPT_COUNT, .args = {"N"}, .verbs = "next, explain, occurrences",
     .help = "how many to show; 10 if not said"},
    {"query", PL_OPT_QUERY, 'q', .args = {"TEXT"}, .verbs = "list",
     .help = "only tasks whose title has this"},
    {"limit", PL_OPT_LIMIT, .args = {"N"}, .verbs = "list, runs",
     .help = "how many at most; 20 if not said"},
    {"lang", PL_OPT_LANG, .args = {"LANG"}, .choice = pl_lang_choice, .verbs = "next",
     .help = "the language of the explanation; that of the environment if not said"},
    PL_OPTION_DATA,
    PL_OPTION_SERVER,
    PL_OPTION_JSON,
    PL_OPTION_HELP,
    {0},
};

const char *const pl_task_paragraphs[] = {
    "A task has something said to a model whenever its cron expression is due; each run is a "
    "session of its own. Runs that were missed within the last 15 minutes are caught up as one. "
    "Ten failures in a row stop a task.",
    "The five fields of an EXPRESSION are minute, hour, day-of-month, month and day-of-week: "
    "values, "
    "names (JAN, MON), ranges (9-17), steps (*/15), lists (1,15). L is the last day of the month, "
    "5L "
    "its last Friday, MON#2 its second Monday; 0 and 7 are Sunday. Where both days are restricted, "
    "one of them is enough. @yearly, @monthly, @weekly, @daily and @hourly stand for five fields. "
    "The expression is one word: put it in quotes.",
    "Where the clock is put forward, a fixed time that is skipped is due once, at the change; "
    "where "
    "it is put back, a time that comes twice is due the first time. With * or a step among minutes "
    "or hours, it follows real time.",
    "next and explain are exit 1 when the expression is wrong, or is never due within 8 years.",
    PL_TEXT_SERVER,
    NULL,
};

const struct pl_example pl_task_examples[] = {
    {"task next '0 9 * * MON-FRI' --zone Europe/Berlin", "When is it due?"},
    {"task explain '0 9 * * MON#2'", "What does it mean?"},
    {"task next '30 2 * * *' --zone America/New_York --from 2026-03-07T00:00:00Z --count 3",
     "What happens when the clock is changed?"},
    {"task new 'morning news' --cron '0 7 * * *' --zone Asia/Shanghai --prompt 'What is new?'",
     "Have something said every morning"},
    {"task new report --cron @weekly --use team/report@production --var team=blue",
     "The same with a prompt of the library"},
    {"task run task_... --follow", "Try it now"},
    {"task calendar --from 2026-11-16 --to 2026-12-01", "What is to come, and what was?"},
    {NULL, NULL},
};

/* --- blob ------------------------------------------------------------------------------------ */

const struct pl_option pl_blob_options[] = {
    {"name", PL_OPT_NAME, .args = {"NAME"}, .verbs = "add, fetch",
     .help = "the name it is kept under; the file's own if not said"},
    {"type", PL_OPT_TYPE, .args = {"TYPE"}, .verbs = "add",
     .help = "its media type, like image/png; the content is looked at in any case"},
    {"out", PL_OPT_OUT, 'o', .args = {"FILE"}, .takes_file = true, .verbs = "get",
     .help = "where to write"},
    {"range", PL_OPT_RANGE, .args = {"FROM-TO"}, .verbs = "get",
     .help = "only these bytes: 0-99, 100- or -50, which is the last 50"},
    {"limit", PL_OPT_LIMIT, .args = {"N"}, .verbs = "list",
     .help = "how many at most; 20 if not said"},
    PL_OPTION_DATA,
    PL_OPTION_SERVER,
    PL_OPTION_JSON,
    PL_OPTION_HELP,
    {0},
};

const char *const pl_blob_paragraphs[] = {
    "Blobs are images, sound and documents that a server keeps once, by what is in them. Messages "
    "name them by their URL, /api/blobs/ID.",
    "add takes files of any size (- is standard input) and goes on with the next when one fails. "
    "fetch leaves it to the server, which asks no address inside its own network.",
    PL_TEXT_SERVER,
    NULL,
};

const struct pl_example pl_blob_examples[] = {
    {"blob add plan.pdf photo.png", "Keep two files; their ids are printed"},
    {"blob get blob_... -o photo.png", "Get one back"},
    {"blob get blob_... --range 0-15 | xxd", "Look at its first bytes"},
    {"blob fetch https://example.org/logo.png", "Keep what is behind a URL, before it is gone"},
    {NULL, NULL},
};
