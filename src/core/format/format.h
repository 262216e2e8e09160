/* The registry of formats: one file and one line here per format. */
#ifndef PL_FORMAT_FORMAT_H
#define PL_FORMAT_FORMAT_H

#include "conv/gist.h"
#include "conv/lint/lint.h"
#include "format/writer.h"

enum pl_format_kind { PL_KIND_REQUEST, PL_KIND_RESPONSE };

enum pl_mode { PL_MODE_CONVERT, PL_MODE_REPAIR, PL_MODE_GATEWAY, PL_MODE_COUNT };

/* "convert", "repair", "gateway". */
const char *pl_mode_name(enum pl_mode mode);

struct pl_profile; /* format/profile.h */
struct pl_cited;   /* format/pieces/citation.h */
struct pl_cites_list;

/* The parameters of a conversion. */
struct pl_conversion {
    enum pl_format_kind kind;
    enum pl_mode mode;
    const struct pl_format *from, *to;
    const struct pl_profile *profile; /* of the target; NULL: none */
    bool is_own;                      /* this program wrote the source */
    uint32_t n_called_before;         /* calls of the vendor's tools before this document */
    int64_t made_s;                   /* unix time for an answer without one; 0: unknown */
};

struct pl_format {
    const char *name;
    const char *title;    /* one line for help texts */
    const char *list_key; /* the member with the elements; "": the root is the list */
    bool is_vendor;       /* signatures of this format are invalid elsewhere */

    /* How likely the document is of this format, 0 (no) to 100 (certain). Looks at content only. */
    int (*detect)(const struct pl_json_doc *doc);

    /* Fills an initialised conversation. Lenient: unknown values are kept (OTHER parts) or left
     * without a fate. Fails (PL_INVALID, with a message and a pointer) only if the document has no
     * conversation of this format. */
    enum pl_status (*read)(struct pl_conv *conv, enum pl_format_kind kind, struct pl_error *err);

    /* Writes a document of this format. Values that the target cannot express are left without a
     * fate (pl_conv_sweep reports them as dropped) or reported with their own code and detail.
     * PL_INVALID if nothing can be written at all (the losses say why). */
    enum pl_status (*write)(struct pl_writer *w, const struct pl_conversion *conversion,
                            struct pl_error *err);

    /* The gist of one of this format's own parts (PL_PART_OTHER, by its node). False: it has none.
     * NULL: the format has no such parts. */
    bool (*tell)(struct pl_conv *conv, const struct pl_json_node *node, struct pl_gist *ret);
    /* Reads one of this format's citations (format/pieces/citation.h). False: it cannot be
     * expressed elsewhere. NULL: the format has none. */
    bool (*cite)(const struct pl_json_doc *doc, const struct pl_json_node *citation,
                 struct pl_cited *ret);
    /* Adds citations outside the parts. NULL: there are none. */
    void (*list_cites)(struct pl_conv *conv, struct pl_cites_list *list);
    /* Whether the vendor's filter objects to an answer, according to `ratings`. Appends the
     * rejected categories, as strings, to an open array. NULL: the vendor has no ratings. */
    bool (*judge)(const struct pl_json_doc *doc, const struct pl_json_node *ratings,
                  struct pl_json_out *categories);
    /* Finds problems specific to this format in a conversation. NULL: there are none. Running out
     * of memory is in conv->status. */
    void (*lint)(struct pl_conv *conv, struct pl_findings *findings);
    /* Marks a message of a request whose form the vendor refuses although `read` understands it,
     * and reports it: a repair writes it anew. NULL: there are no such forms. */
    void (*check_form)(struct pl_conv *conv, struct pl_message *m);
    /* The services whose calls and results `write` supports (PL_SERVICE_BIT), in a request and in a
     * response; and whether one item holds a call and its result. */
    uint32_t services[2];
    bool joins_services;
    bool wants_wav;      /* accepts audio only as a file, not as raw samples */
    bool has_error_flag; /* a result has a flag for a failed tool */
    bool has_documents;  /* a text document is a part of its own, with a title */
};

extern const struct pl_format pl_format_openai_chat, pl_format_openai_responses,
    pl_format_anthropic, pl_format_gemini, pl_format_harmony, pl_format_envelope,
    pl_format_structured_chat, pl_format_turns;

/* All formats, ended by NULL. */
extern const struct pl_format *const pl_formats[];
const struct pl_format *pl_format_find(struct pl_str name);
/* The index in the list + 1, as in pl_part.home. */
uint8_t pl_format_place(const struct pl_format *format);
/* The format that can check the proof of a part: that of the document, unless the part names
 * another. For any other target the proof is invalid. */
static inline const struct pl_format *pl_format_home(const struct pl_conversion *conversion,
                                                     const struct pl_part *part)
{
    return part->home ? pl_formats[part->home - 1] : conversion->from;
}
/* The array of a document's elements: the root, or the format's list member; NULL: none. */
const struct pl_json_node *pl_format_list(const struct pl_format *format,
                                          const struct pl_json_doc *doc);
/* The format of a document by its content, or NULL. */
const struct pl_format *pl_format_detect(const struct pl_json_doc *doc);

#endif
