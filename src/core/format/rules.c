/* The rules of each target, as data: a table by format, and additions from the profile.
 *
 * They come from the vendors' documentation, as collected in the acceptance cases. A format that is
 * not here (an envelope, a prompt) accepts any conversation. */
#include "format/rules.h"

#include "format/profile.h"

enum {
    PICTURE = PL_PART_BIT(PL_PART_IMAGE),
    SOUND = PL_PART_BIT(PL_PART_AUDIO),
    MOVIE = PL_PART_BIT(PL_PART_VIDEO),
    PAPER = PL_PART_BIT(PL_PART_FILE),
    ALL_MEDIA = PICTURE | SOUND | MOVIE | PAPER,
};

static const char *const responses_history[] = {"previous_response_id", "conversation", NULL};

/* Rules for any source, and rules only for a source of another format: media in places that the
 * vendor's own documents use for extensions. */
static const struct row {
    const char *format;
    struct pl_repair_rules rules;
    uint32_t foreign_refused_from_assistant;
    uint32_t foreign_refused_from_user;
} table[] = {
    {"openai-chat",
     {.pairs_calls = true,
      .wants_results_adjacent = true,
      .wants_unique_ids = true,
      .max_id_length = 40,
      .max_temperature = "2",
      .wants_tools_for_choice = true,
      .wants_media_content = true,
      .wants_plain_base64 = true,
      .refuses_empty_detail = true,
      .wants_registered_types = true,
      .wants_file_names = true,
      .wants_file_data = true,
      .wants_web_urls = true,
      .refused_in_results = ALL_MEDIA},
     ALL_MEDIA,
     MOVIE},
    {"openai-responses",
     {.pairs_calls = true,
      .wants_unique_ids = true,
      .max_id_length = 64,
      .max_temperature = "2",
      .wants_tools_for_choice = true,
      .wants_media_content = true,
      .wants_plain_base64 = true,
      .refuses_empty_detail = true,
      .wants_registered_types = true,
      .wants_file_names = true,
      .wants_web_urls = true,
      .open_history = responses_history,
      .refused_in_results = SOUND | MOVIE,
      .store_switch = "store",
      .needs_thinking_follower = true},
     ALL_MEDIA,
     SOUND | MOVIE},
    {"anthropic",
     {.pairs_calls = true,
      .wants_results_adjacent = true,
      .wants_results_together = true,
      .joins_assistants = true,
      .wants_unique_ids = true,
      .wants_ids_once = true,
      .wants_tools_for_calls = true,
      .wants_tools_for_choice = true,
      .wants_media_content = true,
      .wants_plain_base64 = true,
      .wants_registered_types = true,
      .wants_web_urls = true,
      .drops_blank = true,
      .refused_from_assistant = PICTURE,
      .max_cache_markers = 4,
      .system_place = PL_SYSTEM_AFTER_USER,
      .wants_user_first = true,
      .trims_prefill = true,
      .needs_thinking_history = true,
      .max_temperature = "1"},
     PAPER,
     SOUND | MOVIE},
    {"gemini",
     {.pairs_calls = true,
      .wants_results_adjacent = true,
      .wants_results_together = true,
      .wants_call_order = true,
      .wants_result_names = true,
      .wants_tools_for_choice = true,
      .wants_media_content = true,
      .chooses_functions_only = true,
      .drops_empty = true,
      .wants_registered_types = true,
      .wants_user_first = true,
      .joins_callers = true,
      .max_temperature = "2",
      .refuses_prefill = true},
     0,
     0},
    {"harmony",
     {.pairs_calls = true, .wants_results_adjacent = true, .wants_unique_ids = true},
     0,
     0},
};

static bool is_called(const struct pl_format *format, const char *name)
{
    return format && strcmp(format->name, name) == 0;
}

static bool is_openai(const struct pl_format *format)
{
    return is_called(format, "openai-chat") || is_called(format, "openai-responses");
}

static bool has_argument_strings(const struct pl_format *format)
{
    return is_called(format, "openai-chat") || is_called(format, "harmony") ||
           is_called(format, "openai-responses") || is_called(format, "turns");
}

static void add_profile(struct pl_repair_rules *rules, const struct pl_profile *profile)
{
    rules->refuses_sampling = profile->refuses_sampling;
    rules->refuses_two_samplings = profile->refuses_two_samplings;
    rules->refuses_penalties = profile->refuses_penalties;
    rules->refuses_logprobs = profile->refuses_logprobs;
    rules->refuses_forced_choice = profile->refuses_forced_choice;
    if (profile->refuses_prefill)
        rules->refuses_prefill = true;
    if (profile->refuses_system_inside)
        rules->system_place = PL_SYSTEM_FIRST_ONLY;
    if (profile->refuses_documents_from_assistant) {
        rules->refused_from_assistant |= PAPER;
        rules->refuses_user_citations = true;
    }
    if (profile->requires_alternation)
        rules->wants_alternation = true;
    if (profile->refuses_call_ids)
        rules->refuses_call_ids = true;
    if (profile->requires_reasoning_on_all)
        rules->wants_thinking_on_all = true;
    if (profile->id_length > 0)
        rules->id_length = (uint32_t)profile->id_length;
}

const struct pl_profile *pl_format_profile(const struct pl_conversion *conversion)
{
    return conversion->profile ? conversion->profile
                               : pl_profile_default(pl_str_of(conversion->to->name));
}

/* NULL: accepts anything. */
static const struct row *row_of(const struct pl_format *format)
{
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (is_called(format, table[i].format))
            return &table[i];
    return NULL;
}

/* A session may have been imported with results that answer no call, or with an id that two calls
 * of a turn share. In an export, calls and results must be pairs; nothing else is repaired. */
static struct pl_repair_rules rules_of_export(const struct pl_format *format)
{
    const struct row *row = row_of(format);
    if (!row)
        return (struct pl_repair_rules){0};
    const struct pl_repair_rules *all = &row->rules;
    return (struct pl_repair_rules){.pairs_calls = all->pairs_calls,
                                    .wants_results_adjacent = all->wants_results_adjacent,
                                    .wants_results_together = all->wants_results_together,
                                    .wants_call_order = all->wants_call_order,
                                    .wants_unique_ids = all->wants_unique_ids,
                                    .joins_assistants = all->joins_assistants};
}

struct pl_repair_rules pl_format_rules(const struct pl_conversion *conversion)
{
    struct pl_repair_rules rules = {0};
    if (conversion->kind == PL_KIND_RESPONSE)
        return rules;
    if (conversion->mode == PL_MODE_CONVERT && conversion->is_own)
        return rules_of_export(conversion->to);
    /* A turn refers to its calls by id alone, so two calls cannot share an id. */
    rules.wants_unique_ids =
        is_called(conversion->to, "turns") && conversion->from != conversion->to;
    if (conversion->mode == PL_MODE_CONVERT)
        return rules;
    bool is_same = conversion->from == conversion->to;
    const struct row *row = row_of(conversion->to);
    if (row)
        rules = row->rules;
    if (row && !is_same) {
        rules.refused_from_assistant |= row->foreign_refused_from_assistant;
        rules.refused_from_user |= row->foreign_refused_from_user;
        rules.refuses_others = true;
    }
    const struct pl_profile *profile = pl_format_profile(conversion);
    if (profile)
        add_profile(&rules, profile);
    if (profile && profile->takes_video_url)
        rules.refused_from_user &= ~(uint32_t)MOVIE;
    if (is_called(conversion->to, "gemini")) {
        if (profile && !profile->allows_media_in_results)
            rules.refused_in_results = ALL_MEDIA;
        if (profile && profile->requires_signatures && is_same)
            rules.signature_bypass = PL_STR("skip_thought_signature_validator");
    }
    rules.keeps_signatures = is_same;
    rules.home = pl_format_place(conversion->to);
    rules.wants_argument_strings = is_same && has_argument_strings(conversion->to);
    rules.wants_calls_last = is_same && is_called(conversion->to, "anthropic");
    rules.moves_leading_system = rules.wants_calls_last;
    /* Responses pairs calls and outputs by id alone, wherever they are. */
    rules.wants_ids_once |= !is_same && is_called(conversion->to, "openai-responses");
    /* Only a document of that format can refer to data that its vendor stores. */
    rules.refuses_file_ids =
        !is_same && !(is_openai(conversion->from) && is_openai(conversion->to));
    if (is_same || (profile && profile->takes_file_url))
        rules.wants_file_data = false; /* some servers read an address there */
    if (!is_same) {
        rules.open_history = NULL;
        rules.store_switch = NULL;
    }
    return rules;
}

struct pl_lint_opts pl_format_lint_opts(const struct pl_format *as, const struct pl_format *target,
                                        const struct pl_profile *profile, int64_t now_s)
{
    struct pl_conversion conversion = {
        .mode = PL_MODE_GATEWAY, .from = as, .to = target ? target : as, .profile = profile};
    struct pl_repair_rules rules = pl_format_rules(&conversion);
    bool is_for_other = target || profile;
    return (struct pl_lint_opts){
        .now_s = now_s,
        .has_argument_strings = has_argument_strings(as),
        .has_json_errors = is_called(as, "harmony"),
        .joins_assistants = rules.joins_assistants,
        .wants_results_adjacent = rules.wants_results_adjacent,
        .refuses_video =
            !is_called(conversion.to, "gemini") && !(profile && profile->takes_video_url),
        .refuses_empty = rules.drops_blank,
        .wants_alternation = is_for_other && rules.wants_user_first,
        .requires_alternation = rules.wants_alternation,
        .wants_user_first = rules.wants_user_first,
        .refuses_prefill = rules.refuses_prefill,
        .open_history = rules.open_history,
        .target = profile  ? profile->name
                  : target ? target->name
                           : NULL,
    };
}
