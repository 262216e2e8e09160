/* Commands that run or maintain a server, and the options of all commands that use one. */
#ifndef PL_APP_SERVER_COMMANDS_H
#define PL_APP_SERVER_COMMANDS_H

#include "app/frame/commands.h"

PL_COMMAND_TEXTS(serve);
PL_COMMAND_TEXTS(session);
PL_COMMAND_TEXTS(key);
PL_COMMAND_TEXTS(reload);
PL_COMMAND_TEXTS(cluster);
PL_COMMAND_TEXTS(user);
PL_COMMAND_TEXTS(usage);
PL_COMMAND_TEXTS(audit);

/* pl_choice_fn over the groups of `parley usage`. */
const char *pl_usage_group_choice(size_t i);

PL_COMMAND_TEXTS(backup);
PL_COMMAND_TEXTS(restore);
PL_COMMAND_TEXTS(doctor);

#define PL_OPTION_JSON                                                                             \
    {                                                                                              \
        "json", PL_OPT_JSON, .help = "Print JSON for machines"                                     \
    }
/* Options of commands that print a table: `with` names the verbs, `example` two columns. */
#define PL_OPTIONS_TABLE(with, example)                                                            \
    {"format",                                                                                     \
     PL_OPT_FORMAT,                                                                                \
     .args = {"COLUMNS"},                                                                          \
     .words = "columns",                                                                           \
     .verbs = (with),                                                                              \
     .help = "show these columns only, such as " example "; in a pipe without headings, with a "   \
             "tab between cells"},                                                                 \
    {                                                                                              \
        "no-pager", PL_OPT_NO_PAGER, .verbs = (with), .help = "do not use a pager"                 \
    }
/* Same for a command without verbs. */
#define PL_OPTIONS_OWN_TABLE(example)                                                              \
    {"format", PL_OPT_FORMAT, .args = {"COLUMNS"}, .words = "columns",                             \
     .help = "Show these columns only, such as " example "; in a pipe without headings, with a "   \
             "tab between cells"},                                                                 \
    {                                                                                              \
        "no-pager", PL_OPT_NO_PAGER, .help = "Do not use a pager"                                  \
    }
#define PL_OPTION_DATA                                                                             \
    {                                                                                              \
        "data", PL_OPT_DATA,                                                                       \
            .args = {"DIR"}, .takes_file = true,                                                   \
            .help = "The data directory of the server on this machine; $XDG_DATA_HOME/parley by "  \
                    "default"                                                                      \
    }
#define PL_OPTION_CONFIG                                                                           \
    {                                                                                              \
        "config", PL_OPT_CONFIG,                                                                   \
            .args = {"FILE"}, .takes_file = true,                                                  \
            .help = "The configuration file of the server; $XDG_CONFIG_HOME/parley/config.yaml "   \
                    "by default"                                                                   \
    }
#define PL_OPTION_STORE                                                                            \
    {                                                                                              \
        "store", PL_OPT_STORE, .args = {"URL"}, .help = "The store, if it is not DIR/parley.db"    \
    }
#define PL_OPTION_SERVER                                                                           \
    {"server", PL_OPT_SERVER, .args = {"URL"},                                                     \
     .help = "The server to use: http://HOST:PORT, https://HOST or unix:PATH"},                    \
    {                                                                                              \
        "key-file", PL_OPT_KEY_FILE,                                                               \
            .args = {"FILE"}, .takes_file = true,                                                  \
            .help = "The file with the key for --server; by default the key is in PARLEY_KEY"      \
    }

#define PL_TEXT_SERVER                                                                             \
    "The command uses the server of the data directory, through its control socket; the user who " \
    "runs the server needs no key there. --server URL or PARLEY_SERVER name another server, with " \
    "the key in PARLEY_KEY or --key-file. Exit 4 if no server answers."
#define PL_TEXT_ANY_SERVER                                                                         \
    "The command uses the server of the data directory, through its control socket; the user who " \
    "runs the server needs no key there. If none runs, the command starts one for itself, with "   \
    "the same data and configuration but without schedules; it ends with the command. --server "   \
    "URL or PARLEY_SERVER name another server, with the key in PARLEY_KEY or --key-file. Exit 4 "  \
    "if that one does not answer."

#endif
