/* Sessions and turns for a terminal. */
#ifndef PL_APP_TURN_SHOW_H
#define PL_APP_TURN_SHOW_H

#include "app/frame/console.h"
#include "app/frame/texts.h"
#include "json/json.h"

/* Foreign text of several lines: line breaks and tabs as they are, other control characters
 * escaped; after each line break `indent` spaces. */
void pl_show_text(struct pl_console *console, struct pl_str text, size_t indent);

/* A line "  label     value", unless there is nothing to say. */
void pl_show_member(struct pl_console *console, const char *label, struct pl_str value);

/* A Session: its members below its id. */
void pl_show_session(struct pl_console *console, struct pl_texts *texts,
                     const struct pl_json_doc *doc, const struct pl_json_node *session);
/* A TurnProjection: who, when and how it ended, then what was said and done. */
void pl_show_turn(struct pl_console *console, struct pl_texts *texts, const struct pl_json_doc *doc,
                  const struct pl_json_node *turn);

/* A turn with all of its thoughts, arguments and results. */
void pl_show_turn_whole(struct pl_console *console, struct pl_texts *texts,
                        const struct pl_json_doc *doc, const struct pl_json_node *turn);

#endif
