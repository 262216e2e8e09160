/* What a stream of any dialect says: deltas DIALECT <STREAM */
#include <parley/parley.h>

#include <stdio.h>

static void show(const struct parley_delta *delta)
{
    switch (delta->kind) {
    case PARLEY_DELTA_START:
        printf("%s\n", delta->model.ptr);
        break;
    case PARLEY_DELTA_THINKING:
        printf("(thinks: %s)\n", delta->text.ptr);
        break;
    case PARLEY_DELTA_TEXT:
        printf("%s\n", delta->text.ptr);
        break;
    case PARLEY_DELTA_CALL_BEGIN:
        printf("calls %s …\n", delta->name.ptr);
        break;
    case PARLEY_DELTA_CALL_END: /* has all of the arguments */
        printf("… with %s%s\n", delta->text.ptr, delta->is_cut ? ", but it broke off" : "");
        break;
    case PARLEY_DELTA_CITATION:
        printf("[%s]\n", delta->url.ptr);
        break;
    case PARLEY_DELTA_USAGE:
        printf("%lld tokens in, %lld out\n", (long long)delta->usage.input,
               (long long)delta->usage.output);
        break;
    case PARLEY_DELTA_FINISH:
        printf("ends: %s\n", delta->word.ptr);
        break;
    case PARLEY_DELTA_ERROR:
        printf("failed: %s\n", delta->text.ptr);
        break;
    default: /* later versions have more kinds */
        break;
    }
}

static void show_all(struct parley_reader *reader)
{
    const struct parley_delta *delta;

    while ((delta = parley_reader_next(reader)) != NULL)
        show(delta);
}

int main(int argc, char **argv)
{
    char bytes[512];
    size_t size;
    struct parley_reader *reader;
    struct parley_error err;
    enum parley_status status = PARLEY_OK;

    if (argc != 2 || parley_reader_create(argv[1], &reader, &err) != PARLEY_OK) {
        fprintf(stderr, "%s\n", argc == 2 ? err.message : "usage: deltas DIALECT <STREAM");
        return 2;
    }
    while (status == PARLEY_OK && (size = fread(bytes, 1, sizeof bytes, stdin)) > 0) {
        status = parley_reader_feed(reader, bytes, size, &err);
        show_all(reader);
    }
    if (status == PARLEY_OK)
        status = parley_reader_end(reader, &err);
    show_all(reader);
    parley_reader_destroy(reader);
    return status == PARLEY_OK ? 0 : 1;
}
