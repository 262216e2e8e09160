/* Loaded before libc (LD_PRELOAD): makes allocations of the program fail, but never those of its
 * libraries. Of the program's allocations, the FAIL_FROM-th fails, and every FAIL_EVERY-th after
 * it. With FAIL_COUNT none fails; that file receives the number of allocations so far, as a long.
 * */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static atomic_long n_here, *n_asked = &n_here;
static long from = -1, every = 1;
static uintptr_t text_begin, text_end;

/* The first object is the program. */
static int find_text(struct dl_phdr_info *info, size_t size, void *ctx)
{
    (void)size, (void)ctx;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        if (part->p_type == PT_LOAD && part->p_flags & PF_X) {
            text_begin = info->dlpi_addr + part->p_vaddr;
            text_end = text_begin + part->p_memsz;
        }
    }
    return 1;
}

/* From now on, counts in the file. */
static void count_in(const char *path)
{
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0 || ftruncate(fd, sizeof *n_asked) != 0)
        abort();
    n_asked = mmap(NULL, sizeof *n_asked, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (n_asked == MAP_FAILED)
        abort();
    close(fd);
    from = LONG_MAX;
}

__attribute__((constructor)) static void begin(void)
{
    const char *from_text = getenv("FAIL_FROM"), *every_text = getenv("FAIL_EVERY");
    const char *count_path = getenv("FAIL_COUNT");
    dl_iterate_phdr(find_text, NULL);
    every = every_text ? atol(every_text) : 1;
    from = from_text ? atol(from_text) : -1;
    if (count_path)
        count_in(count_path);
}

static int is_refused(const void *caller)
{
    uintptr_t at = (uintptr_t)caller;
    if (from < 0 || at < text_begin || at >= text_end)
        return 0;
    long n = atomic_fetch_add(n_asked, 1) - from;
    if (n < 0 || n % every)
        return 0;
    errno = ENOMEM;
    return 1;
}

extern void *__libc_malloc(size_t n);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *old, size_t n);

void *malloc(size_t n)
{
    return is_refused(__builtin_return_address(0)) ? NULL : __libc_malloc(n);
}

void *calloc(size_t n, size_t size)
{
    return is_refused(__builtin_return_address(0)) ? NULL : __libc_calloc(n, size);
}

void *realloc(void *old, size_t n)
{
    return is_refused(__builtin_return_address(0)) ? NULL : __libc_realloc(old, n);
}
