/* The contract: scheduled tasks and their runs. */
#include "contract/suite.h"
#include "store/work.h"

#include <pthread.h>
#include <stdio.h>

static struct pl_task_row make_task(struct fixture *f, const struct pl_id *id)
{
    return (struct pl_task_row){
        .id = id_str(id),
        .user_id = id_str(&f->user),
        .title = PL_STR("Morning news"),
        .prompt = PL_STR("What is new?"),
        .cron = PL_STR("0 8 * * *"),
        .timezone = PL_STR("Europe/Berlin"),
        .overlap = PL_STR("skip"),
        .enabled = true,
        .next_ms = 5000,
        .revision = 1,
        .created_ms = 1000,
        .updated_ms = 1000,
    };
}

static struct pl_id add_task(struct fixture *f)
{
    struct pl_id id = pl_id_take(&f->seed, "task_");
    struct pl_task_row task = make_task(f, &id);
    struct pl_batch *batch = pl_batch_create();
    pl_batch_create_task(batch, &task);
    commit(f, batch);
    return id;
}

static struct pl_task_row get_task(struct fixture *f, const struct pl_id *id)
{
    struct pl_task_row task = {0};
    assert_int_equal(
        pl_store_task_get(f->store, &f->arena, id_str(&f->user), id_str(id), &task, NULL), PL_OK);
    return task;
}

static void a_task_comes_back_as_it_was_made(void **state)
{
    struct fixture *f = *state;
    struct pl_id id = pl_id_take(&f->seed, "task_");
    struct pl_task_row task = make_task(f, &id);
    task.prompt = (struct pl_str){NULL, 0};
    task.prompt_ref = PL_STR("{\"prompt_id\":\"p\",\"label\":\"production\"}");
    task.model = PL_STR("anthropic/claude");
    task.skip_confirmations = true;
    task.expires_ms = 99;
    task.next_ms = INT64_MAX;
    task.last_ms = 7;
    task.disabled_reason = PL_STR("by hand");
    task.updated_ms = 1001;
    struct pl_batch *batch = pl_batch_create();
    pl_batch_create_task(batch, &task);
    commit(f, batch);
    struct pl_task_row got = get_task(f, &id);
    assert_str(got.id, task.id);
    assert_str(got.user_id, task.user_id);
    assert_str(got.title, task.title);
    assert_str(got.prompt, task.prompt);
    assert_str(got.prompt_ref, task.prompt_ref);
    assert_str(got.cron, task.cron);
    assert_str(got.timezone, task.timezone);
    assert_str(got.model, task.model);
    assert_str(got.overlap, task.overlap);
    assert_str(got.disabled_reason, task.disabled_reason);
    assert_true(got.enabled && got.skip_confirmations);
    assert_true(got.expires_ms == 99 && got.next_ms == INT64_MAX && got.last_ms == 7);
    assert_true(got.revision == 1 && got.n_failures == 0);
    assert_true(got.created_ms == 1000 && got.updated_ms == 1001);
    assert_int_equal(pl_store_task_get(f->store, &f->arena, id_str(&f->other), task.id, &got, NULL),
                     PL_NOT_FOUND);
    struct pl_str service = {NULL, 0};
    assert_int_equal(pl_store_task_get(f->store, &f->arena, service, task.id, &got, NULL), PL_OK);
}

static enum pl_status update(struct fixture *f, const struct pl_task_row *task)
{
    struct pl_batch *batch = pl_batch_create();
    pl_batch_put_setting(batch, PL_STR("beside"), PL_STR("x"));
    pl_batch_update_task(batch, task);
    struct pl_error err = {0};
    enum pl_status status = pl_store_commit(f->store, batch, &err);
    if (status != PL_OK)
        assert_non_null(strstr(err.message, "the task "));
    return status;
}

static void a_change_that_expected_another_revision_fails_with_its_batch(void **state)
{
    struct fixture *f = *state;
    struct pl_id id = add_task(f), nobodys = pl_id_take(&f->seed, "task_");
    struct pl_task_row task = make_task(f, &id), stale;
    struct pl_str value;
    task.revision = 2;
    assert_int_equal(update(f, &task), PL_CONFLICT);
    task.revision = 1;
    task.user_id = id_str(&f->other);
    assert_int_equal(update(f, &task), PL_CONFLICT);
    task = make_task(f, &nobodys);
    assert_int_equal(update(f, &task), PL_CONFLICT);
    assert_int_equal(pl_store_setting_get(f->store, &f->arena, PL_STR("beside"), &value, NULL),
                     PL_NOT_FOUND);
    task = stale = make_task(f, &id);
    task.title = PL_STR("Evening news");
    task.n_failures = 3;
    task.updated_ms = 2000;
    assert_int_equal(update(f, &task), PL_OK);
    stale.title = PL_STR("Nobody's news");
    assert_int_equal(update(f, &stale), PL_CONFLICT);
    struct pl_task_row got = get_task(f, &id);
    assert_str(got.title, PL_STR("Evening news"));
    assert_true(got.revision == 2 && got.n_failures == 3);
    assert_true(got.created_ms == 1000 && got.updated_ms == 2000);
    struct pl_str service = {NULL, 0};
    assert_int_equal(pl_store_task_get(f->store, &f->arena, service, id_str(&nobodys), &got, NULL),
                     PL_NOT_FOUND);
}

static struct pl_task_page list(struct fixture *f, struct pl_task_query query)
{
    struct pl_task_page page = {0};
    struct pl_error err = {0};
    if (pl_store_task_list(f->store, &f->arena, &query, &page, &err) != PL_OK)
        fail_msg("%s", err.message);
    return page;
}

static void tasks_are_listed_newest_first_by_filter_and_page(void **state)
{
    struct fixture *f = *state;
    static const char *const titles[] = {"alpha", "Beta 100%", "gamma", "BETA", "Übung"};
    struct pl_id ids[5];
    struct pl_batch *batch = pl_batch_create();
    for (size_t i = 0; i < 5; i++) {
        ids[i] = pl_id_take(&f->seed, "task_");
        struct pl_task_row task = make_task(f, &ids[i]);
        task.title = str_of(titles[i]);
        task.enabled = i % 2;
        pl_batch_create_task(batch, &task);
    }
    struct pl_id id = pl_id_take(&f->seed, "task_");
    struct pl_task_row theirs = make_task(f, &id);
    theirs.user_id = id_str(&f->other);
    pl_batch_create_task(batch, &theirs);
    commit(f, batch);
    struct pl_task_query all = {.user_id = id_str(&f->user), .is_enabled = -1, .limit = 2};
    struct pl_task_page page = list(f, all);
    assert_true(page.total == 5 && page.n_items == 2 && page.has_more);
    assert_str(page.items[0].title, PL_STR("Übung"));
    assert_str(page.items[1].title, PL_STR("BETA"));
    all.after_id = page.items[1].id;
    page = list(f, all);
    assert_true(page.total == 5 && page.n_items == 2 && page.has_more);
    assert_str(page.items[0].title, PL_STR("gamma"));
    all.after_id = page.items[1].id;
    page = list(f, all);
    assert_true(page.n_items == 1 && !page.has_more);
    assert_str(page.items[0].title, PL_STR("alpha"));
    page = list(f, (struct pl_task_query){id_str(&f->user), -1, PL_STR(""), 10, 3, {NULL, 0}});
    assert_true(page.n_items == 2 && !page.has_more && page.total == 5);
    page = list(f, (struct pl_task_query){id_str(&f->user), 1, PL_STR("beta"), 10, 0, {NULL, 0}});
    assert_true(page.n_items == 2 && page.total == 2);
    page = list(f, (struct pl_task_query){id_str(&f->user), -1, PL_STR("0%"), 10, 0, {NULL, 0}});
    assert_true(page.n_items == 1 && page.total == 1);
    page = list(f, (struct pl_task_query){id_str(&f->user), 0, PL_STR("üBU"), 10, 0, {NULL, 0}});
    assert_int_equal(page.n_items, 1);
}

static void what_is_due_comes_longest_due_first_of_all_users(void **state)
{
    struct fixture *f = *state;
    int64_t next_ms;
    assert_int_equal(pl_store_task_next(f->store, &next_ms, NULL), PL_OK);
    assert_true(next_ms == INT64_MAX);
    struct pl_batch *batch = pl_batch_create();
    for (int64_t i = 0; i < 6; i++) {
        struct pl_id id = pl_id_take(&f->seed, "task_");
        struct pl_task_row task = make_task(f, &id);
        task.user_id = id_str(i % 2 ? &f->user : &f->other);
        task.next_ms = i == 5 ? INT64_MAX : 5000 - i * 100;
        task.enabled = i != 2;
        pl_batch_create_task(batch, &task);
    }
    commit(f, batch);
    assert_int_equal(pl_store_task_next(f->store, &next_ms, NULL), PL_OK);
    assert_true(next_ms == 4600);
    struct pl_task_page page;
    assert_int_equal(pl_store_task_due(f->store, &f->arena, 4599, 10, &page, NULL), PL_OK);
    assert_true(page.n_items == 0 && page.total == 0 && !page.has_more);
    assert_int_equal(pl_store_task_due(f->store, &f->arena, 4900, 10, &page, NULL), PL_OK);
    assert_true(page.n_items == 3 && page.total == 3);
    assert_true(page.items[0].next_ms == 4600 && page.items[2].next_ms == 4900);
    assert_int_equal(pl_store_task_due(f->store, &f->arena, 9999, 2, &page, NULL), PL_OK);
    assert_true(page.n_items == 2 && page.has_more && page.total == 4);
}

static void a_task_moves_on_and_never_back(void **state)
{
    struct fixture *f = *state;
    struct pl_id id = add_task(f);
    struct pl_batch *batch = pl_batch_create();
    pl_batch_advance_task(batch, id_str(&id), 1, 5000, 6000);
    pl_batch_advance_task(batch, id_str(&id), 1, 4000, 5500);
    commit(f, batch);
    struct pl_task_row task = get_task(f, &id);
    assert_true(task.last_ms == 5000 && task.next_ms == 6000 && task.revision == 1);
    task.next_ms = 5800;
    task.cron = PL_STR("0 9 * * *");
    assert_int_equal(update(f, &task), PL_OK);
    batch = pl_batch_create();
    pl_batch_advance_task(batch, id_str(&id), 1, 6000, 7000);
    commit(f, batch);
    task = get_task(f, &id);
    assert_true(task.last_ms == 5000 && task.next_ms == 5800 && task.revision == 2);
}

static void rewind_task(struct fixture *f, const struct pl_id *id, int64_t revision,
                        int64_t next_ms)
{
    struct pl_batch *batch = pl_batch_create();
    pl_batch_rewind_task(batch, id_str(id), revision, next_ms);
    commit(f, batch);
}

static void a_task_is_rewound_sooner_never_later_and_only_as_it_was_read(void **state)
{
    struct fixture *f = *state;
    struct pl_id id = add_task(f), other = add_task(f);
    struct pl_batch *batch = pl_batch_create();
    pl_batch_advance_task(batch, id_str(&id), 1, 5000, 90000);
    pl_batch_advance_task(batch, id_str(&other), 1, 5000, 90000);
    commit(f, batch);
    rewind_task(f, &id, 1, 7000);
    struct pl_task_row task = get_task(f, &id);
    assert_true(task.next_ms == 7000 && task.last_ms == 5000 && task.revision == 1);
    rewind_task(f, &id, 1, 8000); /* later than the stored time */
    rewind_task(f, &id, 2, 6000); /* of another revision */
    task = get_task(f, &id);
    assert_true(task.next_ms == 7000 && task.revision == 1);
    assert_true(get_task(f, &other).next_ms == 90000);
    task.enabled = false;
    assert_int_equal(update(f, &task), PL_OK);
    rewind_task(f, &id, 2, 6000); /* disabled */
    assert_true(get_task(f, &id).next_ms == 7000);
}

static void count(struct fixture *f, const struct pl_id *id, bool has_failed)
{
    struct pl_batch *batch = pl_batch_create();
    pl_batch_count_task(batch, id_str(id), has_failed, 3, PL_STR("it failed too often"), 4000);
    commit(f, batch);
}

static void failures_in_a_row_disable(void **state)
{
    struct fixture *f = *state;
    struct pl_id id = add_task(f);
    count(f, &id, true);
    count(f, &id, true);
    struct pl_task_row task = get_task(f, &id);
    assert_true(task.n_failures == 2 && task.enabled && !task.disabled_reason.ptr);
    assert_true(task.revision == 1 && task.updated_ms == 1000);
    count(f, &id, false);
    assert_int_equal(get_task(f, &id).n_failures, 0);
    for (int i = 0; i < 3; i++)
        count(f, &id, true);
    task = get_task(f, &id);
    assert_true(task.n_failures == 3 && !task.enabled);
    assert_str(task.disabled_reason, PL_STR("it failed too often"));
    assert_true(task.revision == 2 && task.updated_ms == 4000);
    count(f, &id, true);
    assert_int_equal(get_task(f, &id).revision, 2);
}

/* --- runs ------------------------------------------------------------------------------------ */

static struct pl_task_run_row make_run(const struct pl_id *id, const struct pl_id *task,
                                       int64_t due_ms)
{
    return (struct pl_task_run_row){
        .id = id_str(id),
        .task_id = id_str(task),
        .status = PL_STR("running"),
        .due_ms = due_ms,
        .triggered_ms = due_ms + 1,
    };
}

static enum pl_status create_run(struct fixture *f, const struct pl_task_run_row *run)
{
    struct pl_batch *batch = pl_batch_create();
    pl_batch_create_run(batch, run);
    return pl_store_commit(f->store, batch, NULL);
}

static void an_occurrence_is_one_run_and_hands_may_make_more(void **state)
{
    struct fixture *f = *state;
    struct pl_id task = add_task(f), other = add_task(f), ids[5];
    for (size_t i = 0; i < 5; i++)
        ids[i] = pl_id_take(&f->seed, "run_");
    struct pl_task_run_row run = make_run(&ids[0], &task, 5000);
    assert_int_equal(create_run(f, &run), PL_OK);
    run.id = id_str(&ids[1]);
    assert_int_equal(create_run(f, &run), PL_CONFLICT);
    run.is_manual = true;
    assert_int_equal(create_run(f, &run), PL_OK);
    run.id = id_str(&ids[2]);
    assert_int_equal(create_run(f, &run), PL_OK);
    run = make_run(&ids[3], &other, 5000);
    assert_int_equal(create_run(f, &run), PL_OK);
    struct pl_id nobodys = pl_id_take(&f->seed, "task_");
    run = make_run(&ids[4], &nobodys, 5000);
    assert_int_equal(create_run(f, &run), PL_NOT_FOUND);
}

static struct pl_task_run_page list_runs(struct fixture *f, struct pl_task_run_query query)
{
    struct pl_task_run_page page = {0};
    assert_int_equal(pl_store_run_list(f->store, &f->arena, &query, &page, NULL), PL_OK);
    return page;
}

static struct pl_task_run_page all_runs(struct fixture *f, const struct pl_id *task)
{
    return list_runs(f, (struct pl_task_run_query){id_str(task), {NULL, 0}, -1, INT64_MAX, 100, 0});
}

static void a_run_is_changed_found_and_goes_with_its_task(void **state)
{
    struct fixture *f = *state;
    struct pl_id task = add_task(f), id = pl_id_take(&f->seed, "run_"), session = add_session(f);
    struct pl_task_run_row run = make_run(&id, &task, 5000);
    run.n_missed = 4;
    assert_int_equal(create_run(f, &run), PL_OK);
    run.status = PL_STR("failed");
    run.error = PL_STR("no model answers");
    run.session_id = id_str(&session);
    run.finished_ms = 8000;
    struct pl_batch *batch = pl_batch_create();
    pl_batch_update_run(batch, &run);
    commit(f, batch);
    assert_int_equal(all_runs(f, &task).n_items, 1);
    struct pl_task_run_row got = all_runs(f, &task).items[0];
    assert_str(got.id, run.id);
    assert_str(got.task_id, run.task_id);
    assert_str(got.session_id, run.session_id);
    assert_str(got.status, run.status);
    assert_str(got.error, run.error);
    assert_true(got.due_ms == 5000 && got.n_missed == 4 && !got.is_manual);
    assert_true(got.triggered_ms == 5001 && got.finished_ms == 8000);
    batch = pl_batch_create();
    pl_batch_delete_task(batch, id_str(&f->other), id_str(&task));
    commit(f, batch);
    get_task(f, &task);
    batch = pl_batch_create();
    pl_batch_delete_task(batch, id_str(&f->user), id_str(&task));
    commit(f, batch);
    assert_int_equal(all_runs(f, &task).n_items, 0);
}

static void runs_are_listed_newest_due_first_by_status_and_time(void **state)
{
    struct fixture *f = *state;
    struct pl_id task = add_task(f), other = add_task(f);
    struct pl_batch *batch = pl_batch_create();
    for (int64_t i = 0; i < 10; i++) {
        struct pl_id id = pl_id_take(&f->seed, "run_");
        struct pl_task_run_row run = make_run(&id, i == 9 ? &other : &task, 1000 * i);
        run.status = i % 3 ? PL_STR("completed") : PL_STR("missed");
        pl_batch_create_run(batch, &run);
    }
    commit(f, batch);
    struct pl_str any = {NULL, 0};
    struct pl_task_run_page page =
        list_runs(f, (struct pl_task_run_query){id_str(&task), any, -1, INT64_MAX, 4, 0});
    assert_true(page.n_items == 4 && page.total == 9 && page.has_more);
    assert_true(page.items[0].due_ms == 8000 && page.items[3].due_ms == 5000);
    assert_str(page.items[0].task_id, id_str(&task));
    page = list_runs(f, (struct pl_task_run_query){id_str(&task), any, -1, INT64_MAX, 4, 8});
    assert_true(page.n_items == 1 && !page.has_more && page.items[0].due_ms == 0);
    page = list_runs(
        f, (struct pl_task_run_query){id_str(&task), PL_STR("missed"), -1, INT64_MAX, 10, 0});
    assert_true(page.n_items == 3 && page.total == 3);
    page = list_runs(f, (struct pl_task_run_query){id_str(&task), any, 2000, 5000, 10, 0});
    assert_true(page.n_items == 2 && page.total == 2 && page.items[0].due_ms == 4000);
}

static void runs_that_a_crash_left_are_failed_unless_they_wait_for_an_answer(void **state)
{
    struct fixture *f = *state;
    static const enum pl_session_status statuses[] = {PL_SESSION_INTERRUPTED, PL_SESSION_WAITING};
    struct pl_id task = add_task(f), ids[4];
    struct pl_batch *batch = pl_batch_create();
    for (size_t i = 0; i < 4; i++) {
        struct pl_id session = pl_id_take(&f->seed, "sess_");
        struct pl_session_record record = make_session(f, &session);
        ids[i] = pl_id_take(&f->seed, "run_");
        struct pl_task_run_row run = make_run(&ids[i], &task, (int64_t)i);
        if (i < 2) {
            record.status = statuses[i];
            put_session(batch, &record);
            run.session_id = id_str(&session);
        }
        run.status = i == 3 ? PL_STR("completed") : PL_STR("running");
        pl_batch_create_run(batch, &run);
    }
    commit(f, batch);
    fixture_outlive(f);
    batch = pl_batch_create();
    pl_batch_settle_runs(batch, PL_STR("the server ended"), 9000);
    commit(f, batch);
    static const char *const expected[] = {"failed", "running", "failed", "completed"};
    struct pl_task_run_page page = all_runs(f, &task);
    assert_int_equal(page.n_items, 4);
    for (size_t i = 0; i < 4; i++) {
        struct pl_task_run_row run = page.items[3 - i];
        assert_str(run.id, id_str(&ids[i]));
        assert_str(run.status, str_of(expected[i]));
        assert_int_equal(run.finished_ms, *expected[i] == 'f' ? 9000 : 0);
        assert_str(run.error, str_of(*expected[i] == 'f' ? "the server ended" : NULL));
    }
}

/* --- several schedulers ---------------------------------------------------------------------- */

enum { N_SCHEDULERS = 3, N_OCCURRENCES = 40 };

struct scheduler {
    struct fixture *f;
    struct pl_store *store; /* its own, if a store can be opened several times */
    struct pl_id_seed seed;
    struct pl_id task;
    size_t n_made, n_late, n_wrong;
};

/* Every scheduler sees every occurrence, makes its session and its run, and advances the task. */
static void *schedule_all(void *arg)
{
    struct scheduler *scheduler = arg;
    for (int64_t i = 0; i < N_OCCURRENCES; i++) {
        struct pl_id session = pl_id_take(&scheduler->seed, "sess_");
        struct pl_id id = pl_id_take(&scheduler->seed, "run_");
        struct pl_session_record record = make_session(scheduler->f, &session);
        struct pl_task_run_row run = make_run(&id, &scheduler->task, 5000 + i * 60);
        run.session_id = id_str(&session);
        struct pl_batch *batch = pl_batch_create();
        put_session(batch, &record);
        pl_batch_create_run(batch, &run);
        pl_batch_advance_task(batch, id_str(&scheduler->task), 1, run.due_ms, run.due_ms + 60);
        enum pl_status status = pl_store_commit(scheduler->store, batch, NULL);
        scheduler->n_made += status == PL_OK;
        scheduler->n_late += status == PL_CONFLICT;
        scheduler->n_wrong += status != PL_OK && status != PL_CONFLICT;
    }
    return NULL;
}

static void three_schedulers_make_each_occurrence_once(void **state)
{
    struct fixture *f = *state;
    struct pl_id task = add_task(f);
    struct scheduler schedulers[N_SCHEDULERS];
    pthread_t threads[N_SCHEDULERS];
    for (size_t i = 0; i < N_SCHEDULERS; i++) {
        schedulers[i] =
            (struct scheduler){.f = f, .store = fixture_join(f), .seed = f->seed, .task = task};
        schedulers[i].seed.random[0] += i + 1;
    }
    for (size_t i = 0; i < N_SCHEDULERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, schedule_all, &schedulers[i]), 0);
    size_t n_made = 0, n_late = 0, n_wrong = 0;
    for (size_t i = 0; i < N_SCHEDULERS; i++) {
        pthread_join(threads[i], NULL);
        fixture_leave(f, schedulers[i].store);
        n_made += schedulers[i].n_made;
        n_late += schedulers[i].n_late;
        n_wrong += schedulers[i].n_wrong;
    }
    assert_int_equal(n_wrong, 0);
    assert_int_equal(n_made, N_OCCURRENCES);
    assert_int_equal(n_late, (N_SCHEDULERS - 1) * N_OCCURRENCES);
    struct pl_task_run_page page = all_runs(f, &task);
    assert_true(page.n_items == N_OCCURRENCES && page.total == N_OCCURRENCES);
    struct pl_session_query query = {
        .user_id = id_str(&f->user), .status = PL_SESSION_STATUS_COUNT, .limit = 1};
    struct pl_session_page sessions;
    assert_int_equal(pl_store_session_list(f->store, &f->arena, &query, &sessions, NULL), PL_OK);
    assert_int_equal(sessions.total, N_OCCURRENCES);
    assert_int_equal(get_task(f, &task).next_ms, 5000 + N_OCCURRENCES * 60);
}

static const struct CMUnitTest tests[] = {
    ON_STORE(a_task_comes_back_as_it_was_made),
    ON_STORE(a_change_that_expected_another_revision_fails_with_its_batch),
    ON_STORE(tasks_are_listed_newest_first_by_filter_and_page),
    ON_STORE(what_is_due_comes_longest_due_first_of_all_users),
    ON_STORE(a_task_moves_on_and_never_back),
    ON_STORE(a_task_is_rewound_sooner_never_later_and_only_as_it_was_read),
    ON_STORE(failures_in_a_row_disable),
    ON_STORE(an_occurrence_is_one_run_and_hands_may_make_more),
    ON_STORE(a_run_is_changed_found_and_goes_with_its_task),
    ON_STORE(runs_are_listed_newest_due_first_by_status_and_time),
    ON_STORE(runs_that_a_crash_left_are_failed_unless_they_wait_for_an_answer),
    ON_STORE(three_schedulers_make_each_occurrence_once),
};
const struct suite_part tasks_part = {tests, sizeof tests / sizeof *tests};
