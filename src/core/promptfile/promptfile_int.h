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

/* Whether a path is relative and goes down only. */
bool pl_file_path_is_plain(struct pl_str path);
/* "a/b" of "a/b/c.md"; "" when there is no '/'. */
struct pl_str pl_file_directory(struct pl_str path);
/* "c.md" of "a/b/c.md". */
struct pl_str pl_file_base(struct pl_str path);
/* "c" of "a/b/c.prompt.yml": without the endings of files that hold prompts. May be empty. */
struct pl_str pl_file_stem(struct pl_str path);
bool pl_file_has_ending(struct pl_str path, const char *ending);

/* --- contents (spell.c) ---------------------------------------------------------- */

/* How the file of a version spells its content. */
struct pl_file_spelling {
    bool is_yaml;           /* a structured chat as YAML; otherwise the bytes as they are */
    bool is_pretty;         /* … whose JSON was indented */
    bool is_quoted;         /* a JSON string that says it */
    bool is_crlf;           /* its lines end in CRLF, those of the file in LF */
    bool has_final_newline; /* the line feed at the end of the file is part of it */
};

/* Appends the content of the file. PL_INVALID: not UTF-8, or not JSON; PL_NOMEM. */
enum pl_status pl_file_spell(struct pl_arena *arena, const struct pl_filed_version *version,
                             struct pl_buf *to, struct pl_file_spelling *ret_spelling,
                             struct pl_error *err);
/* The content of a file that was written like this, and perhaps edited since. */
enum pl_status pl_file_unspell(struct pl_arena *arena, struct pl_str text, bool is_structured,
                               const struct pl_file_spelling *spelling, struct pl_str *ret_content,
                               struct pl_error *err);

/* The words prompt.yaml has for a spelling. */
struct pl_spelling_word {
    const char *key, *value; /* value NULL: true */
    size_t offset;           /* of the bool in the struct */
};
extern const struct pl_spelling_word pl_spelling_words[];
extern const size_t pl_n_spelling_words;

/* --- reading --------------------------------------------------------------------------------- */

struct pl_langfuse; /* prompts of several versions that are being put together */

struct pl_filing {
    struct pl_arena *arena;
    const struct pl_prompt_file *files; /* arena */
    size_t n_files;
    struct pl_map paths; /* to an index of files */
    bool *is_claimed;    /* arena; files that a prompt.yaml lists */
    struct pl_filed filed;
    PL_VEC(struct pl_langfuse) langfuse;
    struct pl_map names;               /* of those, to their index */
    const struct pl_prompt_file *file; /* that is being read */
    size_t place;                      /* from 1 on: of the prompt among those of the file */
    struct pl_error *err;              /* why it holds no prompt */
};

/* Adds a prompt with this one version from the current file. Empty fields of `prompt` come from the
 * file's path. Everything it points to is in the arena. PL_NOMEM. */
enum pl_status pl_filing_add(struct pl_filing *f, const struct pl_filed_prompt *prompt,
                             const struct pl_filed_version *version);
enum pl_status pl_filing_add_problem(struct pl_filing *f, struct pl_str path, const char *detail);
/* The same for a structured chat in this JSON, which may have a name, description and tags itself;
 * `known` is what the file says beside it (its description comes after the chat's own). */
enum pl_status pl_filing_add_chat(struct pl_filing *f, struct pl_str chat,
                                  const struct pl_filed_prompt *known, struct pl_str note);
/* What a prompt is called by its file, or else by its directory. */
struct pl_str pl_filing_name(struct pl_str path);

/* Reading the text of a file as one kind, as what it looks like, or as one format (kinds.c). A file
 * without a prompt is PL_INVALID, PL_SYNTAX or PL_LIMIT, and f->err says why. */
struct pl_file_kind {
    const char *name;
    enum pl_status (*read)(struct pl_filing *f, struct pl_str text);
};
const struct pl_file_kind *pl_file_kind_find(struct pl_str name);
enum pl_status pl_file_kind_guess(struct pl_filing *f, struct pl_str text);
struct pl_format;
enum pl_status pl_file_convert(struct pl_filing *f, struct pl_str text,
                               const struct pl_format *from);

/* The text of a member; empty when there is none. */
enum pl_status pl_filed_text(struct pl_arena *arena, const struct pl_json_doc *doc,
                             const struct pl_json_node *object, const char *key,
                             struct pl_str *ret_text);
/* A whole number of a member, or 0. */
int64_t pl_filed_number(const struct pl_json_doc *doc, const struct pl_json_node *object,
                        const char *key);
/* Milliseconds of an instant, or 0. */
enum pl_status pl_filed_instant(struct pl_arena *arena, const struct pl_json_doc *doc,
                                const struct pl_json_node *object, const char *key,
                                int64_t *ret_ms);
/* The texts of an array, as JSON; "[]" when there are none. */
enum pl_status pl_filed_tags(struct pl_arena *arena, const struct pl_json_doc *doc,
                             const struct pl_json_node *object, const char *key,
                             struct pl_str *ret_tags);
/* A copy in the arena of what a buffer has. */
enum pl_status pl_filed_keep(struct pl_arena *arena, const struct pl_buf *buf,
                             struct pl_str *ret_text);
/* Oldest first. */
enum pl_status pl_filed_sort(struct pl_arena *arena, struct pl_filed_version *versions, size_t n);

/* prompt.yaml (own.c): whether the document is one; the files it lists; reading it. */
bool pl_prompt_yaml_is(const struct pl_json_doc *doc);
enum pl_status pl_prompt_yaml_claim(struct pl_filing *f, const struct pl_prompt_file *file,
                                    const struct pl_json_doc *doc);
enum pl_status pl_prompt_yaml_read(struct pl_filing *f, const struct pl_json_doc *doc);
/* Parses the text of one, YAML or JSON. */
enum pl_status pl_prompt_yaml_parse(struct pl_arena *arena, struct pl_str text,
                                    struct pl_json_doc *ret_doc, struct pl_error *err);

/* Langfuse (langfuse.c). A prompt of its API, or a page of them. */
bool pl_langfuse_is(const struct pl_json_doc *doc, const struct pl_json_node *node);
enum pl_status pl_langfuse_read(struct pl_filing *f, const struct pl_json_doc *doc,
                                const struct pl_json_node *node);
/* Combines what was read: one prompt for all versions of a name. */
enum pl_status pl_langfuse_finish(struct pl_filing *f);

#endif
