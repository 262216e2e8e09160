/* Memory of the way home. A way home makes several conversions; each uses the memory of one before
 * it, also of an earlier way home. */
#include "carry/home/home_int.h"

#include <assert.h>

struct pl_home_memory *pl_home_remember(const struct pl_home *home)
{
    struct pl_home_memory *memory = *home->memory;
    if (memory)
        return memory;
    memory = pl_mem_alloc(1, sizeof *memory);
    if (!memory)
        return NULL;
    pl_mem_clear(memory, sizeof *memory);
    for (size_t i = 0; i < PL_HOME_LEGS; i++) {
        struct pl_leg *leg = &memory->legs[i];
        pl_buf_init(&leg->out, 0);
        pl_conv_init_lists(&leg->conv);
        pl_writer_init(&leg->writer, &leg->conv, &leg->out);
    }
    for (size_t i = 0; i < PL_HOME_TEXTS; i++)
        pl_buf_init(&memory->texts[i], 0);
    *home->memory = memory;
    return memory;
}

void pl_home_forget(struct pl_home_memory *memory)
{
    for (size_t i = 0; memory && i < PL_HOME_LEGS; i++) {
        pl_writer_deinit(&memory->legs[i].writer);
        pl_conv_deinit(&memory->legs[i].conv);
        pl_buf_deinit(&memory->legs[i].out);
    }
    for (size_t i = 0; memory && i < PL_HOME_TEXTS; i++)
        pl_buf_deinit(&memory->texts[i]);
    pl_mem_free(memory);
}

struct pl_leg *pl_leg_open(struct pl_home_memory *memory)
{
    size_t i = 0;
    while (i < PL_HOME_LEGS && memory->legs[i].is_open)
        i++;
    assert(i < PL_HOME_LEGS);
    memory->legs[i].is_open = true;
    return &memory->legs[i];
}

void pl_leg_close(struct pl_leg *leg)
{
    if (leg)
        leg->is_open = false;
}

struct pl_buf pl_home_take_text(struct pl_home_memory *memory)
{
    size_t i = 0;
    while (i + 1 < PL_HOME_TEXTS && !memory->texts[i].cap)
        i++;
    struct pl_buf text = memory->texts[i];
    pl_buf_init(&memory->texts[i], 0);
    pl_buf_clear(&text);
    return text;
}

void pl_home_give_text(struct pl_home_memory *memory, struct pl_buf *text)
{
    size_t i = 0;
    if (!text->cap)
        return;
    while (i < PL_HOME_TEXTS && memory->texts[i].cap)
        i++;
    assert(i < PL_HOME_TEXTS);
    memory->texts[i] = *text;
    pl_buf_init(text, 0);
}
