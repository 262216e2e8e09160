/* A choice that is limited to some of the tools.
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

/* Reads the choice of an OpenAI format when it is of this kind; `body` is the object with mode and
 * tools in it. False for another one. */
bool pl_choice_read_allowed(struct pl_conv *conv, const struct pl_json_node *whole,
                            const struct pl_json_node *body);
/* The name in an entry of the list; NONE for a tool that has none, because it runs at its vendor.
 */
struct pl_val pl_choice_allowed_name(struct pl_conv *conv, const struct pl_json_node *entry);
/* How many entries have a name; 0 when the choice is not limited. */
size_t pl_choice_count_allowed(struct pl_conv *conv);
/* Marks the grammar around the names as said: the type of the whole and the types of the named
 * entries. */
void pl_choice_know_allowed(struct pl_conv *conv);
/* Reports a mode of Gemini that means more than any word of the other formats. */
void pl_choice_report_mode(struct pl_conv *conv);

#endif
