/* Shared by the files of `parley prompt`. */
#ifndef PL_APP_PROMPT_INT_H
#define PL_APP_PROMPT_INT_H

#include "app/frame/verbs.h"

/* The id of the prompt a word names: an id, "folder/name", or a name that is there once. */
enum pl_exit pl_named_prompt_find(struct pl_deed *deed, const char *word, const char **ret_id);
/* The same where a word need not name one: then *ret_id is NULL, and nothing was said. */
enum pl_exit pl_named_prompt_look(struct pl_deed *deed, const char *word, const char **ret_id);
/* Refuses the name of a new prompt (`folder` may be NULL) that a prompt in that folder has already. */
enum pl_exit pl_named_prompt_refuse_second(struct pl_deed *deed, const char *folder,
                                           const char *name);

/* The number of a version that is named by number, label or "latest". */
enum pl_exit pl_named_version_number(struct pl_deed *deed, const char *id, const char *version,
                                     int64_t *ret_number);

/* The member version: a number as a number, a label as a text; nothing for NULL. */
void pl_deed_out_version(struct pl_deed *deed, const char *version);

enum { PL_DRAFT_MAX = 16 << 20 }; /* bytes of a file */

/* Content that is not yet kept. */
struct pl_draft {
    bool is_structured;
    struct pl_str content; /* the text, or JSON; lives as long as the deed */
};
enum pl_draft_type { PL_DRAFT_ANY, PL_DRAFT_TEXT, PL_DRAFT_STRUCTURED };

/* The value of --type; `otherwise` if it is not given. */
enum pl_draft_type pl_draft_type_of(const struct pl_deed *deed, enum pl_draft_type otherwise);
/* A text as a draft: JSON and YAML are read where a structured chat is meant. Of any type, it is
 * one when the file's name or its content says so. `name` is for messages. PL_UNREADABLE: err says
 * where. */
enum pl_status pl_draft_read(struct pl_deed *deed, const char *name, struct pl_str text,
                             enum pl_draft_type type, struct pl_draft *ret_draft,
                             struct pl_error *err);
/* The same of a file, "-" being standard input; what is wrong has been explained. */
enum pl_exit pl_draft_read_file(struct pl_deed *deed, const char *path, enum pl_draft_type type,
                                struct pl_draft *ret_draft);
/* Its members type and content, into the request. */
void pl_draft_out(struct pl_deed *deed, const struct pl_draft *draft);
/* The tags of all --tag as the member tags, where there is one. */
void pl_deed_out_tags(struct pl_deed *deed);

/* A PromptDiff: changed words in colour on a terminal that has it, else [-removed-]{+added+}. */
void pl_show_diff(struct pl_deed *deed, const struct pl_json_doc *doc,
                  const struct pl_json_node *diff);

/* Whether a part of the path begins with a period. */
bool pl_name_is_hidden(const char *path);

enum pl_exit pl_verb_prompt_new(struct pl_deed *deed);
enum pl_exit pl_verb_prompt_edit(struct pl_deed *deed);
enum pl_exit pl_verb_prompt_diff(struct pl_deed *deed);
enum pl_exit pl_verb_prompt_run(struct pl_deed *deed);
/* The same, always as with --answer: no session is left behind. */
enum pl_exit pl_prompt_answer(struct pl_deed *deed);
/* How often --model was given. */
size_t pl_deed_count_models(const struct pl_deed *deed);
/* The member tools, of --tool; false, and nothing, if it was not given. */
bool pl_deed_out_tools(struct pl_deed *deed);
/* "## MODEL" before what it answered. */
void pl_deed_put_heading(struct pl_deed *deed, struct pl_str model, bool is_first);
enum pl_exit pl_verb_prompt_export(struct pl_deed *deed);
enum pl_exit pl_verb_prompt_import(struct pl_deed *deed);

#endif
