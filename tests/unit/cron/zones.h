/* Instants, small TZif files in memory, and Berlin as one of them, for the tests of zones. */
#ifndef PL_TESTS_CRON_ZONES_H
#define PL_TESTS_CRON_ZONES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/buf.h"
#include "base/text/utc.h"
#include "cron/tzif.h"

/* "2026-03-29T01:00:00Z" in seconds. */
static inline int64_t at(const char *text)
{
    int64_t us;
    if (!pl_utc_read(pl_str_of(text), &us))
        fail_msg("%s", text);
    return us / 1000000;
}

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

/* A version 2 file without changes in its first part. Types with odd numbers are DST. */
static inline void make_zone(struct pl_buf *to, const int32_t *offsets, uint32_t n_types,
                             const struct zone_change *changes, uint32_t n_changes,
                             const char *rule)
{
    add_part(to, '2', 4, offsets, 1, NULL, 0);
    add_part(to, '2', 8, offsets, n_types, changes, n_changes);
    pl_buf_addf(to, "\n%s\n", rule);
}

static inline struct pl_tzif open_zone(const struct pl_buf *file)
{
    struct pl_tzif zone;
    struct pl_error err = {0};
    assert_int_equal(file->status, PL_OK);
    if (pl_tzif_open(pl_buf_str(file), &zone, &err) != PL_OK)
        fail_msg("%s", err.message);
    return zone;
}

/* --- Berlin, for a whole group of tests ------------------------------------------------------ */

static const int32_t berlin[] = {3600, 7200};
static const char berlin_rule[] = "CET-1CEST,M3.5.0,M10.5.0/3";
static struct pl_buf berlin_file;
static struct pl_tzif berlin_zone; /* a view of the file */

static inline int open_berlin(void **state)
{
    (void)state;
    pl_buf_init(&berlin_file, 0);
    make_zone(&berlin_file, berlin, 2, NULL, 0, berlin_rule);
    berlin_zone = open_zone(&berlin_file);
    return 0;
}

static inline int close_berlin(void **state)
{
    (void)state;
    pl_buf_deinit(&berlin_file);
    return 0;
}

#endif
