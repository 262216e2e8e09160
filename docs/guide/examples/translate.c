/* A stream in another dialect, as it arrives: translate FROM TO <STREAM */
#include <parley/parley.h>

#include <stdio.h>

static void pass_on(struct parley_stream *stream)
{
    size_t size;
    const char *events = parley_stream_take(stream, &size);

    fwrite(events, 1, size, stdout);
}

int main(int argc, char **argv)
{
    char bytes[512];
    size_t size;
    struct parley_stream *stream;
    struct parley_error err;
    enum parley_status status = PARLEY_OK;

    if (argc != 3 || parley_stream_create(argv[1], argv[2], &stream, &err) != PARLEY_OK) {
        fprintf(stderr, "%s\n", argc == 3 ? err.message : "usage: translate FROM TO <STREAM");
        return 2;
    }
    while (status == PARLEY_OK && (size = fread(bytes, 1, sizeof bytes, stdin)) > 0) {
        status = parley_stream_feed(stream, bytes, size, &err);
        pass_on(stream);
    }
    if (status == PARLEY_OK)
        status = parley_stream_end(stream, &err);
    pass_on(stream);
    parley_stream_destroy(stream);
    return status == PARLEY_OK ? 0 : 1;
}
