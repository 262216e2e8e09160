/* Input of a command: a file, a FIFO or standard input, within the limits of the command line. */
#ifndef PL_APP_INPUT_H
#define PL_APP_INPUT_H

#include "io/file/file.h"

/* Reads a file that will be parsed as JSON: at most 1 GiB. Refuses a stream whose first megabytes
 * already exceed a limit of the parser, without reading the rest. */
enum pl_status pl_input_read(const char *path, struct pl_file *ret_file, struct pl_error *err);

/* The name of an input in messages. */
const char *pl_input_name(const char *path);

#endif
