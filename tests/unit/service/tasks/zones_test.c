/* A machine's time zones: found by name in a directory, read once. */
#include "io/file/outfile.h"
#include "service/tasks/zones.h"
#include "unit/cron/zones.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct place {
    char dir[64], area[80], file[120];
    struct pl_zones *zones;
};

static void put(const char *path, struct pl_str bytes)
{
    if (pl_file_write(path, bytes, NULL) != PL_OK)
        fail_msg("%s", path);
}

static int make_place(void **state)
{
    static struct place place;
    struct pl_buf file;
    place = (struct place){.dir = "/tmp/parley-zones-XXXXXX"};
    if (!mkdtemp(place.dir))
        return 1;
    snprintf(place.area, sizeof place.area, "%s/Europe", place.dir);
    snprintf(place.file, sizeof place.file, "%s/Berlin", place.area);
    if (mkdir(place.area, 0700) != 0)
        return 1;
    pl_buf_init(&file, 0);
    make_zone(&file, berlin, 2, NULL, 0, berlin_rule);
    put(place.file, pl_buf_str(&file));
    pl_buf_deinit(&file);
    place.zones = pl_zones_create(place.dir);
    *state = &place;
    return place.zones ? 0 : 1;
}

static int drop_place(void **state)
{
    struct place *place = *state;
    pl_zones_destroy(place->zones);
    unlink(place->file);
    rmdir(place->area);
    rmdir(place->dir);
    return 0;
}

static void a_zone_is_read_from_its_file(void **state)
{
    struct place *place = *state;
    const struct pl_tzif *zone = NULL;
    assert_int_equal(pl_zones_find(place->zones, PL_STR("Europe/Berlin"), &zone, NULL), PL_OK);
    assert_int_equal(pl_tzif_era(zone, 1767225600).offset_s, 3600); /* January 2026 */
    assert_int_equal(pl_tzif_era(zone, 1782864000).offset_s, 7200); /* July 2026 */
}

static void a_zone_is_read_once(void **state)
{
    struct place *place = *state;
    const struct pl_tzif *first = NULL, *second = NULL;
    assert_int_equal(pl_zones_find(place->zones, PL_STR("Europe/Berlin"), &first, NULL), PL_OK);
    unlink(place->file);
    assert_int_equal(pl_zones_find(place->zones, PL_STR("Europe/Berlin"), &second, NULL), PL_OK);
    assert_ptr_equal(first, second);
}

static void utc_needs_no_file(void **state)
{
    struct place *place = *state;
    const struct pl_tzif *zone = (const struct pl_tzif *)place;
    assert_int_equal(pl_zones_find(place->zones, PL_STR("UTC"), &zone, NULL), PL_OK);
    assert_null(zone);
}

static void what_is_no_zone_is_refused(void **state)
{
    struct place *place = *state;
    const struct pl_tzif *zone = NULL;
    static const struct {
        const char *name;
        enum pl_status status;
    } cases[] = {
        {"../Europe/Berlin", PL_USAGE},    {"/etc/passwd", PL_USAGE}, {"", PL_USAGE},
        {"Europe/Nowhere", PL_UNREADABLE}, {"Europe", PL_UNREADABLE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pl_error err = {0};
        assert_int_equal(pl_zones_find(place->zones, pl_str_of(cases[i].name), &zone, &err),
                         cases[i].status);
        assert_null(strstr(err.message, place->dir));
    }
}

static void a_damaged_file_is_refused_each_time(void **state)
{
    struct place *place = *state;
    const struct pl_tzif *zone = NULL;
    put(place->file, PL_STR("this is no zone"));
    for (int i = 0; i < 2; i++)
        assert_int_equal(pl_zones_find(place->zones, PL_STR("Europe/Berlin"), &zone, NULL),
                         PL_SYNTAX);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_place, drop_place)
    const struct CMUnitTest tests[] = {
        TEST(a_zone_is_read_from_its_file),
        TEST(a_zone_is_read_once),
        TEST(utc_needs_no_file),
        TEST(what_is_no_zone_is_refused),
        TEST(a_damaged_file_is_refused_each_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
