/* A tool choice that is limited to some tools.
 *
 *     openai-chat       {"type":"allowed_tools","allowed_tools":{"mode","tools":
 *                           [{"type","function":{"name"}}]}}
 *     openai-responses  {"type":"allowed_tools","mode","tools":[{"type","name"}]}
 *     gemini            {"mode","allowedFunctionNames":[name]}
 *
 * In a conversation choice and choice_val are the mode, allowed is the list, and allowed_val the
 * whole. */
#ifndef PL_FORMAT_CHOICE_H
#define PL_FORMAT_CHOICE_H

#include "conv/conv.h"

/* Reads such a choice of an OpenAI format; `body` is the object with mode and tools. False for any
 * other choice. */
bool pl_choice_read_allowed(struct pl_conv *conv, const struct pl_json_node *whole,
                            const struct pl_json_node *body);
/* Whether a repair dropped an entry of the list, and reported it. */
bool pl_choice_is_dropped(const struct pl_conv *conv, const struct pl_json_node *entry);
/* The name in an entry of the list; NONE for a hosted tool, which has no name, and for a dropped
 * entry. */
struct pl_val pl_choice_allowed_name(struct pl_conv *conv, const struct pl_json_node *entry);
/* The number of entries with a name; 0 if the choice is not limited. */
size_t pl_choice_count_allowed(struct pl_conv *conv);
/* Marks the grammar around the names: the type of the whole and the types of the named entries. */
void pl_choice_know_allowed(struct pl_conv *conv);
/* Reports a mode of Gemini that has no exact equivalent in the other formats. */
void pl_choice_report_mode(struct pl_conv *conv);

#endif
