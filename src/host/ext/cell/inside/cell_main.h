/* `parley cell`: started by pl_cell_spawn, never by hand. */
#ifndef PL_EXT_CELL_MAIN_H
#define PL_EXT_CELL_MAIN_H

#include <stdbool.h>

/* Whether the descriptors of a cell are open, that is, whether a server has started us. */
bool pl_cell_main_is_called(void);
/* Makes the cell and becomes its process 1, or ends when another process is. `is_inner`:
 * bubblewrap has made the namespaces. Does not return. */
_Noreturn void pl_cell_main(bool is_inner);

#endif
