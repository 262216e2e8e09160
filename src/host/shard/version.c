/* The version of this program. It has a file of its own, so that a test can link a program of
 * another version (tests/upgrade). */
#include "shard/shard.h"

const char pl_server_version[] = PARLEY_VERSION;
