/* Command line options, parsed by a table.
 *
 *     --name          --name VALUE     --name=VALUE     --name FIRST SECOND
 *     -h              --               (everything after it is an operand)
 *
 * Options and operands may be mixed; "-" is an operand. */
#ifndef PL_APP_OPTIONS_H
#define PL_APP_OPTIONS_H

#include "base/status.h"
#include "base/vec.h"

enum pl_option_id {
    PL_OPT_HELP,
    PL_OPT_AS,
    PL_OPT_SCHEMA,
    PL_OPT_FORMAT_ASSERTION,
    PL_OPT_LANG,
    PL_OPT_OUTPUT,
    PL_OPT_JSON,
    PL_OPT_PRETTY,
    PL_OPT_MINIFY,
    PL_OPT_CANONICAL,
    PL_OPT_GET,
    PL_OPT_RAW,
    PL_OPT_SET,
    PL_OPT_INSERT,
    PL_OPT_REMOVE,
    PL_OPT_LENIENT,
    PL_OPT_CHECK,
    PL_OPT_MAN,
    PL_OPT_FROM,
    PL_OPT_TO,
    PL_OPT_APPEND,
    PL_OPT_KIND,
    PL_OPT_MODE,
    PL_OPT_PROFILE,
    PL_OPT_STRICT,
    PL_OPT_REPORT,
    PL_OPT_LOOP,
    PL_OPT_CARRY,
    PL_OPT_WITH_CARRY,
    PL_OPT_FOR,
    PL_OPT_FIX,
    PL_OPT_VAR,
    PL_OPT_PREVIEW,
    PL_OPT_SOURCE,
    PL_OPT_TARGET,
    PL_OPT_OBJECTIVE,
    PL_OPT_STATUS,
    PL_OPT_NEXT,
    PL_OPT_ID,
    PL_OPT_TRACE,
    PL_OPT_STEP,
    PL_OPT_CONSTRAINT,
    PL_OPT_DONE,
    PL_OPT_ARTIFACT,
    PL_OPT_PREVIOUS,
    PL_OPT_AGENT,
    PL_OPT_REASON,
    PL_OPT_ENCODING,
    PL_OPT_MODEL,
    PL_OPT_MAX_TOKENS,
    PL_OPT_SUMMARY,
    PL_OPT_OUT,
    PL_OPT_NDJSON,
    PL_OPT_EVERY,
    PL_OPT_START,
    PL_OPT_END,
    PL_OPT_DETAIL,
    PL_OPT_MAX,
    PL_OPT_SOUND,
    PL_OPT_HOST,
    PL_OPT_PORT,
    PL_OPT_DATA,
    PL_OPT_STORE,
    PL_OPT_UNIX,
    PL_OPT_UI_DIR,
    PL_OPT_TLS_CERT,
    PL_OPT_TLS_KEY,
    PL_OPT_BEHIND_PROXY,
    PL_OPT_ALLOW_HOST,
    PL_OPT_ALLOW_ORIGIN,
    PL_OPT_ALLOW_FETCH,
    PL_OPT_SHARDS,
    PL_OPT_WORKERS,
    PL_OPT_MAX_CONNECTIONS,
    PL_OPT_DRAIN_ACCEPT,
    PL_OPT_NODE,
    PL_OPT_ADDRESS,
    PL_OPT_BUS,
    PL_OPT_BUS_CA,
    PL_OPT_BUS_CERT,
    PL_OPT_BUS_KEY,
    PL_OPT_BUS_CREDS,
    PL_OPT_MAX_ADDRESS_CONNECTIONS,
    PL_OPT_BODY_MEMORY,
    PL_OPT_DRAIN,
    PL_OPT_WORKSPACE,
    PL_OPT_EXT_SANDBOX,
    PL_OPT_EXT_UIDS,
    PL_OPT_UNSAFE_NO_SANDBOX,
    PL_OPT_LOG_LEVEL,
    PL_OPT_LOG_JSON,
    PL_OPT_CONFIG,
    PL_OPT_PRINT_CONFIG,
    PL_OPT_CHECK_CONFIG,
    PL_OPT_SERVER,
    PL_OPT_KEY_FILE,
    PL_OPT_LIMIT,
    PL_OPT_QUERY,
    PL_OPT_INTENT,
    PL_OPT_TURNS,
    PL_OPT_TURN,
    PL_OPT_NO_WAIT,
    PL_OPT_FORMAT,
    PL_OPT_NAME,
    PL_OPT_YES,
    PL_OPT_LIST,
    PL_OPT_AT,
    PL_OPT_ZONE,
    PL_OPT_COUNT,
    PL_OPT_FOLDER,
    PL_OPT_TAG,
    PL_OPT_LABEL,
    PL_OPT_PINNED,
    PL_OPT_VERSION,
    PL_OPT_FILE,
    PL_OPT_NOTE,
    PL_OPT_DESCRIPTION,
    PL_OPT_TYPE,
    PL_OPT_ANSWER,
    PL_OPT_TOOL,
    PL_OPT_ALL,
    PL_OPT_PRUNE,
    PL_OPT_WHEN_THERE,
    PL_OPT_MEDIA,
    PL_OPT_CONTENT,
    PL_OPT_TOPIC,
    PL_OPT_SKILL,
    PL_OPT_RECORD,
    PL_OPT_SCOPE,
    PL_OPT_OWNER,
    PL_OPT_MEM0,
    PL_OPT_SESSION,
    PL_OPT_DISABLED,
    PL_OPT_SUPERSEDED,
    PL_OPT_AFTER,
    PL_OPT_BEFORE,
    PL_OPT_TITLE,
    PL_OPT_CRON,
    PL_OPT_PROMPT,
    PL_OPT_USE,
    PL_OPT_OVERLAP,
    PL_OPT_EXPIRES,
    PL_OPT_SKIP_CONFIRMATIONS,
    PL_OPT_STOPPED,
    PL_OPT_FOLLOW,
    PL_OPT_RANGE,
    PL_OPT_NEW,
    PL_OPT_FORCE,
    PL_OPT_USER,
    PL_OPT_MODELS,
    PL_OPT_RPM,
    PL_OPT_TPM,
    PL_OPT_BUDGET_DAY,
    PL_OPT_BUDGET_MONTH,
    PL_OPT_MAX_TURNS,
    PL_OPT_MAX_SESSIONS,
    PL_OPT_MAX_BLOB_BYTES,
    PL_OPT_MAX_KEYS,
    PL_OPT_MAX_TASKS,
    PL_OPT_MAX_SOCKETS,
    PL_OPT_ADMIN,
    PL_OPT_EXPORT,
    PL_OPT_GROUP,
    PL_OPT_CSV,
    PL_OPT_LANGUAGE,
    PL_OPT_GRANT,
    PL_OPT_DENY,
    PL_OPT_MCP,
    PL_OPT_READ,
    PL_OPT_WRITE,
    PL_OPT_ENV,
    PL_OPT_SYSTEM,
    PL_OPT_ATTACH,
    PL_OPT_EXPECT,
    PL_OPT_CASES,
    PL_OPT_NO_PAGER,
};

/* The i-th allowed word, NULL after the last. */
typedef const char *pl_choice_fn(size_t i);

struct pl_option {
    const char *name; /* without the dashes; NULL ends the table */
    enum pl_option_id id;
    char letter;          /* short form, or 0 */
    const char *args[2];  /* names of the values it takes */
    pl_choice_fn *choice; /* the only allowed values; NULL: any */
    bool takes_file;      /* its value is a file name: for completion */
    const char *words;    /* kind of words completion offers (manual/complete.c); NULL: nothing */
    bool is_hidden;       /* works, but is not listed */
    bool is_repeatable;
    const char *verbs; /* "new, edit": the only verbs it works with; NULL: all */
    const char *help;  /* a sentence without a full stop */
};

/* Whether an option works with a verb. */
bool pl_option_has_verb(const struct pl_option *option, const char *verb);

/* pl_choice_fn over the languages of messages. */
const char *pl_lang_choice(size_t i);
/* The value of --lang in words that are not parsed yet, so that an error in them can be reported in
 * that language; NULL if it is not there. */
const char *pl_lang_asked(int argc, char *const *argv);
/* Whether messages are Chinese: by `lang`, or by the environment if `lang` is NULL or unknown. */
bool pl_lang_is_chinese(const char *lang);

/* Options that every command has. */
#define PL_OPTIONS_SHARED                                                                          \
    {"lang", PL_OPT_LANG, .args = {"LANG"}, .choice = pl_lang_choice,                              \
     .help = "Language of messages and help; by default from the environment"},                    \
    {                                                                                              \
        "help", PL_OPT_HELP, 'h', .is_repeatable = true, .help = "Show this help"                  \
    }

struct pl_option_use {
    const struct pl_option *option;
    const char *values[2]; /* borrowed from argv */
};

struct pl_args {
    PL_VEC(struct pl_option_use) uses; /* in the order given */
    PL_VEC(const char *) operands;     /* borrowed from argv */
};

/* Parses argv[0 … argc). PL_USAGE with a message that names the option, or PL_NOMEM. The caller
 * deinitialises *args in either case. */
enum pl_status pl_args_parse(struct pl_args *args, const struct pl_option *options, int argc,
                             char *const *argv, struct pl_error *err);
void pl_args_deinit(struct pl_args *args);

/* Checks a value against the choices of its option; PL_USAGE with a message that lists them. */
enum pl_status pl_option_check_choice(const struct pl_option_use *use, struct pl_error *err);

/* The last use of an option, or NULL. */
const struct pl_option_use *pl_args_find(const struct pl_args *args, enum pl_option_id id);
static inline bool pl_args_has(const struct pl_args *args, enum pl_option_id id)
{
    return pl_args_find(args, id) != NULL;
}

/* The value of an option; NULL if it was not given. */
static inline const char *pl_args_value(const struct pl_args *args, enum pl_option_id id)
{
    const struct pl_option_use *use = pl_args_find(args, id);
    return use ? use->values[0] : NULL;
}

/* Parses a whole number from 1 to `most`, in digits. False if `text` is not one; *ret_count is
 * unchanged then. */
bool pl_option_read_count(const char *text, uint64_t most, uint64_t *ret_count);

/* Writes all words of a choice to `to`, "a, b or c", cut to `size`. False if they were cut. Lists
 * up to PL_FEW_CHOICES are printed on one line; PL_CHOICES_MAX fits those of any option. */
enum { PL_FEW_CHOICES = 256, PL_CHOICES_MAX = 2048 };
bool pl_choice_list(pl_choice_fn *choice, char *to, size_t size);

#endif
