/* Parley: conversations in every format, JSON and JSON Schema.
 *
 *     struct parley_json *json;
 *     struct parley_error err;
 *     const struct parley_value *model;
 *     const char *name;
 *     size_t size;
 *     if (parley_json_parse(text, length, 0, &json, &err) != PARLEY_OK) {
 *         fprintf(stderr, "%zu:%zu: %s\n", err.line, err.column, err.message);
 *         return 1;
 *     }
 *     if (parley_json_get(json, "/model", &model, &err) != PARLEY_OK ||
 *         parley_value_text(json, model, &name, &size, &err) != PARLEY_OK)
 *         fprintf(stderr, "%s: %s\n", err.pointer, err.message);
 *     else
 *         printf("%.*s\n", (int)size, name);
 *     parley_json_destroy(json);
 *
 * Rules that hold everywhere
 * - A function that can fail returns enum parley_status. Outputs come last, are named ret_…, and
 *   are set only when PARLEY_OK is returned.
 * - `struct parley_error *err` may be NULL. It is filled only on failure.
 * - Handles are destroyed by their destroy function, which accepts NULL. Texts returned through
 *   char ** are ended by a NUL (not counted in their length) and freed by parley_free(). Texts
 *   returned through const char ** are borrowed: nothing to free.
 * - A value (const struct parley_value *) is a place in its document: nothing to free, gone with
 *   the document. Where a function takes a document and a value, NULL for the value is the root.
 * - Options are structs whose first member is their size, which PARLEY_…_OPTS_INIT sets. A program
 *   that was compiled with an older header has a smaller struct, and what it does not say has its
 *   default. One compiled with a newer header is understood as long as it uses nothing new.
 * - Running out of memory is PARLEY_NOMEM, never an abort; nothing is half done then.
 *
 * Threads: a parsed document and a compiled schema never change, so any number of threads may use
 * the same ones at the same time. Destroying one must be the last use of it. parley_set_allocator
 * and parley_set_hash_key belong before the first other call. An allocator that is set must then be
 * as safe as malloc is.
 *
 * The header is C99 and C++11. Nothing here does input or output. */
#ifndef PARLEY_PARLEY_H
#define PARLEY_PARLEY_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define PARLEY_API     __attribute__((visibility("default")))
#define PARLEY_CHECKED __attribute__((warn_unused_result))
#else
#define PARLEY_API
#define PARLEY_CHECKED
#endif

/* The version of this header. parley_version() tells that of the library that is running. */
#define PARLEY_VERSION_MAJOR  0
#define PARLEY_VERSION_MINOR  1
#define PARLEY_VERSION_PATCH  0
#define PARLEY_VERSION_STRING "0.1.0"
/* For comparing: 1002003 is 1.2.3. */
#define PARLEY_VERSION_NUMBER                                                                      \
    (PARLEY_VERSION_MAJOR * 1000000 + PARLEY_VERSION_MINOR * 1000 + PARLEY_VERSION_PATCH)

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Outcomes ------------------------------------------------------------------------------ */

enum parley_status {
    PARLEY_OK = 0,
    PARLEY_NOMEM = 1,     /* out of memory */
    PARLEY_LIMIT = 2,     /* too deep, too many values, too long, too many steps */
    PARLEY_SYNTAX = 3,    /* not JSON, or not a JSON Pointer */
    PARLEY_INVALID = 4,   /* well-formed but against the rules: JSON that is no schema, or no
                             conversation; something would be lost where that was refused */
    PARLEY_USAGE = 5,     /* the call makes no sense: a value of another type, an unknown flag */
    PARLEY_NOT_FOUND = 6, /* nothing at that pointer; no schema, format or profile of that name */
    PARLEY_CONFLICT = 7,  /* two changes touch the same value; the member exists already */
    PARLEY_INTERNAL = 10  /* a defect in Parley: please report it */
};

/* The error and its place. Texts that do not fit are cut and end in "…". */
struct parley_error {
    enum parley_status status;
    int has_position;    /* 1: offset, line, column and pointer mean something */
    size_t offset;       /* bytes from the start of the text */
    size_t line, column; /* from 1; the column counts code points */
    char pointer[256];   /* JSON Pointer of the place, "" for the whole text */
    char message[512];   /* one sentence without a position */
};

/* A few words for a status: "out of memory". Never NULL. */
PARLEY_API const char *parley_status_text(enum parley_status status);

/* ---- The library --------------------------------------------------------------------------- */

/* Of the library that is running, not of this header: "0.1.0", and the same as
 * PARLEY_VERSION_NUMBER spells it. */
PARLEY_API const char *parley_version(void);
PARLEY_API int parley_version_number(void);

/* An allocator in one function: size 0 frees `ptr` and returns NULL; ptr NULL allocates; otherwise
 * it resizes. NULL for a size that is not 0 means out of memory. */
typedef void *parley_alloc_fn(void *ctx, void *ptr, size_t size);

/* All memory of the library comes from `fn` from now on; NULL means the C library's allocator.
 * Process-wide; call it before anything else and not while a handle exists. */
PARLEY_API void parley_set_allocator(parley_alloc_fn *fn, void *ctx);

/* Hashing is keyed, so that nobody can choose inputs that collide. Without this call the key comes
 * from the address at which the system loaded the program; a service that reads hostile input
 * should give 16 random bytes. No result depends on the key. Process-wide; call it before anything
 * else. */
PARLEY_API void parley_set_hash_key(const unsigned char key[16]);

/* Frees a text this library returned. NULL is fine. */
PARLEY_API void parley_free(void *text);

/* ---- JSON: reading ------------------------------------------------------------------------- */

struct parley_json;  /* a parsed document */
struct parley_value; /* a value in it */

enum parley_kind {
    PARLEY_NULL,
    PARLEY_FALSE,
    PARLEY_TRUE,
    PARLEY_NUMBER,
    PARLEY_STRING,
    PARLEY_ARRAY,
    PARLEY_OBJECT
};

enum parley_parse_flag {
    PARLEY_LENIENT = 1,   /* tolerate comments, trailing commas, a byte-order mark, duplicate keys
                             (the last counts) and lone surrogates; see parley_json_note() */
    PARLEY_BORROW = 2,    /* do not copy the text: the caller keeps it unchanged until destroy */
    PARLEY_REFUSE_NUL = 4 /* refuse \u0000 in strings */
};

/* Parses `size` bytes of JSON (RFC 8259), `flags` a sum of parley_parse_flag. Strict by default:
 * duplicate keys, lone surrogates, a byte-order mark and invalid UTF-8 are PARLEY_SYNTAX. Depth 64,
 * 2,000,000 values, 128 bytes per number: beyond is PARLEY_LIMIT. */
PARLEY_API enum parley_status parley_json_parse(const char *text, size_t size, unsigned flags,
                                                struct parley_json **ret_json,
                                                struct parley_error *err) PARLEY_CHECKED;
PARLEY_API void parley_json_destroy(struct parley_json *json);

/* One thing that PARLEY_LENIENT tolerated. */
struct parley_note {
    const char *what; /* "comment", "trailing comma", …; static */
    size_t offset, size;
};

/* Note `index` in the order of the text. PARLEY_NOT_FOUND after the last one. */
PARLEY_API enum parley_status parley_json_note(const struct parley_json *json, size_t index,
                                               struct parley_note *ret_note) PARLEY_CHECKED;

/* The outermost value. Never NULL. */
PARLEY_API const struct parley_value *parley_json_root(const struct parley_json *json);

/* The value that JSON Pointer `pointer` (RFC 6901; "" is the root) names. */
PARLEY_API enum parley_status parley_json_get(const struct parley_json *json, const char *pointer,
                                              const struct parley_value **ret_value,
                                              struct parley_error *err) PARLEY_CHECKED;

/* ---- JSON: values -------------------------------------------------------------------------- */

PARLEY_API enum parley_kind parley_value_kind(const struct parley_value *value);

/* Elements of an array, members of an object, 0 for anything else. */
PARLEY_API size_t parley_value_count(const struct parley_value *value);

/* The value of member `key` of an object. PARLEY_NOT_FOUND: it has no such member; PARLEY_USAGE: it
 * is no object. */
PARLEY_API enum parley_status parley_value_get(const struct parley_json *json,
                                               const struct parley_value *object, const char *key,
                                               const struct parley_value **ret_value,
                                               struct parley_error *err) PARLEY_CHECKED;

/* Element `index` of an array, from 0. PARLEY_NOT_FOUND: the array is shorter; PARLEY_USAGE: it is
 * not an array. It counts from the first element: use a parley_iter for a loop over all of them. */
PARLEY_API enum parley_status parley_value_at(const struct parley_json *json,
                                              const struct parley_value *array, size_t index,
                                              const struct parley_value **ret_value,
                                              struct parley_error *err) PARLEY_CHECKED;

/* The value that JSON Pointer `pointer` names, starting at a value instead of the root. */
PARLEY_API enum parley_status parley_value_find(const struct parley_json *json,
                                                const struct parley_value *value,
                                                const char *pointer,
                                                const struct parley_value **ret_value,
                                                struct parley_error *err) PARLEY_CHECKED;

enum parley_found_kind {
    PARLEY_FOUND_VALUE,
    PARLEY_FOUND_KEY,  /* the name of a member, asked for by # */
    PARLEY_FOUND_INDEX /* the index of an element, asked for by # */
};

struct parley_found {
    enum parley_found_kind kind;
    const struct parley_value *value; /* the value; or the key, a string; NULL for an index */
    size_t index;
};

/* The target of a relative JSON Pointer (draft-bhutton-relative-json-pointer-00), from a value:
 *
 *     "1/name"    up one level, then its member `name`: the one beside this value
 *     "0+1"       the next element of the array; "0-1" the one before
 *     "0#"        the name or index of this value
 *     "1#"        the name or index of what contains it
 *
 * PARLEY_SYNTAX: not a relative pointer; PARLEY_NOT_FOUND: it leads nowhere. A key stands for its
 * member. */
PARLEY_API enum parley_status parley_value_relative(const struct parley_json *json,
                                                    const struct parley_value *value,
                                                    const char *relative,
                                                    struct parley_found *ret_found,
                                                    struct parley_error *err) PARLEY_CHECKED;

/* The JSON Pointer of a value, for parley_json_edit() and for messages. */
PARLEY_API enum parley_status parley_value_pointer(const struct parley_json *json,
                                                   const struct parley_value *value,
                                                   char **ret_pointer,
                                                   size_t *ret_size) PARLEY_CHECKED;

/* The bytes that spell the value, exactly as they were read: a number keeps its digits, a string
 * its quotes and escapes. Borrowed from the document; not ended by a NUL. */
PARLEY_API const char *parley_value_raw(const struct parley_json *json,
                                        const struct parley_value *value, size_t *ret_size);

/* The decoded text of a string, borrowed from the document: it is there as long as the document.
 * Not ended by a NUL, and it may contain some. A string without escapes costs nothing; one with
 * escapes is decoded once and kept. PARLEY_USAGE: it is no string. */
PARLEY_API enum parley_status parley_value_text(const struct parley_json *json,
                                                const struct parley_value *value,
                                                const char **ret_text, size_t *ret_size,
                                                struct parley_error *err) PARLEY_CHECKED;

/* The same as a copy of the caller's own, ended by a NUL. ret_size may be NULL. */
PARLEY_API enum parley_status parley_value_string(const struct parley_json *json,
                                                  const struct parley_value *value, char **ret_text,
                                                  size_t *ret_size,
                                                  struct parley_error *err) PARLEY_CHECKED;

/* 1 if the value is a string that says `text`, otherwise 0. */
PARLEY_API int parley_value_is(const struct parley_json *json, const struct parley_value *value,
                               const char *text);

/* 1 for true and 0 for false. PARLEY_USAGE: it is neither. */
PARLEY_API enum parley_status parley_value_bool(const struct parley_json *json,
                                                const struct parley_value *value, int *ret_is_true,
                                                struct parley_error *err) PARLEY_CHECKED;

/* A number as an integer: PARLEY_INVALID when it has a fraction or does not fit. 1.0 and 1e2 are
 * integers. PARLEY_USAGE: it is no number. */
PARLEY_API enum parley_status parley_value_int64(const struct parley_json *json,
                                                 const struct parley_value *value,
                                                 int64_t *ret_number,
                                                 struct parley_error *err) PARLEY_CHECKED;

/* The nearest double; infinite when the number is too large. PARLEY_USAGE: it is no number. */
PARLEY_API enum parley_status parley_value_double(const struct parley_json *json,
                                                  const struct parley_value *value,
                                                  double *ret_number,
                                                  struct parley_error *err) PARLEY_CHECKED;

/* A number as it is spelled, every digit of it; borrowed, not ended by a NUL. PARLEY_USAGE: it is
 * no number. */
PARLEY_API enum parley_status parley_value_number(const struct parley_json *json,
                                                  const struct parley_value *value,
                                                  const char **ret_digits, size_t *ret_size,
                                                  struct parley_error *err) PARLEY_CHECKED;

/* A walk over the children of an array or object:
 *
 *     struct parley_iter iter = parley_iter_of(value);
 *     const struct parley_value *key, *child;
 *     while (parley_iter_next(&iter, &key, &child))
 *         …
 */
struct parley_iter {
    const struct parley_value *at, *end;
    int has_keys;
};

/* Over anything but an array or object the walk is empty. */
PARLEY_API struct parley_iter parley_iter_of(const struct parley_value *container);

/* 1 and the next child, or 0 at the end. *ret_key is the key of a member (a string value), NULL
 * for an element; ret_key may be NULL. */
PARLEY_API int parley_iter_next(struct parley_iter *iter, const struct parley_value **ret_key,
                                const struct parley_value **ret_value);

/* ---- JSON: writing ------------------------------------------------------------------------- */

enum parley_form {
    PARLEY_MINIFIED, /* no white space; strings and numbers keep their spelling */
    PARLEY_PRETTY,   /* indented by two spaces */
    PARLEY_CANONICAL /* one spelling per value, keys sorted by bytes: for hashing and comparing */
};

/* Writes a value (NULL: the root) without a newline at the end. */
PARLEY_API enum parley_status parley_json_write(const struct parley_json *json,
                                                const struct parley_value *value,
                                                enum parley_form form, char **ret_text,
                                                size_t *ret_size) PARLEY_CHECKED;

enum parley_op {
    PARLEY_SET,    /* replace the value, or add it where only the last step is missing */
    PARLEY_INSERT, /* before the element at the pointer ("-": at the end), or a new member */
    PARLEY_REMOVE  /* the member or element, with its comma; `value` is not looked at */
};

struct parley_change {
    enum parley_op op;
    const char *pointer; /* a place in the document as it was parsed */
    const char *value;   /* JSON text, inserted as it is */
};

/* The document's text with all changes made, every other byte as it was: the comments of a lenient
 * document too. The document itself does not change. Two changes of the same value, or one inside
 * a value that another replaces or removes, are PARLEY_CONFLICT. */
PARLEY_API enum parley_status parley_json_edit(const struct parley_json *json,
                                               const struct parley_change *changes,
                                               size_t n_changes, char **ret_text, size_t *ret_size,
                                               struct parley_error *err) PARLEY_CHECKED;

/* ---- JSON Schema 2020-12 ------------------------------------------------------------------- */

struct parley_schema; /* a compiled schema */

enum parley_schema_flag {
    PARLEY_FORMAT_ASSERTION = 1 /* "format" refuses values instead of only annotating them */
};

/* Another schema document that $ref may name. Nothing is ever fetched. */
struct parley_source {
    const char *uri;  /* absolute: where it would be found */
    const char *text; /* its JSON */
    size_t size;
};

/* Compiles a schema. `sources` may be NULL when n_sources is 0; the meta-schemas of 2020-12 are
 * always known. The texts are not needed afterwards. PARLEY_SYNTAX: not JSON; PARLEY_INVALID: no
 * schema; PARLEY_NOT_FOUND: a $ref names nothing; PARLEY_LIMIT: over 256 KiB or 5,000 subschemas.
 */
PARLEY_API enum parley_status parley_schema_compile(const char *text, size_t size, unsigned flags,
                                                    const struct parley_source *sources,
                                                    size_t n_sources,
                                                    struct parley_schema **ret_schema,
                                                    struct parley_error *err) PARLEY_CHECKED;

/* Compiles a schema that is part of the library. */
PARLEY_API enum parley_status parley_schema_builtin(const char *name, unsigned flags,
                                                    struct parley_schema **ret_schema,
                                                    struct parley_error *err) PARLEY_CHECKED;

/* Name of built-in schema `index`, or NULL after the last one: "envelope", "pi", …. */
PARLEY_API const char *parley_schema_builtin_name(size_t index);

PARLEY_API void parley_schema_destroy(struct parley_schema *schema);

/* Whether a value (NULL: the root) is valid. PARLEY_LIMIT when a hostile schema or value used up
 * the steps or the depth one validation may take. */
PARLEY_API enum parley_status parley_schema_validate(struct parley_schema *schema,
                                                     const struct parley_json *json,
                                                     const struct parley_value *value,
                                                     int *ret_is_valid) PARLEY_CHECKED;

enum parley_lang { PARLEY_EN, PARLEY_ZH };

enum parley_explain_form {
    PARLEY_ERRORS, /* {"valid":…,"errors":[{"pointer","message","keyword","line","column"}]} */
    PARLEY_FLAG,   /* {"valid":…} */
    PARLEY_BASIC   /* the standard's "basic" output, with annotations when valid */
};

/* Everything that is wrong with a value (NULL: the root), as JSON text. At most 1,000 errors; a
 * longer list has "cut":true. */
PARLEY_API enum parley_status parley_schema_explain(struct parley_schema *schema,
                                                    const struct parley_json *json,
                                                    const struct parley_value *value,
                                                    enum parley_lang lang,
                                                    enum parley_explain_form form, char **ret_text,
                                                    size_t *ret_size) PARLEY_CHECKED;

/* ---- Conversations ------------------------------------------------------------------------- */

/* Name of format `index`, or NULL after the last one: "openai-chat", "anthropic", …. */
PARLEY_API const char *parley_format_name(size_t index);

/* Name of profile `index`, or NULL after the last one: "anthropic@2026-10-21", …. The part before
 * the @ is its format. */
PARLEY_API const char *parley_profile_name(size_t index);

/* The format of a document, found by its content. The name is static. PARLEY_NOT_FOUND if it is
 * JSON, but not in a format that Parley knows. */
PARLEY_API enum parley_status parley_detect(const char *text, size_t size, const char **ret_format,
                                            struct parley_error *err) PARLEY_CHECKED;

enum parley_document {
    PARLEY_REQUEST, /* what is sent to a model */
    PARLEY_RESPONSE /* what it answers, or an error body */
};

enum parley_mode {
    PARLEY_CONVERT, /* translate, and change nothing else */
    PARLEY_REPAIR,  /* also make the result legal: every call answered, everything in its place */
    PARLEY_GATEWAY  /* also apply the profile of the target */
};

/* With nothing but `to` set it is a plain translation. */
struct parley_convert_opts {
    size_t size;      /* by PARLEY_CONVERT_OPTS_INIT */
    const char *from; /* a format; NULL: told from the content */
    const char *to;   /* a format */
    enum parley_document document;
    enum parley_mode mode;
    const char *profile;                /* of the target; NULL: its default */
    const char *carry;                  /* of the conversion that this one undoes; NULL: none */
    size_t carry_size;                  /* 0: up to its NUL */
    struct parley_workspace *workspace; /* borrowed; NULL: none */
    int is_strict; /* 1: PARLEY_INVALID when something would be dropped, approximated, reordered
                      or merged; PARLEY_SYNTAX when the text is not JSON of RFC 8259 or has a key
                      twice, which is read otherwise */
};
#define PARLEY_CONVERT_OPTS_INIT                                                                   \
    {                                                                                              \
        sizeof(struct parley_convert_opts), NULL, NULL, PARLEY_REQUEST, PARLEY_CONVERT, NULL,      \
            NULL, 0, NULL, 0                                                                       \
    }

/* Memory that is kept from one conversion to the next, so that the second takes a third less time.
 * For one thread at a time; no result depends on it. */
struct parley_workspace;
PARLEY_API enum parley_status parley_workspace_create(struct parley_workspace **ret_workspace);
PARLEY_API void parley_workspace_destroy(struct parley_workspace *workspace);

/* Translates one document. A format into itself gives its bytes back; the result together with the
 * carry gives the source back, byte for byte, with whatever was changed in the result meanwhile.
 *
 * *ret_report is {"from","to","losses":[{"code","pointer","detail"}],"lossless"}; *ret_carry is what
 * the target has no place for, {} when there is nothing. Both are texts ended by a NUL. NULL for
 * either: it is not wanted, and the work for it is not done.
 *
 * When something was refused (PARLEY_INVALID), the report says what: it is set then too, or NULL
 * where there was nothing to say. PARLEY_NOT_FOUND: no format or profile of that name. */
PARLEY_API enum parley_status parley_convert(const char *text, size_t size,
                                             const struct parley_convert_opts *opts,
                                             char **ret_text, size_t *ret_size, char **ret_report,
                                             char **ret_carry,
                                             struct parley_error *err) PARLEY_CHECKED;

struct parley_lint_opts {
    size_t size;        /* by PARLEY_LINT_OPTS_INIT */
    const char *as;     /* the format of the text; NULL: told from the content */
    const char *target; /* a format or profile it is meant for; NULL: its own format */
    enum parley_document document;
    int64_t now_s; /* seconds since 1970, to know which links have expired; 0: not known */
};
#define PARLEY_LINT_OPTS_INIT                                                                      \
    {                                                                                              \
        sizeof(struct parley_lint_opts), NULL, NULL, PARLEY_REQUEST, 0                             \
    }

/* Lists the errors, and likely errors, in a conversation, as JSON text:
 * {"findings":[{"code","severity","pointer","message"}]}; severity is error, warning or info. Of
 * one code at most 200 are listed; then the last finding of that code says how many more there are,
 * and "omitted" after the list how many in all.
 * `opts` may be NULL. */
PARLEY_API enum parley_status parley_lint(const char *text, size_t size,
                                          const struct parley_lint_opts *opts, char **ret_text,
                                          size_t *ret_size,
                                          struct parley_error *err) PARLEY_CHECKED;

struct parley_count_opts {
    size_t size;          /* by PARLEY_COUNT_OPTS_INIT */
    const char *as;       /* the format of the text; NULL: told from the content */
    const char *encoding; /* "o200k_base" or "cl100k_base", exactly; NULL: that of the model */
    const char *model;    /* NULL: the one the document names; not together with an encoding */
};
#define PARLEY_COUNT_OPTS_INIT                                                                     \
    {                                                                                              \
        sizeof(struct parley_count_opts), NULL, NULL, NULL                                         \
    }

/* The token count of a conversation, as JSON text:
 * {"tokens","estimated","by":{"messages","tools","system", "images","audio"}}. `opts` may be
 * NULL. */
PARLEY_API enum parley_status parley_count(const char *text, size_t size,
                                           const struct parley_count_opts *opts, char **ret_text,
                                           size_t *ret_size,
                                           struct parley_error *err) PARLEY_CHECKED;

/* The conversation made to fit into `max_tokens`, in its own format: the oldest goes first, and
 * what is not touched keeps its bytes. `summary` is said in place of exchanges that are left out
 * (NULL: their number). *ret_report (NULL: not wanted) is JSON text of what went. PARLEY_INVALID
 * when it cannot fit; the message says why not. `opts` may be NULL. */
PARLEY_API enum parley_status parley_trim(const char *text, size_t size,
                                          const struct parley_count_opts *opts, uint64_t max_tokens,
                                          const char *summary, char **ret_text, size_t *ret_size,
                                          char **ret_report,
                                          struct parley_error *err) PARLEY_CHECKED;

struct parley_var {
    const char *name, *value;
};

/* A structured chat with its variables filled in: {{name}}, {{name:default}}. Of two with one name
 * the last counts. PARLEY_INVALID: one is missing, or has a value it cannot have; the message says
 * which. */
PARLEY_API enum parley_status parley_render(const char *text, size_t size,
                                            const struct parley_var *vars, size_t n_vars,
                                            char **ret_text, size_t *ret_size,
                                            struct parley_error *err) PARLEY_CHECKED;

/* ---- Streams ------------------------------------------------------------------------------- */

struct parley_stream; /* events of one dialect into those of another, as the bytes arrive */

/* Name of dialect `index`, or NULL after the last one: "openai-chat", "patches", …. */
PARLEY_API const char *parley_dialect_name(size_t index);

/* PARLEY_NOT_FOUND: no dialect of that name. One thread at a time may use a stream. */
PARLEY_API enum parley_status parley_stream_create(const char *from, const char *to,
                                                   struct parley_stream **ret_stream,
                                                   struct parley_error *err) PARLEY_CHECKED;
PARLEY_API void parley_stream_destroy(struct parley_stream *stream);

/* Takes bytes in; they may be cut anywhere. PARLEY_SYNTAX or PARLEY_INVALID: the input is broken;
 * the target's own error event can then be taken, and further input is ignored. */
PARLEY_API enum parley_status parley_stream_feed(struct parley_stream *stream, const char *bytes,
                                                 size_t size,
                                                 struct parley_error *err) PARLEY_CHECKED;

/* The input has ended. PARLEY_INVALID when it ended too early, PARLEY_SYNTAX when in the middle of
 * an event; the target's error event can then be taken. */
PARLEY_API enum parley_status parley_stream_end(struct parley_stream *stream,
                                                struct parley_error *err) PARLEY_CHECKED;

/* The output since the last call: whole events, borrowed from the stream until the next call with
 * it, not ended by a NUL. */
PARLEY_API const char *parley_stream_take(struct parley_stream *stream, size_t *ret_size);

/* ---- Streams as deltas --------------------------------------------------------------------- */

/* The content of a stream, whatever its dialect:
 *
 *     while ((n = read(socket, bytes, sizeof bytes)) > 0) {
 *         status = parley_reader_feed(reader, bytes, n, &err);
 *         while ((delta = parley_reader_next(reader)) != NULL)
 *             if (delta->kind == PARLEY_DELTA_TEXT)
 *                 fwrite(delta->text.ptr, 1, delta->text.size, stdout);
 *         if (status != PARLEY_OK)
 *             break;
 *     }
 *     status = parley_reader_end(reader, &err);     and parley_reader_next() as above
 */
struct parley_reader;

/* Borrowed UTF-8, ended by a NUL that is not counted; it may contain others. `ptr` is never NULL:
 * what is not said is empty. */
struct parley_text {
    const char *ptr;
    size_t size;
};

/* The order is
 *
 *     START, then the parts, then USAGE (at most once), FINISH, END    or … ERROR
 *
 * A text, some thinking, a refusal and a call are parts; pieces of one part have the same number.
 * Several calls may be open at once, and each that begins also ends. Nothing follows END or ERROR. Kinds may be added: pass over
 * those you do not know. */
enum parley_delta_kind {
    PARLEY_DELTA_START = 1,      /* id, model, created_s: of the answer */
    PARLEY_DELTA_TEXT,           /* text: more of what is said */
    PARLEY_DELTA_THINKING,       /* text: more of what is thought */
    PARLEY_DELTA_REFUSAL,        /* text: more of why the model will not */
    PARLEY_DELTA_CALL_BEGIN,     /* id, name, is_custom: of a tool call */
    PARLEY_DELTA_CALL_ARGUMENTS, /* id, name; text: more of its arguments, which are JSON text */
    PARLEY_DELTA_CALL_END,       /* id, name; text: all of its arguments; is_cut */
    PARLEY_DELTA_CITATION,       /* json: as its vendor spells it; url, title */
    PARLEY_DELTA_SIGNATURE,      /* text: goes back to the vendor with this part; id of the item */
    PARLEY_DELTA_REDACTED,       /* text: thinking that only its vendor can read */
    PARLEY_DELTA_OTHER,          /* json: an array of parts that only this vendor has */
    PARLEY_DELTA_ABOUT,          /* id: the fingerprint of the system; json: what a filter says */
    PARLEY_DELTA_USAGE,          /* usage */
    PARLEY_DELTA_FINISH,         /* finish; word: the vendor's own; stop_sequence; text: why */
    PARLEY_DELTA_END,            /* the answer is whole */
    PARLEY_DELTA_ERROR           /* text: a sentence; word: its type; code */
};

enum parley_finish {
    PARLEY_FINISH_NONE,   /* not said */
    PARLEY_FINISH_STOP,   /* the model was done */
    PARLEY_FINISH_LENGTH, /* a limit of tokens */
    PARLEY_FINISH_TOOLS,  /* it waits for the results of its calls */
    PARLEY_FINISH_FILTER, /* a filter, or a refusal */
    PARLEY_FINISH_OTHER   /* only the vendor has a word for it */
};

/* Tokens; -1: not said. Input includes what came from the cache, output includes reasoning. */
struct parley_usage {
    int64_t input, output, total;
    int64_t cache_read, cache_write;
    int64_t reasoning;
    int64_t tool_input; /* what tools at the vendor put into the prompt */
};

/* Made by the library only, so later versions may have more members at the end. */
struct parley_delta {
    enum parley_delta_kind kind;
    uint32_t choice; /* which of several answers; 0 nearly always */
    uint32_t part;   /* from 0, in the order they began */
    int is_custom;   /* the arguments are free text and not JSON */
    int is_cut;      /* the call broke off; its arguments are not whole */
    enum parley_finish finish;
    struct parley_text text;
    struct parley_text id, name, model;
    struct parley_text json, url, title;
    struct parley_text word, code, stop_sequence;
    int64_t created_s; /* seconds since 1970; 0: not said */
    struct parley_usage usage;
};

/* PARLEY_NOT_FOUND: no dialect of that name. One thread at a time may use a reader. */
PARLEY_API enum parley_status parley_reader_create(const char *dialect,
                                                   struct parley_reader **ret_reader,
                                                   struct parley_error *err) PARLEY_CHECKED;
PARLEY_API void parley_reader_destroy(struct parley_reader *reader);

/* Takes bytes in; they may be cut anywhere. PARLEY_SYNTAX, PARLEY_INVALID or PARLEY_LIMIT: the input
 * is broken; PARLEY_DELTA_ERROR is the last delta then, and further input is ignored. An error that
 * the vendor reports is a delta too, and no failure. */
PARLEY_API enum parley_status parley_reader_feed(struct parley_reader *reader, const char *bytes,
                                                 size_t size,
                                                 struct parley_error *err) PARLEY_CHECKED;

/* The input has ended. PARLEY_INVALID when it ended too early, PARLEY_SYNTAX when in the middle of
 * an event; PARLEY_DELTA_ERROR is the last delta then. */
PARLEY_API enum parley_status parley_reader_end(struct parley_reader *reader,
                                                struct parley_error *err) PARLEY_CHECKED;

/* The next delta, or NULL until there is more input. It is borrowed from the reader until bytes are
 * fed, the input ends or the reader is destroyed. Deltas that were not asked for stay. */
PARLEY_API const struct parley_delta *parley_reader_next(struct parley_reader *reader);

#ifdef __cplusplus
}
#endif

#endif
