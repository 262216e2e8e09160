/* A target with any edits is converted back: each edit arrives, or the report names it.
 *
 * The first byte picks a document, the second the format of its target. After that each three bytes
 * are an edit: its kind and its place. */
#include "carry/carry.h"
#include "property/edit_law.h"
#include "property/edits.h"

#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { N_FORMATS = 9, HEAD = 2, EDIT = 3, MOST_EDITS = 6 };

static const struct {
    const char *format, *text;
} documents[] = {
    {"openai-chat",
     "{\"model\":\"m\",\"temperature\":0.70, \"messages\":[{\"role\":\"system\",\"content\":\"s\"},"
     "{\"role\":\"user\",\"name\":\"ann\",\"content\":[{\"type\":\"text\",\"text\":\"a\\u00e9\\/"
     "\"},"
     "{\"type\":\"image_url\",\"image_url\":{\"url\":\"data:image/png;base64,iVBORw0=\"}}]},"
     "{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"c1\",\"type\":"
     "\"function\","
     "\"function\":{\"name\":\"f\",\"arguments\":\"{\\\"x\\\": 1.0}\"}}]},"
     "{\"role\":\"tool\",\"tool_call_id\":\"c1\",\"content\":\"{\\\"r\\\": [1]}\"},"
     "{\"role\":\"assistant\",\"content\":\"done\",\"unknown\":{\"k\":[1,2]}}],"
     "\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"f\",\"description\":\"d\","
     "\"parameters\":{\"type\":\"object\"}}}],\"stop\":[\"a\",\"b\"],\"seed\":7}"},
    {"anthropic",
     "{\"model\":\"m\",\"max_tokens\":9,\"system\":[{\"type\":\"text\",\"text\":\"s\",\"cache_"
     "control\":"
     "{\"type\":\"ephemeral\"}}],\"messages\":[{\"role\":\"user\",\"content\":\"a question that is "
     "long "
     "enough to stand only in the target, and not in the carry as well\"},{\"role\":\"assistant\","
     "\"content\":[{\"type\":\"thinking\",\"thinking\":\"t\",\"signature\":\"AA==\"},{\"type\":"
     "\"tool_use\",\"id\":\"c\",\"name\":\"f\",\"input\":{\"a\" : "
     "1e2}}]},{\"role\":\"user\",\"content\":["
     "{\"type\":\"tool_result\",\"tool_use_id\":\"c\",\"content\":[{\"type\":\"text\",\"text\":"
     "\"r\"}]},"
     "{\"type\":\"text\",\"text\":\"more\"}]}]}"},
    {"gemini",
     "{\"systemInstruction\":{\"parts\":[{\"text\":\"s\"}]},\"contents\":[{\"role\":\"user\","
     "\"parts\":["
     "{\"text\":\"q\"},{\"text\":\"w\"}]},{\"role\":\"model\",\"parts\":[{\"functionCall\":{"
     "\"name\":\"f\","
     "\"args\":{\"x\":1}}}]},{\"role\":\"user\",\"parts\":[{\"functionResponse\":{\"name\":\"f\","
     "\"response\":{\"result\":\"r\"}}}]}],\"generationConfig\":{\"topK\":4,\"temperature\":1}}"},
    {"openai-responses",
     "{\"model\":\"m\",\"instructions\":\"i\",\"input\":[{\"role\":\"user\",\"content\":[{\"type\":"
     "\"input_text\",\"text\":\"q\"}]},{\"type\":\"reasoning\",\"id\":\"r\",\"summary\":[],"
     "\"encrypted_content\":\"AA==\"},{\"type\":\"function_call\",\"call_id\":\"c\",\"name\":\"f\","
     "\"arguments\":\"{}\"},{\"type\":\"function_call_output\",\"call_id\":\"c\",\"output\":\"o\"}]"
     "}"},
    {"harmony", "[{\"id\":\"a\",\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"x\"},{"
                "\"type\":\"text\","
                "\"text\":\"y\"}]},{\"id\":\"b\",\"role\":\"assistant\",\"content\":\"z\"}]"},
    {"gpt-oss",
     "<|start|>system<|message|>s<|end|><|start|>user<|message|>q<|end|><|start|>assistant"
     "<|channel|>final<|message|>a<|end|>"},
};
enum { N_DOCUMENTS = sizeof documents / sizeof *documents };

/* Appends the target after all edits whose place exists. */
static void edit(struct pl_buf *to, const struct pl_format *format, struct pl_str text,
                 const uint8_t *data, size_t size)
{
    pl_buf_add(to, text);
    for (size_t i = 0; i + EDIT <= size && i < (size_t)MOST_EDITS * EDIT; i += EDIT) {
        PL_CLEANUP_BUF struct pl_buf next;
        pl_buf_init(&next, 0);
        uint64_t seed = (uint64_t)data[i + 1] << 8 | data[i + 2];
        if (!pl_edit_apply(&pl_edit_kinds[data[i] % pl_edit_n_kinds], seed, format, pl_buf_str(to),
                           &next))
            continue;
        pl_buf_clear(to);
        pl_buf_add(to, pl_buf_str(&next));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < HEAD + EDIT)
        return 0;
    size_t n = data[0] % N_DOCUMENTS;
    struct pl_convert_opts opts = {.from = pl_format_find(pl_str_of(documents[n].format)),
                                   .to = pl_formats[data[1] % N_FORMATS],
                                   .way_home = &pl_carry_way};
    struct pl_converted there;
    PL_CLEANUP_BUF struct pl_buf edited, why;
    pl_buf_init(&edited, 0);
    pl_buf_init(&why, 0);
    pl_converted_init(&there);
    if (opts.from != opts.to &&
        pl_convert(pl_str_of(documents[n].text), &opts, &there, NULL) == PL_OK) {
        edit(&edited, opts.to, pl_buf_str(&there.out), data + HEAD, size - HEAD);
        struct pl_edit_trip trip = {.from = opts.from,
                                    .to = opts.to,
                                    .carry = pl_buf_str(&there.carry),
                                    .edited = pl_buf_str(&edited)};
        if (pl_edit_law_check(&trip, &why) == PL_EDIT_WRONG) {
            fprintf(stderr, "%s -> %s: %.*s\n%.*s\n", opts.from->name, opts.to->name,
                    PL_STR_ARG(pl_buf_str(&why)), PL_STR_ARG(pl_buf_str(&edited)));
            abort();
        }
    }
    pl_converted_deinit(&there);
    return 0;
}
