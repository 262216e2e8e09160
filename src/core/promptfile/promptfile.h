/* Prompts as files: files of many kinds become prompts of the library, and the library becomes
 * files that git can compare line by line.
 *
 * Read: a request in any format (OpenAI, Anthropic, Gemini …), a structured chat, YAML, GitHub's
 * .prompt.yml, Markdown, a Langfuse prompt (one, an array, or a page of its API), plain text; and
 * the files written below. */
#ifndef PL_PROMPTFILE_PROMPTFILE_H
#define PL_PROMPTFILE_PROMPTFILE_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/vec.h"

struct pl_prompt_file {
    struct pl_str path; /* "folder/name.prompt.yml": relative, separated by '/'; no part is "..",
                           "." or empty */
    struct pl_str text;
};

/* A version in files. */
struct pl_filed_version {
    int64_t version; /* 0: numbered in order */
    bool is_structured;
    struct pl_str content, note;
    int64_t based_on, restored_from; /* 0: none */
    int64_t created_ms;              /* 0: unknown */
};

/* A prompt in files; strings and arrays are in the arena. */
struct pl_filed_prompt {
    struct pl_str path; /* its origin */
    struct pl_str id;   /* only in a backup; otherwise empty */
    struct pl_str name, description, folder;
    struct pl_str tags;   /* JSON array */
    struct pl_str labels; /* JSON object: label -> version */
    bool is_pinned;
    int64_t created_ms;                /* 0: unknown */
    struct pl_filed_version *versions; /* oldest first; at least one */
    size_t n_versions;
};
struct pl_filed_problem {
    struct pl_str path, detail;
};
struct pl_filed {
    PL_VEC(struct pl_filed_prompt) prompts;
    PL_VEC(struct pl_filed_problem) problems; /* files without a prompt, and why */
};
void pl_filed_init(struct pl_filed *filed);
void pl_filed_deinit(struct pl_filed *filed);

/* Reads files; `as` is a format, "yaml", "markdown", "langfuse", "text", or empty: detected from
 * name and content. A file that is not a prompt is a problem, not a failure. The prompt's name is
 * the one in the file, or the file's name; its folder is the directory of the file. All versions of
 * a Langfuse name are one prompt, even from several files. PL_USAGE: unknown kind; PL_NOMEM. */
enum pl_status pl_prompt_files_read(struct pl_arena *arena, const struct pl_prompt_file *files,
                                    size_t n_files, struct pl_str as, struct pl_filed *ret_filed,
                                    struct pl_error *err);

/* Writes one prompt as files, appended to *files (text and paths in the arena):
 *
 *     FOLDER/NAME/prompt.yaml       id, name, description, tags, pin, labels, list of versions
 *     FOLDER/NAME/0001.md           the content of a text version
 *     FOLDER/NAME/0002.yaml         the content of a structured one, or .json
 *
 * Reading these files again gives the same prompt, byte for byte in its contents. NAME is safe for
 * file systems; if two prompts have the same, the later one gets its id appended. `is_taken` (NULL:
 * nothing is) is called with FOLDER/NAME in lower case, so that a plain comparison finds clashes on
 * case-insensitive file systems, and again with other names until it returns false.
 *
 * PL_SYNTAX, PL_LIMIT or PL_INVALID: a content is not UTF-8, or not JSON where it must be;
 * PL_NOMEM. Then nothing is appended. */
struct pl_prompt_files {
    PL_VEC(struct pl_prompt_file) list;
};
/* Appends the directory that `is_taken` is called with first. */
void pl_prompt_directory(struct pl_buf *to, struct pl_str folder, struct pl_str name);
enum pl_status pl_prompt_files_write(struct pl_arena *arena, const struct pl_filed_prompt *prompt,
                                     bool (*is_taken)(void *ctx, struct pl_str directory),
                                     void *ctx, struct pl_prompt_files *files,
                                     struct pl_error *err);

#endif
