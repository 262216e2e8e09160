/* Vendors have several settings for how much a model should think: a switch, a token budget, an
 * effort. A model accepts some of them and refuses the rest. Settings of Gemini's own documents go
 * to Gemini unchanged (format/gemini/settings.c). */
#include "format/adapt/fit.h"

#include "conv/media/frames.h"
#include "conv/media/pcm.h"
#include "format/adapt/cite_back.h"
#include "format/adapt/declared.h"
#include "format/adapt/flag_errors.h"
#include "format/adapt/grammars.h"
#include "format/adapt/limits.h"
#include "format/adapt/schemas.h"
#include "format/pieces/effort.h"
#include "format/profile.h"
#include "format/adapt/restate.h"
#include "format/rules.h"
#include "json/number.h"

/* The thinking setting of a request, in canonical form. */
enum thought { THOUGHT_UNSET, THOUGHT_OFF, THOUGHT_FREE, THOUGHT_BUDGET };

struct fit {
    struct pl_conv *conv;
    struct pl_settings *s;
    const struct pl_profile *profile;
    const struct pl_json_node *node; /* its node; NULL: not set */
    const struct pl_json_node *type; /* Anthropic's word for it; NULL: of another vendor */
    enum thought thought;
    int64_t budget;
};

static void look(struct fit *f)
{
    static const char *const words[] = {"disabled", "between_tools", "adaptive", NULL};
    static const enum thought thoughts[] = {THOUGHT_OFF, THOUGHT_OFF, THOUGHT_FREE};
    const struct pl_json_node *number = f->s->thinking_budget.node;
    f->type = pl_conv_node(f->conv, f->s->thinking.node, "type");
    int word = pl_conv_word(f->conv, f->type, words);
    if (number && pl_json_kind(number) == PL_JSON_NUMBER &&
        pl_json_number_int64(pl_json_span(f->conv->doc, number), &f->budget)) {
        f->thought = f->budget > 0 ? THOUGHT_BUDGET : f->budget == 0 ? THOUGHT_OFF : THOUGHT_FREE;
        f->node = number;
    } else if (word >= 0) {
        f->thought = thoughts[word];
        f->node = f->type;
    } else if (f->s->effort == PL_EFFORT_NONE) {
        f->thought = THOUGHT_OFF;
        f->node = f->s->effort_val.node;
    }
}

static bool knows(const struct fit *f, enum pl_effort effort)
{
    return !f->profile->efforts || (f->profile->efforts & PL_EFFORT_BIT(effort));
}

/* The nearest effort that the model supports: rather less than more, but a small effort never
 * becomes none. */
static enum pl_effort nearest(const struct fit *f, enum pl_effort effort)
{
    for (int e = (int)effort; e > PL_EFFORT_NONE || e == (int)effort; e--)
        if (knows(f, (enum pl_effort)e))
            return (enum pl_effort)e;
    for (int e = (int)effort + 1; e <= PL_EFFORT_MAX; e++)
        if (knows(f, (enum pl_effort)e))
            return (enum pl_effort)e;
    return PL_EFFORT_UNSET;
}

/* Replaces `node` by an effort. */
static void set_effort(struct fit *f, enum pl_effort effort, const struct pl_json_node *node)
{
    if (node == f->s->thinking_budget.node)
        f->s->thinking_budget = (struct pl_val){0};
    f->s->effort = effort;
    f->s->effort_val = pl_val_node(node);
    f->s->is_changed = true;
}

/* Replaces the setting by Anthropic's word, or removes it. */
static void set_thinking(struct fit *f, const char *word)
{
    f->s->thinking = word ? pl_val_text(pl_str_of(word)) : (struct pl_val){0};
    f->s->thinking_budget = (struct pl_val){0};
    f->s->is_changed = true;
}

/* --- models that have a switch: Claude -------------------------------------------------------- */

static void turn_off(struct fit *f)
{
    const char *word = f->profile->thinking_off;
    if (word && !*word) {
        pl_conv_loss(f->conv, PL_LOSS_APPROXIMATED, f->node,
                     "this model always thinks; the effort says how much");
        set_thinking(f, NULL);
        if (f->s->effort <= PL_EFFORT_NONE)
            set_effort(f, nearest(f, PL_EFFORT_LOW), f->node);
        return;
    }
    if (word && !pl_conv_says(f->conv, f->type, word)) {
        pl_conv_loss(f->conv, PL_LOSS_APPROXIMATED, f->node,
                     "this model's lowest thinking level is \"%s\"", word);
        set_thinking(f, word);
    }
    if (f->profile->caps_effort_at_rest && f->s->effort > PL_EFFORT_HIGH) {
        pl_conv_loss(f->conv, PL_LOSS_APPROXIMATED, f->s->effort_val.node,
                     "with thinking off, the highest effort is high");
        set_effort(f, PL_EFFORT_HIGH, f->s->effort_val.node);
    }
}

/* Reports an effort that is added to the source's own output_config: only members with a report are
 * rewritten (format/mend.h). */
static void make_room(struct fit *f)
{
    const struct pl_json_node *config = pl_conv_node(f->conv, f->conv->doc->root, "output_config");
    if (f->type && config && f->s->effort > PL_EFFORT_NONE &&
        !pl_conv_node(f->conv, config, "effort"))
        pl_conv_loss(f->conv, PL_LOSS_SYNTHESISED, config, "the effort \"%s\" was added",
                     pl_effort_word(f->s->effort));
}

static void fit_switch(struct fit *f)
{
    if (f->thought == THOUGHT_OFF) {
        turn_off(f);
    } else if (f->thought == THOUGHT_FREE && f->profile->refuses_adaptive_thinking) {
        pl_conv_loss(f->conv, PL_LOSS_DROPPED, f->node,
                     "this model thinks with a token budget, or not at all");
        set_thinking(f, NULL);
    } else if (f->thought == THOUGHT_BUDGET && f->profile->refuses_thinking_budget) {
        pl_conv_loss(f->conv, PL_LOSS_APPROXIMATED, f->node,
                     "this model has no token budget; an effort says how much it thinks");
        set_thinking(f, "adaptive");
        if (f->s->effort <= PL_EFFORT_NONE)
            set_effort(f, nearest(f, pl_effort_of_budget(f->budget)), f->node);
    }
}

/* --- efforts ---------------------------------------------------------------------------------- */

static void fit_effort(struct fit *f, enum pl_effort wanted, const struct pl_json_node *node)
{
    if (wanted == PL_EFFORT_UNSET || knows(f, wanted))
        return;
    enum pl_effort effort = nearest(f, wanted);
    if (effort == PL_EFFORT_UNSET)
        pl_conv_loss(f->conv, PL_LOSS_DROPPED, node, "this model has no efforts");
    else
        pl_conv_loss(f->conv, PL_LOSS_APPROXIMATED, node,
                     "the nearest effort of this model is "
                     "\"%s\"",
                     pl_effort_word(effort));
    set_effort(f, effort, node);
}

/* Turns thinking off: some models call tools only when they do not think. */
static void rest(struct fit *f)
{
    const struct pl_json_node *node = f->node ? f->node : f->s->effort_val.node;
    if (f->thought == THOUGHT_OFF || (!node && f->profile->rests_by_default))
        return;
    pl_conv_loss(f->conv, node ? PL_LOSS_APPROXIMATED : PL_LOSS_SYNTHESISED,
                 node ? node : f->conv->doc->root,
                 "this model cannot think when it has tools; its effort is \"none\"");
    set_effort(f, PL_EFFORT_NONE, node);
}

static void fit_words(struct fit *f, const struct pl_conversion *conversion)
{
    enum pl_effort wanted = f->s->effort;
    if (f->profile->refuses_thinking_with_tools && conversion->to == &pl_format_openai_chat &&
        f->conv->tools.len > 0) {
        rest(f);
        return;
    }
    if (f->thought == THOUGHT_OFF)
        wanted = PL_EFFORT_NONE;
    else if (f->thought == THOUGHT_BUDGET && wanted == PL_EFFORT_UNSET &&
             conversion->to != &pl_format_gemini) /* Gemini has budgets too */
        wanted = pl_effort_of_budget(f->budget);
    fit_effort(f, wanted, f->node ? f->node : f->s->effort_val.node);
}

/* The name of the token limit has changed. For other formats the writer knows the right one. */
static void fit_limit(struct fit *f)
{
    const struct pl_json_node *root = f->conv->doc->root;
    if (f->profile->refuses_max_tokens && pl_conv_node(f->conv, root, "max_tokens"))
        pl_conv_loss(f->conv, PL_LOSS_MOVED, pl_conv_node(f->conv, root, "max_tokens"),
                     "this model uses max_completion_tokens instead");
    if (f->profile->refuses_max_completion_tokens &&
        pl_conv_node(f->conv, root, "max_completion_tokens"))
        pl_conv_loss(f->conv, PL_LOSS_MOVED, pl_conv_node(f->conv, root, "max_completion_tokens"),
                     "this server uses max_tokens instead");
}

static bool is_at_rest(const struct fit *f)
{
    if (f->s->effort != PL_EFFORT_UNSET)
        return f->s->effort == PL_EFFORT_NONE;
    return f->thought == THOUGHT_OFF ||
           (f->thought == THOUGHT_UNSET && f->profile->rests_by_default);
}

/* Removes the tools for a model that calls none. */
static void take_tools_off(struct fit *f)
{
    struct pl_conv *conv = f->conv;
    if (!f->profile->refuses_tools || !conv->tools.len)
        return;
    pl_conv_loss(conv, PL_LOSS_DROPPED, conv->tools.ptr[0].node,
                 "this model calls no tools; none is offered to it");
    for (size_t i = 1; i < conv->tools.len; i++)
        pl_conv_know(conv, conv->tools.ptr[i].node);
    conv->tools.len = 0;
    f->s->is_changed = true;
}

/* --- what Claude accepts beside thinking ------------------------------------------------------- */

/* Whether Anthropic's writer will turn thinking on. */
static bool thinks(struct pl_conv *conv)
{
    static const char *const words[] = {"enabled", "adaptive", NULL};
    enum { LEAST = 1024 }; /* tokens of a budget, which is below the limit of the answer */
    const struct pl_settings *s = &conv->settings;
    int64_t budget = 0, most = LEAST + 1;
    if (s->thinking.kind == PL_VAL_TEXT)
        return pl_str_eq(s->thinking.str, PL_STR("adaptive"));
    if (s->thinking_budget.node && pl_json_kind(s->thinking_budget.node) == PL_JSON_NUMBER &&
        pl_json_number_int64(pl_json_span(conv->doc, s->thinking_budget.node), &budget)) {
        if (s->max_tokens.node)
            (void)pl_json_number_int64(pl_json_span(conv->doc, s->max_tokens.node), &most);
        return budget < 0 || (budget > 0 && most > LEAST);
    }
    return pl_conv_word(conv, pl_conv_node(conv, s->thinking.node, "type"), words) >= 0;
}

static bool is_forced(const struct pl_conv *conv)
{
    return conv->settings.choice == PL_CHOICE_ANY || conv->settings.choice == PL_CHOICE_ONE;
}

/* The answer cannot begin with words of ours if it begins with thoughts, or has a schema. */
static void forbid_prefill(struct pl_conv *conv, struct pl_repair_rules *rules)
{
    if ((thinks(conv) && !is_forced(conv)) || conv->settings.output == PL_OUTPUT_SCHEMA)
        rules->refuses_prefill = true;
}

static void drop_beside_thinking(struct pl_conv *conv, struct pl_val *val, const char *least,
                                 const char *most)
{
    if (!val->node)
        return;
    struct pl_str number = pl_json_span(conv->doc, val->node);
    if (least && pl_json_number_cmp(number, pl_str_of(least)) >= 0 &&
        pl_json_number_cmp(number, pl_str_of(most)) <= 0)
        return;
    pl_conv_loss(conv, PL_LOSS_DROPPED, val->node, "it is not accepted while the model thinks");
    *val = (struct pl_val){0};
    conv->settings.is_changed = true;
}

/* A call that is asked for matters more than thinking, and thinking more than sampling. */
static void fit_beside_thinking(struct pl_conv *conv, const struct pl_conversion *conversion)
{
    struct pl_settings *s = &conv->settings;
    if (conversion->to != &pl_format_anthropic || conversion->kind == PL_KIND_RESPONSE ||
        !thinks(conv))
        return;
    if (!is_forced(conv)) {
        drop_beside_thinking(conv, &s->temperature, "1", "1");
        drop_beside_thinking(conv, &s->top_p, "0.95", "1");
        drop_beside_thinking(conv, &s->top_k, NULL, NULL);
        return;
    }
    const struct pl_json_node *node =
        s->thinking_budget.node ? s->thinking_budget.node : s->thinking.node;
    pl_conv_loss(conv, PL_LOSS_DROPPED, node,
                 "thinking is off, because it excludes a call that is asked for");
    s->thinking = s->thinking_budget = (struct pl_val){0};
    s->is_changed = true;
}

void pl_format_fit(struct pl_conv *conv, const struct pl_conversion *conversion,
                   struct pl_repair_rules *rules)
{
    struct fit f = {.conv = conv, .s = &conv->settings, .profile = pl_format_profile(conversion)};
    bool is_home = conversion->from == conversion->to;
    if (conversion->mode == PL_MODE_CONVERT || conversion->kind == PL_KIND_RESPONSE || !f.profile ||
        (is_home && conversion->to == &pl_format_gemini))
        return;
    take_tools_off(&f);
    look(&f);
    if (is_home && conversion->to == &pl_format_openai_chat)
        fit_limit(&f);
    if (conversion->to == &pl_format_anthropic) {
        fit_switch(&f);
        make_room(&f);
        forbid_prefill(conv, rules);
        if (f.s->effort != PL_EFFORT_NONE)
            fit_effort(&f, f.s->effort, f.s->effort_val.node);
    } else {
        fit_words(&f, conversion);
    }
    if (f.profile->samples_at_rest && is_at_rest(&f))
        rules->refuses_sampling = rules->refuses_penalties = rules->refuses_logprobs = false;
}

/* Rewrites details of images and audio (seed 001) that the target has no member for: the time of a
 * video frame becomes text, raw samples become a WAV file. */
static void say_perception(struct pl_conv *conv, const struct pl_conversion *conversion)
{
    if (conversion->from == conversion->to)
        return;
    if (conversion->to->is_vendor)
        pl_conv_time_frames(conv);
    if (conversion->to->wants_wav)
        pl_conv_wrap_pcm(conv);
}

static void report_name(struct pl_conv *conv, struct pl_val name)
{
    if (name.kind == PL_VAL_TEXT && name.node)
        pl_conv_loss(conv, PL_LOSS_APPROXIMATED, name.node,
                     "another tool has this name; it is %.*s here", PL_STR_ARG(name.str));
}

/* Tools of several namespaces with one name got their namespaces into their names when they were
 * read. */
static void report_names(struct pl_conv *conv, const struct pl_conversion *conversion)
{
    bool has_spaces = false;
    for (size_t i = 0; i < conv->tools.len && conversion->from != conversion->to; i++)
        has_spaces |= pl_val_is_set(conv->tools.ptr[i].space);
    if (!has_spaces)
        return;
    for (size_t i = 0; i < conv->tools.len; i++)
        report_name(conv, conv->tools.ptr[i].name);
    for (size_t i = 0; i < conv->parts.len; i++)
        if (conv->parts.ptr[i].kind == PL_PART_CALL)
            report_name(conv, conv->parts.ptr[i].name);
}

static void check_form(struct pl_conv *conv, const struct pl_conversion *conversion)
{
    if (conversion->from != conversion->to || conversion->kind == PL_KIND_RESPONSE ||
        !conversion->to->check_form)
        return;
    const struct pl_message *before = NULL;
    for (size_t i = 0; i < conv->messages.len && conv->status == PL_OK; i++) {
        struct pl_message *m = &conv->messages.ptr[i];
        if (m->element == PL_NO_ELEMENT)
            continue;
        /* Several messages may come from one element; the first one tells. */
        if (before && before->element == m->element)
            m->is_changed = before->is_changed;
        else
            conversion->to->check_form(conv, m);
        before = m;
    }
}

enum pl_status pl_format_prepare(struct pl_conv *conv, const struct pl_conversion *conversion,
                                 struct pl_error *err)
{
    enum pl_status status = pl_restate(conv, conversion, err);
    if (status == PL_OK) {
        pl_flag_errors(conv, conversion);
        pl_cite_back(conv, conversion);
        say_perception(conv, conversion);
        report_names(conv, conversion);
        status = conv->status;
    }
    if (status != PL_OK)
        return status;
    struct pl_repair_rules rules = pl_format_rules(conversion);
    if (conversion->mode != PL_MODE_CONVERT) {
        check_form(conv, conversion);
        pl_format_limit(conv, conversion);
        pl_format_flatten(conv, conversion);
        pl_format_fit_grammars(conv, conversion);
    }
    if (conversion->mode != PL_MODE_CONVERT || conversion->is_own)
        pl_format_fit(conv, conversion, &rules);
    else if (!rules.wants_unique_ids)
        return status;
    status = pl_conv_repair(conv, &rules);
    if (status == PL_OK && conversion->mode != PL_MODE_CONVERT) {
        pl_format_declare(conv, conversion);
        fit_beside_thinking(conv, conversion);
    }
    return status == PL_OK ? conv->status : status;
}
