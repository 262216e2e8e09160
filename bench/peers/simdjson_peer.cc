// simdjson's DOM, used as in its manual: one parser is kept, the input is padded, minify() writes.
//
// json.roundtrip.reused is its best case: the internal builder of minify() is kept, so no memory is
// allocated or freed between two runs. The manual has no such call.
#include "../measure.h"

#include <cstdio>
#include <cstring>
#include <simdjson.h>
#include <string>

namespace
{

struct bench {
    simdjson::dom::parser parser;
    simdjson::padded_string text;
    simdjson::internal::string_builder<> builder;
};

bool parse(void *ctx)
{
    bench *b = static_cast<bench *>(ctx);
    simdjson::dom::element root;
    if (b->parser.parse(b->text).get(root))
        return false;
    bench_use(&root);
    return true;
}

bool roundtrip(void *ctx)
{
    bench *b = static_cast<bench *>(ctx);
    simdjson::dom::element root;
    if (b->parser.parse(b->text).get(root))
        return false;
    std::string out = simdjson::minify(root);
    bench_use(out.data());
    return true;
}

bool roundtrip_reused(void *ctx)
{
    bench *b = static_cast<bench *>(ctx);
    simdjson::dom::element root;
    if (b->parser.parse(b->text).get(root))
        return false;
    b->builder.clear();
    b->builder.append(root);
    bench_use(b->builder.str().data());
    return true;
}

bool validate_utf8(void *ctx)
{
    bench *b = static_cast<bench *>(ctx);
    return simdjson::validate_utf8(b->text.data(), b->text.size());
}

struct figure {
    const char *name;
    bool (*once)(void *ctx);
};

const figure figures[] = {{"json.parse", parse},
                          {"json.roundtrip", roundtrip},
                          {"json.roundtrip.reused", roundtrip_reused},
                          {"utf8.validate", validate_utf8}};

} // namespace

int main(int argc, char **argv)
{
    bench_request request;
    const char *problem = nullptr;
    if (!bench_request_read(argc, argv, &request, &problem) || !request.name || !request.file) {
        std::fprintf(stderr, "Usage: simdjson-peer NAME --file FILE [--seconds S]\n");
        return 2;
    }
    for (const figure &f : figures) {
        if (std::strcmp(f.name, request.name))
            continue;
        bench b;
        bench_result result;
        if (simdjson::padded_string::load(request.file).get(b.text) ||
            !bench_measure(request.seconds, f.once, &b, &result)) {
            std::fprintf(stderr, "simdjson-peer: %s cannot be read as JSON.\n", request.file);
            return 3;
        }
        bench_print_peer(f.name, "simdjson", bench_basename(request.file), b.text.size(), &result);
        return 0;
    }
    std::fprintf(stderr, "simdjson-peer: there is no figure named %s.\n", request.name);
    return 2;
}
