/* The contract: extensions, their tools and kept answers. */
#include "contract/suite.h"
#include "store/extensions.h"

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
    /* Accepted is what the person saw, not what came since. */
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
    /* With its extension. */
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
    /* Added again, it has nothing of the one before. */
    add_extension(f, "weather");
    first_tool(f, 0);
    assert_int_equal(answers_of(f, (struct pl_str){0}, &answers), 0);
}

static const struct CMUnitTest tests[] = {
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
