/* The measuring loop and the command line shared by parley-bench and the native peers. */
#include "measure.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MAX_BATCHES = 4096, MIN_BATCHES = 5 };

/* Long enough to hide the clock (about 20 ns), short enough for hundreds of batches a second. */
static const double batch_seconds = 0.0005;

static double now_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static bool run_batch(bool (*once)(void *), void *ctx, uint64_t n_ops, double *ret_seconds)
{
    double start = now_seconds();
    for (uint64_t i = 0; i < n_ops; i++)
        if (!once(ctx))
            return false;
    *ret_seconds = now_seconds() - start;
    return true;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Doubles the batch until it is long enough, then continues until the caches, the branch predictor
 * and the processor's clock have settled. */
static bool warm_up(double seconds, bool (*once)(void *), void *ctx, uint64_t *ret_n_ops)
{
    uint64_t n_ops = 1;
    double spent = 0, took = 0;
    for (;;) {
        if (!run_batch(once, ctx, n_ops, &took))
            return false;
        spent += took;
        if (took < batch_seconds && n_ops < UINT64_C(1) << 40)
            n_ops *= 2;
        else if (spent >= seconds)
            break;
    }
    *ret_n_ops = n_ops;
    return true;
}

bool bench_measure(double seconds, bool (*once)(void *ctx), void *ctx,
                   struct bench_result *ret_result)
{
    double batches[MAX_BATCHES];
    size_t n_batches = 0;
    uint64_t n_ops = 0;
    if (!warm_up(seconds * 0.2, once, ctx, &n_ops))
        return false;
    for (double spent = 0; n_batches < MAX_BATCHES && (spent < seconds || n_batches < MIN_BATCHES);
         n_batches++) {
        if (!run_batch(once, ctx, n_ops, &batches[n_batches]))
            return false;
        spent += batches[n_batches];
    }
    qsort(batches, n_batches, sizeof batches[0], compare_doubles);
    ret_result->ns_per_op = batches[n_batches / 2] * 1e9 / (double)n_ops;
    ret_result->n_ops = n_ops * n_batches;
    return true;
}

static bool read_seconds(const char *text, double *ret_seconds)
{
    char *end = NULL;
    double seconds = strtod(text, &end);
    if (end == text || *end || !isfinite(seconds) || seconds <= 0 || seconds > 60)
        return false;
    *ret_seconds = seconds;
    return true;
}

bool bench_request_read(int argc, char **argv, struct bench_request *ret_request,
                        const char **ret_problem)
{
    struct bench_request request = {.seconds = 0.5};
    const struct {
        const char *option;
        const char **value;
    } options[] = {{"--file", &request.file}, {"--schema", &request.schema}, {"--as", &request.as}};
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;
        const char **slot = NULL;
        for (size_t k = 0; k < sizeof options / sizeof options[0]; k++)
            if (!strcmp(argv[i], options[k].option))
                slot = options[k].value;
        *ret_problem = argv[i];
        if (!strcmp(argv[i], "--list")) {
            request.is_list = true;
        } else if (!strcmp(argv[i], "--seconds")) {
            if (!value || !read_seconds(value, &request.seconds))
                return false;
            i++;
        } else if (slot) {
            if (!value)
                return false;
            *slot = value;
            i++;
        } else if (argv[i][0] == '-' || request.name) {
            return false;
        } else {
            request.name = argv[i];
        }
    }
    *ret_request = request;
    return true;
}

const char *bench_basename(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

void bench_print_peer(const char *name, const char *impl, const char *file, size_t n_bytes,
                      const struct bench_result *result)
{
    printf("{\"name\":\"%s\",\"impl\":\"%s\",\"file\":\"%s\",\"bytes\":%zu,\"ns_per_op\":%.1f,"
           "\"gb_per_s\":%.3f,\"ops\":%llu}\n",
           name, impl, file, n_bytes, result->ns_per_op, (double)n_bytes / result->ns_per_op,
           (unsigned long long)result->n_ops);
}
