/* Packages: rows of the store as packages, the command that runs one, trees and their copies. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "ext/package/package.h"
#include "ext/package/tree.h"
#include "io/file/outfile.h"

static struct pl_arena arena;
static char dir[] = "/tmp/parley-package-XXXXXX";

#define MANIFEST(runtime)                                                                          \
    "{\"schema\":\"pi.ext.manifest.v1\",\"extension_id\":\"weather\",\"name\":\"Weather\","        \
    "\"version\":\"1\",\"api_version\":\"1.0\",\"runtime\":\"" runtime                             \
    "\",\"entrypoint\":\"bin/main\",\"args\":[\"-x\",\"\",\"a b\"],\"capabilities\":[\"read\"]}"

static struct pl_extension_row make_row(const char *manifest)
{
    return (struct pl_extension_row){.id = PL_STR("weather"),
                                     .artifact = PL_STR("abc"),
                                     .manifest = pl_str_of(manifest),
                                     .profile = PL_STR("safe"),
                                     .granted = PL_STR("exec\nread"),
                                     .denied = PL_STR("http"),
                                     .state = PL_STR("quarantined")};
}

static void a_row_is_a_package_with_its_policy_and_its_place(void **state)
{
    (void)state;
    struct pl_extension_row row = make_row(MANIFEST("python"));
    struct pl_ext_package package;
    assert_int_equal(pl_ext_package_of_row(&arena, "/data", &row, &package, NULL), PL_OK);
    assert_string_equal(package.dir.ptr, "/data/extensions/weather/abc");
    assert_int_equal(package.state, PL_EXT_STATE_QUARANTINED);
    assert_int_equal(package.policy.extension_allow,
                     PL_EXT_CAP_BIT(PL_EXT_CAP_EXEC) | PL_EXT_CAP_BIT(PL_EXT_CAP_READ));
    assert_int_equal(package.policy.extension_deny, PL_EXT_CAP_BIT(PL_EXT_CAP_HTTP));
    assert_int_equal(pl_ext_policy_judge(&package.policy, PL_STR("env")), PL_EXT_REASON_DENY_CAPS);
    assert_int_equal(strlen(package.manifest_hash), 64);
}

static void a_damaged_row_is_told(void **state)
{
    (void)state;
    struct pl_extension_row good = make_row(MANIFEST("python"));
    struct pl_extension_row rows[] = {good, good, good, good, good, good};
    rows[0].manifest = PL_STR("{");
    rows[1].profile = PL_STR("wild");
    rows[2].granted = PL_STR("exec\nfly");
    rows[3].denied = PL_STR("\n");
    rows[4].state = PL_STR("asleep");
    rows[5].id = PL_STR("other");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pl_ext_package package;
        struct pl_error err = {0};
        assert_int_equal(pl_ext_package_of_row(&arena, "/data", &rows[i], &package, &err),
                         PL_INVALID);
        assert_non_null(strstr(err.message, "is damaged"));
    }
}

static void assert_command(const char *manifest, const char *const *expected)
{
    struct pl_extension_row row = make_row(manifest);
    struct pl_ext_package package;
    const char *const *argv = NULL;
    assert_int_equal(pl_ext_package_of_row(&arena, "/data", &row, &package, NULL), PL_OK);
    assert_int_equal(pl_ext_package_command(&arena, &package, &argv, NULL), PL_OK);
    for (size_t i = 0; expected[i] || argv[i]; i++)
        assert_string_equal(argv[i], expected[i]);
}

static void a_command_has_its_runtime_the_entry_point_and_the_arguments(void **state)
{
    (void)state;
    assert_command(MANIFEST("process"), (const char *[]){"/ext/bin/main", "-x", "", "a b", NULL});
    assert_command(MANIFEST("python"),
                   (const char *[]){"python3", "-B", "/ext/bin/main", "-x", "", "a b", NULL});
    assert_command(MANIFEST("node"),
                   (const char *[]){"node", "/ext/bin/main", "-x", "", "a b", NULL});
    assert_command(MANIFEST("js"), (const char *[]){"node", "/ext/.parley/pi.mjs", "/ext/bin/main",
                                                    "-x", "", "a b", NULL});
    assert_command(MANIFEST("mcp"), (const char *[]){"node", "/ext/.parley/mcp.mjs",
                                                     "/ext/bin/main", "-x", "", "a b", NULL});
}

static struct pl_ext_tree make_tree(void)
{
    static const struct pl_ext_file files[] = {
        {PL_STR("z"), PL_STR("last"), false},
        {PL_STR("bin/main"), PL_STR("#!/bin/sh\n"), true},
        {PL_STR("extension.json"), PL_STR(MANIFEST("process")), false},
    };
    struct pl_ext_tree tree = {0};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        assert_int_equal(pl_ext_tree_add(&arena, &tree, &files[i], NULL), PL_OK);
    return tree;
}

static void a_copy_is_read_only_and_a_changed_one_is_noticed(void **state)
{
    (void)state;
    struct pl_ext_tree tree = make_tree(), again;
    char hash[PL_EXT_HASH_SIZE], same[PL_EXT_HASH_SIZE], path[300];
    assert_int_equal(pl_ext_tree_hash(&arena, &tree, hash), PL_OK);
    assert_int_equal(pl_ext_tree_store(dir, PL_STR("weather"), &tree, hash, NULL), PL_OK);
    assert_int_equal(pl_ext_tree_store(dir, PL_STR("weather"), &tree, hash, NULL), PL_OK);
    snprintf(path, sizeof path, "%s/extensions/weather/%s", dir, hash);
    assert_int_equal(pl_ext_tree_load(&arena, path, &again, NULL), PL_OK);
    assert_int_equal(pl_ext_tree_hash(&arena, &again, same), PL_OK);
    assert_string_equal(same, hash);

    struct pl_extension_row row = make_row(MANIFEST("process"));
    row.artifact = pl_str_of(hash);
    struct pl_ext_package package;
    struct pl_error err = {0};
    assert_int_equal(pl_ext_package_of_row(&arena, dir, &row, &package, NULL), PL_OK);
    assert_int_equal(pl_ext_package_verify(&package, NULL), PL_OK);
    snprintf(path, sizeof path, "%s/extensions/weather/%s/new", dir, hash);
    assert_int_equal(symlink("/etc/passwd", path), 0);
    assert_int_equal(pl_ext_package_verify(&package, &err), PL_CONFLICT);
    assert_non_null(strstr(err.message, "not those that were added"));
    assert_int_equal(unlink(path), 0);
    assert_int_equal(pl_file_write(path, PL_STR("x"), NULL), PL_OK);
    assert_int_equal(pl_ext_package_verify(&package, NULL), PL_CONFLICT);

    pl_ext_tree_sweep(dir, PL_STR("weather"), "another");
    assert_int_equal(pl_ext_package_verify(&package, NULL), PL_NOT_FOUND);
    pl_ext_tree_sweep(dir, PL_STR("weather"), NULL);
    snprintf(path, sizeof path, "%s/extensions/weather", dir);
    assert_int_equal(access(path, F_OK), -1);
}

static void the_hash_covers_paths_bytes_and_the_executable_bit(void **state)
{
    (void)state;
    char hashes[5][PL_EXT_HASH_SIZE];
    for (size_t i = 0; i < 5; i++) {
        struct pl_ext_tree tree = make_tree();
        if (i == 1)
            tree.files[0].bytes = PL_STR("lasT");
        if (i == 2)
            tree.files[0].path = PL_STR("y");
        if (i == 3)
            tree.files[0].is_executable = true;
        if (i == 4) { /* another order is the same tree */
            struct pl_ext_file first = tree.files[0];
            tree.files[0] = tree.files[2];
            tree.files[2] = first;
        }
        assert_int_equal(pl_ext_tree_hash(&arena, &tree, hashes[i]), PL_OK);
    }
    for (size_t i = 1; i < 4; i++)
        assert_string_not_equal(hashes[i], hashes[0]);
    assert_string_equal(hashes[4], hashes[0]);
}

static void limits_of_a_tree_are_exact(void **state)
{
    (void)state;
    struct pl_ext_tree tree = {0};
    static const char byte[] = "x";
    struct pl_str most = {byte, PL_EXT_TREE_BYTES_MAX}; /* only its length is checked */
    struct pl_error err = {0};
    struct pl_ext_file file = {PL_STR("a"), most, false};
    assert_int_equal(pl_ext_tree_add(&arena, &tree, &file, &err), PL_OK);
    file = (struct pl_ext_file){PL_STR("b"), PL_STR("x"), false};
    assert_int_equal(pl_ext_tree_add(&arena, &tree, &file, &err), PL_LIMIT);
    file.bytes = PL_STR("");
    for (size_t i = 1; i < PL_EXT_TREE_FILES_MAX; i++)
        assert_int_equal(pl_ext_tree_add(&arena, &tree, &file, &err), PL_OK);
    assert_int_equal(pl_ext_tree_add(&arena, &tree, &file, &err), PL_LIMIT);
}

static void what_is_no_regular_file_is_refused(void **state)
{
    (void)state;
    char path[300];
    struct pl_ext_tree tree;
    struct pl_error err = {0};
    snprintf(path, sizeof path, "%s/odd", dir);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(path, sizeof path, "%s/odd/fifo", dir);
    assert_int_equal(mkfifo(path, 0600), 0);
    snprintf(path, sizeof path, "%s/odd", dir);
    assert_int_equal(pl_ext_tree_load(&arena, path, &tree, &err), PL_INVALID);
    assert_non_null(strstr(err.message, "FIFO"));
    snprintf(path, sizeof path, "%s/nowhere", dir);
    assert_int_equal(pl_ext_tree_load(&arena, path, &tree, &err), PL_NOT_FOUND);
    char command[340];
    snprintf(command, sizeof command, "%s/odd/fifo", dir);
    unlink(command);
    snprintf(path, sizeof path, "%s/odd", dir);
    rmdir(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_row_is_a_package_with_its_policy_and_its_place),
        cmocka_unit_test(a_damaged_row_is_told),
        cmocka_unit_test(a_command_has_its_runtime_the_entry_point_and_the_arguments),
        cmocka_unit_test(a_copy_is_read_only_and_a_changed_one_is_noticed),
        cmocka_unit_test(the_hash_covers_paths_bytes_and_the_executable_bit),
        cmocka_unit_test(limits_of_a_tree_are_exact),
        cmocka_unit_test(what_is_no_regular_file_is_refused),
    };
    if (!mkdtemp(dir))
        return 1;
    pl_arena_init(&arena, 0);
    int n = cmocka_run_group_tests(tests, NULL, NULL);
    pl_arena_deinit(&arena);
    char path[300];
    snprintf(path, sizeof path, "%s/extensions", dir);
    rmdir(path);
    rmdir(dir);
    return n;
}
