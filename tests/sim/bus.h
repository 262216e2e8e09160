/* The bus between nodes, in the place of host/bus: a fast way that loses, and a slow one that goes with the database. */
#ifndef PL_TESTS_SIM_BUS_H
#define PL_TESTS_SIM_BUS_H

#include <stdbool.h>

void bus_begin(void);
/* Of so many letters on the fast way one is lost; 0: none. */
void bus_lose(unsigned one_in);
/* Of so many that go in such a moment one is lost; 0: none. */
void bus_lose_when(bool (*is_moment)(void), unsigned one_in);
/* Of so many one comes a second time, by the slow way; 0: none. */
void bus_double(unsigned one_in);
/* The fast way is away, for everybody. */
void bus_away(bool is_away);
/* Between two owners nothing goes by the fast way, in this direction. */
void bus_part(int from, int to, bool is_parted);
/* The process is gone. */
void bus_client_gone(int owner);
bool bus_is_well(void);

#endif
