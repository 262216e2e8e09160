/* Runs seeds, and prints TAP. `sim-test FROM N` runs N seeds from FROM; `sim-test seed S` traces
 * one; `sim-test guards N` disables each guard, and looks for a seed among N that notices;
 * `sim-test without GUARD S` traces such a run. */
#include "base.h"
#include "base/hash.h"
#include "kernel.h"
#include "story.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Many small blocks live briefly: a small quarantine still finds uses after a kill, and costs less.
 * */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "detect_stack_use_after_return=0:quarantine_size_mb=4:malloc_context_size=4";
}

static char broken[256]; /* the violation of the last failed run */

static bool run(uint64_t seed, enum scene scene, enum guard without, bool prints)
{
    bool is_printed = prints && getenv("SIM_TRACE");
    bool is_good = story_run(seed, scene, without, is_printed ? SIM_PRINTED : SIM_UNTRACED);
    if (!is_good)
        snprintf(broken, sizeof broken, "%s", sim_failure());
    sim_end();
    if (!is_good && prints) {
        if (story_run(seed, scene, without, SIM_KEPT))
            printf("# the same seed is another run the second time\n");
        sim_print_trace();
        printf("# seed %llu: %s\n", (unsigned long long)seed, broken);
        fflush(stdout);
        sim_end();
    }
    return is_good;
}

/* The memory of a killed node is never freed, so each process runs only a few seeds. */
static uint64_t run_apart(uint64_t from, uint64_t n)
{
    fflush(stdout);
    pid_t child = fork();
    if (child < 0)
        return n;
    if (child == 0) {
        int n_bad = 0;
        for (uint64_t i = 0; i < n; i++)
            n_bad += !run(from + i, SCENE_COUNT, GUARD_COUNT, true);
        fflush(stdout);
        _exit(n_bad);
    }
    int status;
    if (waitpid(child, &status, 0) != child || !WIFEXITED(status)) {
        printf("# a seed from %llu to %llu ended the process\n", (unsigned long long)from,
               (unsigned long long)(from + n - 1));
        return n;
    }
    return (uint64_t)WEXITSTATUS(status);
}

static int run_seeds(uint64_t from, uint64_t n)
{
    enum { TOGETHER = 25 };
    uint64_t n_bad = 0;
    for (uint64_t i = 0; i < n && n_bad < 5; i += TOGETHER)
        n_bad += run_apart(from + i, n - i < TOGETHER ? n - i : TOGETHER);
    printf("1..1\n%sok 1 - seeds %llu to %llu keep every promise\n", n_bad ? "not " : "",
           (unsigned long long)from, (unsigned long long)(from + n - 1));
    return n_bad != 0;
}

/* The scene that needs each guard. */
static const enum scene scenes[GUARD_COUNT] = {
    [GUARD_MARK] = SCENE_LATE_WAKE,         [GUARD_LOCK] = SCENE_LATE_WRITE,
    [GUARD_TERMINATE] = SCENE_STUCK_WRITER, [GUARD_GENERATION] = SCENE_SUCCESSION,
    [GUARD_STEADY] = SCENE_OUTAGE,          [GUARD_SELF_FENCE] = SCENE_LONE_SPEAKER,
    [GUARD_GAPS] = SCENE_LAST_LETTER,
};

/* A seed that fails without the guard, and passes with it. */
static bool is_noticed(uint64_t seed, enum guard without)
{
    char why[sizeof broken];
    if (run(seed, scenes[without], without, false))
        return false;
    memcpy(why, broken, sizeof why);
    bool is_good = run(seed, scenes[without], GUARD_COUNT, false);
    memcpy(broken, why, sizeof broken);
    return is_good;
}

static int run_guards(uint64_t n)
{
    int n_missed = 0;
    printf("1..%d\n", GUARD_COUNT);
    for (int guard = 0; guard < GUARD_COUNT; guard++) {
        uint64_t seed = 0;
        while (seed < n && !is_noticed(seed, (enum guard)guard))
            seed++;
        n_missed += seed == n;
        printf("%sok %d - without the guard \"%s\" a seed breaks a promise\n",
               seed == n ? "not " : "", guard + 1, guard_names[guard]);
        if (seed < n)
            printf("# seed %llu: %s\n", (unsigned long long)seed, broken);
        fflush(stdout);
    }
    return n_missed != 0;
}

/* One seed, as `guards` runs it. */
static int run_without(const char *name, uint64_t seed)
{
    for (int guard = 0; guard < GUARD_COUNT; guard++)
        if (strcmp(guard_names[guard], name) == 0)
            return !run(seed, scenes[guard], (enum guard)guard, true);
    fprintf(stderr, "no guard is called \"%s\"\n", name);
    return 2;
}

int main(int argc, char **argv)
{
    pl_hash_set_key((struct pl_hash_key){{1, 2}});
    sim_start();
    base_start();
    if (argc == 3 && strcmp(argv[1], "seed") == 0)
        return !run(strtoull(argv[2], NULL, 10), SCENE_COUNT, GUARD_COUNT, true);
    if (argc == 4 && strcmp(argv[1], "without") == 0)
        return run_without(argv[2], strtoull(argv[3], NULL, 10));
    if (argc == 3 && strcmp(argv[1], "guards") == 0)
        return run_guards(strtoull(argv[2], NULL, 10));
    if (argc == 3)
        return run_seeds(strtoull(argv[1], NULL, 10), strtoull(argv[2], NULL, 10));
    fprintf(stderr, "usage: sim-test FROM N | seed S | guards N | without GUARD S\n");
    return 2;
}
