/* The changes between two versions of a prompt, block by block.
 *
 * A block is the text of a text prompt ("text"), the system prompt ("system") or a message,
 * identified by its id; messages without an id are matched by their text and place. A block is
 * added, removed, changed, moved, or moved and changed. The words of a changed block are compared
 * by Myers' algorithm ("An O(ND) Difference Algorithm and Its Variations", 1986). In scripts
 * without spaces each character is a word. Everything else in a structured chat (config,
 * variables, tools …) is compared member by member. */
#ifndef PL_PROMPT_DIFF_H
#define PL_PROMPT_DIFF_H

#include "base/arena.h"
#include "base/buf.h"

struct pl_prompt_text {
    bool is_structured;
    struct pl_str content; /* the text, or the JSON of a structured chat */
};

/* Appends
 *     {"is_same": bool,
 *      "blocks": [{"id", "role",
 *                  "change": "same|added|removed|changed|moved|moved_changed",
 *                  "from_index": int|null, "to_index": int|null,
 *                  "words"?: [{"op": "same|added|removed", "text"}]}],
 *      "members": [{"pointer", "change": "added|removed|changed", "from"?, "to"?}]}
 *
 * Blocks are in the order of the new prompt; a removed one comes before the next one that kept its
 * place. An index is the place among the blocks of its version. The id of a message without one is
 * its pointer. Words are reported where the texts differ: "same" and "removed" are the old text,
 * "same" and "added" the new one; those of a pair over PL_DIFF_MAX_STEPS words apart (or very long
 * and full of repetition) are reported as one removed and one added. Members of a message besides
 * its words are among the members.
 *
 * PL_SYNTAX, PL_LIMIT or PL_INVALID: one of them is not a structured chat (err says which);
 * PL_NOMEM. Then nothing is appended. */
#define PL_DIFF_MAX_STEPS 20000
enum pl_status pl_prompt_diff(struct pl_arena *arena, const struct pl_prompt_text *from,
                              const struct pl_prompt_text *to, struct pl_buf *out,
                              struct pl_error *err);

/* Appends a JSON array of the prompt's variables, declared ones first, then those found only in the
 * text, in order of appearance: {"name", "declared": bool, "found": bool, "required": bool, "type",
 * "default", "options"} (type, default and options are null if not declared). */
enum pl_status pl_prompt_variables(struct pl_arena *arena, const struct pl_prompt_text *prompt,
                                   struct pl_buf *out, struct pl_error *err);

#endif
