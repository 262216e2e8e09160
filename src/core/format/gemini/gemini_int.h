/* Shared by the files of the gemini format: read.c, write.c, settings.c and answer.c. */
#ifndef PL_FORMAT_GEMINI_INT_H
#define PL_FORMAT_GEMINI_INT_H

#include "format/format.h"

/* Member `key` (in camelCase) of an object, in either spelling that protocol buffers accept: "topP"
 * or "top_p". NULL if absent or null. */
const struct pl_json_node *pl_gemini_field(const struct pl_conv *conv,
                                           const struct pl_json_node *object, const char *key);

struct pl_cites_list;
/* The format's hook list_cites. */
void pl_gemini_list_cites(struct pl_conv *conv, struct pl_cites_list *list);

enum pl_status pl_gemini_read(struct pl_conv *conv, enum pl_format_kind kind, struct pl_error *err);
enum pl_status pl_gemini_write(struct pl_writer *w, const struct pl_conversion *conversion,
                               struct pl_error *err);

/* The format's hook (form.c). */
void pl_gemini_check_form(struct pl_conv *conv, struct pl_message *m);

/* Everything of a request except its contents and the system instruction. */
void pl_gemini_read_settings(struct pl_conv *conv, const struct pl_json_node *root);
void pl_gemini_write_settings(struct pl_writer *w, const struct pl_conversion *conversion);

/* The members of a response around its content: an error, or the finish reason and the usage. */
bool pl_gemini_read_error(struct pl_conv *conv, const struct pl_json_node *root);
void pl_gemini_read_answer(struct pl_conv *conv, const struct pl_json_node *root,
                           const struct pl_json_node *candidate);
void pl_gemini_write_error(struct pl_writer *w);
void pl_gemini_write_finish(struct pl_writer *w);
void pl_gemini_write_cites(struct pl_writer *w, const struct pl_conversion *conversion);
void pl_gemini_write_answer(struct pl_writer *w);

/* Writes the name of a function as a string. A name that Google refuses is replaced as in
 * pieces/tool_name.h, and reported. */
void pl_gemini_write_name(struct pl_writer *w, struct pl_val name);
/* The same as a text: a view of the name, or arena memory. */
struct pl_str pl_gemini_name(struct pl_conv *conv, struct pl_val name);

/* Copies the members of an object of the source except those in `written` (in camelCase, ended by
 * NULL), so that a vendor gets its own extensions back. */
void pl_gemini_write_rest(struct pl_writer *w, const struct pl_json_node *object,
                          const char *const written[]);

/* As in pl_format (own.c), and the member of a part that holds a call or a result. */
bool pl_gemini_tell(struct pl_conv *conv, const struct pl_json_node *node, struct pl_gist *ret);
void pl_gemini_write_gist(struct pl_writer *w, const struct pl_gist *gist, bool is_result);

#endif
