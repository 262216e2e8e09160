/* The contract: extensions, their tools, stored answers, and the packages that nodes share. */
#include "contract/suite.h"
#include "store/extensions.h"
#include "store/node/packages.h"
#include "store/node/shared.h"

#include <stdio.h>

static struct pl_extension_row make_extension(const char *id)
{
    return (struct pl_extension_row){
        .id = pl_str_of(id),
        .name = PL_STR("Weather"),
        .version = PL_STR("1.0.0"),
        .runtime = PL_STR("python"),
        .artifact = PL_STR("a1"),
        .manifest = PL_STR("{\"schema\":\"pi.ext.manifest.v1\"}"),
        .manifest_hash = PL_STR("b2"),
        .profile = PL_STR("balanced"),
        .granted = PL_STR("exec\nwrite"),
        .denied = PL_STR("env"),
        .state = PL_STR("enabled"),
        .source = PL_STR("weather.tar"),
        .revision = 1,
        .created_ms = 1000,
        .updated_ms = 1000,
    };
}

static void add_extension(struct fixture *f, const char *id)
{
    struct pl_extension_row row = make_extension(id);
    struct pl_batch *batch = pl_batch_create();
    pl_batch_create_extension(batch, &row);
    commit(f, batch);
}

static struct pl_extension_row get_extension(struct fixture *f, const char *id)
{
    struct pl_extension_row row = {0};
    assert_int_equal(pl_store_extension_get(f->store, &f->arena, pl_str_of(id), &row, NULL), PL_OK);
    return row;
}

static void assert_same(const struct pl_extension_row *got, const struct pl_extension_row *row)
{
    assert_str(got->id, row->id);
    assert_str(got->name, row->name);
    assert_str(got->version, row->version);
    assert_str(got->runtime, row->runtime);
    assert_str(got->artifact, row->artifact);
    assert_str(got->manifest, row->manifest);
    assert_str(got->manifest_hash, row->manifest_hash);
    assert_str(got->profile, row->profile);
    assert_str(got->granted, row->granted);
    assert_str(got->denied, row->denied);
    assert_str(got->state, row->state);
    assert_str(got->source, row->source);
    assert_str(got->last_error, row->last_error);
    assert_str(got->registered, row->registered);
    assert_str(got->before_version, row->before_version);
    assert_str(got->before_manifest, row->before_manifest);
    assert_true(got->created_ms == row->created_ms && got->updated_ms == row->updated_ms);
    assert_true(got->revision == row->revision);
}

static void an_extension_comes_back_as_it_was_made(void **state)
{
    struct fixture *f = *state;
    add_extension(f, "weather");
    struct pl_extension_row row = make_extension("weather"), got = get_extension(f, "weather");
    assert_same(&got, &row);
    fixture_reopen(f);
    bool is_kept = strcmp(f->kind, "memory") != 0;
    assert_int_equal(pl_store_extension_get(f->store, &f->arena, row.id, &got, NULL),
                     is_kept ? PL_OK : PL_NOT_FOUND);
}

static void an_id_exists_once(void **state)
{
    struct fixture *f = *state;
    add_extension(f, "weather");
    struct pl_extension_row row = make_extension("weather");
    row.name = PL_STR("Another");
    struct pl_batch *batch = pl_batch_create();
    pl_batch_create_extension(batch, &row);
    assert_int_equal(pl_store_commit(f->store, batch, NULL), PL_CONFLICT);
    assert_str(get_extension(f, "weather").name, PL_STR("Weather"));
}

static enum pl_status update(struct fixture *f, const struct pl_extension_row *row,
                             struct pl_error *err)
{
    struct pl_batch *batch = pl_batch_create();
    pl_batch_update_extension(batch, row);
    return pl_store_commit(f->store, batch, err);
}

static void a_change_expects_the_revision_that_was_read(void **state)
{
    struct fixture *f = *state;
    add_extension(f, "weather");
    struct pl_extension_row row = make_extension("weather");
    row.version = PL_STR("2.0.0");
    row.artifact = PL_STR("c3");
    row.manifest = PL_STR("{}");
    row.manifest_hash = PL_STR("d4");
    row.profile = PL_STR("safe");
    row.granted = PL_STR("");
    row.denied = PL_STR("");
    row.state = PL_STR("disabled");
    row.last_error = PL_STR("it hung");
    row.registered = PL_STR("{\"name\":\"Weather\"}");
    row.before_version = PL_STR("1.0.0");
    row.before_manifest = PL_STR("{\"schema\":\"pi.ext.manifest.v1\"}");
    row.updated_ms = 2000;
    struct pl_error err = {0};
    assert_int_equal(update(f, &row, &err), PL_OK);
    assert_int_equal(update(f, &row, &err), PL_CONFLICT);
    assert_non_null(strstr(err.message, "the extension has changed"));
    struct pl_extension_row got = get_extension(f, "weather");
    row.revision = 2;
    assert_same(&got, &row);
    row.id = PL_STR("nowhere");
    assert_int_equal(update(f, &row, &err), PL_NOT_FOUND);
}

static void the_supervisor_changes_the_state_whatever_the_revision(void **state)
{
    struct fixture *f = *state;
    add_extension(f, "weather");
    struct pl_batch *batch = pl_batch_create();
    pl_batch_set_extension_state(batch, PL_STR("weather"), PL_STR("quarantined"), PL_STR("crashed"),
                                 7000);
    pl_batch_set_extension_registered(batch, PL_STR("weather"), PL_STR("{\"tools\":[]}"));
    commit(f, batch);
    struct pl_extension_row got = get_extension(f, "weather");
    assert_str(got.state, PL_STR("quarantined"));
    assert_str(got.last_error, PL_STR("crashed"));
    assert_str(got.registered, PL_STR("{\"tools\":[]}"));
    assert_true(got.updated_ms == 7000 && got.revision == 2);
    struct pl_extension_row stale = make_extension("weather");
    assert_int_equal(update(f, &stale, NULL), PL_CONFLICT);

    batch = pl_batch_create();
    pl_batch_set_extension_state(batch, PL_STR("none"), PL_STR("enabled"), (struct pl_str){0}, 1);
    assert_int_equal(pl_store_commit(f->store, batch, NULL), PL_NOT_FOUND);
    batch = pl_batch_create();
    pl_batch_set_extension_registered(batch, PL_STR("none"), PL_STR("{}"));
    assert_int_equal(pl_store_commit(f->store, batch, NULL), PL_NOT_FOUND);
}

static void the_list_is_in_the_order_of_adding(void **state)
{
    struct fixture *f = *state;
    static const char *const ids[] = {"weather", "a.b", "zebra", "0x"};
    for (size_t i = 0; i < 4; i++)
        add_extension(f, ids[i]);
    struct pl_extension_row *rows = NULL;
    size_t n = 0;
    assert_int_equal(pl_store_extension_list(f->store, &f->arena, &rows, &n, NULL), PL_OK);
    assert_int_equal(n, 4);
    for (size_t i = 0; i < n; i++)
        assert_str(rows[i].id, pl_str_of(ids[i]));
}

/* --- tools ----------------------------------------------------------------------------------- */

static enum pl_status see(struct fixture *f, const char *extension, const char *name,
                          const char *hash)
{
    struct pl_batch *batch = pl_batch_create();
    pl_batch_see_extension_tool(batch, pl_str_of(extension),
                                &(struct pl_extension_tool_row){.name = pl_str_of(name),
                                                                .seen = pl_str_of(hash),
                                                                .definition = pl_str_of(hash),
                                                                .seen_ms = 5});
    return pl_store_commit(f->store, batch, NULL);
}

static enum pl_status accept_tool(struct fixture *f, const char *name, const char *hash)
{
    struct pl_batch *batch = pl_batch_create();
    pl_batch_accept_extension_tool(batch, PL_STR("weather"), pl_str_of(name), pl_str_of(hash));
    return pl_store_commit(f->store, batch, NULL);
}

static struct pl_extension_tool_row first_tool(struct fixture *f, size_t n_expected)
{
    struct pl_extension_tool_row *tools = NULL;
    size_t n = 0;
    assert_int_equal(
        pl_store_extension_tools(f->store, &f->arena, PL_STR("weather"), &tools, &n, NULL), PL_OK);
    assert_int_equal(n, n_expected);
    return n ? tools[0] : (struct pl_extension_tool_row){0};
}

static void a_tool_is_pinned_at_first_sight_and_changes_only_by_acceptance(void **state)
{
    struct fixture *f = *state;
    add_extension(f, "weather");
    assert_int_equal(see(f, "weather", "report", "h1"), PL_OK);
    assert_int_equal(see(f, "weather", "zone", "z1"), PL_OK);
    struct pl_extension_tool_row tool = first_tool(f, 2);
    assert_str(tool.accepted, PL_STR("h1"));
    assert_str(tool.seen, PL_STR("h1"));
    assert_int_equal(see(f, "weather", "report", "h2"), PL_OK);
    tool = first_tool(f, 2);
    assert_str(tool.accepted, PL_STR("h1"));
    assert_str(tool.seen, PL_STR("h2"));
    assert_str(tool.definition, PL_STR("h2"));
    /* The person accepted the version they saw, not a later one. */
    assert_int_equal(accept_tool(f, "report", "h3"), PL_NOT_FOUND);
    assert_int_equal(accept_tool(f, "nothing", "h2"), PL_NOT_FOUND);
    assert_int_equal(accept_tool(f, "report", "h2"), PL_OK);
    assert_str(first_tool(f, 2).accepted, PL_STR("h2"));
    assert_int_equal(see(f, "none", "report", "h1"), PL_NOT_FOUND);
}

/* --- answers --------------------------------------------------------------------------------- */

static enum pl_status answer(struct fixture *f, const struct pl_id *user, const char *target,
                             bool is_allowed)
{
    struct pl_batch *batch = pl_batch_create();
    pl_batch_put_extension_answer(batch, PL_STR("weather"),
                                  &(struct pl_extension_answer_row){.user_id = id_str(user),
                                                                    .capability = PL_STR("write"),
                                                                    .target = str_of(target),
                                                                    .manifest_hash = PL_STR("b2"),
                                                                    .is_allowed = is_allowed,
                                                                    .answered_ms = 9});
    return pl_store_commit(f->store, batch, NULL);
}

static size_t answers_of(struct fixture *f, struct pl_str user_id,
                         struct pl_extension_answer_row **ret_answers)
{
    size_t n = 99;
    assert_int_equal(pl_store_extension_answers(f->store, &f->arena, PL_STR("weather"), user_id,
                                                ret_answers, &n, NULL),
                     PL_OK);
    return n;
}

static void an_answer_is_its_users(void **state)
{
    struct fixture *f = *state;
    struct pl_extension_answer_row *answers = NULL;
    assert_int_equal(answer(f, &f->user, "src", true), PL_NOT_FOUND);
    add_extension(f, "weather");
    assert_int_equal(answer(f, &f->user, "src", true), PL_OK);
    assert_int_equal(answer(f, &f->user, "src", false), PL_OK);
    assert_int_equal(answer(f, &f->user, NULL, true), PL_OK);
    assert_int_equal(answer(f, &f->other, "docs", true), PL_OK);
    assert_int_equal(answers_of(f, id_str(&f->user), &answers), 2);
    assert_str(answers[0].target, PL_STR(""));
    assert_str(answers[1].target, PL_STR("src"));
    assert_str(answers[1].user_id, id_str(&f->user));
    assert_str(answers[1].capability, PL_STR("write"));
    assert_str(answers[1].manifest_hash, PL_STR("b2"));
    assert_true(!answers[1].is_allowed && answers[0].is_allowed && answers[1].answered_ms == 9);
    assert_int_equal(answers_of(f, (struct pl_str){0}, &answers), 3);

    struct pl_batch *batch = pl_batch_create();
    pl_batch_forget_extension_answers(batch, PL_STR("weather"), id_str(&f->user));
    commit(f, batch);
    assert_int_equal(answers_of(f, (struct pl_str){0}, &answers), 1);
    batch = pl_batch_create();
    pl_batch_forget_extension_answers(batch, PL_STR("weather"), (struct pl_str){0});
    commit(f, batch);
    assert_int_equal(answers_of(f, (struct pl_str){0}, &answers), 0);
}

static void answers_go_with_their_user(void **state)
{
    struct fixture *f = *state;
    struct pl_extension_answer_row *answers = NULL;
    add_extension(f, "weather");
    const struct pl_id *users[] = {&f->user, &f->other};
    for (size_t i = 0; i < 2; i++) {
        struct pl_batch *batch = pl_batch_create();
        pl_batch_create_user(
            batch,
            &(struct pl_user_row){.id = id_str(users[i]), .name = PL_STR("x"), .is_admin = true});
        commit(f, batch);
        assert_int_equal(answer(f, users[i], "src", true), PL_OK);
    }
    struct pl_batch *batch = pl_batch_create();
    pl_batch_erase_user(batch, id_str(&f->user));
    commit(f, batch);
    assert_int_equal(answers_of(f, (struct pl_str){0}, &answers), 1);
    assert_str(answers[0].user_id, id_str(&f->other));
    assert_int_equal(answer(f, &f->user, "src", true), PL_NOT_FOUND);
}

/* --- quarantines ----------------------------------------------------------------------------- */

static enum pl_status quarantine(struct fixture *f, const struct pl_id *user, const char *error)
{
    struct pl_batch *batch = pl_batch_create();
    pl_batch_quarantine_extension(batch, PL_STR("weather"),
                                  &(struct pl_extension_quarantine_row){.user_id = id_str(user),
                                                                        .error = pl_str_of(error),
                                                                        .since_ms = 7});
    return pl_store_commit(f->store, batch, NULL);
}

static size_t quarantines(struct fixture *f, struct pl_extension_quarantine_row **ret_rows)
{
    size_t n = 0;
    assert_int_equal(
        pl_store_extension_quarantines(f->store, &f->arena, PL_STR("weather"), ret_rows, &n, NULL),
        PL_OK);
    return n;
}

static void a_quarantine_is_its_users(void **state)
{
    struct fixture *f = *state;
    struct pl_extension_quarantine_row *rows = NULL;
    assert_int_equal(quarantine(f, &f->user, "crashed"), PL_NOT_FOUND);
    add_extension(f, "weather");
    assert_int_equal(quarantines(f, &rows), 0);
    assert_int_equal(quarantine(f, &f->user, "crashed"), PL_OK);
    assert_int_equal(quarantine(f, &f->user, "crashed again"), PL_OK);
    assert_int_equal(quarantines(f, &rows), 1);
    assert_str(rows[0].user_id, id_str(&f->user));
    assert_str(rows[0].error, PL_STR("crashed again"));
    assert_int_equal(rows[0].since_ms, 7);
    assert_int_equal(quarantine(f, &f->other, "x"), PL_OK);
    assert_int_equal(quarantines(f, &rows), 2);
    struct pl_batch *batch = pl_batch_create();
    pl_batch_forget_extension_quarantines(batch, PL_STR("weather"));
    commit(f, batch);
    assert_int_equal(quarantines(f, &rows), 0);
    /* Removed with its extension. */
    assert_int_equal(quarantine(f, &f->user, "crashed"), PL_OK);
    batch = pl_batch_create();
    pl_batch_delete_extension(batch, PL_STR("weather"));
    commit(f, batch);
    add_extension(f, "weather");
    assert_int_equal(quarantines(f, &rows), 0);
}

static void everything_goes_with_the_extension(void **state)
{
    struct fixture *f = *state;
    struct pl_extension_row row;
    struct pl_extension_answer_row *answers = NULL;
    add_extension(f, "weather");
    assert_int_equal(see(f, "weather", "report", "h1"), PL_OK);
    assert_int_equal(answer(f, &f->user, "src", true), PL_OK);
    struct pl_batch *batch = pl_batch_create();
    pl_batch_delete_extension(batch, PL_STR("weather"));
    commit(f, batch);
    assert_int_equal(pl_store_extension_get(f->store, &f->arena, PL_STR("weather"), &row, NULL),
                     PL_NOT_FOUND);
    /* Added again, it has no data of the previous one. */
    add_extension(f, "weather");
    first_tool(f, 0);
    assert_int_equal(answers_of(f, (struct pl_str){0}, &answers), 0);
}

/* --- packages that nodes share --------------------------------------------------------------- */

static int64_t version_of(struct fixture *f)
{
    int64_t version = -1;
    assert_int_equal(pl_store_ext_version(f->store, &version, NULL), PL_OK);
    return version;
}

static void create_it(struct fixture *f, struct pl_batch *batch)
{
    struct pl_extension_row row = make_extension("weather");
    (void)f;
    pl_batch_create_extension(batch, &row);
}
static void update_it(struct fixture *f, struct pl_batch *batch)
{
    struct pl_extension_row row = get_extension(f, "weather");
    pl_batch_update_extension(batch, &row);
}
static void set_state(struct fixture *f, struct pl_batch *batch)
{
    (void)f;
    pl_batch_set_extension_state(batch, PL_STR("weather"), PL_STR("disabled"), (struct pl_str){0},
                                 3);
}
static void restart_it(struct fixture *f, struct pl_batch *batch)
{
    (void)f;
    pl_batch_restart_extension(batch, PL_STR("weather"));
}
static void quarantine_it(struct fixture *f, struct pl_batch *batch)
{
    pl_batch_quarantine_extension(
        batch, PL_STR("weather"),
        &(struct pl_extension_quarantine_row){.user_id = id_str(&f->user), .since_ms = 7});
}
static void pardon_it(struct fixture *f, struct pl_batch *batch)
{
    (void)f;
    pl_batch_forget_extension_quarantines(batch, PL_STR("weather"));
}
static void register_it(struct fixture *f, struct pl_batch *batch)
{
    (void)f;
    pl_batch_set_extension_registered(batch, PL_STR("weather"), PL_STR("{}"));
}
static void answer_it(struct fixture *f, struct pl_batch *batch)
{
    pl_batch_put_extension_answer(batch, PL_STR("weather"),
                                  &(struct pl_extension_answer_row){.user_id = id_str(&f->user),
                                                                    .capability = PL_STR("read"),
                                                                    .manifest_hash = PL_STR("b2"),
                                                                    .answered_ms = 1});
}
static void delete_it(struct fixture *f, struct pl_batch *batch)
{
    (void)f;
    pl_batch_delete_extension(batch, PL_STR("weather"));
}

static void what_other_nodes_must_know_raises_the_version(void **state)
{
    struct fixture *f = *state;
    static const struct {
        void (*fill)(struct fixture *f, struct pl_batch *batch);
        bool raises;
    } steps[] = {
        {create_it, true},    {update_it, true},     {set_state, true},
        {restart_it, true},   {quarantine_it, true}, {pardon_it, true},
        {register_it, false}, {answer_it, false},    {delete_it, true},
    };
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        int64_t before = version_of(f);
        struct pl_batch *batch = pl_batch_create();
        steps[i].fill(f, batch);
        commit(f, batch);
        assert_int_equal(version_of(f), before + steps[i].raises);
    }
}

static void a_restart_is_counted_and_survives_a_change(void **state)
{
    struct fixture *f = *state;
    add_extension(f, "weather");
    assert_int_equal(get_extension(f, "weather").restarts, 0);
    for (int i = 1; i <= 2; i++) {
        struct pl_batch *batch = pl_batch_create();
        restart_it(f, batch);
        commit(f, batch);
        assert_int_equal(get_extension(f, "weather").restarts, i);
    }
    struct pl_extension_row row = make_extension("weather");
    assert_int_equal(update(f, &row, NULL), PL_OK);
    assert_int_equal(get_extension(f, "weather").restarts, 2);
}

/* Larger than a part, and more files than a batch holds. */
enum { LARGE_BYTES = (2 << 20) + 5, N_SMALL = 600 };

static size_t make_files(struct fixture *f, struct pl_package_file *files)
{
    char *large = pl_arena_alloc(&f->arena, LARGE_BYTES, 1);
    assert_non_null(large);
    for (size_t i = 0; i < LARGE_BYTES; i++)
        large[i] = (char)(i * 7 + i / 1000);
    size_t n = 0;
    files[n++] = (struct pl_package_file){PL_STR("a/large"), {large, LARGE_BYTES}, false};
    files[n++] = (struct pl_package_file){PL_STR("b-empty"), PL_STR(""), true};
    for (int i = 0; i < N_SMALL; i++) {
        char path[16];
        snprintf(path, sizeof path, "c/%03d", i);
        struct pl_str kept = pl_arena_dup(&f->arena, pl_str_of(path));
        files[n++] = (struct pl_package_file){kept, kept, i % 2 == 0};
    }
    return n;
}

static enum pl_status get_package(struct fixture *f, const char *artifact,
                                  struct pl_package_file **ret_files, size_t *ret_n)
{
    return pl_store_package_get(f->store, &f->arena, pl_str_of(artifact), ret_files, ret_n, NULL);
}

static void a_package_comes_back_as_it_was_put(void **state)
{
    struct fixture *f = *state;
    static struct pl_package_file files[N_SMALL + 2];
    struct pl_package_file *got = NULL;
    size_t n = make_files(f, files), n_got = 0;
    bool has = true;
    assert_int_equal(get_package(f, "a1", &got, &n_got), PL_NOT_FOUND);
    assert_int_equal(pl_store_package_has(f->store, PL_STR("a1"), &has, NULL), PL_OK);
    assert_false(has);
    /* Repeating it changes nothing. */
    for (int k = 0; k < 2; k++) {
        assert_int_equal(pl_store_package_put(f->store, PL_STR("a1"), files, n, 1000, NULL), PL_OK);
        assert_int_equal(pl_store_package_has(f->store, PL_STR("a1"), &has, NULL), PL_OK);
        assert_true(has);
        assert_int_equal(get_package(f, "a1", &got, &n_got), PL_OK);
        assert_int_equal(n_got, n);
        for (size_t i = 0; i < n; i++) {
            assert_str(got[i].path, files[i].path);
            assert_int_equal(got[i].is_executable, files[i].is_executable);
            assert_int_equal(got[i].bytes.len, files[i].bytes.len);
            assert_memory_equal(got[i].bytes.ptr, files[i].bytes.ptr, files[i].bytes.len);
        }
    }
    assert_int_equal(get_package(f, "a2", &got, &n_got), PL_NOT_FOUND);
}

static void sweep_packages(struct fixture *f, int64_t now_ms)
{
    struct pl_batch *batch = pl_batch_create();
    pl_batch_sweep_packages(batch, now_ms);
    commit(f, batch);
}

static void packages_of_no_extension_go_after_an_hour(void **state)
{
    struct fixture *f = *state;
    struct pl_package_file file = {PL_STR("x"), PL_STR("1"), false}, *got = NULL;
    size_t n = 0;
    add_extension(f, "weather"); /* of artifact a1 */
    for (int i = 0; i < 2; i++)
        assert_int_equal(
            pl_store_package_put(f->store, i ? PL_STR("a2") : PL_STR("a1"), &file, 1, 1000, NULL),
            PL_OK);
    sweep_packages(f, 1000 + 3600 * 1000);
    assert_int_equal(get_package(f, "a2", &got, &n), PL_OK);
    sweep_packages(f, 1001 + 3600 * 1000);
    assert_int_equal(get_package(f, "a2", &got, &n), PL_NOT_FOUND);
    assert_int_equal(get_package(f, "a1", &got, &n), PL_OK);
    assert_int_equal(n, 1);
}

static const struct CMUnitTest tests[] = {
    ON_STORE(what_other_nodes_must_know_raises_the_version),
    ON_STORE(a_restart_is_counted_and_survives_a_change),
    ON_STORE(a_package_comes_back_as_it_was_put),
    ON_STORE(packages_of_no_extension_go_after_an_hour),
    ON_STORE(an_extension_comes_back_as_it_was_made),
    ON_STORE(an_id_exists_once),
    ON_STORE(a_change_expects_the_revision_that_was_read),
    ON_STORE(the_supervisor_changes_the_state_whatever_the_revision),
    ON_STORE(the_list_is_in_the_order_of_adding),
    ON_STORE(a_tool_is_pinned_at_first_sight_and_changes_only_by_acceptance),
    ON_STORE(an_answer_is_its_users),
    ON_STORE(a_quarantine_is_its_users),
    ON_STORE(answers_go_with_their_user),
    ON_STORE(everything_goes_with_the_extension),
};
const struct suite_part extensions_part = {tests, sizeof tests / sizeof *tests};
