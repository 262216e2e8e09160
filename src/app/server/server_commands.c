/* Tables of the server commands: options, examples, and the paragraphs of help and manual page. */
#include "app/server/server_commands.h"

#include "app/access/key_wish.h"

#include "ext/cell/level.h"
#include "ext/cell/uids.h"
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
    PL_OPTION_CONFIG,
    {"host", PL_OPT_HOST, .args = {"ADDRESS"},
     .help = "The address to listen on; 127.0.0.1 by default. Others need TLS or --behind-proxy"},
    {"port", PL_OPT_PORT, .args = {"PORT"},
     .help = "The port; 8787 by default. 0 takes any free "
             "port"},
    {"data", PL_OPT_DATA, .args = {"DIR"}, .takes_file = true,
     .help = "The directory for conversations; $XDG_DATA_HOME/parley by default"},
    {"store", PL_OPT_STORE, .args = {"URL"},
     .help = "sqlite:PATH, postgres://... or memory: instead of DIR/parley.db"},
    {"tls-cert", PL_OPT_TLS_CERT, .args = {"FILE"}, .takes_file = true,
     .help = "Certificate chain in PEM; enables HTTPS"},
    {"tls-key", PL_OPT_TLS_KEY, .args = {"FILE"}, .takes_file = true,
     .help = "The certificate's private key in PEM"},
    {"unix", PL_OPT_UNIX, .args = {"PATH"}, .takes_file = true,
     .help = "Also listen on this Unix socket; requests need a key, as on a port"},
    {"ui-dir", PL_OPT_UI_DIR, .args = {"DIR"}, .takes_file = true,
     .help = "Serve the web page from this directory instead of the one in the program"},
    {"behind-proxy", PL_OPT_BEHIND_PROXY, .help = "A proxy in front of the server does TLS"},
    {"allow-host", PL_OPT_ALLOW_HOST, .args = {"NAME"}, .is_repeatable = true,
     .help = "A further host name that clients may use (Host header)"},
    {"allow-origin", PL_OPT_ALLOW_ORIGIN, .args = {"ORIGIN"}, .is_repeatable = true,
     .help = "A web origin whose pages may use the server (CORS)"},
    {"allow-fetch", PL_OPT_ALLOW_FETCH, .args = {"HOST[:PORT]"}, .is_repeatable = true,
     .help = "Allow downloads from this host even if it has a private address"},
    {"shards", PL_OPT_SHARDS, .args = {"N"},
     .help = "Threads that serve connections; by default 0: one per core"},
    {"workers", PL_OPT_WORKERS, .args = {"N"},
     .help = "Threads that read the store, and the same number that convert; 4 by default"},
    {"max-connections", PL_OPT_MAX_CONNECTIONS, .args = {"N"},
     .help = "The maximum number of connections; 20000 by default"},
    {"node", PL_OPT_NODE, .args = {"NAME"},
     .help =
         "The name of this node, if several servers share a PostgreSQL; the host name by default"},
    {"address", PL_OPT_ADDRESS, .args = {"URL"},
     .help = "The address of this node, shown by parley cluster"},
    {"bus", PL_OPT_BUS, .args = {"URL"},
     .help = "The bus between the nodes: nats://HOST:PORT; PostgreSQL by default"},
    {"bus-ca", PL_OPT_BUS_CA, .args = {"FILE"},
     .help = "CA certificates that may sign the certificate of the bus"},
    {"bus-cert", PL_OPT_BUS_CERT, .args = {"FILE"},
     .help = "The certificate that this node shows to the bus"},
    {"bus-key", PL_OPT_BUS_KEY, .args = {"FILE"}, .help = "The private key of --bus-cert"},
    {"bus-creds", PL_OPT_BUS_CREDS, .args = {"FILE"},
     .help = "Credentials for the bus, as NATS writes them"},
    {"drain-accept", PL_OPT_DRAIN_ACCEPT, .args = {"MS"},
     .help = "How long to keep serving after SIGTERM while /readyz returns 503; by default 0: 5000 "
             "while "
             "other nodes are up, otherwise not at all"},
    {"max-connections-per-address", PL_OPT_MAX_ADDRESS_CONNECTIONS, .args = {"N"},
     .help = "The maximum for one address; by default 0: 1000, but no limit for loopback or with "
             "--behind-proxy"},
    {"body-memory", PL_OPT_BODY_MEMORY, .args = {"MIB"},
     .help = "Memory for request bodies, a quarter of it for one user; 256 by default"},
    {"workspace", PL_OPT_WORKSPACE, .args = {"DIR"},
     .help = "The directory for the files of extensions; each user gets a directory in it"},
    {"ext-sandbox", PL_OPT_EXT_SANDBOX, .args = {"LEVEL"}, .choice = pl_cell_level_choice,
     .help = "The least sandbox that extensions may run in; full by default"},
    {"ext-uids", PL_OPT_EXT_UIDS, .args = {"FIRST-LAST"},
     .help = "The user ids of extensions if the server runs as root; " PL_CELL_UIDS " by default"},
    {"unsafe-no-sandbox", PL_OPT_UNSAFE_NO_SANDBOX,
     .help = "The same as --ext-sandbox none: extensions can read what the server can"},
    {"drain", PL_OPT_DRAIN, .args = {"MS"},
     .help = "How long running turns may take during shutdown; 30000 by default"},
    {"log-level", PL_OPT_LOG_LEVEL, .args = {"LEVEL"}, .choice = level_choice,
     .help = "What to log to standard error; request logs every request"},
    {"log-json", PL_OPT_LOG_JSON, .help = "Log one JSON object per line"},
    {"model", PL_OPT_MODEL, .args = {"NAME"}, .words = "models",
     .help = "The model of sessions that name none; demo/echo by default"},
    {"print-config", PL_OPT_PRINT_CONFIG,
     .help = "Print every setting with its value and source, and exit"},
    {"check-config", PL_OPT_CHECK_CONFIG,
     .help = "Read and check all settings, keys and certificates, and exit"},
    {"json", PL_OPT_JSON, .help = "With --print-config: print one JSON object"},
    PL_OPTIONS_SHARED,
    {0},
};

const char *const pl_serve_paragraphs[] = {
    "Serves sessions over HTTP, WebSocket and server-sent events (SSE), and all document functions "
    "of the other commands. It prints its address when it is ready. The first start also prints a "
    "link that makes you its administrator. After that, every request needs a key.",
    "Every option is also a line of the configuration file (port: 8787) and an environment "
    "variable (PARLEY_PORT), with the name that --print-config shows: --drain is drain_ms and "
    "PARLEY_DRAIN_MS. An option overrides the environment, and the environment overrides the file. "
    "The file is --config, else PARLEY_CONFIG, else $XDG_CONFIG_HOME/parley/config.yaml. A "
    "misspelt name is refused at the start.",
    "SIGHUP and \"parley reload\" reload the file, and the keys and certificates it names, without "
    "interruption. If something in it is wrong, the message says what and where, and nothing "
    "changes.",
    "SIGTERM or Ctrl-C shuts the server down: running turns have --drain milliseconds, and their "
    "output so far is kept. A second signal ends it at once. Behind a load balancer, "
    "--drain-accept "
    "gives the balancer time to see the 503 of /readyz before the port is closed.",
    NULL,
};

const struct pl_example pl_serve_examples[] = {
    {"serve", "On this machine only, with the built-in demo model"},
    {"serve --port 9000 --data ./data --log-level request", "Another port and directory, with a "
                                                            "request log"},
    {"serve --host 0.0.0.0 --tls-cert cert.pem --tls-key key.pem --allow-host chat.example.org",
     "For other machines, with TLS"},
    {"serve --print-config", "Show the settings"},
    {NULL, NULL},
};

static const char *export_mode_choice(size_t i)
{
    static const char *const names[] = {"convert", "repair", "gateway", NULL};
    return names[i];
}

const struct pl_option pl_session_options[] = {
    {"yes", PL_OPT_YES, .verbs = "delete", .help = "delete without a question"},
    {"status", PL_OPT_STATUS, .args = {"STATUS"}, .choice = status_choice, .verbs = "list",
     .help = "only sessions with this status"},
    {"limit", PL_OPT_LIMIT, .args = {"N"}, .verbs = "list",
     .help = "the maximum number; 20 by default"},
    {"query", PL_OPT_QUERY, 'q', .args = {"TEXT"}, .verbs = "list",
     .help = "only sessions whose intent contains this"},
    {"intent", PL_OPT_INTENT, .args = {"TEXT"}, .verbs = "new, fork, import",
     .help = "the subject of the session"},
    {"model", PL_OPT_MODEL, .args = {"NAME"}, .words = "models", .verbs = "new, chat, import",
     .help = "the model that answers, from now on"},
    {"turns", PL_OPT_TURNS, .args = {"N"}, .verbs = "show",
     .help = "the number of turns, newest first; 10 by default"},
    {"no-wait", PL_OPT_NO_WAIT, .verbs = "chat, answer", .help = "do not wait for the answer"},
    PL_OPTIONS_TABLE("list", "id,status"),
    {"format", PL_OPT_FORMAT, .args = {"FORMAT"}, .choice = pl_format_choice, .verbs = "export",
     .help = "the format to write; turns by default"},
    {"out", PL_OPT_OUT, 'o', .args = {"FILE"}, .takes_file = true, .verbs = "export",
     .help = "write to FILE instead of standard output"},
    {"mode", PL_OPT_MODE, .args = {"MODE"}, .choice = export_mode_choice, .verbs = "export",
     .help = "convert only translates (default); repair also makes the result valid for the "
             "format; gateway also for its models"},
    {"loop", PL_OPT_LOOP, .args = {"LOOP_ID"}, .verbs = "export",
     .help = "only this loop: root, or that of a sub-agent"},
    {"from", PL_OPT_FROM, .args = {"FORMAT"}, .choice = pl_format_choice, .verbs = "import",
     .help = "the format of FILE; by default detected from the content"},
    {"report", PL_OPT_REPORT, .args = {"FILE"}, .takes_file = true, .verbs = "export, import",
     .help = "write what is lost to FILE, as JSON"},
    {"strict", PL_OPT_STRICT, .verbs = "export, import",
     .help = "refuse an export or import that would lose something"},
    {"turn", PL_OPT_TURN, .args = {"TURN_ID"}, .verbs = "fork",
     .help = "the last turn of the copy; all turns by default"},
    PL_OPTION_DATA,
    PL_OPTION_SERVER,
    PL_OPTION_JSON,
    PL_OPTIONS_SHARED,
    {0},
};

const char *const pl_session_paragraphs[] = {
    "Sessions are conversations that the server stores.",
    "chat prints the answer as it arrives, until it is complete. If the model asks a question, "
    "chat shows it and ends with exit code 1; a chat that fails or is stopped also gives exit code "
    "1. answer continues printing. With --json both print every event, one per line.",
    "Ending the command does not stop the turn; use stop.",
    "export and import say how much is lost; --report writes the details to a file. A sub-agent "
    "has its own conversation: --loop exports it.",
    PL_TEXT_SERVER,
    NULL,
};

const struct pl_example pl_session_examples[] = {
    {"session list --status running", "List running sessions"},
    {"session new --intent 'a first try' --model demo/echo", "Create a session and print its id"},
    {"session chat sess_... 'hello world'", "Send a message and print the answer"},
    {"session answer sess_... tc_... '\"yes\"'", "Answer a question of the model"},
    {"session export sess_... --format anthropic -o chat.json", "Export a session"},
    {"session list --server https://parley.example.org --key-file key.txt",
     "Use a server on another machine"},
    {NULL, NULL},
};

const struct pl_option pl_key_options[] = {
    {"name", PL_OPT_NAME, .args = {"NAME"}, .verbs = "create, change",
     .help = "the purpose of the key; its scope by default"},
    {"user", PL_OPT_USER, .args = {"USER"}, .words = "users",
     .help = "Whose keys, by name or id; your own by default. Needs an administrator"},
    {"scope", PL_OPT_SCOPE, .args = {"SCOPE"}, .choice = pl_scope_choice, .verbs = "create, change",
     .help = "all (default), sessions, gateway (the /v1 paths and nothing else), read, or "
             "extension:ID (the socket of that extension and nothing else)"},
    {"models", PL_OPT_MODELS, .args = {"A,B"}, .verbs = "create, change",
     .help = "the models that the key may use, by name or as vendor/*; \"all\" removes this "
             "restriction"},
    {"rpm", PL_OPT_RPM, .args = {"N"}, .verbs = "create, change",
     .help = "requests per minute; \"none\" removes a limit"},
    {"tpm", PL_OPT_TPM, .args = {"N"}, .verbs = "create, change", .help = "tokens per minute"},
    {"budget-day", PL_OPT_BUDGET_DAY, .args = {"USD"}, .verbs = "create, change",
     .help = "dollars per day, UTC"},
    {"budget-month", PL_OPT_BUDGET_MONTH, .args = {"USD"}, .verbs = "create, change",
     .help = "dollars per calendar month, UTC"},
    {"expires", PL_OPT_EXPIRES, .args = {"TIME"}, .verbs = "create, change",
     .help = "when the key expires: after a time such as 90d, on a day, or never"},
    {"admin", PL_OPT_ADMIN, .verbs = "create",
     .help = "the key may act as an administrator; otherwise it is a member's"},
    {"overlap", PL_OPT_OVERLAP, .args = {"TIME"}, .verbs = "rotate",
     .help = "how long the old secret is still accepted, such as 24h; not at all by default"},
    PL_OPTIONS_TABLE("list", "id,name"),
    PL_OPTION_DATA,
    PL_OPTION_STORE,
    PL_OPTION_SERVER,
    PL_OPTION_JSON,
    PL_OPTIONS_SHARED,
    {0},
};

const char *const pl_key_paragraphs[] = {
    "A key is printed once, when it is made; the server stores only its hash. It is a member's key "
    "unless --admin is given.",
    "Only an administrator can set limits, or change the scope, the models or the expiry of a key. "
    "A key with any restriction cannot create other keys.",
    "On the server's machine this works whether or not the server runs.",
    PL_TEXT_SERVER,
    NULL,
};

const struct pl_example pl_key_examples[] = {
    {"key create --name laptop --admin", "Create an administrator's key"},
    {"key create --name ci --user ada --scope gateway --models 'openai/*' --budget-day 5 --expires "
     "90d",
     "Create a restricted key for a user"},
    {"key rotate key_... --overlap 24h", "Replace the secret; the old one works for another day"},
    {"key list", "List the keys and when they were last used"},
    {"key revoke key_...", "Revoke a key"},
    {NULL, NULL},
};

const struct pl_option pl_reload_options[] = {
    PL_OPTION_CONFIG, PL_OPTION_DATA, PL_OPTION_JSON, PL_OPTIONS_SHARED, {0},
};

const char *const pl_reload_paragraphs[] = {
    "The running server reads its configuration file again, with the keys and certificates that it "
    "names, and the command prints what changed. No connection is closed and no turn is "
    "interrupted. If something in the file is wrong, nothing changes, the message says what and "
    "where, and the exit code is 1. SIGHUP does the same, with the outcome in the log.",
    "The server is found by its data directory, so the command works only on its machine and for "
    "the user who runs it. Options and environment of the server stay as they were at its start.",
    NULL,
};

const struct pl_example pl_reload_examples[] = {
    {"reload", "Reload the configuration of the server on this machine"},
    {"reload --data /var/lib/parley --json",
     "Reload the server of another data directory, from a script"},
    {NULL, NULL},
};

const struct pl_option pl_backup_options[] = {
    {"force", PL_OPT_FORCE, .help = "Replace an existing file"},
    PL_OPTION_CONFIG,
    PL_OPTION_DATA,
    PL_OPTION_STORE,
    PL_OPTION_SERVER,
    PL_OPTION_JSON,
    PL_OPTIONS_SHARED,
    {0},
};

const char *const pl_backup_paragraphs[] = {
    "Writes everything the server stores to one file, as of one instant, while the server runs or "
    "while it does not. The file appears under its name when it is complete and on disk. An "
    "existing file is replaced only with --force, and never inside a data directory. - is standard "
    "output.",
    "For a store in PostgreSQL use the tools of PostgreSQL.",
    PL_TEXT_SERVER,
    NULL,
};

const struct pl_example pl_backup_examples[] = {
    {"backup parley-monday.db", "Make a backup"},
    {"backup - | gzip > parley-monday.db.gz", "Make a compressed backup"},
    {"backup --server https://parley.example.org --key-file key.txt copy.db",
     "Back up another machine; this needs an administrator's key"},
    {NULL, NULL},
};

const struct pl_option pl_restore_options[] = {
    {"check", PL_OPT_CHECK,
     .help = "Only rehearse: restore to a temporary directory, check everything, delete it again"},
    {"list", PL_OPT_LIST, .help = "List the stored backups"},
    {"at", PL_OPT_AT, .args = {"TIME"},
     .help = "Take the newest stored backup that is not later: 2026-01-31T04:00:00Z, or a date"},
    {"from", PL_OPT_FROM, .args = {"DIR"}, .takes_file = true,
     .help = "Where the backups are stored; backup_dir of the configuration by default"},
    {"force", PL_OPT_FORCE, .help = "Replace an existing store without asking"},
    {"yes", PL_OPT_YES, .help = "The same as --force"},
    PL_OPTION_CONFIG,
    PL_OPTION_DATA,
    PL_OPTION_STORE,
    PL_OPTION_JSON,
    PL_OPTIONS_SHARED,
    {0},
};

const char *const pl_restore_paragraphs[] = {
    "Replaces the store with a backup while no server uses it. The backup is checked for damage "
    "first. The old store stays beside the new one as parley.db.before-TIME.",
    "The server makes backups by itself if backup_every and backup_dir are set. --list shows them, "
    "and --at restores the newest one that is not later than a time.",
    "--check rehearses a restore without touching the data, also while the server runs. Exit 0 if "
    "the backup is good, 1 if it is damaged, is not a backup, or was made by a newer version. It "
    "needs as much "
    "space as the backup in TMPDIR, or in /var/tmp.",
    NULL,
};

const struct pl_example pl_restore_examples[] = {
    {"restore parley-monday.db", "Restore a backup"},
    {"restore --check parley-monday.db", "Check that a backup can be restored"},
    {"restore --list", "List the backups that the server has made"},
    {"restore --at 2026-01-31T12:00:00Z", "Go back to a point in time"},
    {"restore --data ./other --force parley-monday.db", "Restore to another directory, from a "
                                                        "script"},
    {NULL, NULL},
};

const struct pl_option pl_doctor_options[] = {
    PL_OPTION_CONFIG,
    PL_OPTION_DATA,
    PL_OPTION_STORE,
    {"host", PL_OPT_HOST, .args = {"ADDRESS"}, .help = "The address the server will listen on"},
    {"port", PL_OPT_PORT, .args = {"PORT"},
     .help = "The port the server will listen on; 8787 by "
             "default"},
    {"ext-sandbox", PL_OPT_EXT_SANDBOX, .args = {"LEVEL"}, .choice = pl_cell_level_choice,
     .help = "The least sandbox that the server will accept; full by default"},
    PL_OPTION_JSON,
    PL_OPTIONS_SHARED,
    {0},
};

const char *const pl_doctor_paragraphs[] = {
    "Checks whether this machine can run the server and whether its data is intact: the data "
    "directory and its permissions, the store (opened and read completely, if no server runs), "
    "disk space, file descriptors, the port and the process that uses it, libraries and programs, "
    "time zones, the clock, the sandbox of extensions.",
    "With a store in PostgreSQL it also shows the nodes and how long each holds its lease, whether "
    "the "
    "database waits for its standbys, whether the bus between the nodes works, and extensions "
    "whose "
    "files are not on this node.",
    "For the sandbox it makes an empty cell and reports each part: user id, namespaces, "
    "bubblewrap, "
    "Landlock, seccomp, cgroup, /proc, and the level that they make together. A part that is "
    "missing comes with its remedy.",
    "Each line is ok, a warning, or a problem with advice. Exit 1 if there is a problem.",
    NULL,
};

const struct pl_example pl_doctor_examples[] = {
    {"doctor", "Check this machine"},
    {"doctor --data ./data --port 9000 --json", "Use it in a script"},
    {NULL, NULL},
};
