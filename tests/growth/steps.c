/* Counts a program's work without a clock: every piece of code between two branches (the compiler's
 * trace-pc), the bytes that functions of the C library move or read, and the heap in use. A build
 * with the option `steps` links this into every program.
 *
 * The counts are in a file named by PARLEY_STEPS, so that a test can read them while a server runs,
 * and after a command has ended: 64-bit numbers, the current heap, its peak, then the steps of each
 * thread. Writing 0 to the peak resets it. */
#include <fcntl.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MAX_THREADS = 510, BYTES_PER_STEP = 16 };

struct figures {
    _Atomic int64_t heap, heap_peak;
    uint64_t steps[MAX_THREADS];
};

static struct figures unread;
static struct figures *shared = &unread;
static atomic_uint n_threads;
static __thread uint64_t *mine;

__attribute__((constructor)) static void share(void)
{
    const char *path = getenv("PARLEY_STEPS");
    int fd = path ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;
    if (fd < 0)
        return;
    if (ftruncate(fd, sizeof *shared) == 0) {
        void *at = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (at != MAP_FAILED)
            shared = at;
    }
    close(fd);
    mine = NULL;
}

static inline void count(size_t n_steps)
{
    if (!mine)
        mine = &shared->steps[atomic_fetch_add(&n_threads, 1) % MAX_THREADS];
    *mine += n_steps;
}

static inline void count_bytes(size_t n_bytes)
{
    count(1 + n_bytes / BYTES_PER_STEP);
}

void __sanitizer_cov_trace_pc(void);
void __sanitizer_cov_trace_pc(void)
{
    count(1);
}

/* ---- functions that move or read bytes: the linker's --wrap redirects every call here ---- */

void *__real_memcpy(void *to, const void *from, size_t n);
void *__real_memmove(void *to, const void *from, size_t n);
void *__real_memset(void *to, int c, size_t n);
void *__real_memchr(const void *s, int c, size_t n);
size_t __real_strlen(const char *s);
void *__wrap_memcpy(void *to, const void *from, size_t n);
void *__wrap_memmove(void *to, const void *from, size_t n);
void *__wrap_memset(void *to, int c, size_t n);
int __wrap_memcmp(const void *a, const void *b, size_t n);
void *__wrap_memchr(const void *s, int c, size_t n);
size_t __wrap_strlen(const char *s);

void *__wrap_memcpy(void *to, const void *from, size_t n)
{
    count_bytes(n);
    return __real_memcpy(to, from, n);
}

void *__wrap_memmove(void *to, const void *from, size_t n)
{
    count_bytes(n);
    return __real_memmove(to, from, n);
}

void *__wrap_memset(void *to, int c, size_t n)
{
    count_bytes(n);
    return __real_memset(to, c, n);
}

/* Reads the equal bytes and one more. */
int __wrap_memcmp(const void *a, const void *b, size_t n)
{
    const unsigned char *x = a, *y = b;
    size_t i = 0;
    while (i < n && x[i] == y[i])
        i++;
    count_bytes(i);
    return i == n ? 0 : x[i] - y[i];
}

void *__wrap_memchr(const void *s, int c, size_t n)
{
    char *found = __real_memchr(s, c, n);
    count_bytes(found ? (size_t)(found - (const char *)s) : n);
    return found;
}

size_t __wrap_strlen(const char *s)
{
    size_t n = __real_strlen(s);
    count_bytes(n);
    return n;
}

/* ---- the heap: Parley's allocations, all through base/mem.h ---- */

void *__real_realloc(void *ptr, size_t size);
void __real_free(void *ptr);
void *__wrap_realloc(void *ptr, size_t size);
void __wrap_free(void *ptr);

static void hold(int64_t n_bytes)
{
    int64_t now = atomic_fetch_add(&shared->heap, n_bytes) + n_bytes;
    int64_t peak = atomic_load(&shared->heap_peak);
    while (now > peak && !atomic_compare_exchange_weak(&shared->heap_peak, &peak, now))
        continue;
}

/* Growing a block counts as copying it, which may happen. */
void *__wrap_realloc(void *ptr, size_t size)
{
    size_t before = ptr ? malloc_usable_size(ptr) : 0;
    void *grown = __real_realloc(ptr, size);
    if (grown) {
        count_bytes(before);
        hold((int64_t)malloc_usable_size(grown) - (int64_t)before);
    }
    return grown;
}

void __wrap_free(void *ptr)
{
    if (ptr)
        hold(-(int64_t)malloc_usable_size(ptr));
    __real_free(ptr);
}
