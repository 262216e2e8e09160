/* Shared by the files of harmony, and by structured-chat, whose messages are a subset of it. */
#ifndef PL_FORMAT_HARMONY_INT_H
#define PL_FORMAT_HARMONY_INT_H

#include "format/format.h"
#include "format/pieces/utterance.h"

enum pl_status pl_harmony_read(struct pl_conv *conv, enum pl_format_kind kind,
                               struct pl_error *err);
enum pl_status pl_harmony_write(struct pl_writer *w, const struct pl_conversion *conversion,
                                struct pl_error *err);

/* Problems that only harmony has. */
void pl_harmony_lint(struct pl_conv *conv, struct pl_findings *findings);

/* Reads one message; `element` is its index in a list, PL_NO_ELEMENT if it is in no list. `more`: a
 * member with parts that follow those of the content; NULL: none. */
void pl_harmony_read_message(struct pl_conv *conv, const struct pl_json_node *node,
                             uint32_t element, const char *more);

/* Whether harmony has a content part for this image, audio or file. */
bool pl_harmony_can_show(const struct pl_part *part);
void pl_harmony_write_shown(struct pl_writer *w, const struct pl_part *part);

/* The member tool_calls of an utterance, if it has calls. */
bool pl_harmony_has_calls(const struct pl_utterance *u);
void pl_harmony_write_calls(struct pl_writer *w, const struct pl_utterance *u);

/* Seed 001's name for an audio media type ("wav"), and back; NULL if there is none. */
const char *pl_harmony_audio_word(struct pl_str mime);
const char *pl_harmony_audio_mime(const struct pl_conv *conv, const struct pl_json_node *word);

#endif
