/* Finding a profile. The profiles themselves are data: schemas/profiles/NAME.json. */
#include "format/profile.h"

const struct pl_profile *pl_profile_find(struct pl_str name)
{
    for (const struct pl_profile *p = pl_profiles; p->name; p++)
        if (pl_str_eq(name, pl_str_of(p->name)))
            return p;
    return NULL;
}

const struct pl_profile *pl_profile_default(struct pl_str format)
{
    for (const struct pl_profile *p = pl_profiles; p->name; p++)
        if (p->is_default && pl_str_eq(format, pl_str_of(p->format)))
            return p;
    return NULL;
}

static struct pl_str without_path(struct pl_str model)
{
    size_t start = model.len;
    while (start > 0 && model.ptr[start - 1] != '/')
        start--;
    return pl_str_slice(model, start, model.len);
}

static size_t longest_beginning(const struct pl_profile *profile, struct pl_str model)
{
    size_t n = 0;
    for (const char *const *at = profile->models; at && *at; at++)
        if (pl_str_begins(model, *at) && strlen(*at) > n)
            n = strlen(*at);
    return n;
}

const struct pl_profile *pl_profile_of_model(struct pl_str format, struct pl_str model)
{
    const struct pl_profile *best = NULL;
    size_t n_best = 0;
    model = without_path(model);
    for (const struct pl_profile *p = pl_profiles; p->name; p++) {
        size_t n = longest_beginning(p, model);
        if (n > n_best && (!format.len || pl_str_eq(format, pl_str_of(p->format)))) {
            best = p;
            n_best = n;
        }
    }
    return best || !format.len ? best : pl_profile_default(format);
}

int64_t pl_profile_window(struct pl_str model)
{
    model = without_path(model);
    for (const struct pl_window *w = pl_windows; w->prefix; w++)
        if (pl_str_begins(model, w->prefix))
            return w->n_tokens;
    return 0;
}

const char *pl_profile_choice(size_t i)
{
    /* Steps through the list: nothing after the last entry may be read. */
    const struct pl_profile *p = pl_profiles;
    while (i > 0 && p->name)
        p++, i--;
    return p->name;
}
