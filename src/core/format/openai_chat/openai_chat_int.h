/* Shared by the files of openai-chat. */
#ifndef PL_FORMAT_OPENAI_CHAT_INT_H
#define PL_FORMAT_OPENAI_CHAT_INT_H

#include "conv/call_ids.h"
#include "format/format.h"
#include "format/pieces/utterance.h"

enum pl_status pl_openai_chat_read(struct pl_conv *conv, enum pl_format_kind kind,
                                   struct pl_error *err);
/* The format's hook (form.c). */
void pl_openai_chat_check_form(struct pl_conv *conv, struct pl_message *m);
enum pl_status pl_openai_chat_write(struct pl_writer *w, const struct pl_conversion *conversion,
                                    struct pl_error *err);

/* Write everything of a request except the model and the messages, or only the service tier. */
void pl_openai_chat_write_settings(struct pl_writer *w, const struct pl_conversion *conversion);

/* Shared by the writers of messages and of answers. */
struct pl_chat_out {
    struct pl_writer *w;
    const struct pl_conversion *conversion;
    struct pl_call_index calls;
};

enum pl_status pl_chat_write_answer(struct pl_chat_out *c);

/* The number of parts of a kind, and the first one with text (or NULL). */
uint32_t pl_chat_count(const struct pl_utterance *u, enum pl_part_kind kind);
const struct pl_part *pl_chat_words(const struct pl_utterance *u, enum pl_part_kind kind);

/* Writes the texts of all parts of a kind as one string, with `glue` between them. */
void pl_chat_write_joined(struct pl_writer *w, const struct pl_utterance *u, enum pl_part_kind kind,
                          const char *glue);
/* Reasoning (reasoning.c): reads it from a message into the last message of the conversation; then,
 * after the calls, reads the proofs that belong to calls; writes it. */
void pl_chat_read_reasoning(struct pl_conv *conv, const struct pl_json_node *message);
void pl_chat_sign_calls(struct pl_conv *conv);
void pl_chat_write_reasoning(struct pl_chat_out *c, const struct pl_utterance *u, const char *glue);
/* Whether a stored turn has a proof for this format with the part. */
static inline bool pl_chat_is_kept(const struct pl_chat_out *c, const struct pl_part *part)
{
    return part->home && pl_format_home(c->conversion, part) == &pl_format_openai_chat;
}
void pl_chat_write_images(struct pl_chat_out *c, const struct pl_utterance *u);
void pl_chat_write_calls(struct pl_chat_out *c, const struct pl_utterance *u);
void pl_chat_report_order(struct pl_writer *w, const struct pl_utterance *u);

#define PL_CHAT_NAME_MAX 64 /* characters of a tool name */

#endif
