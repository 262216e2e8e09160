#include "app/commands.h"

#include "app/server_commands.h"
#include "format/export.h"
#include "format/format.h"
#include "format/profile.h"
#include "schema/builtin.h"
#include "stream/stream.h"
#include "tokens/tokens.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

const char pl_program_summary[] =
    "reads and writes every LLM message format without losing anything";

const struct pl_exit_line pl_exit_lines[] = {
    {PL_EXIT_OK, "everything is as asked"},
    {PL_EXIT_NO, "the answer is no: invalid, nothing at that pointer, not in that form"},
    {PL_EXIT_USAGE, "the command line is wrong"},
    {PL_EXIT_UNREADABLE, "a file is missing, too large or not JSON, or the schema cannot be used"},
    {PL_EXIT_FAILED, "input, output or the server failed, or memory ran out"},
    {0, NULL},
};

const struct pl_env_line pl_env_lines[] = {
    {"NO_COLOR", "set to anything: no colours (there are none without a terminal either)"},
    {"PARLEY_SERVER, PARLEY_KEY",
     "the server that session, key and backup talk to, and the key for it"},
    {"PARLEY_HOST, PARLEY_PORT, ...", "the settings of \"parley serve\", see --print-config"},
    {"LC_ALL, LC_MESSAGES, LANG", "messages are Chinese when the first one set starts with zh"},
    {NULL, NULL},
};

static const char *schema_choice(size_t i)
{
    return pl_schema_builtins[i].name;
}

static const char *lang_choice(size_t i)
{
    static const char *const names[] = {"en", "zh", NULL};
    return names[i];
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

static const char *dialect_choice(size_t i)
{
    return pl_dialects[i] ? pl_dialects[i]->name : NULL;
}

static const char *kind_choice(size_t i)
{
    static const char *const names[] = {"request", "response", NULL};
    return names[i];
}

static const char *mode_choice(size_t i)
{
    static const char *const names[] = {"convert", "repair", "gateway", NULL};
    return names[i];
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

static const char *level_choice(size_t i)
{
    static const char *const names[] = {"error", "warning", "info", "request", NULL};
    return names[i];
}

static const struct pl_option serve_options[] = {
    {"host", PL_OPT_HOST, .args = {"ADDRESS"},
     .help = "Where to listen; 127.0.0.1 by default. Elsewhere needs TLS or --behind-proxy"},
    {"port", PL_OPT_PORT, .args = {"PORT"}, .help = "8787 by default; 0 takes any free port"},
    {"data", PL_OPT_DATA, .args = {"DIR"}, .takes_file = true,
     .help = "Where conversations are kept; $XDG_DATA_HOME/parley by default"},
    {"store", PL_OPT_STORE, .args = {"URL"},
     .help = "sqlite:PATH, postgres://... or memory: instead of DIR/parley.db"},
    {"tls-cert", PL_OPT_TLS_CERT, .args = {"FILE"}, .takes_file = true,
     .help = "Certificate chain in PEM; then it speaks HTTPS"},
    {"tls-key", PL_OPT_TLS_KEY, .args = {"FILE"}, .takes_file = true,
     .help = "The certificate's key in PEM"},
    {"unix", PL_OPT_UNIX, .args = {"PATH"}, .takes_file = true,
     .help = "Listen on this Unix socket too; keys are needed as on a port"},
    {"behind-proxy", PL_OPT_BEHIND_PROXY, .help = "Another server in front does TLS"},
    {"allow-host", PL_OPT_ALLOW_HOST, .args = {"NAME"}, .is_repeatable = true,
     .help = "A further name under which clients may ask for it (Host)"},
    {"allow-origin", PL_OPT_ALLOW_ORIGIN, .args = {"ORIGIN"}, .is_repeatable = true,
     .help = "A web origin whose pages may use it (CORS)"},
    {"shards", PL_OPT_SHARDS, .args = {"N"},
     .help = "Threads that serve connections; 0, the default, is one per core"},
    {"workers", PL_OPT_WORKERS, .args = {"N"},
     .help = "Threads for files, the store and conversions; 4 by default"},
    {"max-connections", PL_OPT_MAX_CONNECTIONS, .args = {"N"}, .help = "20000 by default"},
    {"drain", PL_OPT_DRAIN, .args = {"MS"},
     .help = "How long running turns may take when it is told to end; 10000 by default"},
    {"log-level", PL_OPT_LOG_LEVEL, .args = {"LEVEL"}, .choice = level_choice,
     .help = "What to write to standard error; request is every request"},
    {"log-json", PL_OPT_LOG_JSON, .help = "Write it as one JSON object per line"},
    {"model", PL_OPT_MODEL, .args = {"NAME"},
     .help = "The model of sessions that name none; demo/echo by default"},
    {"print-config", PL_OPT_PRINT_CONFIG,
     .help = "Show every setting with its value and where that comes from, and end"},
    {"json", PL_OPT_JSON, .help = "With --print-config: one JSON object"},
    PL_OPTION_HELP,
    {0},
};

static const char *const serve_paragraphs[] = {
    "Serves sessions over HTTP, WebSocket and event streams, and everything the other commands do "
    "with documents. It prints its address when it is ready. On the first start it also prints a "
    "link that makes you its administrator; after that, every request needs a key.",
    "Every option is also a setting of the environment (PARLEY_PORT for --port) and of the file "
    "$XDG_CONFIG_HOME/parley/config.yaml (port: 8787). Options come first, then the environment, "
    "then the file.",
    "SIGTERM or Ctrl-C ends it: running turns get the time of --drain, and what they said so far "
    "is "
    "kept. A second one ends it at once.",
    NULL,
};

static const struct pl_example serve_examples[] = {
    {"serve", "On this machine only, with the built-in demo model"},
    {"serve --port 9000 --data ./data --log-level request", "Elsewhere, and with more to read"},
    {"serve --host 0.0.0.0 --tls-cert cert.pem --tls-key key.pem --allow-host chat.example.org",
     "For others, with TLS"},
    {"serve --print-config", "See what it would do"},
    {NULL, NULL},
};

static const struct pl_option validate_options[] = {
    {"as", PL_OPT_AS, .args = {"NAME"}, .choice = schema_choice,
     .help = "Check against a schema that is built in"},
    {"schema", PL_OPT_SCHEMA, .args = {"FILE"}, .takes_file = true,
     .help = "Check against the schema in FILE (JSON Schema 2020-12)"},
    {"format-assertion", PL_OPT_FORMAT_ASSERTION,
     .help = "Let the keyword \"format\" refuse values; by default it only annotates them"},
    {"lang", PL_OPT_LANG, .args = {"LANG"}, .choice = lang_choice,
     .help = "Language of the messages about invalid values; by default that of the environment"},
    {"output", PL_OPT_OUTPUT, .args = {"FORM"}, .choice = output_choice,
     .help = "How much to say: flag is only valid or not; basic with --json is the standard's "
             "basic output document"},
    {"json", PL_OPT_JSON, .help = "Print JSON for machines, one object per file and line"},
    PL_OPTION_HELP,
    {0},
};

static const char *const validate_paragraphs[] = {
    "Reads each FILE (- is standard input), and says whether it is valid. Errors come with their "
    "line, column and JSON Pointer, and a sentence that names the value and what was expected.",
    "With --json a single file gives {\"valid\":true,\"errors\":[]}; each error has pointer, "
    "message, keyword, line and column. Several files give one such object per line, the member "
    "\"file\" first. A file that is missing or is not JSON is reported in the same shape, with "
    "keyword null, and the run goes on with the next file.",
    "When files fare differently, the highest exit code wins.",
    "References ($ref) reach into the schema itself and the meta-schemas; nothing is fetched.",
    NULL,
};

static const struct pl_example validate_examples[] = {
    {"validate --as envelope prompt.json", "Check one prompt envelope"},
    {"validate --schema order.schema.json orders/*.json", "Check many files against your schema"},
    {"validate --as pi --json - < message.json", "Check standard input, answer in JSON"},
    {NULL, NULL},
};

/* The formats, then the exports; only those that can be read when `is_source`. */
static const char *format_or_export(size_t i, bool is_source)
{
    for (size_t k = 0; pl_formats[k]; k++)
        if (i-- == 0)
            return pl_formats[k]->name;
    for (size_t k = 0; pl_exports[k]; k++)
        if ((pl_exports[k]->read || !is_source) && i-- == 0)
            return pl_exports[k]->name;
    return NULL;
}

static const char *source_choice(size_t i)
{
    return format_or_export(i, true);
}

static const char *sink_choice(size_t i)
{
    return format_or_export(i, false);
}

static const struct pl_option convert_options[] = {
    {"from", PL_OPT_FROM, .args = {"FORMAT"}, .choice = source_choice,
     .help =
         "The format of FILE; by default it is told from the content, but for yaml and markdown"},
    {"to", PL_OPT_TO, .args = {"FORMAT"}, .choice = sink_choice,
     .help = "The format to write; yaml, markdown, curl and claude are ways to write a prompt"},
    {"kind", PL_OPT_KIND, .args = {"KIND"}, .choice = kind_choice,
     .help = "What FILE is: a request (the default), or a response or error of a model"},
    {"mode", PL_OPT_MODE, .args = {"MODE"}, .choice = mode_choice,
     .help = "convert translates and changes nothing else (the default); repair also makes the "
             "result legal; gateway also applies the profile of the target"},
    {"profile", PL_OPT_PROFILE, .args = {"NAME"}, .choice = pl_profile_choice,
     .help = "What the target accepts: a vendor's API version or model family"},
    {"strict", PL_OPT_STRICT,
     .help = "Refuse (exit 1) when something would be dropped, approximated, reordered or merged"},
    {"report", PL_OPT_REPORT, .args = {"FILE"}, .takes_file = true,
     .help = "Write the loss report to FILE; with --out, to NAME.report.json in this directory"},
    {"carry", PL_OPT_CARRY, .args = {"FILE"}, .takes_file = true,
     .help = "Write the carry to FILE: what the target has no place for, for the way back; with "
             "--out, to NAME.carry.json in this directory"},
    {"with-carry", PL_OPT_WITH_CARRY, .args = {"FILE"}, .takes_file = true,
     .help = "Go back with the carry of the way there: the original, byte for byte, with every "
             "change made since; with --out, NAME.carry.json in this directory"},
    {"out", PL_OPT_OUT, .args = {"DIR"}, .takes_file = true,
     .help = "Write into this directory: several files, or all *.json and *.ndjson files of "
             "directories, each under its own name"},
    {"ndjson", PL_OPT_NDJSON,
     .help = "Each line of FILE is a document, and becomes a line; files named *.ndjson are read "
             "so without being asked"},
    PL_OPTION_HELP,
    {0},
};

static const char *const convert_paragraphs[] = {
    "Reads a conversation in one format and writes it in another. Nothing is lost silently: what "
    "the target cannot say is in the loss report, with a JSON Pointer into FILE, and in the carry.",
    "A format into itself gives the same bytes. The result together with its carry gives the "
    "original bytes back; a message appended, changed or removed in between arrives, and "
    "everything else keeps its bytes.",
    "A prompt can also be written as yaml (GitHub's .prompt.yml), markdown, a curl command or a "
    "claude -p command line that bash, dash and zsh give on byte for byte. These are made from its "
    "structured chat; the report and the carry are those of the way there. yaml and markdown can "
    "be read back with --from.",
    "With --out DIR there may be several files and directories. A file goes to DIR under its own "
    "name, the files of a directory as they lie in it; where the result is not JSON, or the source "
    "was not named so, the ending of the new kind is added. A file that fails does not stop the "
    "run; the highest exit code wins. --report, --carry and --with-carry name directories then, "
    "in which NAME.json has NAME.report.json and NAME.carry.json (.ndjson for NDJSON); they may be "
    "DIR itself.",
    "NDJSON is answered line by line. A result with line breaks is written without white space. A "
    "line that fails is reported with its number and leaves no line behind, so the lines of the "
    "carry are those of the result; the report has a line for every document, with \"line\" first.",
    "The codes of the report: dropped, approximated, reordered, merged (these four are what "
    "--strict refuses), moved and synthesised.",
    NULL,
};

static const struct pl_example convert_examples[] = {
    {"convert --to anthropic request.json", "Translate a request"},
    {"convert --to gemini --report loss.json --carry carry.json chat.json",
     "Keep what Gemini has no place for"},
    {"convert --from gemini --to openai-chat --with-carry carry.json gemini.json",
     "And back again, byte for byte"},
    {"convert --to anthropic --out there --report there --carry there logs",
     "Translate all files of a directory"},
    {"convert --to openai-chat --ndjson - < chats.ndjson > openai.ndjson",
     "Translate a document on each line"},
    {"convert --to yaml chat.json > chat.prompt.yml", "Keep a prompt in a repository"},
    {"convert --to claude prompt.json | sh", "Ask with the claude command"},
    {NULL, NULL},
};

static const struct pl_option detect_options[] = {
    {"json", PL_OPT_JSON, .help = "Print JSON for machines"},
    PL_OPTION_HELP,
    {0},
};

static const char *const detect_paragraphs[] = {
    "Prints the name of the format a file is in, told from its content. Exit 1 when it is none "
    "that Parley knows.",
    NULL,
};

static const struct pl_example detect_examples[] = {
    {"detect request.json", "Which format is this?"},
    {NULL, NULL},
};

/* A format, or one of its profiles. */
static const char *target_choice(size_t i)
{
    size_t n_formats = 0;
    while (pl_formats[n_formats])
        n_formats++;
    return i < n_formats ? pl_formats[i]->name : pl_profile_choice(i - n_formats);
}

static const struct pl_option lint_options[] = {
    {"as", PL_OPT_AS, .args = {"FORMAT"}, .choice = pl_format_choice,
     .help = "The format of FILE; by default it is told from the content"},
    {"for", PL_OPT_FOR, .args = {"TARGET"}, .choice = target_choice,
     .help = "Also look for what this format or profile would refuse"},
    {"fix", PL_OPT_FIX,
     .help = "Print the conversation mended instead: results for calls without one, everything in "
             "its place; what is right keeps its bytes"},
    {"report", PL_OPT_REPORT, .args = {"FILE"}, .takes_file = true,
     .help = "With --fix: write the findings to FILE"},
    {"json", PL_OPT_JSON, .help = "Print JSON for machines"},
    PL_OPTION_HELP,
    {0},
};

static const char *const lint_paragraphs[] = {
    "Reads a conversation and tells what is wrong or likely to go wrong in it: calls without "
    "results, arguments that do not fit their tool, links that expire, secrets, citations without "
    "a source, turns a target refuses, and more. Each finding has a code, a severity, a JSON "
    "Pointer and what to do.",
    "Exit 1 when there is an error among the findings; warnings alone are exit 0.",
    NULL,
};

static const struct pl_example lint_examples[] = {
    {"lint chat.json", "Look at a conversation"},
    {"lint --for anthropic --json chat.json", "Would this target take it?"},
    {"lint --fix --report findings.json chat.json > mended.json", "Mend what can be mended"},
    {NULL, NULL},
};

static const struct pl_option media_options[] = {
    {"every", PL_OPT_EVERY, .args = {"TIME"},
     .help = "The time from one frame to the next: 1s, 0.5s, 500ms, 2m"},
    {"max", PL_OPT_MAX, .args = {"N"}, .help = "At most N frames; by default 64"},
    {"sound", PL_OPT_SOUND, .help = "Put the sound in as well: WAV, 16 kHz, one channel"},
    {"out", PL_OPT_OUT, .args = {"FILE"}, .takes_file = true,
     .help = "Write to FILE instead of standard output"},
    PL_OPTION_HELP,
    {0},
};

static const char *const media_paragraphs[] = {
    "media frames makes a user message of harmony from a video: its frames as images with "
    "video_metadata, which has the hash of the file, the second in the video and the number of the "
    "frame in the message; with --sound, the sound as input_audio behind them.",
    "The frames are taken by the program ffmpeg, which must be installed. It is started without a "
    "shell and reads the named file only.",
    NULL,
};

static const struct pl_example media_examples[] = {
    {"media frames --every 1s talk.mp4 > message.json", "A frame for every second"},
    {"media frames --every 10s --max 20 --sound --out message.json talk.mp4",
     "Few frames, and what is said"},
    {NULL, NULL},
};

static const struct pl_option render_options[] = {
    {"var", PL_OPT_VAR, .args = {"NAME=VALUE"}, .is_repeatable = true,
     .help = "The value of a variable"},
    {"preview", PL_OPT_PREVIEW, .help = "Leave variables without a value as they are"},
    PL_OPTION_HELP,
    {0},
};

static const char *const render_paragraphs[] = {
    "Prints a structured chat with its variables filled in: {{name}}, {{ name }}, and "
    "{{name:default}} for a value when none is given. \\{{ is a literal {{. A value is put in as "
    "it is and never looked at again. Nothing but the variables changes, byte for byte.",
    "A variable without value and default is exit 1, and all of them are named. What the document "
    "declares in \"variables\" is checked: required, number, the options of a select.",
    NULL,
};

static const struct pl_example render_examples[] = {
    {"render --var name=Ann --var tone=warm prompt.json", "Fill in two variables"},
    {"render --preview prompt.json", "See it with its defaults"},
    {NULL, NULL},
};

static const struct pl_option cite_options[] = {
    {"source", PL_OPT_SOURCE, .args = {"ID=FILE"}, .is_repeatable = true,
     .help = "The text of a source, by its source_id or the id of the citation; its snippets are "
             "looked up in it"},
    {"json", PL_OPT_JSON,
     .help = "Print JSON for machines: a list of id, pointer, resolved, source, shown, snippet and "
             "problems"},
    PL_OPTION_HELP,
    {0},
};

static const char *const cite_paragraphs[] = {
    "Reads a harmony conversation and prints each <cite id=\"...\"/> of its texts with the source "
    "it stands for in metadata.citation_map of its message.",
    "An id without an entry is a warning: the anchor is shown as plain text. A page below 1, a "
    "bbox without extent, or a snippet that is not in its source is an error and exit 1.",
    NULL,
};

static const struct pl_example cite_examples[] = {
    {"cite answer.json", "Where does this come from?"},
    {"cite --source doc_1=report.txt --json answer.json", "Is that what the report says?"},
    {NULL, NULL},
};

static const struct pl_option handoff_options[] = {
    {"target", PL_OPT_TARGET, .args = {"AGENT"}, .help = "make: who takes over"},
    {"source", PL_OPT_SOURCE, .args = {"AGENT"}, .help = "make: who hands over"},
    {"objective", PL_OPT_OBJECTIVE, .args = {"TEXT"},
     .help = "make: the task; by default the first words of the user"},
    {"status", PL_OPT_STATUS, .args = {"TEXT"}, .help = "make: by default in_progress"},
    {"step", PL_OPT_STEP, .args = {"TEXT"}, .is_repeatable = true,
     .help = "make: a step that is done, beside the calls that were answered"},
    {"next", PL_OPT_NEXT, .args = {"TEXT"}, .help = "make: what to do next"},
    {"constraint", PL_OPT_CONSTRAINT, .args = {"TEXT"}, .is_repeatable = true,
     .help = "make: what must hold, beside the system's words"},
    {"artifact", PL_OPT_ARTIFACT, .args = {"NAME=PLACE"}, .is_repeatable = true,
     .help = "make: a thing and where it is, beside those in the conversation"},
    {"summary", PL_OPT_SUMMARY, .args = {"TEXT"}, .help = "make: the story so far"},
    {"done", PL_OPT_DONE, .args = {"TEXT"}, .is_repeatable = true,
     .help = "make: how to tell that the task is done"},
    {"id", PL_OPT_ID, .args = {"ID"}, .help = "make: the packet's handoff_id"},
    {"trace", PL_OPT_TRACE, .args = {"ID"}, .help = "make: its trace_id"},
    {"previous", PL_OPT_PREVIOUS, .args = {"FILE"}, .takes_file = true,
     .help = "The packet of the hop before, or the answer to it"},
    {"agent", PL_OPT_AGENT, .args = {"AGENT"}, .help = "check, accept, refuse: who was asked"},
    {"reason", PL_OPT_REASON, .args = {"TEXT"}, .is_repeatable = true, .help = "refuse: why"},
    {"json", PL_OPT_JSON, .help = "check: print JSON for machines"},
    PL_OPTION_HELP,
    {0},
};

static const char *const handoff_paragraphs[] = {
    "Hands a task over to another agent in a packet (harmony_handoff_v1) that holds all the "
    "receiver needs: objective, progress, constraints, artifacts, a summary.",
    "make reads a conversation of any format and prints the packet. With --previous it goes on "
    "from the packet it was itself handed: the objective stays, steps and constraints are kept, "
    "the hops are counted.",
    "check says what is wrong with a packet. accept and refuse print the answer to it; accept "
    "refuses (exit 1) when something is wrong. The rules: the schema handoff, the objective never "
    "changes, at most 5 hops, never back to an agent that was visited.",
    NULL,
};

static const struct pl_example handoff_examples[] = {
    {"handoff make --source planner --target coder chat.json > packet.json", "Hand over"},
    {"handoff accept --agent coder packet.json", "Take over"},
    {"handoff make --previous packet.json --target tester chat.json", "Hand on"},
    {"handoff refuse --reason 'no access to the repository' packet.json", "Decline"},
    {NULL, NULL},
};

static const struct pl_option json_options[] = {
    {"pretty", PL_OPT_PRETTY, .help = "Indent by two spaces (what happens without options)"},
    {"minify", PL_OPT_MINIFY, .help = "Remove all white space between values"},
    {"canonical", PL_OPT_CANONICAL,
     .help = "Write the one canonical spelling: keys sorted by bytes, fewest escapes, no white "
             "space; for hashing and comparing"},
    {"get", PL_OPT_GET, .args = {"POINTER"},
     .help = "Print the value at a JSON Pointer exactly as it is spelled, and a newline"},
    {"raw", PL_OPT_RAW, .help = "With --get: print a string decoded, without its quotes"},
    {"set", PL_OPT_SET, .args = {"POINTER", "VALUE"}, .is_repeatable = true,
     .help = "Replace a value, or add it where only the last step of POINTER is missing"},
    {"insert", PL_OPT_INSERT, .args = {"POINTER", "VALUE"}, .is_repeatable = true,
     .help = "Insert before an array element (- as the last step: at the end), or add a member "
             "that must not exist yet"},
    {"remove", PL_OPT_REMOVE, .args = {"POINTER"}, .is_repeatable = true,
     .help = "Remove a member or an element with its comma"},
    {"lenient", PL_OPT_LENIENT,
     .help = "Tolerate comments, trailing commas, a byte-order mark and lone surrogates, and "
             "report each on standard error"},
    {"check", PL_OPT_CHECK,
     .help = "Print nothing: exit 0 when the input is JSON; with --pretty, --minify or "
             "--canonical, exit 1 when it is not in that form already"},
    PL_OPTION_HELP,
    {0},
};

static const char *const json_paragraphs[] = {
    "Reads one FILE (- is standard input) as strict JSON (RFC 8259) and writes it in the form "
    "asked "
    "for. Strings and numbers keep their spelling in every form but the canonical one.",
    "--set, --insert and --remove may be repeated and mixed; they are applied in the order given, "
    "each to the result of the one before. VALUE is JSON: a string needs its quotes. Every byte "
    "that is not part of a change stays as it was, so the result ends in a newline only if the "
    "input did. With --lenient, comments and trailing commas stay too.",
    "Output is written only when everything has succeeded. The file itself is never changed.",
    NULL,
};

static const struct pl_example json_examples[] = {
    {"json data.json", "Show a file indented"},
    {"json --get /messages/0/role chat.json", "Print one value"},
    {"json --set /model '\"demo\"' --remove /user request.json > new.json",
     "Change two things and nothing else"},
    {"json --lenient --minify settings.jsonc", "Turn JSON with comments into JSON"},
    {"json --canonical a.json | sha256sum", "Hash what a file says, not how it is spelled"},
    {NULL, NULL},
};

static const struct pl_option stream_options[] = {
    {"from", PL_OPT_FROM, .args = {"DIALECT"}, .choice = dialect_choice,
     .help = "The dialect of the events in FILE"},
    {"to", PL_OPT_TO, .args = {"DIALECT"}, .choice = dialect_choice,
     .help = "The dialect to write; patches are those of a session's turn, one per line"},
    PL_OPTION_HELP,
    {0},
};

static const char *const stream_paragraphs[] = {
    "Reads the server-sent events of one vendor as they come and writes those of another, each as "
    "soon as it can be known. The same dialect passes its bytes on and adds only a missing end.",
    "A stream that breaks off or cannot be read ends in an error event of the target, and the exit "
    "code is 3; it never ends as if nothing had happened.",
    NULL,
};

static const struct pl_example stream_examples[] = {
    {"stream --from openai-chat --to anthropic events.sse", "Translate a recorded stream"},
    {"stream --from anthropic --to patches -", "Follow a stream on standard input"},
    {NULL, NULL},
};

static const char *encoding_choice(size_t i)
{
    return i < PL_ENCODING_COUNT ? pl_encoding_name((enum pl_encoding)i) : NULL;
}

#define OPT_COUNTING                                                                               \
    {"encoding", PL_OPT_ENCODING, .args = {"NAME"}, .choice = encoding_choice,                     \
     .help = "Count with this vocabulary, exactly"},                                               \
    {                                                                                              \
        "model", PL_OPT_MODEL,                                                                     \
            .args = {"NAME"},                                                                      \
            .help = "Count as for this model; by default the one that the document names"          \
    }

static const struct pl_option tokens_options[] = {
    OPT_COUNTING,
    {"as", PL_OPT_AS, .args = {"FORMAT"}, .choice = pl_format_choice,
     .help = "The format of FILE; by default it is told from the content"},
    {"json", PL_OPT_JSON, .help = "Print JSON for machines"},
    PL_OPTION_HELP,
    {0},
};

static const char *const tokens_paragraphs[] = {
    "Says how many tokens a conversation costs, and what they are made of: messages, tools, system "
    "instructions, images and audio.",
    "The vocabularies o200k_base and cl100k_base are counted exactly. For a model whose vendor "
    "publishes none the number is an estimate, on the high side, and marked as one; so is the cost "
    "of what cannot be seen, an image behind a link for instance.",
    NULL,
};

static const struct pl_example tokens_examples[] = {
    {"tokens request.json", "What does this cost for the model it names?"},
    {"tokens --encoding o200k_base --json chat.json", "Ask from a script"},
    {NULL, NULL},
};

static const struct pl_option trim_options[] = {
    {"as", PL_OPT_AS, .args = {"FORMAT"}, .choice = pl_format_choice,
     .help = "The format of FILE; by default it is told from the content"},
    {"max-tokens", PL_OPT_MAX_TOKENS, .args = {"N"}, .help = "Make it fit into N tokens"},
    OPT_COUNTING,
    {"summary", PL_OPT_SUMMARY, .args = {"TEXT"},
     .help = "What to say in place of the exchanges that are left out; by default their number"},
    {"report", PL_OPT_REPORT, .args = {"FILE"}, .takes_file = true,
     .help = "Write to FILE what was left out, with its tokens"},
    PL_OPTION_HELP,
    {0},
};

static const char *const trim_paragraphs[] = {
    "Makes a conversation fit into a number of tokens and prints it in the same format. Oldest "
    "first, and only as much as is needed, images and then audio become a placeholder, tool "
    "results a stub, and at last whole exchanges one summary.",
    "System instructions and the last user message always stay, a call and its result stay or go "
    "together, and messages that were not touched keep their bytes. Exit 1, with the reason, when "
    "it cannot fit.",
    NULL,
};

static const struct pl_example trim_examples[] = {
    {"trim --as openai-chat --max-tokens 8000 request.json", "Fit a request into 8,000 tokens"},
    {"trim --max-tokens 4000 --summary \"We chose the 2D version.\" --report gone.json chat.json",
     "Say yourself what the old part was about, and see what went"},
    {NULL, NULL},
};

static const struct pl_option version_options[] = {
    {"json", PL_OPT_JSON, .help = "Print JSON for machines"},
    PL_OPTION_HELP,
    {0},
};

static const char *const version_paragraphs[] = {
    "Prints the version, the instruction set the JSON parser uses on this machine, and the version "
    "of PCRE2, which runs the regular expressions of schemas.",
    NULL,
};

static const struct pl_example version_examples[] = {
    {"version --json", "Ask from a script"},
    {NULL, NULL},
};

static const struct pl_option completion_options[] = {
    PL_OPTION_HELP,
    {0},
};

static const char *const completion_paragraphs[] = {
    "Prints a completion script for the shell. An installed Parley comes with these scripts in "
    "their places; this command is for trying it without installing.",
    NULL,
};

static const struct pl_example completion_examples[] = {
    {"completion bash > ~/.local/share/bash-completion/completions/parley", "For bash"},
    {"completion zsh > ~/.zfunc/_parley", "For zsh, when ~/.zfunc is in fpath"},
    {"completion fish > ~/.config/fish/completions/parley.fish", "For fish"},
    {NULL, NULL},
};

static const struct pl_option help_options[] = {
    {"man", PL_OPT_MAN, .is_hidden = true, .help = "Print the manual page"},
    PL_OPTION_HELP,
    {0},
};

static const char *const help_paragraphs[] = {
    "Shows what Parley can do, or how one command is used.",
    NULL,
};

static const struct pl_example help_examples[] = {
    {"help validate", "How files are checked"},
    {NULL, NULL},
};

const struct pl_command pl_commands[] = {
    {"serve", "Serve sessions over HTTP, WebSocket and event streams", "[OPTION]...",
     serve_paragraphs, serve_options, serve_examples, NULL, 0, 0, "no operand", pl_cmd_serve},
    {"session", "Talk in conversations a server keeps, and look after them",
     "list|new|show|chat|stop|answer|delete|export|import|fork|share [OPTION]... [WORD]...",
     pl_session_paragraphs, pl_session_options, pl_session_examples, NULL, 1, 4,
     "what to do and what with", pl_cmd_session},
    {"key", "Make, list and revoke keys of a server", "create|list|revoke [OPTION]... [ID]",
     pl_key_paragraphs, pl_key_options, pl_key_examples, NULL, 1, 2,
     "create, list, or revoke and an ID", pl_cmd_key},
    {"backup", "Copy everything a server keeps into a file", "[OPTION]... FILE",
     pl_backup_paragraphs, pl_backup_options, pl_backup_examples, NULL, 1, 1, "the FILE to write",
     pl_cmd_backup},
    {"restore", "Put a backup in the place of the store", "[OPTION]... FILE", pl_restore_paragraphs,
     pl_restore_options, pl_restore_examples, NULL, 1, 1, "the FILE that backup has written",
     pl_cmd_restore},
    {"doctor", "Look for what is wrong with this machine and its data", "[OPTION]...",
     pl_doctor_paragraphs, pl_doctor_options, pl_doctor_examples, NULL, 0, 0, "no operand",
     pl_cmd_doctor},
    {"validate", "Check JSON files against a schema",
     "(--as NAME | --schema FILE) [OPTION]... FILE...", validate_paragraphs, validate_options,
     validate_examples, NULL, 1, SIZE_MAX, "a FILE to check (- for standard input)",
     pl_cmd_validate},
    {"convert", "Translate a conversation into another format", "--to FORMAT [OPTION]... FILE...",
     convert_paragraphs, convert_options, convert_examples, NULL, 1, SIZE_MAX,
     "a FILE (- for standard input)", pl_cmd_convert},
    {"detect", "Tell the format of a conversation", "FILE", detect_paragraphs, detect_options,
     detect_examples, NULL, 1, 1, "one FILE (- for standard input)", pl_cmd_detect},
    {"lint", "Find mistakes in a conversation", "[--as FORMAT] [OPTION]... FILE", lint_paragraphs,
     lint_options, lint_examples, NULL, 1, 1, "one FILE (- for standard input)", pl_cmd_lint},
    {"media", "Make a message from a video", "frames --every TIME [OPTION]... VIDEO",
     media_paragraphs, media_options, media_examples, NULL, 2, 2, "what to do and one VIDEO",
     pl_cmd_media},
    {"render", "Fill in the variables of a prompt", "[--var NAME=VALUE]... [OPTION]... FILE",
     render_paragraphs, render_options, render_examples, NULL, 1, 1,
     "one FILE (- for standard input)", pl_cmd_render},
    {"cite", "Show the sources of a conversation", "[--source ID=FILE]... [OPTION]... FILE",
     cite_paragraphs, cite_options, cite_examples, NULL, 1, 1, "one FILE (- for standard input)",
     pl_cmd_cite},
    {"handoff", "Hand a task over to another agent", "make|check|accept|refuse [OPTION]... FILE",
     handoff_paragraphs, handoff_options, handoff_examples, NULL, 2, 2,
     "what to do and one FILE (- for standard input)", pl_cmd_handoff},
    {"json", "Format, query and edit JSON", "[OPTION]... FILE", json_paragraphs, json_options,
     json_examples, NULL, 1, 1, "one FILE (- for standard input)", pl_cmd_json},
    {"stream", "Translate a stream of events as it comes", "--from DIALECT --to DIALECT FILE",
     stream_paragraphs, stream_options, stream_examples, NULL, 1, 1,
     "one FILE (- for standard input)", pl_cmd_stream},
    {"tokens", "Count the tokens of a conversation", "[OPTION]... FILE", tokens_paragraphs,
     tokens_options, tokens_examples, NULL, 1, 1, "one FILE (- for standard input)", pl_cmd_tokens},
    {"trim", "Make a conversation fit into a number of tokens", "--max-tokens N [OPTION]... FILE",
     trim_paragraphs, trim_options, trim_examples, NULL, 1, 1, "one FILE (- for standard input)",
     pl_cmd_trim},
    {"version", "Show the version and what this build can do", "[--json]", version_paragraphs,
     version_options, version_examples, NULL, 0, 0, "no operand", pl_cmd_version},
    {"completion", "Print a completion script for a shell", "bash|zsh|fish", completion_paragraphs,
     completion_options, completion_examples, shell_choice, 1, 1, "one shell: bash, zsh or fish",
     pl_cmd_completion},
    {"help", "Show help", "[COMMAND]", help_paragraphs, help_options, help_examples,
     pl_command_choice, 0, 1, "at most one COMMAND", pl_cmd_help},
    {0},
};

const struct pl_command *pl_command_find(const char *name)
{
    for (const struct pl_command *command = pl_commands; command->name; command++)
        if (strcmp(command->name, name) == 0)
            return command;
    return NULL;
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
