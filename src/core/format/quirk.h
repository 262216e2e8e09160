/* How a string of the source departs from the usual spelling of its text.
 *
 * "caf\u00e9 \/ bar" says café / bar; every writer of JSON would spell it "café / bar". Its quirks
 * are a list of how many characters are spelled as usual and what stands between them:
 *
 *     [3,"\\u00e9",1,"\\/",4]
 *
 * So the carry need not repeat a text that the target says, and the text leads home also when
 * somebody parsed the target and wrote it again. In a text that was changed since, the quirks
 * before and behind the change stay. */
#ifndef PL_FORMAT_QUIRK_H
#define PL_FORMAT_QUIRK_H

#include "base/buf.h"
#include "json/json.h"
#include "json/write.h"

/* Whether every writer spells it so: nothing is escaped but what must be, and that in the shortest
 * way. `raw` is what stands between the quotes. */
bool pl_quirk_is_plain(struct pl_str raw);

void pl_quirk_write(struct pl_json_out *out, struct pl_str raw);

/* Appends the text of `string` in quotes, spelled with `quirks` (an array as above). False when the
 * array is none; out of memory sticks to the buffer. */
bool pl_quirk_put(struct pl_buf *to, const struct pl_json_doc *quirk_doc,
                  const struct pl_json_node *quirks, const struct pl_json_doc *doc,
                  const struct pl_json_node *string);

/* The same for a text that is decoded already. */
bool pl_quirk_put_text(struct pl_buf *to, const struct pl_json_doc *quirk_doc,
                       const struct pl_json_node *quirks, struct pl_str text);

#endif
