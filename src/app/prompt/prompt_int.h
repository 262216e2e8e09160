/* Shared by the files of `parley prompt`. */
#ifndef PL_APP_PROMPT_INT_H
#define PL_APP_PROMPT_INT_H

#include "app/frame/verbs.h"

/* Finds the id of a prompt by its id, "folder/name", or a name that is unique. */
enum pl_exit pl_named_prompt_find(struct pl_deed *deed, const char *word, const char **ret_id);
/* Same, but if no prompt matches, *ret_id is NULL and nothing is printed. */
enum pl_exit pl_named_prompt_look(struct pl_deed *deed, const char *word, const char **ret_id);
/* Refuses the name of a new prompt if a prompt in that folder (may be NULL) already has it. */
enum pl_exit pl_named_prompt_refuse_second(struct pl_deed *deed, const char *folder,
                                           const char *name);

/* The number of a version that is given by number, label or "latest". */
enum pl_exit pl_named_version_number(struct pl_deed *deed, const char *id, const char *version,
                                     int64_t *ret_number);

/* Writes the member version: a number or a label; nothing for NULL. */
void pl_deed_out_version(struct pl_deed *deed, const char *version);

enum { PL_DRAFT_MAX = 16 << 20 }; /* bytes of a file */

/* Content that is not saved yet. */
struct pl_draft {
    bool is_structured;
    struct pl_str content; /* the text, or JSON; lives as long as the deed */
};
enum pl_draft_type { PL_DRAFT_ANY, PL_DRAFT_TEXT, PL_DRAFT_STRUCTURED };

/* The value of --type; `otherwise` if it is not given. */
enum pl_draft_type pl_draft_type_of(const struct pl_deed *deed, enum pl_draft_type otherwise);
/* Parses a text as a draft. A structured chat is parsed from JSON or YAML. PL_DRAFT_ANY: the file
 * name or the content decides whether it is one. `name` is for messages. PL_UNREADABLE if the text
 * is not UTF-8. For a syntax error, err has the position. */
enum pl_status pl_draft_read(struct pl_deed *deed, const char *name, struct pl_str text,
                             enum pl_draft_type type, struct pl_draft *ret_draft,
                             struct pl_error *err);
/* Same for a file, "-" is standard input. Prints the error unless it returns PL_EXIT_OK. */
enum pl_exit pl_draft_read_file(struct pl_deed *deed, const char *path, enum pl_draft_type type,
                                struct pl_draft *ret_draft);
/* Writes the members type and content to the request. */
void pl_draft_out(struct pl_deed *deed, const struct pl_draft *draft);
/* Writes all --tag as the member tags, if any is given. */
void pl_deed_out_tags(struct pl_deed *deed);

/* Prints a PromptDiff: changed words in colour on a terminal with colour, otherwise as
 * [-removed-]{+added+}. */
void pl_show_diff(struct pl_deed *deed, const struct pl_json_doc *doc,
                  const struct pl_json_node *diff);

/* Whether a part of the path begins with a period. */
bool pl_name_is_hidden(const char *path);

enum pl_exit pl_verb_prompt_new(struct pl_deed *deed);
enum pl_exit pl_verb_prompt_edit(struct pl_deed *deed);
enum pl_exit pl_verb_prompt_diff(struct pl_deed *deed);
enum pl_exit pl_verb_prompt_run(struct pl_deed *deed);
/* Same, always as with --answer: leaves no session. */
enum pl_exit pl_prompt_answer(struct pl_deed *deed);
/* The number of --model options. */
size_t pl_deed_count_models(const struct pl_deed *deed);
/* Writes the member tools from --tool; false if it was not given, and nothing is written. */
bool pl_deed_out_tools(struct pl_deed *deed);
/* Prints "## MODEL" before its answer. */
void pl_deed_put_heading(struct pl_deed *deed, struct pl_str model, bool is_first);
enum pl_exit pl_verb_prompt_export(struct pl_deed *deed);
enum pl_exit pl_verb_prompt_import(struct pl_deed *deed);

#endif
