/* The version of the program for tests of upgrades (e2e/cluster_upgrade): the same sources, one
 * more migration, another name. */
#include "shard/shard.h"

const char pl_server_version[] = PARLEY_VERSION "-next";
