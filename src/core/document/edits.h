/* What mends a finding by itself: a few edits of the document, each tried before it is offered.
 *
 * The repair of the whole document (conv/repair) says how it would be right. Where it differs from the document near the
 * finding is what the finding needs; a few findings that no repair knows have an edit of their own. An edit is offered
 * only if the edited document has the finding no more, and no error that was not there. */
#ifndef PL_DOCUMENT_EDITS_H
#define PL_DOCUMENT_EDITS_H

#include "document/lint.h"

/* Sets pl_finding.edits of those that can be mended: JSON [{"op":"replace"|"add"|"remove","pointer","value"}], to be
 * applied in this order as in RFC 6902. Pointers of the findings are known and their messages English. Each try costs a
 * lint: together they read at most PL_EDITS_BYTES, what comes after that has none. A document of more than
 * PL_EDITS_MAX_TEXT bytes has none at all, so that the time of a lint grows with its document; the repair of the whole
 * document is for every size. PL_NOMEM. */
enum { PL_EDITS_MAX_TEXT = 64 << 10, PL_EDITS_BYTES = 16 << 20 };
enum pl_status pl_edits_find(struct pl_arena *arena, const struct pl_lint_request *request,
                             struct pl_linted *linted);

#endif
