/* Any bytes as a zone file. It may be refused. In an accepted file eras contain the requested
 * instant, instants and local times map to each other, and the search of schedules ends. */
#include "cron/next.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool is_true)
{
    if (!is_true)
        abort();
}

static void look_at(const struct pl_tzif *zone, int64_t unix_s)
{
    struct pl_tz_era era = pl_tzif_era(zone, unix_s);
    must(era.start_s <= unix_s && unix_s < era.end_s);
    must(era.offset_s >= -PL_TZIF_MAX_OFFSET && era.offset_s <= PL_TZIF_MAX_OFFSET);
    struct pl_tz_instant found = pl_tzif_instant(zone, unix_s + era.offset_s);
    must(found.fit != PL_TZ_GAP && found.unix_s <= unix_s && found.again_s >= found.unix_s);
    (void)pl_tzif_instant(zone, unix_s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const expressions[] = {"30 2 * * *", "*/7 1-3 * * *", "0 0 30 2 *"};
    static const int64_t instants[] = {-5000000000, 0, 1774746000, 1793000000, 9000000000};
    struct pl_tzif zone;
    struct pl_error err = {0};
    if (pl_tzif_open((struct pl_str){(const char *)data, size}, &zone, &err) != PL_OK) {
        must(err.message[0]);
        return 0;
    }
    for (size_t i = 0; i < sizeof instants / sizeof *instants; i++)
        look_at(&zone, instants[i]);
    (void)pl_tzif_era(&zone, INT64_MIN);
    (void)pl_tzif_instant(&zone, INT64_MAX);
    for (size_t i = 0; i < sizeof expressions / sizeof *expressions; i++) {
        struct pl_cron cron;
        must(pl_cron_parse(pl_str_of(expressions[i]), &cron, NULL) == PL_OK);
        int64_t at_s = instants[2], before_s = at_s;
        for (int k = 0; k < 3 && pl_cron_next(&cron, &zone, at_s, &at_s); k++) {
            must(at_s > before_s);
            before_s = at_s;
        }
    }
    return 0;
}
