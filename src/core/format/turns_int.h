#ifndef PL_FORMAT_TURNS_INT_H
#define PL_FORMAT_TURNS_INT_H

#include "format/format.h"

enum pl_status pl_turns_read(struct pl_conv *conv, enum pl_format_kind kind, struct pl_error *err);
enum pl_status pl_turns_write(struct pl_writer *w, const struct pl_format_task *task,
                              struct pl_error *err);

#endif
