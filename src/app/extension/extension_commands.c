/* Table of `parley ext`: options, examples, and the paragraphs of help and manual page. */
#include "app/extension/extension_commands.h"

#include "app/server/server_commands.h"
#include "extproto/policy.h"

static const char *profile_choice(size_t i)
{
    return pl_ext_profile_names[i];
}

const struct pl_option pl_ext_options[] = {
    {"language", PL_OPT_LANGUAGE, .args = {"LANGUAGE"}, .choice = pl_ext_language_choice,
     .verbs = "new", .help = "the language of the extension; python by default"},
    {"profile", PL_OPT_PROFILE, .args = {"PROFILE"}, .choice = profile_choice,
     .verbs = "add, update", .help = "which capabilities need no question; balanced by default"},
    {"grant", PL_OPT_GRANT, .args = {"CAP,..."}, .is_repeatable = true, .verbs = "add, update",
     .help = "allow these capabilities without a question"},
    {"deny", PL_OPT_DENY, .args = {"CAP,..."}, .is_repeatable = true, .verbs = "add, update",
     .help = "deny these capabilities"},
    {"yes", PL_OPT_YES, .verbs = "add, update, remove",
     .help = "accept what the extension may do, or remove it, without a question"},
    {"mcp", PL_OPT_MCP, .args = {"ID"}, .verbs = "add, update",
     .help = "the id of an MCP server, whose command follows after --"},
    {"read", PL_OPT_READ, .args = {"GLOB"}, .is_repeatable = true, .verbs = "add, update",
     .help = "with --mcp, files of the workspace that the MCP server may read"},
    {"write", PL_OPT_WRITE, .args = {"GLOB"}, .is_repeatable = true, .verbs = "add, update",
     .help = "with --mcp, files of the workspace that the MCP server may write"},
    {"host", PL_OPT_HOST, .args = {"HOST"}, .is_repeatable = true, .verbs = "add, update",
     .help = "with --mcp, a host that the MCP server may reach"},
    {"env", PL_OPT_ENV, .args = {"NAME"}, .is_repeatable = true, .verbs = "add, update",
     .help = "with --mcp, an environment variable of the MCP server; if CMD is a URL, the bearer "
             "token for it"},
    PL_OPTIONS_TABLE("list", "id,state"),
    PL_OPTION_DATA,
    PL_OPTION_SERVER,
    PL_OPTION_JSON,
    PL_OPTIONS_SHARED,
    {0},
};

const char *const pl_ext_paragraphs[] = {
    "An extension is a program that gives models tools, adds commands, and receives the events of "
    "sessions. It runs in a sandbox (a cell) and reaches files, hosts and programs only through "
    "the server; its profile decides when the server asks a person first. All users can use an "
    "extension; only administrators add one.",
    "SOURCE is a directory with an extension.json, a TypeScript extension of pi (FILE.ts, bundled "
    "by esbuild), or the name of an extension that Parley ships: workspace, web, demo. add shows "
    "what the extension may do and asks for a yes. It copies the files and runs none of their "
    "scripts; the server runs only the copy.",
    "--mcp ID -- CMD adds an MCP server. CMD is npx PACKAGE (installed once, without scripts), any "
    "other command, or a URL. --read, --write, --host and --env say what the MCP server may reach.",
    "test and run start the extension on this machine, as your user, without a sandbox and without "
    "a server. Its calls to the host get empty answers.",
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
