/* Tables of the conversation commands: options, examples, and the paragraphs of help and manual
 * page. The commands are in cmd_*.c. */
#include "app/conversation/conversation_commands.h"

#include "promptfile/export.h"
#include "format/format.h"
#include "format/profile.h"
#include "stream/stream.h"
#include "tokens/tokens.h"

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

/* The formats, then the exports; with `is_source` only those that can be read. */
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

const char *pl_export_choice(size_t i)
{
    return format_or_export(i, false);
}

const struct pl_option pl_convert_options[] = {
    {"from", PL_OPT_FROM, .args = {"FORMAT"}, .choice = source_choice,
     .help = "The format of FILE; by default it is detected from the content, except yaml and "
             "markdown"},
    {"to", PL_OPT_TO, .args = {"FORMAT"}, .choice = pl_export_choice,
     .help = "The format to write; yaml, markdown, curl and claude write a prompt, claude-command "
             "and claude-skill a file of Claude Code"},
    {"model", PL_OPT_MODEL, .args = {"NAME"}, .words = "models",
     .help = "With --to curl, claude and the like: the model, in place of the prompt's"},
    {"append", PL_OPT_APPEND,
     .help = "With --to claude: add the system prompt to the command's own "
             "(--append-system-prompt) instead of replacing it"},
    {"kind", PL_OPT_KIND, .args = {"KIND"}, .choice = kind_choice,
     .help = "What FILE is: a request (default), or a response or error of a model"},
    {"mode", PL_OPT_MODE, .args = {"MODE"}, .choice = mode_choice,
     .help = "convert only translates (default); repair also makes the result valid for the "
             "target; gateway also applies the profile of the target"},
    {"profile", PL_OPT_PROFILE, .args = {"NAME"}, .choice = pl_profile_choice,
     .help = "What the target accepts: a vendor's API version or model family"},
    {"strict", PL_OPT_STRICT,
     .help = "Refuse (exit 1) if something would be dropped, approximated, reordered or merged; "
             "also refuse (exit 3) a FILE that is not JSON of RFC 8259, with comments, trailing "
             "commas, a byte-order mark or duplicate keys"},
    {"report", PL_OPT_REPORT, .args = {"FILE"}, .takes_file = true,
     .help = "Write the loss report to FILE; with --out, to NAME.report.json in this directory"},
    {"carry", PL_OPT_CARRY, .args = {"FILE"}, .takes_file = true,
     .help = "Write the carry to FILE: what the target has no place for, to restore the original "
             "later; with --out, to NAME.carry.json in this directory"},
    {"with-carry", PL_OPT_WITH_CARRY, .args = {"FILE"}, .takes_file = true,
     .help = "Restore the original with the carry of an earlier conversion, byte for byte and with "
             "all edits made since; with --out, NAME.carry.json in this directory"},
    {"out", PL_OPT_OUT, .args = {"DIR"}, .takes_file = true,
     .help = "Write into this directory; allows several files, and directories with *.json and "
             "*.ndjson files. Each result keeps its name"},
    {"ndjson", PL_OPT_NDJSON,
     .help = "Each line of FILE is a document and becomes a line; the default for files named "
             "*.ndjson"},
    PL_OPTIONS_SHARED,
    {0},
};

const char *const pl_convert_paragraphs[] = {
    "Reads a conversation in one format and writes it in another. Nothing is lost silently: the "
    "loss report and the carry hold what the target cannot express, the report with JSON Pointers "
    "into FILE.",
    "A format converted to itself gives the same bytes. The result together with its carry gives "
    "the original bytes back. Messages that were added, changed or removed in between arrive, and "
    "everything else keeps its bytes.",
    "The result goes to standard output. Every output needs its own file: two in one, as with "
    "--report -, are refused. /dev/stderr is allowed.",
    "A prompt can also be written as yaml (GitHub's .prompt.yml), markdown, a curl command or a "
    "claude -p command line that bash, dash and zsh pass on byte for byte. These are made from its "
    "structured chat, and the carry is that of this conversion; the report also lists what the "
    "command cannot say. --from reads yaml and markdown back.",
    "--out DIR allows several files and directories. A file goes to DIR under its own name, the "
    "files of a directory under their relative path. A suffix is added if the result is not JSON "
    "or the source has another suffix. A failed file does not stop the run; the exit code is the "
    "highest. --report, --carry and --with-carry then name directories with NAME.report.json and "
    "NAME.carry.json for NAME.json (.ndjson for NDJSON); DIR itself is allowed. With --with-carry "
    "a "
    "result gets its old name back. A directory stands for its *.json and *.ndjson files; with "
    "--from "
    "gpt-oss, yaml or markdown for its *.txt, *.yaml, *.yml or *.md files.",
    "NDJSON is processed line by line. A result with line breaks is written without white space. A "
    "failed line is reported with its number and produces no output line, so the carry has the "
    "same lines as the result. The report has a line for every document, with \"line\" first.",
    "The codes of the report are dropped, approximated, reordered, merged (--strict refuses these "
    "four), moved and synthesised.",
    NULL,
};

const struct pl_example pl_convert_examples[] = {
    {"convert --to anthropic request.json", "Translate a request"},
    {"convert --to gemini --report loss.json --carry carry.json chat.json",
     "Keep what Gemini has no place for"},
    {"convert --from gemini --to openai-chat --with-carry carry.json gemini.json",
     "Restore the original, byte for byte"},
    {"convert --to anthropic --out there --report there --carry there logs",
     "Translate all files of a directory"},
    {"convert --to openai-chat --ndjson - < chats.ndjson > openai.ndjson",
     "Translate one document per line"},
    {"convert --to yaml chat.json > chat.prompt.yml", "Store a prompt in a repository"},
    {"convert --to claude prompt.json | sh", "Run a prompt with the claude command"},
    {NULL, NULL},
};

const struct pl_option pl_detect_options[] = {
    {"json", PL_OPT_JSON, .help = "Print JSON for machines"},
    PL_OPTIONS_SHARED,
    {0},
};

const char *const pl_detect_paragraphs[] = {
    "Prints the name of a file's format, detected from its content. Exit 1 if the format is "
    "unknown.",
    NULL,
};

const struct pl_example pl_detect_examples[] = {
    {"detect request.json", "Print the format of a file"},
    {NULL, NULL},
};

/* The formats, then their profiles. */
static const char *target_choice(size_t i)
{
    size_t n_formats = 0;
    while (pl_formats[n_formats])
        n_formats++;
    return i < n_formats ? pl_formats[i]->name : pl_profile_choice(i - n_formats);
}

const struct pl_option pl_lint_options[] = {
    {"as", PL_OPT_AS, .args = {"FORMAT"}, .choice = pl_format_choice,
     .help = "The format of FILE; by default it is detected from the content"},
    {"for", PL_OPT_FOR, .args = {"TARGET"}, .choice = target_choice,
     .help = "Also find what this format or profile would refuse"},
    {"fix", PL_OPT_FIX,
     .help = "Print the repaired conversation instead: adds missing results and moves misplaced "
             "parts; everything else keeps its bytes"},
    {"report", PL_OPT_REPORT, .args = {"FILE"}, .takes_file = true,
     .help = "With --fix: write the findings to FILE"},
    {"json", PL_OPT_JSON, .help = "Print JSON for machines"},
    PL_OPTIONS_SHARED,
    {0},
};

const char *const pl_lint_paragraphs[] = {
    "Reads a conversation and lists mistakes and risks: calls without results, arguments that do "
    "not match their tool's schema, URLs that expire, secrets, citations without a source, turns "
    "that a target refuses, and more. Each finding has a code, a severity, a JSON Pointer and a "
    "hint.",
    "Exit 1 if a finding is an error; warnings alone give exit 0.",
    NULL,
};

const struct pl_example pl_lint_examples[] = {
    {"lint chat.json", "Check a conversation"},
    {"lint --for anthropic --json chat.json", "Check it for a target"},
    {"lint --fix --report findings.json chat.json > mended.json", "Repair what can be repaired"},
    {NULL, NULL},
};

const struct pl_option pl_media_options[] = {
    {"every", PL_OPT_EVERY, .args = {"TIME"},
     .help = "The time from one frame to the next: 1s, 0.5s, 500ms, 2m"},
    {"start", PL_OPT_START, .args = {"TIME"}, .help = "Begin here instead of at the first frame"},
    {"end", PL_OPT_END, .args = {"TIME"}, .help = "Stop here instead of at the last frame"},
    {"max", PL_OPT_MAX, .args = {"N"}, .help = "At most N frames; 64 by default"},
    {"detail", PL_OPT_DETAIL, .args = {"low|high|auto"},
     .help = "How closely a model should look; low costs the fewest tokens"},
    {"sound", PL_OPT_SOUND, .help = "Include the audio: WAV, 16 kHz, one channel"},
    {"out", PL_OPT_OUT, .args = {"FILE"}, .takes_file = true,
     .help = "Write to FILE instead of standard output"},
    PL_OPTIONS_SHARED,
    {0},
};

const char *const pl_media_paragraphs[] = {
    "media frames makes a harmony user message from a video. The frames are images with "
    "video_metadata: the hash of the file, the second in the video and the number of the frame in "
    "the video. --sound adds the audio as input_audio after them.",
    "The program ffmpeg must be installed. It runs without a shell and reads only the named file.",
    NULL,
};

const struct pl_example pl_media_examples[] = {
    {"media frames --every 1s talk.mp4 > message.json", "One frame per second"},
    {"media frames --every 10s --max 20 --sound --out message.json talk.mp4",
     "Few frames, with the audio"},
    {"media frames --every 0.5s --start 10s --end 15s --detail low door.mp4",
     "Only these five seconds"},
    {NULL, NULL},
};

const struct pl_option pl_render_options[] = {
    {"var", PL_OPT_VAR, .args = {"NAME=VALUE"}, .is_repeatable = true,
     .help = "The value of a variable"},
    {"preview", PL_OPT_PREVIEW, .help = "Keep variables that have no value"},
    {"to", PL_OPT_TO, .args = {"FORMAT"}, .choice = pl_format_choice,
     .help = "Write another format; in an envelope the values are static_var segments"},
    PL_OPTIONS_SHARED,
    {0},
};

const char *const pl_render_paragraphs[] = {
    "Prints a structured chat with its variables filled in: {{name}}, {{ name }}, and "
    "{{name:default}} with a default value. \\{{ is a literal {{. A value is inserted as it is and "
    "not expanded again. Only the variables change, byte for byte.",
    "Exit 1 if variables have neither value nor default; the message names all of them. The "
    "declarations in \"variables\" are checked: required, number, the options of a select.",
    "The result may have up to 256 MiB; the message names the variable that exceeds this.",
    NULL,
};

const struct pl_example pl_render_examples[] = {
    {"render --var name=Ann --var tone=warm prompt.json", "Fill in two variables"},
    {"render --preview prompt.json", "Show it with its defaults"},
    {"render --var name=Ann --to envelope prompt.json", "See where the values went"},
    {NULL, NULL},
};

const struct pl_option pl_cite_options[] = {
    {"source", PL_OPT_SOURCE, .args = {"ID=FILE"}, .is_repeatable = true,
     .help = "The text of a source, by its source_id or the id of the citation; its snippets are "
             "searched in this text"},
    {"json", PL_OPT_JSON,
     .help = "Print JSON for machines: a list of id, pointer, resolved, source, shown, snippet and "
             "problems"},
    PL_OPTIONS_SHARED,
    {0},
};

const char *const pl_cite_paragraphs[] = {
    "Reads a conversation (harmony or turns) and prints each <cite id=\"...\"/> anchor in its "
    "texts with its "
    "source from metadata.citation_map of the message.",
    "An id without an entry is a warning; the anchor is shown as plain text. A page below 1, an "
    "empty bbox, or a snippet that is not in its source is an error and gives exit 1.",
    NULL,
};

const struct pl_example pl_cite_examples[] = {
    {"cite answer.json", "Show the sources of an answer"},
    {"cite --source doc_1=report.txt --json answer.json", "Check a source's snippets against its "
                                                          "text"},
    {NULL, NULL},
};

const struct pl_option pl_handoff_options[] = {
    {"target", PL_OPT_TARGET, .args = {"AGENT"}, .verbs = "make",
     .help = "the agent that takes over"},
    {"source", PL_OPT_SOURCE, .args = {"AGENT"}, .verbs = "make",
     .help = "the agent that hands over"},
    {"objective", PL_OPT_OBJECTIVE, .args = {"TEXT"}, .verbs = "make",
     .help = "the task; by default the first words of the user"},
    {"status", PL_OPT_STATUS, .args = {"TEXT"}, .verbs = "make", .help = "in_progress by default"},
    {"step", PL_OPT_STEP, .args = {"TEXT"}, .is_repeatable = true, .verbs = "make",
     .help = "a completed step, in addition to the answered calls"},
    {"next", PL_OPT_NEXT, .args = {"TEXT"}, .verbs = "make", .help = "what to do next"},
    {"constraint", PL_OPT_CONSTRAINT, .args = {"TEXT"}, .is_repeatable = true, .verbs = "make",
     .help = "a condition, in addition to the system instructions"},
    {"artifact", PL_OPT_ARTIFACT, .args = {"NAME=PLACE"}, .is_repeatable = true, .verbs = "make",
     .help = "an artifact and its location, in addition to those in the conversation"},
    {"summary", PL_OPT_SUMMARY, .args = {"TEXT"}, .verbs = "make",
     .help = "a summary of the conversation"},
    {"done", PL_OPT_DONE, .args = {"TEXT"}, .is_repeatable = true, .verbs = "make",
     .help = "a criterion for completion"},
    {"id", PL_OPT_ID, .args = {"ID"}, .verbs = "make", .help = "the packet's handoff_id"},
    {"trace", PL_OPT_TRACE, .args = {"ID"}, .verbs = "make", .help = "its trace_id"},
    {"previous", PL_OPT_PREVIOUS, .args = {"FILE"}, .takes_file = true,
     .help = "The packet of the previous hop, or the answer to it"},
    {"agent", PL_OPT_AGENT, .args = {"AGENT"}, .verbs = "check, accept, refuse",
     .help = "the agent that received the packet"},
    {"reason", PL_OPT_REASON, .args = {"TEXT"}, .is_repeatable = true, .verbs = "refuse",
     .help = "the reason"},
    {"json", PL_OPT_JSON, .verbs = "check", .help = "print JSON for machines"},
    PL_OPTIONS_SHARED,
    {0},
};

const char *const pl_handoff_paragraphs[] = {
    "Hands a task to another agent in a packet (harmony_handoff_v1) with everything the receiver "
    "needs: objective, progress, constraints, artifacts, a summary.",
    "make reads a conversation in any format and prints the packet. --previous continues from the "
    "packet that this agent received: it keeps the objective, steps and constraints, and counts "
    "the hops.",
    "check lists the problems of a packet. accept and refuse print the answer to it; accept "
    "refuses (exit 1) if there is a problem. The rules: the schema handoff, the objective never "
    "changes, at most 5 hops, and back to a visited agent only if it gave the task.",
    NULL,
};

const struct pl_example pl_handoff_examples[] = {
    {"handoff make --source planner --target coder chat.json > packet.json", "Hand over a task"},
    {"handoff accept --agent coder packet.json", "Accept a packet"},
    {"handoff make --previous packet.json --target tester chat.json", "Hand it to the next agent"},
    {"handoff refuse --reason 'no access to the repository' packet.json", "Decline a packet"},
    {NULL, NULL},
};

const struct pl_option pl_stream_options[] = {
    {"from", PL_OPT_FROM, .args = {"DIALECT"}, .choice = dialect_choice,
     .help = "The dialect of the events in FILE"},
    {"to", PL_OPT_TO, .args = {"DIALECT"}, .choice = dialect_choice,
     .help = "The dialect to write; patches are the changes of a session's turn, one per line"},
    {"strict", PL_OPT_STRICT,
     .help = "Refuse (exit 1) if something would be dropped, approximated, reordered or merged; "
             "nothing is written before this is known"},
    {"report", PL_OPT_REPORT, .args = {"FILE"}, .takes_file = true,
     .help = "Write the loss report to FILE at the end of the stream; its pointers lead into the "
             "whole answer"},
    {"carry", PL_OPT_CARRY, .args = {"FILE"}, .takes_file = true,
     .help = "Write the carry to FILE at the end of the stream: it keeps the source, to restore it "
             "later"},
    {"with-carry", PL_OPT_WITH_CARRY, .args = {"FILE"}, .takes_file = true,
     .help = "Restore the original stream with the carry of an earlier translation, byte for byte; "
             "an edited stream is translated, and what only the carry has is put back"},
    PL_OPTIONS_SHARED,
    {0},
};

const char *const pl_stream_paragraphs[] = {
    "Translates the server-sent events (SSE) of one vendor into those of another, each as soon as "
    "possible. The same dialect passes its bytes through and adds only a missing end.",
    "A stream that breaks off or cannot be read ends with an error event of the target and exit "
    "code 3. It never looks complete.",
    NULL,
};

const struct pl_example pl_stream_examples[] = {
    {"stream --from openai-chat --to anthropic events.sse", "Translate a recorded stream"},
    {"stream --from anthropic --to patches -", "Follow a stream on standard input"},
    {"stream --from gemini --to openai-chat --report losses.json events.sse",
     "Write a report of what the target cannot express"},
    {"stream --from openai-chat --to gemini --with-carry carry.json events.sse",
     "Restore the original stream"},
    {NULL, NULL},
};

static const char *encoding_choice(size_t i)
{
    return i < PL_ENCODING_COUNT ? pl_encoding_name((enum pl_encoding)i) : NULL;
}

#define OPT_COUNTING                                                                               \
    {"encoding", PL_OPT_ENCODING, .args = {"NAME"}, .choice = encoding_choice,                     \
     .help = "Count exactly with this vocabulary"},                                                \
    {                                                                                              \
        "model", PL_OPT_MODEL,                                                                     \
            .args = {"NAME"}, .help = "Count for this model; by default the model of the document" \
    }

const struct pl_option pl_tokens_options[] = {
    OPT_COUNTING,
    {"as", PL_OPT_AS, .args = {"FORMAT"}, .choice = pl_format_choice,
     .help = "The format of FILE; by default it is detected from the content"},
    {"json", PL_OPT_JSON, .help = "Print JSON for machines"},
    PL_OPTIONS_SHARED,
    {0},
};

const char *const pl_tokens_paragraphs[] = {
    "Prints how many tokens a conversation has, divided into messages, tools, system instructions, "
    "images and audio.",
    "The vocabularies o200k_base and cl100k_base give exact numbers. For a model whose vendor "
    "publishes no vocabulary the number is an upper estimate, and is marked as one. The same "
    "applies to content that cannot be read, such as an image behind a URL.",
    NULL,
};

const struct pl_example pl_tokens_examples[] = {
    {"tokens request.json", "Count for the model in the file"},
    {"tokens --encoding o200k_base --json chat.json", "Use it in a script"},
    {NULL, NULL},
};

const struct pl_option pl_trim_options[] = {
    {"as", PL_OPT_AS, .args = {"FORMAT"}, .choice = pl_format_choice,
     .help = "The format of FILE; by default it is detected from the content"},
    {"max-tokens", PL_OPT_MAX_TOKENS, .args = {"N"}, .help = "The maximum number of tokens"},
    OPT_COUNTING,
    {"summary", PL_OPT_SUMMARY, .args = {"TEXT"},
     .help = "The text that replaces the removed exchanges; by default their number"},
    {"report", PL_OPT_REPORT, .args = {"FILE"}, .takes_file = true,
     .help = "Write to FILE what was removed, with its tokens"},
    PL_OPTIONS_SHARED,
    {0},
};

const char *const pl_trim_paragraphs[] = {
    "Shortens a conversation to a number of tokens and prints it in the same format. It removes as "
    "little as possible, oldest first: images and then audio become placeholders, tool results "
    "become stubs, and finally whole exchanges become one summary.",
    "System instructions and the last user message always stay. A call and its result stay or go "
    "together. Untouched messages keep their bytes. Exit 1, with the reason, if the limit cannot "
    "be reached.",
    NULL,
};

const struct pl_example pl_trim_examples[] = {
    {"trim --as openai-chat --max-tokens 8000 request.json", "Fit a request into 8,000 tokens"},
    {"trim --max-tokens 4000 --summary \"We chose the 2D version.\" --report gone.json chat.json",
     "Give your own summary, and report what was removed"},
    {NULL, NULL},
};
