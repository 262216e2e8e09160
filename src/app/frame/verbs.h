/* Commands with verbs (`parley prompt show ID`). A table per command lists its verbs, their words
 * and the function that runs each. Help, the manual page and completion read it too.
 *
 * A verb runs with a deed: the server connection, the command line, the request being written, and
 * the answer. */
#ifndef PL_APP_VERBS_H
#define PL_APP_VERBS_H

#include "app/frame/api.h"
#include "app/table/choice.h"
#include "json/write.h"

struct pl_verb;

struct pl_deed {
    struct pl_api api;          /* owned */
    const struct pl_verb *verb; /* NULL: the command has no verbs */
    struct pl_console *console;
    const struct pl_args *args;
    const char *const *words; /* operands after the verb; borrowed */
    size_t n_words;
    struct pl_buf body;     /* owned; of the request */
    struct pl_json_out out; /* writes to `body` */
    struct pl_json_doc answer;
    const char *columns;            /* of its table: "id,status"; NULL: it has no table */
    struct pl_column_choice chosen; /* the columns that --format chose */
};

struct pl_verb {
    const char *name;  /* NULL ends the table */
    const char *words; /* the words after it: "ID LABEL [VERSION]"; "": no words */
    size_t min_words, max_words;
    const char *says; /* its effect: a sentence without a full stop */
    enum pl_exit (*run)(struct pl_deed *deed);
    bool is_offline;     /* needs no server; the API is not opened */
    bool is_default;     /* runs if no verb is given */
    bool is_anywhere;    /* starts a server if none runs (embedded.h) */
    bool takes_session;  /* its first word is a session as people write it (short_id.h) */
    const char *columns; /* of its table, as --format names them; NULL: it prints no table */
    const char *offers;  /* completion: the kind of its words (manual/complete.c) */
};

/* The tables, one per command. */
extern const struct pl_verb pl_session_verbs[];
extern const struct pl_verb pl_prompt_verbs[];
extern const struct pl_verb pl_memory_verbs[];
extern const struct pl_verb pl_task_verbs[];
extern const struct pl_verb pl_blob_verbs[];
extern const struct pl_verb pl_user_verbs[];
extern const struct pl_verb pl_audit_verbs[];
extern const struct pl_verb pl_cluster_verbs[];
extern const struct pl_verb pl_ext_verbs[];
extern const struct pl_verb pl_models_verbs[];
extern const struct pl_verb pl_key_verbs[];
extern const struct pl_verb pl_handoff_verbs[];

/* Finds the verb that the first operand names, checks its words and options, and runs it. */
enum pl_exit pl_verb_run(struct pl_console *console, const struct pl_command *command,
                         const struct pl_args *args);

/* NULL if the command has no such verb, or no verbs. */
const struct pl_verb *pl_verb_find(const struct pl_command *command, const char *name);
/* Prints that the verb is unknown, lists the command's verbs, and suggests the one that was
 * probably meant. */
enum pl_exit pl_verb_fail_unknown(struct pl_console *console, const struct pl_command *command,
                                  const char *word);

/* Runs a command without verbs in the same way; all its operands are words. */
enum pl_exit pl_deed_run(struct pl_console *console, const char *command,
                         const struct pl_args *args, enum pl_exit (*fn)(struct pl_deed *deed));
/* Same for a command that starts a server if none runs (embedded.h). */
enum pl_exit pl_deed_run_anywhere(struct pl_console *console, const char *command,
                                  const struct pl_args *args,
                                  enum pl_exit (*fn)(struct pl_deed *deed));

/* --- for verbs ------------------------------------------------------------------------------- */

/* The value of an option; NULL if it was not given. */
const char *pl_deed_option(const struct pl_deed *deed, enum pl_option_id id);
/* Prints an error of the command line. */
enum pl_exit pl_deed_usage(struct pl_deed *deed, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Asks the user before something is deleted; the text is a question. PL_EXIT_OK to go on. --yes
 * skips the question; without a terminal --yes is required. */
enum pl_exit pl_deed_confirm(struct pl_deed *deed, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Checks that the option, if given, is a whole number from 1 to `most`. */
enum pl_exit pl_deed_check_count(struct pl_deed *deed, enum pl_option_id id, uint64_t most);
enum pl_exit pl_deed_fail(struct pl_deed *deed, enum pl_status status, struct pl_error *err);
/* Same without an error message: the text of the status is printed. */
enum pl_exit pl_deed_stop(struct pl_deed *deed, enum pl_status status);

/* Sends the body (no body if nothing was written) and keeps the answer. The body is empty
 * afterwards, for the next request. */
enum pl_exit pl_deed_ask(struct pl_deed *deed, const char *method, const char *path);

/* Copies and parses the body of an answer that did not come from pl_deed_ask, and keeps it as the
 * answer. */
enum pl_exit pl_deed_take(struct pl_deed *deed, struct pl_str reply);

/* A path in which the '%' of the shape is the first word. NULL if out of memory. */
const char *pl_deed_path(struct pl_deed *deed, const char *shape);

struct pl_deed_param {
    enum pl_option_id id;
    const char *name;
};
/* "PATH?NAME=VALUE&…" with the options that were given; an option without a value becomes "true".
 * `params` is ended by a NULL name. NULL if out of memory. */
const char *pl_deed_query(struct pl_deed *deed, const char *path,
                          const struct pl_deed_param *params);

/* The path of the next page: `path` with the answer's next_cursor. NULL after the last page, and if
 * out of memory; that sets texts.is_cut. */
const char *pl_deed_next_page(struct pl_deed *deed, const char *path);

/* The text of a string member of the answer; empty if it is absent or not a string. */
struct pl_str pl_deed_text(struct pl_deed *deed, const struct pl_json_node *object,
                           const char *name);
/* A whole number as text; "-" if there is none. */
struct pl_str pl_deed_number(struct pl_deed *deed, const struct pl_json_node *object,
                             const char *name);
/* A NUL-terminated copy that lives as long as the deed; NULL if out of memory. */
const char *pl_deed_keep(struct pl_deed *deed, struct pl_str text);
/* Iterates over the items of a list: pass NULL for the first; NULL after the last. */
const struct pl_json_node *pl_deed_item(const struct pl_deed *deed,
                                        const struct pl_json_node *last);

/* Prints the answer as it came, for programs. */
enum pl_exit pl_deed_print(struct pl_deed *deed);
/* Writes a document as it came, to --out FILE or to standard output. */
enum pl_exit pl_deed_put_result(struct pl_deed *deed, struct pl_str bytes);
/* With --json prints the answer; otherwise its member `name` on a line, for scripts. */
enum pl_exit pl_deed_print_made(struct pl_deed *deed, const char *name);
/* With --json prints the answer; otherwise a line on standard error. */
enum pl_exit pl_deed_done(struct pl_deed *deed, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Begins a table with the deed's columns, or those that --format names. */
void pl_deed_begin_table(struct pl_deed *deed, struct pl_columns *columns);
/* Shows the output in a pager if it is longer than a screen. */
void pl_deed_page(struct pl_deed *deed);
/* Prints a table of the answer's items and deinitialises it. If there are more items, prints "N of
 * TOTAL; `how`" below it (how NULL: prints nothing). */
enum pl_exit pl_deed_print_table(struct pl_deed *deed, struct pl_columns *columns, const char *how);

/* The text of an operand or option: the word itself, or standard input for "-": up to 4 MiB, and
 * `is_line` strips trailing line breaks. Refuses text that is not UTF-8. */
enum pl_exit pl_deed_read_text(struct pl_deed *deed, const char *word, bool is_line,
                               struct pl_str *ret_text);
/* Parses one --var NAME=VALUE. The value @FILE is the content of the file; a leading @@ is a
 * literal @. */
struct pl_render_var;
enum pl_exit pl_deed_read_variable(struct pl_deed *deed, const char *text,
                                   struct pl_render_var *ret_var);
/* Writes all --var NAME=VALUE as a JSON object. */
enum pl_exit pl_deed_out_variables(struct pl_deed *deed);

#endif
