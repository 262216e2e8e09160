/* Sessions and turns for a terminal. */
#ifndef PL_APP_TURN_SHOW_H
#define PL_APP_TURN_SHOW_H

#include "app/frame/console.h"
#include "app/frame/texts.h"
#include "json/json.h"

/* Prints foreign text of several lines: keeps line breaks and tabs, escapes other control
 * characters, and adds `indent` spaces after each line break. */
void pl_show_text(struct pl_console *console, struct pl_str text, size_t indent);

/* Prints a line "  label     value" unless the value is empty. */
void pl_show_member(struct pl_console *console, const char *label, struct pl_str value);

/* Prints a Session: its id, and its members below. */
void pl_show_session(struct pl_console *console, struct pl_texts *texts,
                     const struct pl_json_doc *doc, const struct pl_json_node *session);
/* Prints a TurnProjection: author, time and outcome, then its content. */
void pl_show_turn(struct pl_console *console, struct pl_texts *texts, const struct pl_json_doc *doc,
                  const struct pl_json_node *turn);

/* Same with all thoughts, arguments and results. */
void pl_show_turn_whole(struct pl_console *console, struct pl_texts *texts,
                        const struct pl_json_doc *doc, const struct pl_json_node *turn);

#endif
