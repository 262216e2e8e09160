/* The table of `parley ext`: options, examples, and the paragraphs of help and manual page. */
#include "app/extension/extension_commands.h"

#include "app/server/server_commands.h"
#include "extproto/policy.h"

static const char *profile_choice(size_t i)
{
    return pl_ext_profile_names[i];
}

const struct pl_option pl_ext_options[] = {
    {"language", PL_OPT_LANGUAGE, .args = {"LANGUAGE"}, .choice = pl_ext_language_choice,
     .verbs = "new", .help = "what it is written in; python by default"},
    {"profile", PL_OPT_PROFILE, .args = {"PROFILE"}, .choice = profile_choice,
     .verbs = "add, update", .help = "what is allowed without a question; balanced by default"},
    {"grant", PL_OPT_GRANT, .args = {"CAP,..."}, .is_repeatable = true, .verbs = "add, update",
     .help = "allow these capabilities without a question"},
    {"deny", PL_OPT_DENY, .args = {"CAP,..."}, .is_repeatable = true, .verbs = "add, update",
     .help = "deny these capabilities"},
    {"yes", PL_OPT_YES, .verbs = "add, update, remove",
     .help = "accept what it may do, or remove it, without a question"},
    {"mcp", PL_OPT_MCP, .args = {"ID"}, .verbs = "add, update",
     .help = "an MCP server, which gets this id; its command comes after --"},
    {"read", PL_OPT_READ, .args = {"GLOB"}, .is_repeatable = true, .verbs = "add, update",
     .help = "with --mcp, files of the workspace that it reads"},
    {"write", PL_OPT_WRITE, .args = {"GLOB"}, .is_repeatable = true, .verbs = "add, update",
     .help = "with --mcp, files of the workspace that it writes"},
    {"host", PL_OPT_HOST, .args = {"HOST"}, .is_repeatable = true, .verbs = "add, update",
     .help = "with --mcp, a host that it reaches"},
    {"env", PL_OPT_ENV, .args = {"NAME"}, .is_repeatable = true, .verbs = "add, update",
     .help = "with --mcp, a variable that it gets; for a server on the web, its bearer token"},
    PL_OPTIONS_TABLE("list", "id,state"),
    PL_OPTION_DATA,
    PL_OPTION_SERVER,
    PL_OPTION_JSON,
    PL_OPTIONS_SHARED,
    {0},
};

const char *const pl_ext_paragraphs[] = {
    "An extension is a program that gives models tools, adds commands, and hears what happens in "
    "sessions. It runs in a cell of its own and reaches files, hosts and programs only through the "
    "server, which asks where its profile says so. Extensions are for all users; only "
    "administrators add them.",
    "SOURCE is a directory with an extension.json, a TypeScript extension of pi (FILE.ts, bundled "
    "by esbuild), or one that is shipped: workspace, web, demo. add shows what it may do and asks "
    "for a yes. The files are copied, none of their scripts is run, and only the copy runs.",
    "--mcp ID -- CMD adds an MCP server: npx PACKAGE (installed once, without scripts), any other "
    "command, or a URL. --read, --write, --host and --env say what it may reach.",
    "test and run start the extension on this machine, as you and without a cell, and ask no "
    "server. Its calls to the host get empty answers.",
    PL_TEXT_SERVER,
    NULL,
};

const struct pl_example pl_ext_examples[] = {
    {"ext new word-count", "Make an extension in Python"},
    {"ext test word-count", "See whether it is in order"},
    {"ext run word-count word-count '{\"text\":\"a b c\"}'", "Call its tool"},
    {"ext add word-count --yes", "Add it to the server"},
    {"ext add workspace --grant write", "Add one that is shipped"},
    {"ext add --mcp files --read 'docs/**' -- npx -y @modelcontextprotocol/server-filesystem docs",
     "Add an MCP server"},
    {"ext explain word-count", "Show what it may do"},
    {NULL, NULL},
};
