/* Measures the time to start a program in a cell, from the call to the running program.
 *
 * usage: cell-bench PARLEY [RUNS]
 *
 * Prints one JSON line: the median and the 99th percentile of the starts, and of the whole lives of
 * cells until they are fully cleaned up. */
#include "ext/cell/cell.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

enum { RUNS = 200, MOST = 10000 };

static double starts_ms[MOST], lives_ms[MOST];

static double now_ms(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

/* Processor time of this process and of all cells so far; compare this on a busy machine. */
static double cpu_ms(void)
{
    double sum = 0;
    static const int who[] = {RUSAGE_SELF, RUSAGE_CHILDREN};
    for (int i = 0; i < 2; i++) {
        struct rusage usage;
        getrusage(who[i], &usage);
        sum += (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e3 +
               (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e3;
    }
    return sum;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static const char *run(const struct pl_cell_settings *settings, int i, char *report, size_t size,
                       struct pl_error *err)
{
    const char *const argv[] = {"/bin/true", NULL};
    struct pl_cell_spec spec = {.argv = argv, .package = {.fd = -1}, .least = PL_CELL_NONE};
    struct pl_cell *cell = NULL;
    struct pl_cell_end end;
    double begin = now_ms();
    if (pl_cell_spawn(settings, &spec, &cell, err) != PL_OK)
        return err->message;
    starts_ms[i] = now_ms() - begin;
    while (!pl_cell_reap(cell, &end)) {
        struct pollfd fd = {.fd = cell->pidfd, .events = POLLIN};
        poll(&fd, 1, -1);
    }
    lives_ms[i] = now_ms() - begin;
    snprintf(report, size, "%s", cell->report);
    pl_cell_free(cell);
    return end.code == 0 ? NULL : "the program in the cell failed";
}

int main(int argc, char **argv)
{
    struct pl_error err = {0};
    char report[160] = "";
    int n = RUNS;
    if (argc < 2 || (argc > 2 && (sscanf(argv[2], "%d", &n) != 1 || n < 1 || n > MOST))) {
        fprintf(stderr, "usage: cell-bench PARLEY [RUNS]\n");
        return 2;
    }
    struct pl_cell_settings settings = {.program = argv[1]};
    for (int i = 0; i < n; i++) {
        const char *problem = run(&settings, i, report, sizeof report, &err);
        if (!problem)
            continue;
        fprintf(stderr, "cell-bench: %s\n", problem);
        return 1;
    }
    qsort(starts_ms, (size_t)n, sizeof *starts_ms, by_value);
    qsort(lives_ms, (size_t)n, sizeof *lives_ms, by_value);
    printf("{\"name\":\"cell.start\",\"impl\":\"parley\",\"runs\":%d,\"p50_ms\":%.2f,\"p99_ms\":%"
           ".2f,"
           "\"life_p50_ms\":%.2f,\"cpu_ms\":%.2f,\"cell\":\"%s\"}\n",
           n, starts_ms[n / 2], starts_ms[n * 99 / 100], lives_ms[n / 2], cpu_ms() / n, report);
    return 0;
}
