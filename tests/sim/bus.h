/* The bus between nodes, in place of host/bus: a fast way that may lose letters, and a slow way
 * through the database. */
#ifndef PL_TESTS_SIM_BUS_H
#define PL_TESTS_SIM_BUS_H

#include <stdbool.h>

void bus_begin(void);
/* One letter in so many is lost on the fast way; 0: none. */
void bus_lose(unsigned one_in);
/* One letter in so many is lost while is_moment() is true; 0: none. */
void bus_lose_when(bool (*is_moment)(void), unsigned one_in);
/* One letter in so many arrives a second time, by the slow way; 0: none. */
void bus_double(unsigned one_in);
/* The fast way is down, for all nodes. */
void bus_away(bool is_away);
/* The fast way is cut from one owner to another, in this direction. */
void bus_part(int from, int to, bool is_parted);
/* The process is gone. */
void bus_client_gone(int owner);
bool bus_is_well(void);

#endif
