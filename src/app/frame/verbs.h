/* Commands with verbs (`parley prompt show ID`): one table per command that says what can be done,
 * with what, and which function does it. Help, the manual page and completion read it too.
 *
 * A verb runs with a deed: who is asked, what was said on the command line, the request that is
 * being written, and the answer. */
#ifndef PL_APP_VERBS_H
#define PL_APP_VERBS_H

#include "app/frame/api.h"
#include "app/table/choice.h"
#include "json/write.h"

struct pl_verb;

struct pl_deed {
    struct pl_api api;          /* owned */
    const struct pl_verb *verb; /* NULL: the command has none */
    struct pl_console *console;
    const struct pl_args *args;
    const char *const *words; /* operands after the verb; borrowed */
    size_t n_words;
    struct pl_buf body;     /* owned; of the request */
    struct pl_json_out out; /* into it */
    struct pl_json_doc answer;
    const char *columns;            /* of its table: "id,status"; NULL: it has none */
    struct pl_column_choice chosen; /* of them, by --format */
};

struct pl_verb {
    const char *name;  /* NULL ends the table */
    const char *words; /* what follows it: "ID LABEL [VERSION]"; "" is nothing */
    size_t min_words, max_words;
    const char *says; /* what it does, a sentence without a full stop at the end */
    enum pl_exit (*run)(struct pl_deed *deed);
    bool is_offline;     /* asks no server; the API is not opened */
    bool is_default;     /* what the command does without a verb */
    bool is_anywhere;    /* starts a server where none runs (embedded.h) */
    bool takes_session;  /* its first word is a session, as people write one (short_id.h) */
    const char *columns; /* of the table it prints, as --format names them; NULL: it prints none */
    const char *offers;  /* completion: what its words are, a kind of manual/complete.c */
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

/* Finds the verb that the first operand names, looks whether enough follows it, and runs it. */
enum pl_exit pl_verb_run(struct pl_console *console, const struct pl_command *command,
                         const struct pl_args *args);

/* NULL: the command has no such verb, or none at all. */
const struct pl_verb *pl_verb_find(const struct pl_command *command, const char *name);
/* Lists the verbs of a command that has some, with the one that was probably meant. */
enum pl_exit pl_verb_fail_unknown(struct pl_console *console, const struct pl_command *command,
                                  const char *word);

/* Runs a command that has no verbs the same way; its words are all operands. */
enum pl_exit pl_deed_run(struct pl_console *console, const char *command,
                         const struct pl_args *args, enum pl_exit (*fn)(struct pl_deed *deed));
/* The same for a command that starts a server of its own where none runs (embedded.h). */
enum pl_exit pl_deed_run_anywhere(struct pl_console *console, const char *command,
                                  const struct pl_args *args,
                                  enum pl_exit (*fn)(struct pl_deed *deed));

/* --- for verbs ------------------------------------------------------------------------------- */

/* The value of an option; NULL when it was not given. */
const char *pl_deed_option(const struct pl_deed *deed, enum pl_option_id id);
/* Reports an error of the command line. */
enum pl_exit pl_deed_usage(struct pl_deed *deed, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Asks a person before something is deleted; the text is a question. PL_EXIT_OK: it may go on. With
 * --yes nobody is asked; without a terminal --yes is needed. */
enum pl_exit pl_deed_confirm(struct pl_deed *deed, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* A whole number from 1 to `most`, where the option was given. */
enum pl_exit pl_deed_check_count(struct pl_deed *deed, enum pl_option_id id, uint64_t most);
enum pl_exit pl_deed_fail(struct pl_deed *deed, enum pl_status status, struct pl_error *err);
/* The same for a status that says it all. */
enum pl_exit pl_deed_stop(struct pl_deed *deed, enum pl_status status);

/* Sends what was written to the body (nothing: no body) and keeps the answer. The body is empty
 * afterwards, for the next request. */
enum pl_exit pl_deed_ask(struct pl_deed *deed, const char *method, const char *path);

/* Takes the body of an answer that was not asked for so: copied, read, kept as the answer. */
enum pl_exit pl_deed_take(struct pl_deed *deed, struct pl_str reply);

/* A path in which the '%' of the shape is the first word. NULL when out of memory. */
const char *pl_deed_path(struct pl_deed *deed, const char *shape);

struct pl_deed_param {
    enum pl_option_id id;
    const char *name;
};
/* "PATH?NAME=VALUE&…" of the options that were given; an option without a value is "true". NULL
 * when out of memory. `params` are ended by a NULL name. */
const char *pl_deed_query(struct pl_deed *deed, const char *path,
                          const struct pl_deed_param *params);

/* The path of the page after the answer's: `path` with its next_cursor; NULL after the last, and
 * when out of memory, which shows at the end (texts.is_cut). */
const char *pl_deed_next_page(struct pl_deed *deed, const char *path);

/* Members of the answer. */
struct pl_str pl_deed_text(struct pl_deed *deed, const struct pl_json_node *object,
                           const char *name);
/* A whole number as text; "-" when there is none. */
struct pl_str pl_deed_number(struct pl_deed *deed, const struct pl_json_node *object,
                             const char *name);
/* A copy with a NUL after it, that lives as long as the deed; NULL when out of memory. */
const char *pl_deed_keep(struct pl_deed *deed, struct pl_str text);
/* The items of a list, one after another: NULL after the last. `last` is NULL for the first. */
const struct pl_json_node *pl_deed_item(const struct pl_deed *deed,
                                        const struct pl_json_node *last);

/* The answer as it came, for machines. */
enum pl_exit pl_deed_print(struct pl_deed *deed);
/* A document as it came: to --out FILE, or to standard output. */
enum pl_exit pl_deed_put_result(struct pl_deed *deed, struct pl_str bytes);
/* With --json the answer; otherwise its member `name` on a line, so that a script can use it. */
enum pl_exit pl_deed_print_made(struct pl_deed *deed, const char *name);
/* With --json the answer; otherwise a line on standard error. */
enum pl_exit pl_deed_done(struct pl_deed *deed, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Begins the table of the deed's columns, or of those that --format names. */
void pl_deed_begin_table(struct pl_deed *deed, struct pl_columns *columns);
/* Lets a pager show what the command prints, where it is more than a screen. */
void pl_deed_page(struct pl_deed *deed);
/* Prints a table of the answer's items and deinitialises it; below it "N of TOTAL" and `how` when
 * there are more (how NULL: nothing). */
enum pl_exit pl_deed_print_table(struct pl_deed *deed, struct pl_columns *columns, const char *how);

/* What an operand or option gives as text: itself, or standard input for "-" (up to 4 MiB; line
 * breaks at its end go when `is_line`). UTF-8, or that has been refused. */
enum pl_exit pl_deed_read_text(struct pl_deed *deed, const char *word, bool is_line,
                               struct pl_str *ret_text);
/* One --var NAME=VALUE. VALUE @FILE is what the file contains, and @@ stands for one @. */
struct pl_render_var;
enum pl_exit pl_deed_read_variable(struct pl_deed *deed, const char *text,
                                   struct pl_render_var *ret_var);
/* Names and values of all --var NAME=VALUE as the members of an object, with its brackets. */
enum pl_exit pl_deed_out_variables(struct pl_deed *deed);

#endif
