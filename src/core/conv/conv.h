/* The canonical conversation: the common content of all formats, independent of their spelling.
 *
 * A reader (format/) fills one of these from a parsed document; a writer makes another format from
 * it. Nothing is copied on the way: a value is a reference to its node in the source (provenance),
 * so a writer copies the source's bytes and the carry knows where they came from.
 *
 * Law three, nothing silent, is kept by counting: every node of the source has a fate. A reader
 * marks nodes that are only grammar (PL_FATE_KNOWN: a role, a type); a writer marks the nodes it
 * writes. A node without a fate when the writer is done is reported as dropped, so no writer can
 * forget one.
 *
 * Invariants after reading:
 *   - messages are in the order of the source; `element` never decreases
 *   - PL_PART_CALL occurs only in messages of role assistant
 *   - PL_PART_RESULT occurs only in messages of role tool or user, and holds its content as parts
 *   - a message of role tool holds exactly one result
 *   - system instructions that a format keeps outside its list come first, with element
 *     PL_NO_ELEMENT
 *
 * Lifetime: everything is memory of conv->arena or borrowed from conv->doc. */
#ifndef PL_CONV_CONV_H
#define PL_CONV_CONV_H

#include "base/vec.h"
#include "json/json.h"
#include "json/key_hash.h"
#include "json/text.h"

#include <stdarg.h>

#define PL_NO_ELEMENT UINT32_MAX

/* A value and where it comes from. */
enum pl_val_kind {
    PL_VAL_NONE, /* absent */
    PL_VAL_NODE, /* a whole value of the source */
    PL_VAL_SPAN, /* a piece of a string of the source, still escaped: the data of a data URL */
    PL_VAL_TEXT, /* a text we made, decoded */
    PL_VAL_JSON, /* JSON we made */
    PL_VAL_RUN,  /* a text made of several pieces; some are values of variables */
};

struct pl_piece;

struct pl_val {
    enum pl_val_kind kind;
    const struct pl_json_node *node; /* NODE, SPAN: the node; RUN: the string that its pieces are
                                        cut from, or NULL; borrowed from conv->doc */
    union {
        struct pl_str str; /* SPAN: in the source text; TEXT, JSON: arena or static */
        struct {
            const struct pl_piece *pieces; /* RUN; arena */
            size_t n_pieces;
        };
    };
};

/* A piece of a RUN: plain text or, if it has a name, the value of a variable. */
struct pl_piece {
    struct pl_val text; /* not a RUN */
    struct pl_val name; /* of the variable */
    struct pl_val about;
    const struct pl_json_node *node; /* of the piece in the source; may be NULL */
};

static inline bool pl_val_is_set(struct pl_val val)
{
    return val.kind != PL_VAL_NONE;
}

static inline struct pl_val pl_val_node(const struct pl_json_node *node)
{
    return node ? (struct pl_val){.kind = PL_VAL_NODE, .node = node} : (struct pl_val){0};
}

/* The same, into an empty value. Sets fields one by one: copying a whole new struct would stall on
 * store forwarding. */
static inline void pl_val_set(struct pl_val *to, const struct pl_json_node *node)
{
    to->kind = node ? PL_VAL_NODE : PL_VAL_NONE;
    to->node = node;
}

static inline struct pl_val pl_val_text(struct pl_str text)
{
    return (struct pl_val){.kind = PL_VAL_TEXT, .str = text};
}

static inline struct pl_val pl_val_json(struct pl_str json)
{
    return (struct pl_val){.kind = PL_VAL_JSON, .str = json};
}

enum pl_role { PL_ROLE_SYSTEM, PL_ROLE_DEVELOPER, PL_ROLE_USER, PL_ROLE_ASSISTANT, PL_ROLE_TOOL };

enum pl_part_kind {
    PL_PART_TEXT,     /* text */
    PL_PART_THINKING, /* text (may be absent), signature; id of the item that held it */
    PL_PART_REDACTED, /* data: reasoning only its vendor can read */
    PL_PART_IMAGE,    /* data + mime, or url, or file_id; detail */
    PL_PART_AUDIO,    /* data + mime, or url, or file_id */
    PL_PART_VIDEO,    /* data + mime, or url */
    PL_PART_FILE,     /* data + mime, or url, or file_id, or text; name is the file name or title */
    PL_PART_REFUSAL,  /* text */
    PL_PART_CALL,     /* id, name, args, signature; is_custom: args is free text */
    PL_PART_RESULT,   /* id, name, parts (children), is_error, status */
    PL_PART_OTHER,    /* known only to its own vendor; `node` is all of it */
    PL_PART_KIND_COUNT,
};

/* A flag that may be absent; `val` is its place in the source. */
struct pl_flag {
    bool is_set, value;
    struct pl_val val;
};

struct pl_gist; /* conv/gist.h */

/* The purpose of a text, if known. */
enum pl_purpose {
    PL_PURPOSE_WORDS,  /* to be read */
    PL_PURPOSE_MEMORY, /* memories from other conversations */
    PL_PURPOSE_SKILLS, /* skills that can be called by name */
};

struct pl_part {
    enum pl_part_kind kind;
    const struct pl_json_node *node; /* in the source; NULL when the message is the part (a
                                        content string) or when we made it */
    struct pl_val text;
    struct pl_val id;        /* of a call; in a result: the id of the call it answers */
    struct pl_val name;      /* of a tool; of a file */
    struct pl_val args;      /* of a call: a string node holding JSON text, or an object node */
    struct pl_val signature; /* thinking signature, thoughtSignature, encrypted_content */
    struct pl_val data;      /* base64 */
    struct pl_val mime;      /* "image/png"; may be absent even with data */
    struct pl_val url;
    struct pl_val file_id;
    struct pl_val detail;
    struct pl_val cache;     /* cache_control or prompt_cache_breakpoint, whole */
    struct pl_val citations; /* whole, as the source has it */
    struct pl_val context;   /* of a document; of a video frame: video_metadata; of a text with a
                                purpose: its entries, an array of objects */
    struct pl_val status;    /* of a result or call in the source's own words */
    union {
        struct pl_val space;    /* of a call: the namespace of the tool */
        struct pl_val rotation; /* of an image: degrees to turn it clockwise */
        struct pl_val rate;     /* of audio: samples per second, a number */
    };
    struct pl_flag is_error; /* of a result */
    enum pl_purpose purpose; /* of a text */
    bool is_custom;          /* a call with free text as args, or its result */
    bool is_served;          /* in a response: a call that the vendor has already answered in it,
                                or its result; it must not be answered again */
    uint8_t home;            /* format whose vendor can check the proof (signature, data, id of
                                an item): its place in the registry + 1; 0: that of the document */
    uint32_t children;       /* of a result: first of conv->children */
    uint32_t n_children;
    const struct pl_gist *gist; /* of OTHER, in a conversion: its content for the target, to
                                   write in its own shape; arena. NULL: none */
};

struct pl_message {
    enum pl_role role;
    const struct pl_json_node *node; /* in the source; several messages may share one */
    uint32_t element;                /* index in the source's list, or PL_NO_ELEMENT */
    uint32_t parts, n_parts;         /* first of conv->parts */
    struct pl_val id, name, created_at;
    struct pl_val metadata; /* harmony's, whole */
    struct pl_val cache;    /* a marker on the message itself */
    bool is_phase_split;    /* part of the same utterance as the message before it: a writer may
                               join the two without a loss if its format has one message for both */
    bool is_summary;        /* replaces the messages before it, which a compaction removed */
    bool is_changed;        /* made, moved or changed by a repair. One with PL_NO_ELEMENT after
                               the first listed message was inserted; one with an element was
                               taken out of that element */
};

struct pl_tool {
    const struct pl_json_node *node;
    struct pl_val name, description;
    struct pl_val schema; /* JSON Schema of the input */
    struct pl_val strict, cache;
    struct pl_val space;    /* its namespace; the namespace itself is a hosted tool */
    bool is_custom;         /* free text input; `schema` is its format */
    bool is_hosted;         /* runs at the vendor; `node` is all of it */
    bool is_openapi_schema; /* schema is in the OpenAPI dialect with upper-case types */
    bool is_changed;        /* by a repair */
};

enum pl_choice {
    PL_CHOICE_UNSET,
    PL_CHOICE_AUTO,
    PL_CHOICE_ANY,
    PL_CHOICE_ONE,
    PL_CHOICE_NONE,
    PL_CHOICE_OTHER
};

enum pl_effort {
    PL_EFFORT_UNSET,
    PL_EFFORT_NONE,
    PL_EFFORT_MINIMAL,
    PL_EFFORT_LOW,
    PL_EFFORT_MEDIUM,
    PL_EFFORT_HIGH,
    PL_EFFORT_XHIGH,
    PL_EFFORT_MAX,
};

enum pl_output { PL_OUTPUT_UNSET, PL_OUTPUT_TEXT, PL_OUTPUT_JSON, PL_OUTPUT_SCHEMA };

struct pl_settings {
    struct pl_val model;
    struct pl_val temperature, top_p, top_k, max_tokens, seed, n;
    struct pl_val presence_penalty, frequency_penalty;
    struct pl_val stop; /* a string or an array of strings */
    struct pl_val stream;
    struct pl_val logprobs, top_logprobs; /* in a response, logprobs are the entries themselves */
    struct pl_val user, safety_id;        /* the end user: user, safety_identifier,
                                             metadata.user_id */
    struct pl_val metadata;               /* of the request: an object of strings */
    struct pl_val service_tier, verbosity;
    enum pl_choice choice;
    struct pl_val choice_val, choice_name; /* the whole choice; the name in it */
    const struct pl_json_node *allowed;    /* the tools the choice is limited to; NULL: all
                                              (choice.h) */
    struct pl_val allowed_val;             /* then the whole choice; choice_val is its mode */
    struct pl_flag parallel;               /* may call several tools at once */
    enum pl_effort effort;
    struct pl_val effort_val;      /* the word */
    struct pl_val thinking;        /* the vendor's whole thinking object */
    struct pl_val thinking_budget; /* the number in it */
    struct pl_flag shows_thoughts; /* includeThoughts, display, summary */
    enum pl_output output;
    struct pl_val output_val; /* the whole response_format, text.format, output_config.format … */
    struct pl_val output_name, output_description, output_schema, output_strict;
    bool is_openapi_output;
    bool is_changed; /* a repair changed something outside the list (settings, tools,
                        instructions) */
};

enum pl_finish {
    PL_FINISH_NONE,
    PL_FINISH_STOP,
    PL_FINISH_LENGTH,
    PL_FINISH_TOOLS,
    PL_FINISH_FILTER,
    PL_FINISH_OTHER
};

/* Counters, each a number of the source; writers make the sums (format/pieces/usage.h). */
struct pl_usage {
    const struct pl_json_node *node;
    struct pl_val input, output, total;
    struct pl_val cache_read, cache_write;
    struct pl_val reasoning;
    struct pl_val tool_input;     /* input from tools at the vendor */
    bool input_excludes_cache;    /* input does not count cached tokens */
    bool output_excludes_thought; /* output does not count reasoning tokens */
};

struct pl_answer {
    bool is_set; /* the document is a response */
    struct pl_val id, created, model;
    enum pl_finish finish;
    struct pl_val finish_val;    /* the vendor's own word */
    struct pl_val finish_detail; /* explanation, finishMessage, stop_details … */
    struct pl_val stop_sequence;
    struct pl_usage usage;
    struct pl_val fingerprint, service_tier;
    struct pl_val ratings; /* ratings of a filter for the answer, in the vendor's own shape */
    bool is_error;         /* an error body: */
    struct pl_val error_type, error_code, error_message, error_status, error_param, request_id;
};

/* The fate of a node of the source. */
enum pl_fate {
    PL_FATE_NONE,     /* neither reader nor writer marked it: dropped */
    PL_FATE_KNOWN,    /* grammar, or written in the target's own words: no loss */
    PL_FATE_SAID,     /* is in the output */
    PL_FATE_REPORTED, /* already in the report */
};

/* The codes of the loss report. */
enum pl_loss_code {
    PL_LOSS_DROPPED,
    PL_LOSS_APPROXIMATED,
    PL_LOSS_MOVED,
    PL_LOSS_REORDERED,
    PL_LOSS_MERGED,
    PL_LOSS_SYNTHESISED,
    PL_LOSS_COUNT,
};

struct pl_loss {
    enum pl_loss_code code;
    const struct pl_json_node *node; /* of the source; NULL: the whole document */
    struct pl_str detail;            /* arena or static */
};

/* The JSON kinds that a reader accepts at a place, as a set. */
enum pl_want {
    PL_WANT_STRING = 1 << PL_JSON_STRING,
    PL_WANT_NUMBER = 1 << PL_JSON_NUMBER,
    PL_WANT_BOOL = 1 << PL_JSON_FALSE | 1 << PL_JSON_TRUE,
    PL_WANT_ARRAY = 1 << PL_JSON_ARRAY,
    PL_WANT_OBJECT = 1 << PL_JSON_OBJECT,
    PL_WANT_TIME = PL_WANT_STRING | PL_WANT_NUMBER,
    PL_WANT_SCALAR = PL_WANT_STRING | PL_WANT_NUMBER,
    PL_WANT_CONTENT = PL_WANT_STRING | PL_WANT_ARRAY,
    PL_WANT_CHOICE = PL_WANT_STRING | PL_WANT_OBJECT,
    PL_WANT_ANY = (1 << (PL_JSON_OBJECT + 1)) - 1,
    PL_WANT_INTEGER = 1 << 8, /* a number without a fraction, however it is spelled */
    PL_WANT_STRINGS = 1 << 9, /* a string, or an array of nothing but strings */
};

/* A value of a kind that its reader does not accept there. Like an unknown member, it is not read:
 * it is reported as dropped, and the carry keeps it. */
struct pl_misfit {
    const struct pl_json_node *node;
    unsigned want; /* a set of pl_want */
};

/* A value that repeats another one: it gets the fate of that one. */
struct pl_said_again {
    const struct pl_json_node *node, *of;
};

/* A cache for the object that was searched last: which keys it may have, one bit each, by hash, and
 * where they are. A reader asks one object for dozens of members, and most are absent. */
struct pl_conv_glance {
    const struct pl_json_node *object;
    uint64_t keys;
    uint64_t shared;                   /* bits set by more than one key */
    const struct pl_json_node *at[64]; /* the key of each bit that is set */
};

struct pl_conv {
    struct pl_arena *arena;        /* borrowed */
    const struct pl_json_doc *doc; /* borrowed: the source */
    struct pl_conv_glance *glance; /* arena */
    PL_VEC(struct pl_message) messages;
    PL_VEC(struct pl_part) parts;
    PL_VEC(struct pl_part) children; /* of results */
    PL_VEC(struct pl_tool) tools;
    PL_VEC(struct pl_loss) losses;
    PL_VEC(struct pl_misfit) misfits; /* in the order the reader met them */
    PL_VEC(struct pl_said_again) repeats;
    PL_VEC(const struct pl_json_node *) switches;
    struct pl_settings settings;
    struct pl_answer answer;
    uint8_t *fates;                  /* arena; a pl_fate per node of the source */
    const struct pl_json_node *list; /* the array of the elements; NULL: none */
    uint32_t n_called;               /* calls of the vendor's tools that have a number */
    bool is_repaired;                /* messages were changed, moved, added or removed */
    enum pl_status status;           /* sticky: PL_NOMEM when out of memory, PL_LIMIT when the
                                        source has too many items */
    size_t n_items, max_items;       /* messages, parts and tools read so far, and their limit */
    struct pl_message spare_message; /* returned, empty, when out of memory */
    struct pl_part spare_part;
    struct pl_tool spare_tool;
};

/* The parts of a message (n_parts) and the content of a result (n_children); NULL for an empty
 * list. */
static inline struct pl_part *pl_conv_parts(const struct pl_conv *conv, const struct pl_message *m)
{
    return m->n_parts ? conv->parts.ptr + m->parts : NULL;
}

static inline struct pl_part *pl_conv_children(const struct pl_conv *conv,
                                               const struct pl_part *result)
{
    return result->n_children ? conv->children.ptr + result->children : NULL;
}

/* The default limit of items in a source. An item takes a few hundred bytes, so the number of items
 * bounds the memory. */
enum { PL_CONV_MAX_ITEMS = 1000000 };
/* Lowers the limit; 0 leaves it unchanged. Call before reading. */
void pl_conv_limit(struct pl_conv *conv, size_t max_items);
/* The status of the conversation; fills *err if a limit was exceeded. Call after reading. */
enum pl_status pl_conv_check(const struct pl_conv *conv, struct pl_error *err);

/* An empty conversation for a parsed source. PL_NOMEM is the only failure. */
enum pl_status pl_conv_init(struct pl_conv *conv, struct pl_arena *arena,
                            const struct pl_json_doc *doc);
/* Initialises only the lists, for pl_conv_renew() to fill later: the rest is large. */
void pl_conv_init_lists(struct pl_conv *conv);
void pl_conv_deinit(struct pl_conv *conv);
/* Like pl_conv_init(), but uses the memory of the lists again. */
enum pl_status pl_conv_renew(struct pl_conv *conv, struct pl_arena *arena,
                             const struct pl_json_doc *doc);

/* Append and return a new entry to fill in (valid until the next append of its kind). When out of
 * memory they return a spare one (see conv->status). A part belongs to the last message, a child to
 * the last part, which is a result. */
struct pl_message *pl_conv_add_message(struct pl_conv *conv, enum pl_role role,
                                       const struct pl_json_node *node, uint32_t element);
struct pl_part *pl_conv_add_part(struct pl_conv *conv, enum pl_part_kind kind,
                                 const struct pl_json_node *node);
struct pl_part *pl_conv_add_child(struct pl_conv *conv, enum pl_part_kind kind,
                                  const struct pl_json_node *node);
struct pl_tool *pl_conv_add_tool(struct pl_conv *conv, const struct pl_json_node *node);

/* Fates. SAID and REPORTED apply to a node and everything inside it. KNOWN applies to the node
 * alone, so that knowing a container does not hide a forgotten member. KNOWN never overrides the
 * others. */
void pl_conv_fate_tree(struct pl_conv *conv, const struct pl_json_node *node, enum pl_fate fate);
static inline void pl_conv_fate(struct pl_conv *conv, const struct pl_json_node *node,
                                enum pl_fate fate)
{
    if (!node)
        return;
    uint8_t *at = conv->fates + (node - conv->doc->root);
    if (*at < fate)
        *at = (uint8_t)fate;
    if (node->skip > 1 && fate != PL_FATE_KNOWN)
        pl_conv_fate_tree(conv, node, fate);
}
enum pl_fate pl_conv_fate_of(const struct pl_conv *conv, const struct pl_json_node *node);
static inline void pl_conv_know(struct pl_conv *conv, const struct pl_json_node *node)
{
    pl_conv_fate(conv, node, PL_FATE_KNOWN);
}
/* KNOWN for the whole subtree, for a writer that writes all of it in its own words: a marker, a
 * schema in another dialect. The detail of the loss, or the output, must cover all of it. */
static inline void pl_conv_know_all(struct pl_conv *conv, const struct pl_json_node *node)
{
    if (node)
        pl_conv_fate_tree(conv, node, PL_FATE_KNOWN);
}

/* `node` repeats `of` (both may be NULL): it is a loss only if `of` is one. */
void pl_conv_repeat(struct pl_conv *conv, const struct pl_json_node *node,
                    const struct pl_json_node *of);

/* `node` (may be NULL) turns something on by its presence, even if it is empty: it is a loss if no
 * writer writes it. Other empty objects are no loss. */
void pl_conv_switch(struct pl_conv *conv, const struct pl_json_node *node);

/* Reports a loss of `node` (may be NULL). DROPPED marks it and everything in it; SYNTHESISED marks
 * nothing; the other codes mark it as known unless it is a container. `detail` is printf-like. */
void pl_conv_loss(struct pl_conv *conv, enum pl_loss_code code, const struct pl_json_node *node,
                  const char *detail, ...) __attribute__((format(printf, 4, 5)));

/* Reports every node without a fate as dropped, at the highest ancestor that has no fate in it.
 * Nulls and empty containers are reported only where a value of another type is expected. */
void pl_conv_sweep(struct pl_conv *conv);

/* Reading helpers. Member `key` of `object` as a value; NONE if it is null or absent, or if
 * `object` is NULL or not an object. */
const struct pl_json_node *pl_conv_find(const struct pl_conv *conv,
                                        const struct pl_json_node *object, struct pl_str key,
                                        uint32_t hash);
static inline __attribute__((always_inline)) const struct pl_json_node *
pl_conv_node(const struct pl_conv *conv, const struct pl_json_node *object, const char *key)
{
    if (!object)
        return NULL;
    struct pl_str name = pl_str_of(key);
    uint32_t hash = pl_json_key_hash_bytes(name.ptr, name.len);
    const struct pl_conv_glance *glance = conv->glance;
    if (glance->object == object) {
        if (!(glance->keys >> hash % 64 & 1))
            return NULL;
        /* The compiler turns a literal key into one or two comparisons. */
        const struct pl_json_node *k = glance->at[hash % 64];
        if (__builtin_constant_p(name.len) && !(glance->shared >> hash % 64 & 1) &&
            k->len == name.len + 2 && !(k->tag & PL_JSON_ESCAPED) &&
            memcmp(conv->doc->text.ptr + k->off + 1, name.ptr, name.len) == 0)
            return pl_json_kind(k + 1) != PL_JSON_NULL ? k + 1 : NULL;
    }
    return pl_conv_find(conv, object, name, hash);
}

/* The keys that an object may have, one bit each. If no key of a set has its bit here, the object
 * has none of them. A reader then asks once for many rare members. */
uint64_t pl_conv_keys(const struct pl_conv *conv, const struct pl_json_node *object);
static inline __attribute__((always_inline)) uint64_t pl_conv_key_bit(const char *key)
{
    struct pl_str name = pl_str_of(key);
    return (uint64_t)1 << pl_json_key_hash_bytes(name.ptr, name.len) % 64;
}

/* `node` (may be NULL) if it is of one of the kinds `want`. Otherwise returns NULL and notes it in
 * conv->misfits. */
const struct pl_json_node *pl_conv_fit_slowly(struct pl_conv *conv, const struct pl_json_node *node,
                                              unsigned want);
static inline const struct pl_json_node *pl_conv_fit(struct pl_conv *conv,
                                                     const struct pl_json_node *node, unsigned want)
{
    if (!node || (want >> pl_json_kind(node) & 1))
        return node;
    return pl_conv_fit_slowly(conv, node, want);
}

/* A sentence: what is wrong and what to do (arena). */
struct pl_str pl_misfit_detail(struct pl_conv *conv, const struct pl_misfit *misfit);
/* pl_conv_misfit_at() finds the misfit at `node`, or NULL. Call pl_conv_sort_misfits() first: it
 * puts them in document order. */
bool pl_conv_sort_misfits(struct pl_conv *conv);
const struct pl_misfit *pl_conv_misfit_at(const struct pl_conv *conv,
                                          const struct pl_json_node *node);

/* Member `key` of `object`, if it is of a wanted kind. */
static inline __attribute__((always_inline)) const struct pl_json_node *
pl_conv_member(struct pl_conv *conv, const struct pl_json_node *object, const char *key,
               unsigned want)
{
    return pl_conv_fit(conv, pl_conv_node(conv, object, key), want);
}

static inline __attribute__((always_inline)) struct pl_val
pl_conv_get(struct pl_conv *conv, const struct pl_json_node *object, const char *key, unsigned want)
{
    return pl_val_node(pl_conv_member(conv, object, key, want));
}

/* The same, into an empty value. */
static inline __attribute__((always_inline)) void pl_conv_take(struct pl_conv *conv,
                                                               const struct pl_json_node *object,
                                                               const char *key, unsigned want,
                                                               struct pl_val *to)
{
    pl_val_set(to, pl_conv_member(conv, object, key, want));
}

/* Reads a flag; a value that is neither true nor false is not read. */
void pl_conv_take_flag(struct pl_conv *conv, const struct pl_json_node *object, const char *key,
                       struct pl_flag *to);

/* Whether a string node is `word`. False for NULL and other kinds. */
static inline bool pl_conv_says(const struct pl_conv *conv, const struct pl_json_node *node,
                                const char *word)
{
    if (!node || pl_json_kind(node) != PL_JSON_STRING)
        return false;
    /* Callers compare with many words, so most do not match: the first letter decides. */
    struct pl_str raw = pl_json_raw(conv->doc, node);
    if (raw.ptr[0] != word[0] && raw.len && raw.ptr[0] != '\\')
        return false;
    return pl_json_key_is(conv->doc, node, pl_str_of(word));
}
/* Its index in a list of words that ends with NULL, or -1. */
int pl_conv_word(const struct pl_conv *conv, const struct pl_json_node *node,
                 const char *const words[]);

/* The decoded text of a value (arena or a view). For a NODE that is not a string: its span. Empty
 * if absent or out of memory (conv->status). */
struct pl_str pl_conv_text_slowly(struct pl_conv *conv, struct pl_val val);
static inline struct pl_str pl_conv_text(struct pl_conv *conv, struct pl_val val)
{
    /* Most strings have no escapes. */
    if (val.kind == PL_VAL_NODE && (val.node->tag & (15 | PL_JSON_ESCAPED)) == PL_JSON_STRING)
        return (struct pl_str){conv->doc->text.ptr + val.node->off + 1, val.node->len - 2u};
    return pl_conv_text_slowly(conv, val);
}
/* Whether a value is empty: "", 0, false, null, or a container of such values. Some servers send
 * these in place of absent values, so they are marked as known, not lost. Only numbers are not
 * marked, because a 0 may be meant. False for NULL. */
bool pl_conv_is_hollow(struct pl_conv *conv, const struct pl_json_node *node);
/* Whether it is absent or only white space. */
bool pl_conv_is_blank(struct pl_conv *conv, struct pl_val val);
/* printf into the arena. */
struct pl_str pl_conv_printf(struct pl_conv *conv, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
struct pl_str pl_conv_vprintf(struct pl_conv *conv, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));

/* Splits "data:MIME;base64,DATA" into two SPANs of the node; false for any other URL. */
bool pl_conv_data_url(struct pl_conv *conv, struct pl_val url, struct pl_val *ret_mime,
                      struct pl_val *ret_data);

/* Reads a member that should hold base64: a data URL is split, an address ("https://…") becomes
 * the url, anything else is base64. Sets data and perhaps mime, or url. */
void pl_conv_take_data(struct pl_conv *conv, struct pl_val said, struct pl_part *to);

/* "image", "audio", "video"; "file" for any other kind. */
const char *pl_part_media_word(enum pl_part_kind kind);

#endif
