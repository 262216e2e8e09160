/* Tables of `parley user`, `usage` and `audit`: options, examples, and the paragraphs of help and
 * manual page. */
#include "app/server/server_commands.h"

const struct pl_option pl_user_options[] = {
    {"admin", PL_OPT_ADMIN, .verbs = "add", .help = "make the new user an administrator"},
    {"export", PL_OPT_EXPORT, .args = {"DIR"}, .takes_file = true, .verbs = "remove",
     .help = "write everything of the user to a new directory first"},
    {"yes", PL_OPT_YES, .verbs = "remove", .help = "do not ask"},
    {"rpm", PL_OPT_RPM, .args = {"N"}, .verbs = "limits",
     .help = "model calls per minute; \"none\" removes any of these limits"},
    {"tpm", PL_OPT_TPM, .args = {"N"}, .verbs = "limits", .help = "tokens a minute"},
    {"budget-day", PL_OPT_BUDGET_DAY, .args = {"USD"}, .verbs = "limits",
     .help = "dollars a day, UTC"},
    {"budget-month", PL_OPT_BUDGET_MONTH, .args = {"USD"}, .verbs = "limits",
     .help = "dollars a calendar month, UTC"},
    {"max-turns", PL_OPT_MAX_TURNS, .args = {"N"}, .verbs = "limits",
     .help = "turns that run at once, 64 at most"},
    {"max-sessions", PL_OPT_MAX_SESSIONS, .args = {"N"}, .verbs = "limits", .help = "sessions"},
    {"max-blob-bytes", PL_OPT_MAX_BLOB_BYTES, .args = {"N"}, .verbs = "limits",
     .help = "bytes of all blobs"},
    {"max-keys", PL_OPT_MAX_KEYS, .args = {"N"}, .verbs = "limits", .help = "keys"},
    {"max-tasks", PL_OPT_MAX_TASKS, .args = {"N"}, .verbs = "limits", .help = "scheduled tasks"},
    {"max-sockets", PL_OPT_MAX_SOCKETS, .args = {"N"}, .verbs = "limits",
     .help = "sockets and event streams open at once"},
    PL_OPTIONS_TABLE("list", "id,name"),
    PL_OPTION_DATA,
    PL_OPTION_SERVER,
    PL_OPTION_JSON,
    PL_OPTIONS_SHARED,
    {0},
};

const char *const pl_user_paragraphs[] = {
    "A user is an administrator or a member. Members use only what they own; administrators also "
    "manage users, keys and limits. USER is a name or an id.",
    "limits shows a user's limits over all keys, and sets the limits that the options name; "
    "\"none\" removes a limit. It does not stop running work.",
    "disable closes the user's sockets, stops the user's running work and refuses the user's keys; "
    "enable accepts the same keys again. remove erases the user with all sessions, prompts, "
    "memories, tasks, blobs, keys and usage; it asks first. The last active administrator can be "
    "neither disabled nor removed nor made a member.",
    PL_TEXT_SERVER,
    NULL,
};

const struct pl_example pl_user_examples[] = {
    {"user add ada", "Create a member and print the id and a first key"},
    {"user role ada admin", "Make ada an administrator"},
    {"user limits ada --budget-month 50 --max-turns 4", "Limit ada, over all keys"},
    {"user disable ada", "Shut ada out for now"},
    {"user remove ada --export ./ada --yes", "Save everything of ada, then erase it"},
    {NULL, NULL},
};

const struct pl_option pl_usage_options[] = {
    {"group", PL_OPT_GROUP, .args = {"BY"}, .choice = pl_usage_group_choice,
     .help = "What each row sums up; model by default"},
    {"from", PL_OPT_FROM, .args = {"DAY"}, .help = "The first day, UTC; 30 days by default"},
    {"to", PL_OPT_TO, .args = {"DAY"}, .help = "The last day, UTC; today by default"},
    {"user", PL_OPT_USER, .args = {"USER"}, .words = "users",
     .help = "The usage of this user (name or id) or of all; your own by default. Needs an "
             "administrator"},
    {"csv", PL_OPT_CSV, .help = "Print CSV with all lines"},
    PL_OPTIONS_OWN_TABLE("group,usd"),
    PL_OPTION_DATA,
    PL_OPTION_SERVER,
    PL_OPTION_JSON,
    PL_OPTIONS_SHARED,
    {0},
};

const char *const pl_usage_paragraphs[] = {
    "Shows the calls of models by sessions, tasks, prompts, summaries and the gateway, with their "
    "tokens and costs. Requests include calls that failed or were broken off. UNPRICED counts "
    "calls of models without a price; USD does not include their cost.",
    PL_TEXT_SERVER,
    NULL,
};

const struct pl_example pl_usage_examples[] = {
    {"usage", "Your own usage of the last 30 days, by model"},
    {"usage --group user", "Of all users, for an administrator"},
    {"usage --user all --group day --from 2026-11-01 --csv", "A month as CSV"},
    {NULL, NULL},
};

const struct pl_option pl_audit_options[] = {
    {"limit", PL_OPT_LIMIT, .args = {"N"}, .verbs = "list", .help = "the maximum number"},
    PL_OPTIONS_TABLE("list", "at,action"),
    PL_OPTION_DATA,
    PL_OPTION_SERVER,
    PL_OPTION_JSON,
    PL_OPTIONS_SHARED,
    {0},
};

const char *const pl_audit_paragraphs[] = {
    "The audit log has a row for every change of users, keys and limits, and for every share, "
    "export, backup and restore. Rows are only added, and each has a hash over itself and the row "
    "before it: verify finds a row that was changed, removed or inserted. Needs an administrator.",
    PL_TEXT_SERVER,
    NULL,
};

const struct pl_example pl_audit_examples[] = {
    {"audit --limit 20", "What was done last"},
    {"audit verify", "Check that nobody changed the log"},
    {NULL, NULL},
};
