/* What is said about the commands that look after a server: their lines in the table of commands
 * are made from these. */
#ifndef PL_APP_SERVER_COMMANDS_H
#define PL_APP_SERVER_COMMANDS_H

#include "app/commands.h"

extern const struct pl_option pl_session_options[], pl_key_options[], pl_backup_options[],
    pl_restore_options[], pl_doctor_options[];
extern const char *const pl_session_paragraphs[],
    *const pl_key_paragraphs[], *const pl_backup_paragraphs[], *const pl_restore_paragraphs[],
                                                                   *const pl_doctor_paragraphs[];
extern const struct pl_example pl_session_examples[], pl_key_examples[], pl_backup_examples[],
    pl_restore_examples[], pl_doctor_examples[];

#endif
