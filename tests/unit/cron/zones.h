/* Small TZif files made in memory, for the tests of zones. */
#ifndef PL_TESTS_CRON_ZONES_H
#define PL_TESTS_CRON_ZONES_H

#include "base/buf.h"
#include "cron/tzif.h"

struct zone_change {
    int64_t unix_s;
    uint8_t type;
};

static inline void add_be(struct pl_buf *to, uint64_t value, unsigned n_bytes)
{
    for (unsigned i = n_bytes; i-- > 0;)
        pl_buf_addc(to, (char)(value >> (i * 8)));
}

static inline void add_part(struct pl_buf *to, char version, unsigned time_size,
                            const int32_t *offsets, uint32_t n_types,
                            const struct zone_change *changes, uint32_t n_changes)
{
    pl_buf_adds(to, "TZif");
    pl_buf_addc(to, version);
    pl_buf_fill(to, 0, 15 + 12);
    add_be(to, n_changes, 4);
    add_be(to, n_types, 4);
    add_be(to, 4, 4);
    for (uint32_t i = 0; i < n_changes; i++)
        add_be(to, (uint64_t)changes[i].unix_s, time_size);
    for (uint32_t i = 0; i < n_changes; i++)
        pl_buf_addc(to, (char)changes[i].type);
    for (uint32_t i = 0; i < n_types; i++) {
        add_be(to, (uint32_t)offsets[i], 4);
        pl_buf_addc(to, (char)(i % 2));
        pl_buf_addc(to, 0);
    }
    pl_buf_add(to, (struct pl_str){"TST", 4});
}

/* A file of version 2 whose first part is empty of changes. Type 1 and every other is DST. */
static inline void make_zone(struct pl_buf *to, const int32_t *offsets, uint32_t n_types,
                             const struct zone_change *changes, uint32_t n_changes,
                             const char *rule)
{
    add_part(to, '2', 4, offsets, 1, NULL, 0);
    add_part(to, '2', 8, offsets, n_types, changes, n_changes);
    pl_buf_addf(to, "\n%s\n", rule);
}

#endif
