#include "app/conversation_commands.h"

#include "format/export.h"
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

const char *pl_export_choice(size_t i)
{
    return format_or_export(i, false);
}

const struct pl_option pl_convert_options[] = {
    {"from", PL_OPT_FROM, .args = {"FORMAT"}, .choice = source_choice,
     .help =
         "The format of FILE; by default it is told from the content, but for yaml and markdown"},
    {"to", PL_OPT_TO, .args = {"FORMAT"}, .choice = pl_export_choice,
     .help = "The format to write; yaml, markdown, curl and claude are ways to write a prompt"},
    {"kind", PL_OPT_KIND, .args = {"KIND"}, .choice = kind_choice,
     .help = "What FILE is: a request (the default), or a response or error of a model"},
    {"mode", PL_OPT_MODE, .args = {"MODE"}, .choice = mode_choice,
     .help = "convert translates and changes nothing else (the default); repair also makes the "
             "result legal; gateway also applies the profile of the target"},
    {"profile", PL_OPT_PROFILE, .args = {"NAME"}, .choice = pl_profile_choice,
     .help = "What the target accepts: a vendor's API version or model family"},
    {"strict", PL_OPT_STRICT,
     .help = "Refuse (exit 1) when something would be dropped, approximated, reordered or merged; "
             "and (exit 3) a FILE that is not JSON of RFC 8259: comments, trailing commas, a "
             "byte-order mark and duplicate keys are read only without it"},
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

const char *const pl_convert_paragraphs[] = {
    "Reads a conversation in one format and writes it in another. Nothing is lost silently: what "
    "the target cannot say is in the loss report, with a JSON Pointer into FILE, and in the carry.",
    "A format into itself gives the same bytes. The result together with its carry gives the "
    "original bytes back; a message appended, changed or removed in between arrives, and "
    "everything else keeps its bytes.",
    "The result goes to standard output. Each FILE is a place of its own: two results in one, as "
    "with --report -, are refused; /dev/stderr is a place.",
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

const struct pl_example pl_convert_examples[] = {
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

const struct pl_option pl_detect_options[] = {
    {"json", PL_OPT_JSON, .help = "Print JSON for machines"},
    PL_OPTION_HELP,
    {0},
};

const char *const pl_detect_paragraphs[] = {
    "Prints the name of the format a file is in, told from its content. Exit 1 when it is none "
    "that Parley knows.",
    NULL,
};

const struct pl_example pl_detect_examples[] = {
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

const struct pl_option pl_lint_options[] = {
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

const char *const pl_lint_paragraphs[] = {
    "Reads a conversation and tells what is wrong or likely to go wrong in it: calls without "
    "results, arguments that do not fit their tool, links that expire, secrets, citations without "
    "a source, turns a target refuses, and more. Each finding has a code, a severity, a JSON "
    "Pointer and what to do.",
    "Exit 1 when there is an error among the findings; warnings alone are exit 0.",
    NULL,
};

const struct pl_example pl_lint_examples[] = {
    {"lint chat.json", "Look at a conversation"},
    {"lint --for anthropic --json chat.json", "Would this target take it?"},
    {"lint --fix --report findings.json chat.json > mended.json", "Mend what can be mended"},
    {NULL, NULL},
};

const struct pl_option pl_media_options[] = {
    {"every", PL_OPT_EVERY, .args = {"TIME"},
     .help = "The time from one frame to the next: 1s, 0.5s, 500ms, 2m"},
    {"max", PL_OPT_MAX, .args = {"N"}, .help = "At most N frames; by default 64"},
    {"sound", PL_OPT_SOUND, .help = "Put the sound in as well: WAV, 16 kHz, one channel"},
    {"out", PL_OPT_OUT, .args = {"FILE"}, .takes_file = true,
     .help = "Write to FILE instead of standard output"},
    PL_OPTION_HELP,
    {0},
};

const char *const pl_media_paragraphs[] = {
    "media frames makes a user message of harmony from a video: its frames as images with "
    "video_metadata, which has the hash of the file, the second in the video and the number of the "
    "frame in the message; with --sound, the sound as input_audio behind them.",
    "The frames are taken by the program ffmpeg, which must be installed. It is started without a "
    "shell and reads the named file only.",
    NULL,
};

const struct pl_example pl_media_examples[] = {
    {"media frames --every 1s talk.mp4 > message.json", "A frame for every second"},
    {"media frames --every 10s --max 20 --sound --out message.json talk.mp4",
     "Few frames, and what is said"},
    {NULL, NULL},
};

const struct pl_option pl_render_options[] = {
    {"var", PL_OPT_VAR, .args = {"NAME=VALUE"}, .is_repeatable = true,
     .help = "The value of a variable"},
    {"preview", PL_OPT_PREVIEW, .help = "Leave variables without a value as they are"},
    PL_OPTION_HELP,
    {0},
};

const char *const pl_render_paragraphs[] = {
    "Prints a structured chat with its variables filled in: {{name}}, {{ name }}, and "
    "{{name:default}} for a value when none is given. \\{{ is a literal {{. A value is put in as "
    "it is and never looked at again. Nothing but the variables changes, byte for byte.",
    "A variable without value and default is exit 1, and all of them are named. What the document "
    "declares in \"variables\" is checked: required, number, the options of a select.",
    "The result may have 256 MiB; the variable that would make it longer is named.",
    NULL,
};

const struct pl_example pl_render_examples[] = {
    {"render --var name=Ann --var tone=warm prompt.json", "Fill in two variables"},
    {"render --preview prompt.json", "See it with its defaults"},
    {NULL, NULL},
};

const struct pl_option pl_cite_options[] = {
    {"source", PL_OPT_SOURCE, .args = {"ID=FILE"}, .is_repeatable = true,
     .help = "The text of a source, by its source_id or the id of the citation; its snippets are "
             "looked up in it"},
    {"json", PL_OPT_JSON,
     .help = "Print JSON for machines: a list of id, pointer, resolved, source, shown, snippet and "
             "problems"},
    PL_OPTION_HELP,
    {0},
};

const char *const pl_cite_paragraphs[] = {
    "Reads a harmony conversation and prints each <cite id=\"...\"/> of its texts with the source "
    "it stands for in metadata.citation_map of its message.",
    "An id without an entry is a warning: the anchor is shown as plain text. A page below 1, a "
    "bbox without extent, or a snippet that is not in its source is an error and exit 1.",
    NULL,
};

const struct pl_example pl_cite_examples[] = {
    {"cite answer.json", "Where does this come from?"},
    {"cite --source doc_1=report.txt --json answer.json", "Is that what the report says?"},
    {NULL, NULL},
};

const struct pl_option pl_handoff_options[] = {
    {"target", PL_OPT_TARGET, .args = {"AGENT"}, .verbs = "make", .help = "who takes over"},
    {"source", PL_OPT_SOURCE, .args = {"AGENT"}, .verbs = "make", .help = "who hands over"},
    {"objective", PL_OPT_OBJECTIVE, .args = {"TEXT"}, .verbs = "make",
     .help = "the task; by default the first words of the user"},
    {"status", PL_OPT_STATUS, .args = {"TEXT"}, .verbs = "make", .help = "by default in_progress"},
    {"step", PL_OPT_STEP, .args = {"TEXT"}, .is_repeatable = true, .verbs = "make",
     .help = "a step that is done, beside the calls that were answered"},
    {"next", PL_OPT_NEXT, .args = {"TEXT"}, .verbs = "make", .help = "what to do next"},
    {"constraint", PL_OPT_CONSTRAINT, .args = {"TEXT"}, .is_repeatable = true, .verbs = "make",
     .help = "what must hold, beside the system's words"},
    {"artifact", PL_OPT_ARTIFACT, .args = {"NAME=PLACE"}, .is_repeatable = true, .verbs = "make",
     .help = "a thing and where it is, beside those in the conversation"},
    {"summary", PL_OPT_SUMMARY, .args = {"TEXT"}, .verbs = "make", .help = "the story so far"},
    {"done", PL_OPT_DONE, .args = {"TEXT"}, .is_repeatable = true, .verbs = "make",
     .help = "how to tell that the task is done"},
    {"id", PL_OPT_ID, .args = {"ID"}, .verbs = "make", .help = "the packet's handoff_id"},
    {"trace", PL_OPT_TRACE, .args = {"ID"}, .verbs = "make", .help = "its trace_id"},
    {"previous", PL_OPT_PREVIOUS, .args = {"FILE"}, .takes_file = true,
     .help = "The packet of the hop before, or the answer to it"},
    {"agent", PL_OPT_AGENT, .args = {"AGENT"}, .verbs = "check, accept, refuse",
     .help = "who was asked"},
    {"reason", PL_OPT_REASON, .args = {"TEXT"}, .is_repeatable = true, .verbs = "refuse",
     .help = "why"},
    {"json", PL_OPT_JSON, .verbs = "check", .help = "print JSON for machines"},
    PL_OPTION_HELP,
    {0},
};

const char *const pl_handoff_paragraphs[] = {
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

const struct pl_example pl_handoff_examples[] = {
    {"handoff make --source planner --target coder chat.json > packet.json", "Hand over"},
    {"handoff accept --agent coder packet.json", "Take over"},
    {"handoff make --previous packet.json --target tester chat.json", "Hand on"},
    {"handoff refuse --reason 'no access to the repository' packet.json", "Decline"},
    {NULL, NULL},
};

const struct pl_option pl_stream_options[] = {
    {"from", PL_OPT_FROM, .args = {"DIALECT"}, .choice = dialect_choice,
     .help = "The dialect of the events in FILE"},
    {"to", PL_OPT_TO, .args = {"DIALECT"}, .choice = dialect_choice,
     .help = "The dialect to write; patches are those of a session's turn, one per line"},
    {"strict", PL_OPT_STRICT,
     .help = "Refuse (exit 1) when something would be dropped, approximated, reordered or merged; "
             "nothing is written before that is known"},
    {"report", PL_OPT_REPORT, .args = {"FILE"}, .takes_file = true,
     .help = "Write the loss report to FILE when the stream has ended; its pointers lead into the "
             "whole answer that the source adds up to"},
    {"carry", PL_OPT_CARRY, .args = {"FILE"}, .takes_file = true,
     .help = "Write the carry to FILE when the stream has ended: it keeps the source for the way "
             "back"},
    {"with-carry", PL_OPT_WITH_CARRY, .args = {"FILE"}, .takes_file = true,
     .help = "Go back with the carry of the way there: the original stream, byte for byte; one "
             "that was edited since is translated, and what only the carry has is put back"},
    PL_OPTION_HELP,
    {0},
};

const char *const pl_stream_paragraphs[] = {
    "Reads the server-sent events of one vendor as they come and writes those of another, each as "
    "soon as it can be known. The same dialect passes its bytes on and adds only a missing end.",
    "A stream that breaks off or cannot be read ends in an error event of the target, and the exit "
    "code is 3; it never ends as if nothing had happened.",
    NULL,
};

const struct pl_example pl_stream_examples[] = {
    {"stream --from openai-chat --to anthropic events.sse", "Translate a recorded stream"},
    {"stream --from anthropic --to patches -", "Follow a stream on standard input"},
    {"stream --from gemini --to openai-chat --report losses.json events.sse",
     "Learn what the target could not say"},
    {"stream --from openai-chat --to gemini --with-carry carry.json events.sse",
     "Go back to the stream that became this one"},
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

const struct pl_option pl_tokens_options[] = {
    OPT_COUNTING,
    {"as", PL_OPT_AS, .args = {"FORMAT"}, .choice = pl_format_choice,
     .help = "The format of FILE; by default it is told from the content"},
    {"json", PL_OPT_JSON, .help = "Print JSON for machines"},
    PL_OPTION_HELP,
    {0},
};

const char *const pl_tokens_paragraphs[] = {
    "Says how many tokens a conversation costs, and what they are made of: messages, tools, system "
    "instructions, images and audio.",
    "The vocabularies o200k_base and cl100k_base are counted exactly. For a model whose vendor "
    "publishes none the number is an estimate, on the high side, and marked as one; so is the cost "
    "of what cannot be seen, an image behind a link for instance.",
    NULL,
};

const struct pl_example pl_tokens_examples[] = {
    {"tokens request.json", "What does this cost for the model it names?"},
    {"tokens --encoding o200k_base --json chat.json", "Ask from a script"},
    {NULL, NULL},
};

const struct pl_option pl_trim_options[] = {
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

const char *const pl_trim_paragraphs[] = {
    "Makes a conversation fit into a number of tokens and prints it in the same format. Oldest "
    "first, and only as much as is needed, images and then audio become a placeholder, tool "
    "results a stub, and at last whole exchanges one summary.",
    "System instructions and the last user message always stay, a call and its result stay or go "
    "together, and messages that were not touched keep their bytes. Exit 1, with the reason, when "
    "it cannot fit.",
    NULL,
};

const struct pl_example pl_trim_examples[] = {
    {"trim --as openai-chat --max-tokens 8000 request.json", "Fit a request into 8,000 tokens"},
    {"trim --max-tokens 4000 --summary \"We chose the 2D version.\" --report gone.json chat.json",
     "Say yourself what the old part was about, and see what went"},
    {NULL, NULL},
};
