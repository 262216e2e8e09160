/* The measuring method of every native figure, ours and the peers': warm up, find how many
 * operations fill a batch, time batches until the time is up, report the median batch.
 *
 * The median excludes other activity of the machine; timing whole batches excludes the cost of
 * reading the clock. peers/measure.mjs uses the same method for Node. */
#ifndef BENCH_MEASURE_H
#define BENCH_MEASURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The command line: NAME --file FILE [--seconds S] and, for the program that knows schemas,
 * [--schema FILE | --as NAME]. Strings are borrowed from argv. */
struct bench_request {
    const char *name;   /* of the figure */
    const char *file;   /* its input */
    const char *schema; /* a file */
    const char *as;     /* or a built-in schema */
    double seconds;     /* of timed work */
    bool is_list;       /* only list the figures */
};

/* Returns false if the command line is invalid; *ret_problem then names the argument. */
bool bench_request_read(int argc, char **argv, struct bench_request *ret_request,
                        const char **ret_problem);

struct bench_result {
    double ns_per_op; /* of the median batch */
    uint64_t n_ops;   /* total timed */
};

/* Runs `once` until `seconds` of timed work are done. Returns false as soon as `once` does. */
bool bench_measure(double seconds, bool (*once)(void *ctx), void *ctx,
                   struct bench_result *ret_result);

/* The part of a path after the last slash. */
const char *bench_basename(const char *path);

/* Prints the JSON line of a peer. `file` is a plain name (our corpora), so nothing is escaped. */
void bench_print_peer(const char *name, const char *impl, const char *file, size_t n_bytes,
                      const struct bench_result *result);

/* Tells the compiler that the bytes at p are used, so that the work for them is not removed. */
static inline void bench_use(const void *p)
{
    __asm__ volatile("" : : "r"(p) : "memory");
}

#ifdef __cplusplus
}
#endif

#endif
