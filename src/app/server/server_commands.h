/* The commands that run a server or look after it, and what all commands that ask one have. */
#ifndef PL_APP_SERVER_COMMANDS_H
#define PL_APP_SERVER_COMMANDS_H

#include "app/commands.h"

PL_COMMAND_TEXTS(serve);
PL_COMMAND_TEXTS(session);
PL_COMMAND_TEXTS(key);
PL_COMMAND_TEXTS(backup);
PL_COMMAND_TEXTS(restore);
PL_COMMAND_TEXTS(doctor);

#define PL_OPTION_JSON                                                                             \
    {                                                                                              \
        "json", PL_OPT_JSON, .help = "Print JSON for machines"                                     \
    }
#define PL_OPTION_DATA                                                                             \
    {                                                                                              \
        "data", PL_OPT_DATA,                                                                       \
            .args = {"DIR"}, .takes_file = true,                                                   \
            .help = "The data directory of the server on this machine; $XDG_DATA_HOME/parley by "  \
                    "default"                                                                      \
    }
#define PL_OPTION_STORE                                                                            \
    {                                                                                              \
        "store", PL_OPT_STORE, .args = {"URL"}, .help = "The store, where it is not DIR/parley.db" \
    }
#define PL_OPTION_SERVER                                                                           \
    {"server", PL_OPT_SERVER, .args = {"URL"},                                                     \
     .help = "A server elsewhere: http://HOST:PORT, https://HOST or unix:PATH"},                   \
    {                                                                                              \
        "key-file", PL_OPT_KEY_FILE,                                                               \
            .args = {"FILE"}, .takes_file = true,                                                  \
            .help = "The file that holds the key for --server; by default it is in PARLEY_KEY"     \
    }

#define PL_TEXT_SERVER                                                                             \
    "The server is found by its control socket in the data directory, where the user who runs it " \
    "needs no key; or by --server URL or the variable PARLEY_SERVER, with a key in PARLEY_KEY or " \
    "--key-file. Nobody there is exit 4."

#endif
