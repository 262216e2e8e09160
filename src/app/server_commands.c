#include "app/server_commands.h"

#include "session/rows.h"

static const char *status_choice(size_t i)
{
    return i < PL_SESSION_STATUS_COUNT ? pl_session_status_text((enum pl_session_status)i) : NULL;
}

static const char *level_choice(size_t i)
{
    static const char *const names[] = {"error", "warning", "info", "request", NULL};
    return names[i];
}

const struct pl_option pl_serve_options[] = {
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
    {"allow-fetch", PL_OPT_ALLOW_FETCH, .args = {"HOST[:PORT]"}, .is_repeatable = true,
     .help = "A host that may be internal from which files are fetched all the same"},
    {"shards", PL_OPT_SHARDS, .args = {"N"},
     .help = "Threads that serve connections; 0, the default, is one per core"},
    {"workers", PL_OPT_WORKERS, .args = {"N"},
     .help = "Threads that read the store, and as many that convert; 4 by default"},
    {"max-connections", PL_OPT_MAX_CONNECTIONS, .args = {"N"}, .help = "20000 by default"},
    {"lame-duck", PL_OPT_LAME_DUCK, .args = {"MS"},
     .help = "How long it goes on answering after SIGTERM, while /readyz says 503; 0 by default"},
    {"max-connections-per-address", PL_OPT_MAX_ADDRESS_CONNECTIONS, .args = {"N"},
     .help = "0, the default, is 1000, and no limit for loopback and with --behind-proxy"},
    {"body-memory", PL_OPT_BODY_MEMORY, .args = {"MIB"},
     .help = "Memory for bodies of requests, a quarter of it for one user; 256 by default"},
    {"drain", PL_OPT_DRAIN, .args = {"MS"},
     .help = "How long running turns may take when it is told to end; 10000 by default"},
    {"log-level", PL_OPT_LOG_LEVEL, .args = {"LEVEL"}, .choice = level_choice,
     .help = "What to write to standard error; request is every request"},
    {"log-json", PL_OPT_LOG_JSON, .help = "Write it as one JSON object per line"},
    {"model", PL_OPT_MODEL, .args = {"NAME"},
     .help = "The model of sessions that name none; demo/echo by default"},
    {"print-config", PL_OPT_PRINT_CONFIG,
     .help = "Show every setting with its value and where that comes from, and end"},
    {"check-config", PL_OPT_CHECK_CONFIG,
     .help = "Read all of it, with keys and certificate, say whether it is good, and end"},
    {"json", PL_OPT_JSON, .help = "With --print-config: one JSON object"},
    PL_OPTION_HELP,
    {0},
};

const char *const pl_serve_paragraphs[] = {
    "Serves sessions over HTTP, WebSocket and event streams, and everything the other commands do "
    "with documents. It prints its address when it is ready. On the first start it also prints a "
    "link that makes you its administrator; after that, every request needs a key.",
    "Every option is also a setting of the environment (PARLEY_PORT for --port) and of the file "
    "$XDG_CONFIG_HOME/parley/config.yaml (port: 8787). Options come first, then the environment, "
    "then the file.",
    "SIGHUP reads the file again, with the keys and certificates it names, while everything runs. "
    "Where something is wrong in it, a line of the log says what, and all stays as it was.",
    "SIGTERM or Ctrl-C ends it: running turns get the time of --drain, and what they said so far "
    "is kept. A second one ends it at once. Behind a load balancer, --lame-duck gives it time to "
    "see that /readyz says 503 before the port is closed.",
    NULL,
};

const struct pl_example pl_serve_examples[] = {
    {"serve", "On this machine only, with the built-in demo model"},
    {"serve --port 9000 --data ./data --log-level request", "Elsewhere, and with more to read"},
    {"serve --host 0.0.0.0 --tls-cert cert.pem --tls-key key.pem --allow-host chat.example.org",
     "For others, with TLS"},
    {"serve --print-config", "See what it would do"},
    {NULL, NULL},
};

const struct pl_option pl_session_options[] = {
    {"status", PL_OPT_STATUS, .args = {"STATUS"}, .choice = status_choice, .verbs = "list",
     .help = "only sessions in this status"},
    {"limit", PL_OPT_LIMIT, .args = {"N"}, .verbs = "list",
     .help = "how many at most; 20 by default"},
    {"query", PL_OPT_QUERY, 'q', .args = {"TEXT"}, .verbs = "list",
     .help = "only sessions whose intent has this"},
    {"intent", PL_OPT_INTENT, .args = {"TEXT"}, .verbs = "new, fork, import",
     .help = "what the session is about"},
    {"model", PL_OPT_MODEL, .args = {"NAME"}, .verbs = "new, chat, import",
     .help = "the model that answers, from now on"},
    {"turns", PL_OPT_TURNS, .args = {"N"}, .verbs = "show",
     .help = "how many turns, the newest; 10 by default"},
    {"no-wait", PL_OPT_NO_WAIT, .verbs = "chat, answer",
     .help = "do not wait for what is said to it"},
    {"format", PL_OPT_FORMAT, .args = {"FORMAT"}, .choice = pl_format_choice, .verbs = "export",
     .help = "the format to write; turns by default"},
    {"out", PL_OPT_OUT, 'o', .args = {"FILE"}, .takes_file = true, .verbs = "export",
     .help = "write to FILE instead of standard output"},
    {"from", PL_OPT_FROM, .args = {"FORMAT"}, .choice = pl_format_choice, .verbs = "import",
     .help = "the format of FILE; by default it is told from the content"},
    {"turn", PL_OPT_TURN, .args = {"TURN_ID"}, .verbs = "fork",
     .help = "the last turn the copy has; without it all of them"},
    PL_OPTION_DATA,
    PL_OPTION_SERVER,
    PL_OPTION_JSON,
    PL_OPTION_HELP,
    {0},
};

const char *const pl_session_paragraphs[] = {
    "Sessions are conversations that a server keeps.",
    "chat prints the answer as it comes, until it is complete. When the model asks something back, "
    "the question is shown and the exit code "
    "is 1, as it is when the chat fails or is stopped. answer goes on printing. With --json both "
    "print every event, one per line.",
    "Ending the command does not end the chat: stop does.",
    PL_TEXT_SERVER,
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
    {"name", PL_OPT_NAME, .args = {"NAME"}, .verbs = "create", .help = "what the key is for"},
    PL_OPTION_DATA,
    PL_OPTION_STORE,
    PL_OPTION_SERVER,
    PL_OPTION_JSON,
    PL_OPTION_HELP,
    {0},
};

const char *const pl_key_paragraphs[] = {
    "create makes a key and prints it, once: the server keeps only its hash. list shows the keys "
    "there are, revoke ID ends one, and closes the sockets that were opened with it.",
    "On the server's machine this works whether or not the server runs.",
    PL_TEXT_SERVER,
    NULL,
};

const struct pl_example pl_key_examples[] = {
    {"key create --name laptop", "Make a key for the server of this machine"},
    {"key list", "Which keys are there, and when were they used?"},
    {"key revoke key_...", "Let nobody in with it any more"},
    {NULL, NULL},
};

const struct pl_option pl_backup_options[] = {
    {"force", PL_OPT_FORCE, .help = "Replace a file that is there"},
    PL_OPTION_DATA,
    PL_OPTION_STORE,
    PL_OPTION_SERVER,
    PL_OPTION_JSON,
    PL_OPTION_HELP,
    {0},
};

const char *const pl_backup_paragraphs[] = {
    "Writes everything the server keeps to one file, as it was at one instant, while the server "
    "goes on; or without it, when none runs. The file appears under its name when it is complete "
    "and on the disk. One that is there is replaced only with --force, and nothing in a data "
    "directory ever is. - is standard output.",
    "A store in PostgreSQL is backed up by its own tools.",
    PL_TEXT_SERVER,
    NULL,
};

const struct pl_example pl_backup_examples[] = {
    {"backup parley-monday.db", "Keep what there is now"},
    {"backup - | gzip > parley-monday.db.gz", "The same, smaller"},
    {"backup --server https://parley.example.org --key-file key.txt copy.db",
     "Fetch it from another machine; the key is an administrator's"},
    {NULL, NULL},
};

const struct pl_option pl_restore_options[] = {
    {"yes", PL_OPT_YES, .help = "Replace the store that is there without asking"},
    PL_OPTION_DATA,
    PL_OPTION_STORE,
    PL_OPTION_JSON,
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
    PL_OPTION_DATA,
    PL_OPTION_STORE,
    {"host", PL_OPT_HOST, .args = {"ADDRESS"}, .help = "The address the server is to listen on"},
    {"port", PL_OPT_PORT, .args = {"PORT"}, .help = "The port it is to listen on; 8787 by default"},
    PL_OPTION_JSON,
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
