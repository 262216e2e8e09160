/* The table of `parley user`: options, examples, and the paragraphs of help and manual page. */
#include "app/server/server_commands.h"

const struct pl_option pl_user_options[] = {
    {"admin", PL_OPT_ADMIN, .verbs = "add", .help = "make the new user an administrator"},
    {"export", PL_OPT_EXPORT, .args = {"DIR"}, .takes_file = true, .verbs = "remove",
     .help = "write everything of the user to a new directory first"},
    {"yes", PL_OPT_YES, .verbs = "remove", .help = "do not ask"},
    PL_OPTION_DATA,
    PL_OPTION_SERVER,
    PL_OPTION_JSON,
    PL_OPTION_HELP,
    {0},
};

const char *const pl_user_paragraphs[] = {
    "A user is an administrator or a member. Members use what is their own; administrators also "
    "manage users, keys and limits. USER is a name or an id.",
    "disable closes the user's sockets, stops what runs and accepts no key of the user; enable "
    "brings the same keys back. remove erases the user with all sessions, prompts, memories, "
    "tasks, blobs, keys and usage; it asks first. The last active administrator can be neither "
    "disabled nor removed nor made a member.",
    PL_TEXT_SERVER,
    NULL,
};

const struct pl_example pl_user_examples[] = {
    {"user add ada", "Create a member and print the id and a first key"},
    {"user role ada admin", "Make ada an administrator"},
    {"user disable ada", "Shut ada out for now"},
    {"user remove ada --export ./ada --yes", "Save everything of ada, then erase it"},
    {NULL, NULL},
};
