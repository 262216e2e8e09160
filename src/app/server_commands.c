#include "app/server_commands.h"

#include "session/rows.h"

static const char *status_choice(size_t i)
{
    return i < PL_SESSION_STATUS_COUNT ? pl_session_status_text((enum pl_session_status)i) : NULL;
}

#define OPT_JSON                                                                                   \
    {                                                                                              \
        "json", PL_OPT_JSON, .help = "Print JSON for machines"                                     \
    }
#define OPT_DATA                                                                                   \
    {                                                                                              \
        "data", PL_OPT_DATA,                                                                       \
            .args = {"DIR"}, .takes_file = true,                                                   \
            .help = "The data directory of the server on this machine; $XDG_DATA_HOME/parley by "  \
                    "default"                                                                      \
    }
#define OPT_STORE                                                                                  \
    {                                                                                              \
        "store", PL_OPT_STORE, .args = {"URL"}, .help = "The store, where it is not DIR/parley.db" \
    }
#define OPT_SERVER                                                                                 \
    {"server", PL_OPT_SERVER, .args = {"URL"},                                                     \
     .help = "A server elsewhere: http://HOST:PORT, https://HOST or unix:PATH"},                   \
    {                                                                                              \
        "key-file", PL_OPT_KEY_FILE,                                                               \
            .args = {"FILE"}, .takes_file = true,                                                  \
            .help = "The file that holds the key for --server; by default it is in PARLEY_KEY"     \
    }

#define TEXT_SERVER                                                                                \
    "The server is found by its control socket in the data directory, where the user who runs it " \
    "needs no key; or by --server URL or the variable PARLEY_SERVER, with a key in PARLEY_KEY or " \
    "--key-file. Nobody there is exit 4."

const struct pl_option pl_session_options[] = {
    {"status", PL_OPT_STATUS, .args = {"STATUS"}, .choice = status_choice,
     .help = "list: only sessions in this status"},
    {"limit", PL_OPT_LIMIT, .args = {"N"}, .help = "list: how many at most; 20 by default"},
    {"query", PL_OPT_QUERY, 'q', .args = {"TEXT"},
     .help = "list: only sessions whose intent has this"},
    {"intent", PL_OPT_INTENT, .args = {"TEXT"},
     .help = "new, fork, import: what the session is about"},
    {"model", PL_OPT_MODEL, .args = {"NAME"},
     .help = "new, chat, import: the model that answers, from now on"},
    {"turns", PL_OPT_TURNS, .args = {"N"},
     .help = "show: how many turns, the newest; 10 by default"},
    {"no-wait", PL_OPT_NO_WAIT, .help = "chat, answer: do not wait for what is said to it"},
    {"format", PL_OPT_FORMAT, .args = {"FORMAT"}, .choice = pl_format_choice,
     .help = "export: the format to write; turns by default"},
    {"out", PL_OPT_OUT, 'o', .args = {"FILE"}, .takes_file = true,
     .help = "export: write to FILE instead of standard output"},
    {"from", PL_OPT_FROM, .args = {"FORMAT"}, .choice = pl_format_choice,
     .help = "import: the format of FILE; by default it is told from the content"},
    {"turn", PL_OPT_TURN, .args = {"TURN_ID"},
     .help = "fork: the last turn the copy has; without it all of them"},
    OPT_DATA,
    OPT_SERVER,
    OPT_JSON,
    PL_OPTION_HELP,
    {0},
};

const char *const pl_session_paragraphs[] = {
    "Sessions are conversations that a server keeps. list, new, show ID, stop ID, delete ID, "
    "export ID, import FILE, fork ID and share ID do what they say; new, import and fork print the "
    "id of the session they made, share the link under which anybody can read it.",
    "chat ID MESSAGE says something (- is standard input) and prints the answer as it comes, until "
    "it is complete. When the model asks something back, the question is shown and the exit code "
    "is 1, as it is when the chat fails or is stopped. answer ID TOOL_CALL_ID JSON answers, and "
    "goes on printing. With --json both print every event, one per line.",
    "Ending the command does not end the chat: stop ID does.",
    TEXT_SERVER,
    NULL,
};

const struct pl_example pl_session_examples[] = {
    {"session list --status running", "What is going on?"},
    {"session new --intent 'a first try' --model demo/echo", "Make one; its id is printed"},
    {"session chat sess_... 'hello world'", "Say something, and read the answer"},
    {"session answer sess_... tc_... '\"yes\"'", "Answer what the model asked"},
    {"session export sess_... --format anthropic -o chat.json", "Take it elsewhere"},
    {"session list --server https://parley.example.org --key-file key.txt", "Ask another machine"},
    {NULL, NULL},
};

const struct pl_option pl_key_options[] = {
    {"name", PL_OPT_NAME, .args = {"NAME"}, .help = "create: what the key is for"},
    OPT_DATA,
    OPT_STORE,
    OPT_SERVER,
    OPT_JSON,
    PL_OPTION_HELP,
    {0},
};

const char *const pl_key_paragraphs[] = {
    "create makes a key and prints it, once: the server keeps only its hash. list shows the keys "
    "there are, revoke ID ends one, and closes the sockets that were opened with it.",
    "On the server's machine this works whether or not the server runs.",
    TEXT_SERVER,
    NULL,
};

const struct pl_example pl_key_examples[] = {
    {"key create --name laptop", "Make a key for the server of this machine"},
    {"key list", "Which keys are there, and when were they used?"},
    {"key revoke key_...", "Let nobody in with it any more"},
    {NULL, NULL},
};

const struct pl_option pl_backup_options[] = {
    OPT_DATA, OPT_STORE, OPT_SERVER, OPT_JSON, PL_OPTION_HELP, {0},
};

const char *const pl_backup_paragraphs[] = {
    "Writes everything the server keeps to one file, as it was at one instant, while the server "
    "goes on; or without it, when none runs. The file appears under its name when it is complete "
    "and on the disk, and takes the place of one that was there.",
    "A store in PostgreSQL is backed up by its own tools.",
    TEXT_SERVER,
    NULL,
};

const struct pl_example pl_backup_examples[] = {
    {"backup parley-monday.db", "Keep what there is now"},
    {"backup --server https://parley.example.org --key-file key.txt copy.db",
     "Fetch it from another machine; the key is an administrator's"},
    {NULL, NULL},
};

const struct pl_option pl_restore_options[] = {
    {"yes", PL_OPT_YES, .help = "Replace the store that is there without asking"},
    OPT_DATA,
    OPT_STORE,
    OPT_JSON,
    PL_OPTION_HELP,
    {0},
};

const char *const pl_restore_paragraphs[] = {
    "Puts a backup in the place of the store, when no server runs with it. The backup is looked "
    "through for damage first. The old store stays beside the new one as parley.db.before-TIME.",
    NULL,
};

const struct pl_example pl_restore_examples[] = {
    {"restore parley-monday.db", "Go back to what was kept"},
    {"restore --data ./other --yes parley-monday.db", "In another place, from a script"},
    {NULL, NULL},
};

const struct pl_option pl_doctor_options[] = {
    OPT_DATA,
    OPT_STORE,
    {"host", PL_OPT_HOST, .args = {"ADDRESS"}, .help = "The address the server is to listen on"},
    {"port", PL_OPT_PORT, .args = {"PORT"}, .help = "The port it is to listen on; 8787 by default"},
    OPT_JSON,
    PL_OPTION_HELP,
    {0},
};

const char *const pl_doctor_paragraphs[] = {
    "Looks whether this machine can run the server and whether what it keeps is sound: the data "
    "directory and who may read it, the store (opened and read through as the server would, when "
    "none runs), room on the disk, descriptors, the port and who has it, libraries and programs, "
    "time zones, the clock.",
    "Each line is ok, a warning, or a problem with what to do about it. Exit 1 when there is a "
    "problem.",
    NULL,
};

const struct pl_example pl_doctor_examples[] = {
    {"doctor", "Is everything as it should be?"},
    {"doctor --data ./data --port 9000 --json", "Ask from a script"},
    {NULL, NULL},
};
