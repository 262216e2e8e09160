/* Edits that fix a finding by itself, each tried before it is offered.
 *
 * The repair of the whole document (conv/repair) gives a valid version. Its differences from the
 * document near the finding are the candidates; a few findings that the repair does not cover have
 * an edit of their own. An edit is offered only if the edited document no longer has the finding
 * and has no new error. */
#ifndef PL_DOCUMENT_EDITS_H
#define PL_DOCUMENT_EDITS_H

#include "document/lint.h"

/* Sets pl_finding.edits of the findings that can be fixed: JSON
 * [{"op":"replace"|"add"|"remove","pointer","value"}], to be applied in this order as in RFC 6902.
 * The findings must have pointers and English messages. Each try costs a lint: together they read
 * at most PL_EDITS_BYTES, and later findings get no edits. A document of more than
 * PL_EDITS_MAX_TEXT bytes gets none at all, so that the time of a lint stays linear; the repair of
 * the whole document has no such limit. PL_NOMEM. */
enum { PL_EDITS_MAX_TEXT = 64 << 10, PL_EDITS_BYTES = 16 << 20 };
enum pl_status pl_edits_find(struct pl_arena *arena, const struct pl_lint_request *request,
                             struct pl_linted *linted);

#endif
