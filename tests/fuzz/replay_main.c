/* Runs every file of the given directories through a fuzz target, once, and prints TAP. A crash or
 * a sanitizer report ends the program before its plan is printed. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MAX_BYTES = 1 << 20 };

static int is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* The input is in a block of exactly its size, so that ASan detects a read past its end. */
static int replay_file(const char *dir, const char *name)
{
    static char path[4096];
    static uint8_t room[MAX_BYTES];
    if (snprintf(path, sizeof path, "%s/%s", dir, name) >= (int)sizeof path)
        return 1;
    FILE *file = fopen(path, "rb");
    size_t size = file ? fread(room, 1, sizeof room, file) : 0;
    int is_bad = !file || ferror(file) || !feof(file);
    if (file)
        fclose(file);
    uint8_t *data = malloc(size ? size : 1);
    if (is_bad || !data) {
        free(data);
        return 1;
    }
    for (size_t i = 0; i < size; i++)
        data[i] = room[i];
    int result = LLVMFuzzerTestOneInput(data, size);
    free(data);
    return result != 0;
}

int main(int argc, char **argv)
{
    int n_points = 0, n_failed = 0;
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (int i = 1; i < argc; i++) {
        struct dirent **entries;
        int n = scandir(argv[i], &entries, is_visible, alphasort);
        if (n <= 0) {
            printf("Bail out! no corpus in %s\n", argv[i]);
            return 1;
        }
        for (int k = 0; k < n; k++) {
            int is_bad = replay_file(argv[i], entries[k]->d_name);
            n_failed += is_bad;
            printf("%sok %d - %s\n", is_bad ? "not " : "", ++n_points, entries[k]->d_name);
            free(entries[k]);
        }
        free(entries);
    }
    printf("1..%d\n", n_points);
    return n_failed != 0;
}
