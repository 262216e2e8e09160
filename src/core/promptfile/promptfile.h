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
    struct pl_str path; /* "folder/name.prompt.yml": relative, '/' between; no part is "..", "." or
                           empty */
    struct pl_str text;
};

/* A version as files have it. */
struct pl_filed_version {
    int64_t version; /* 0: as it comes */
    bool is_structured;
    struct pl_str content, note;
    int64_t based_on, restored_from; /* 0: none */
    int64_t created_ms;              /* 0: not known */
};

/* A prompt as files have it; strings and arrays in the arena. */
struct pl_filed_prompt {
    struct pl_str path; /* where it came from */
    struct pl_str id;   /* of a backup; empty otherwise */
    struct pl_str name, description, folder;
    struct pl_str tags;   /* JSON array */
    struct pl_str labels; /* JSON object: label -> version */
    bool is_pinned;
    int64_t created_ms;                /* 0: not known */
    struct pl_filed_version *versions; /* oldest first; at least one */
    size_t n_versions;
};
struct pl_filed_problem {
    struct pl_str path, detail;
};
struct pl_filed {
    PL_VEC(struct pl_filed_prompt) prompts;
    PL_VEC(struct pl_filed_problem) problems; /* files that hold no prompt, and why */
};
void pl_filed_init(struct pl_filed *filed);
void pl_filed_deinit(struct pl_filed *filed);

/* Reads files; `as` is a format, "yaml", "markdown", "langfuse", "text", or empty: told from name
 * and content. A file that is no prompt is a problem, not a failure. The prompt's name is the one
 * in the file, or the file's name; its folder is the directory of the file. All versions of a
 * Langfuse name are one prompt, whichever files they are in. PL_USAGE: no such kind; PL_NOMEM. */
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
 * file systems; of two prompts with one the later has its id after it. `is_taken` (NULL: nothing
 * is) is asked with FOLDER/NAME in lower case, so that a plain comparison finds the clashes of file
 * systems that do not tell cases apart; asked again with another one until it says no.
 *
 * PL_SYNTAX, PL_LIMIT or PL_INVALID: a content is not UTF-8, or no JSON where it must be; PL_NOMEM.
 * Then nothing is appended. */
struct pl_prompt_files {
    PL_VEC(struct pl_prompt_file) list;
};
/* The directory `is_taken` is asked for first, appended. */
void pl_prompt_directory(struct pl_buf *to, struct pl_str folder, struct pl_str name);
enum pl_status pl_prompt_files_write(struct pl_arena *arena, const struct pl_filed_prompt *prompt,
                                     bool (*is_taken)(void *ctx, struct pl_str directory),
                                     void *ctx, struct pl_prompt_files *files,
                                     struct pl_error *err);

#endif
