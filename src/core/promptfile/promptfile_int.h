/* Shared by the parts that read and write prompts as files. */
#ifndef PL_PROMPTFILE_PROMPTFILE_INT_H
#define PL_PROMPTFILE_PROMPTFILE_INT_H

#include "promptfile/promptfile.h"

#include "base/map.h"
#include "json/json.h"

/* --- names (name.c) -------------------------------------------------------------- */

/* Appends a name that is safe for every file system, git and shells: one path component, never
 * empty. */
void pl_file_name_add(struct pl_buf *to, struct pl_str name);
/* Appends the parts of a folder the same way, with a '/' after each. */
void pl_file_folder_add(struct pl_buf *to, struct pl_str folder);
/* Appends a path in lower case. */
void pl_file_path_fold(struct pl_buf *to, struct pl_str path);

/* Whether a path is relative and goes down only: no part is "..", "." or empty. */
bool pl_file_path_is_plain(struct pl_str path);
/* "a/b" from "a/b/c.md"; "" if there is no '/'. */
struct pl_str pl_file_directory(struct pl_str path);
/* "c.md" from "a/b/c.md". */
struct pl_str pl_file_base(struct pl_str path);
/* "c" from "a/b/c.prompt.yml": without the extensions of prompt files. May be empty. */
struct pl_str pl_file_stem(struct pl_str path);
bool pl_file_has_ending(struct pl_str path, const char *ending);

/* --- contents (spell.c) ---------------------------------------------------------- */

/* The spelling of a version's content in its file. */
struct pl_file_spelling {
    bool is_yaml;           /* a structured chat as YAML; otherwise the bytes unchanged */
    bool is_pretty;         /* … from indented JSON */
    bool is_quoted;         /* a JSON string of the content */
    bool is_crlf;           /* its lines end in CRLF, in the file in LF */
    bool has_final_newline; /* the final line feed of the file is part of it */
};

/* Appends the content of the file. PL_INVALID: not UTF-8, or not JSON; PL_NOMEM. */
enum pl_status pl_file_spell(struct pl_arena *arena, const struct pl_filed_version *version,
                             struct pl_buf *to, struct pl_file_spelling *ret_spelling,
                             struct pl_error *err);
/* The content of a file in this spelling, which may have been edited. */
enum pl_status pl_file_unspell(struct pl_arena *arena, struct pl_str text, bool is_structured,
                               const struct pl_file_spelling *spelling, struct pl_str *ret_content,
                               struct pl_error *err);

/* The words for a spelling in prompt.yaml. */
struct pl_spelling_word {
    const char *key, *value; /* value NULL: true */
    size_t offset;           /* of the bool in the struct */
};
extern const struct pl_spelling_word pl_spelling_words[];
extern const size_t pl_n_spelling_words;

/* --- reading --------------------------------------------------------------------------------- */

struct pl_langfuse; /* prompts whose versions are being joined */

struct pl_filing {
    struct pl_arena *arena;
    const struct pl_prompt_file *files; /* arena */
    size_t n_files;
    struct pl_map paths; /* to an index of files */
    bool *is_claimed;    /* arena; files that a prompt.yaml lists */
    struct pl_filed filed;
    PL_VEC(struct pl_langfuse) langfuse;
    struct pl_map names;               /* of these, to their index */
    const struct pl_prompt_file *file; /* the current file */
    size_t place;                      /* from 1: number of the prompt in its file */
    struct pl_error *err;              /* why it has no prompt */
};

/* Adds a prompt with this one version from the current file. Empty fields of `prompt` come from the
 * file's path. Everything it points to is in the arena. PL_NOMEM. */
enum pl_status pl_filing_add(struct pl_filing *f, const struct pl_filed_prompt *prompt,
                             const struct pl_filed_version *version);
enum pl_status pl_filing_add_problem(struct pl_filing *f, struct pl_str path, const char *detail);
/* The same for a structured chat in this JSON, which may have a name, description and tags itself;
 * `known` has those of the file (its description comes after that of the chat). */
enum pl_status pl_filing_add_chat(struct pl_filing *f, struct pl_str chat,
                                  const struct pl_filed_prompt *known, struct pl_str note);
/* The name of a prompt from its file, or else from its directory. */
struct pl_str pl_filing_name(struct pl_str path);

/* Reads a file as one kind, by detection, or as one format (kinds.c). A file without a prompt is
 * PL_INVALID, PL_SYNTAX or PL_LIMIT, and f->err says why. */
struct pl_file_kind {
    const char *name;
    enum pl_status (*read)(struct pl_filing *f, struct pl_str text);
};
const struct pl_file_kind *pl_file_kind_find(struct pl_str name);
enum pl_status pl_file_kind_guess(struct pl_filing *f, struct pl_str text);
struct pl_format;
enum pl_status pl_file_convert(struct pl_filing *f, struct pl_str text,
                               const struct pl_format *from);

/* The text of a member; empty if absent. */
enum pl_status pl_filed_text(struct pl_arena *arena, const struct pl_json_doc *doc,
                             const struct pl_json_node *object, const char *key,
                             struct pl_str *ret_text);
/* A whole number of a member, or 0. */
int64_t pl_filed_number(const struct pl_json_doc *doc, const struct pl_json_node *object,
                        const char *key);
/* A time in milliseconds, or 0. */
enum pl_status pl_filed_instant(struct pl_arena *arena, const struct pl_json_doc *doc,
                                const struct pl_json_node *object, const char *key,
                                int64_t *ret_ms);
/* The strings of an array, as JSON; "[]" if there are none. */
enum pl_status pl_filed_tags(struct pl_arena *arena, const struct pl_json_doc *doc,
                             const struct pl_json_node *object, const char *key,
                             struct pl_str *ret_tags);
/* Copies the content of a buffer into the arena. */
enum pl_status pl_filed_keep(struct pl_arena *arena, const struct pl_buf *buf,
                             struct pl_str *ret_text);
/* Sorts, oldest first. */
enum pl_status pl_filed_sort(struct pl_arena *arena, struct pl_filed_version *versions, size_t n);

/* prompt.yaml (own.c): whether the document is one; the files it lists; reading it. */
bool pl_prompt_yaml_is(const struct pl_json_doc *doc);
enum pl_status pl_prompt_yaml_claim(struct pl_filing *f, const struct pl_prompt_file *file,
                                    const struct pl_json_doc *doc);
enum pl_status pl_prompt_yaml_read(struct pl_filing *f, const struct pl_json_doc *doc);
/* Parses a prompt.yaml, in YAML or JSON. */
enum pl_status pl_prompt_yaml_parse(struct pl_arena *arena, struct pl_str text,
                                    struct pl_json_doc *ret_doc, struct pl_error *err);

/* Langfuse (langfuse.c). A prompt of its API, or a page of them. */
bool pl_langfuse_is(const struct pl_json_doc *doc, const struct pl_json_node *node);
enum pl_status pl_langfuse_read(struct pl_filing *f, const struct pl_json_doc *doc,
                                const struct pl_json_node *node);
/* Joins the versions that were read: one prompt for each name. */
enum pl_status pl_langfuse_finish(struct pl_filing *f);

#endif
