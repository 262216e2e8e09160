/* The loss report of a stream: the same object that the conversion of a whole answer gives, with
 * pointers into the whole answer that the source adds up to (sum.h).
 *
 * Three steps make sure that every loss is reported:
 *
 *   1. every member of every source event is in the sum, or is a stray, which is reported
 *   2. the sum is converted like a whole answer; fates (conv/loss.c) report what the target's
 *      format cannot express
 *   3. the target's events are added up, too: values that the converted answer has and they lack
 *      are reported
 *
 * So no case is missed: step 3 finds a reader that skips an event and a writer that skips a
 * delta. */
#ifndef PL_STREAM_ACCOUNT_H
#define PL_STREAM_ACCOUNT_H

#include "stream/stream.h"

/* `source` and `target` are all bytes of both streams. The report has at most pl_convert_most()
 * bytes; PL_LIMIT beyond. *ret_is_lossless is `lossless` of the report. */
enum pl_status pl_stream_report(struct pl_buf *to, const struct pl_dialect *from,
                                const struct pl_dialect *into, struct pl_str source,
                                struct pl_str target, bool *ret_is_lossless, struct pl_error *err);

/* The same for a way home (home.h): `stream`, of dialect `from`, became `out`; the carry kept
 * `source`, which had become `went`. Also reports values that only the carry had and `out` lacks,
 * with pointers into the source's answer. */
enum pl_status pl_stream_report_home(struct pl_buf *to, const struct pl_dialect *from,
                                     const struct pl_dialect *into, struct pl_str stream,
                                     struct pl_str out, struct pl_str source, struct pl_str went,
                                     bool *ret_is_lossless, struct pl_error *err);

#endif
