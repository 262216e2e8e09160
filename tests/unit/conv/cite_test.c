/* Anchors, their sources, and the valid members of a source. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "conv/cite.h"

#include <stdio.h>

struct found {
    struct pl_arena arena;
    struct pl_json_doc doc;
    struct pl_conv conv;
    struct pl_cites cites;
};

/* One message {"text","metadata"}, and one source with the id "doc" (NULL: none). */
static void find(struct found *f, const char *document, const char *source)
{
    *f = (struct found){0};
    pl_arena_init(&f->arena, 0);
    assert_int_equal(pl_json_parse(&f->arena, pl_str_of(document), NULL, &f->doc, NULL), PL_OK);
    assert_int_equal(pl_conv_init(&f->conv, &f->arena, &f->doc), PL_OK);
    pl_conv_add_message(&f->conv, PL_ROLE_ASSISTANT, f->doc.root, 0)->metadata =
        pl_conv_get(&f->conv, f->doc.root, "metadata", PL_WANT_ANY);
    pl_conv_add_part(&f->conv, PL_PART_TEXT, NULL)->text =
        pl_conv_get(&f->conv, f->doc.root, "text", PL_WANT_ANY);
    struct pl_cite_source sources[] = {{PL_STR("doc"), pl_str_of(source)}};
    assert_int_equal(pl_cites_find(&f->conv, sources, source ? 1 : 0, &f->cites), PL_OK);
}

static void drop(struct found *f)
{
    pl_cites_deinit(&f->cites);
    pl_conv_deinit(&f->conv);
    pl_arena_deinit(&f->arena);
}

static void expect_ids(const char *text, const char *wanted)
{
    char ids[256] = "";
    struct pl_str tag, id;
    for (size_t at = 0; pl_cite_next(pl_str_of(text), &at, &tag, &id);) {
        size_t n = strlen(ids);
        snprintf(ids + n, sizeof ids - n, "%.*s,", PL_STR_ARG(id));
    }
    assert_string_equal(ids, wanted);
}

static void test_anchors_are_found(void **state)
{
    (void)state;
    expect_ids("a<cite id=\"x\"/>b<cite id='y'></cite><cite  n=\"1\" id=\"z 1\" />", "x,y,z 1,");
    expect_ids("<cite id=\"\"/>", ",");
}

static void test_what_only_looks_like_an_anchor_is_none(void **state)
{
    (void)state;
    expect_ids("<cited id=\"x\"/><cite/><cite id=x/><cite xid=\"x\"/><cite id=\"x", "");
    expect_ids("<<cite id=\"a\"/><cite", "a,");
}

#define ENTRY(location)                                                                            \
    "{\"text\":\"<cite id=\\\"c\\\"/>\",\"metadata\":{\"citation_map\":{\"c\":"                    \
    "{\"source_id\":\"doc\",\"location\":{" location "}}}}}"

static void expect_rules(const char *document, bool has_bad_page, bool has_bad_box)
{
    struct found f;
    find(&f, document, NULL);
    assert_int_equal(f.cites.list.len, 1);
    const struct pl_cite *cite = &f.cites.list.ptr[0];
    assert_non_null(cite->entry);
    assert_int_equal(cite->has_bad_page, has_bad_page);
    assert_int_equal(cite->has_bad_box, has_bad_box);
    assert_int_equal(pl_cite_is_wrong(cite), has_bad_page || has_bad_box);
    drop(&f);
}

static void test_pages_count_from_1_and_boxes_have_an_extent(void **state)
{
    (void)state;
    expect_rules(ENTRY("\"page_number\":1,\"bbox\":[0,0,0.5,1e1]"), false, false);
    expect_rules(ENTRY("\"page_number\":0"), true, false);
    expect_rules(ENTRY("\"page_number\":1.5"), true, false);
    expect_rules(ENTRY("\"page_number\":\"1\""), true, false);
    expect_rules(ENTRY("\"bbox\":[1,0,1,1]"), false, true);
    expect_rules(ENTRY("\"bbox\":[0,2,1,1]"), false, true);
    expect_rules(ENTRY("\"bbox\":[0,0,1]"), false, true);
    expect_rules(ENTRY("\"bbox\":[0,0,1,null]"), false, true);
}

static void expect_snippet(const char *document, const char *source, enum pl_cite_snippet wanted)
{
    struct found f;
    find(&f, document, source);
    assert_int_equal(f.cites.list.ptr[0].snippet, wanted);
    drop(&f);
}

static void test_a_snippet_is_looked_up_in_its_source(void **state)
{
    (void)state;
    const char *entry = ENTRY("\"text_snippet\":\" aab  aaac\"");
    expect_snippet(entry, NULL, PL_CITE_SNIPPET_UNCHECKED);
    expect_snippet(entry, "x aab\r\n\taaac y", PL_CITE_SNIPPET_FOUND);
    expect_snippet(entry, "aaab aaaac aab aaac", PL_CITE_SNIPPET_FOUND);
    expect_snippet(entry, "aab aaab aaac", PL_CITE_SNIPPET_FOUND);
    expect_snippet(entry, "aab aaa", PL_CITE_SNIPPET_MISSING);
    expect_snippet(entry, "", PL_CITE_SNIPPET_MISSING);
    expect_snippet(ENTRY("\"text_snippet\":\" \""), "x", PL_CITE_SNIPPET_NONE);
}

static void test_an_unknown_id_is_shown_as_it_is_written(void **state)
{
    (void)state;
    struct found f;
    find(&f, "{\"text\":\"a <cite id='q'/>\",\"metadata\":{\"citation_map\":{\"c\":{}}}}", NULL);
    assert_null(f.cites.list.ptr[0].entry);
    assert_false(pl_cite_is_wrong(&f.cites.list.ptr[0]));
    PL_CLEANUP_BUF struct pl_buf out;
    pl_buf_init(&out, 0);
    pl_cites_write(&out, &f.conv, &f.cites);
    pl_buf_addc(&out, '\0');
    assert_string_equal(
        out.ptr, "[{\"id\":\"q\",\"pointer\":\"/text\",\"resolved\":false,\"source\":null,"
                 "\"shown\":\"<cite id='q'/>\",\"snippet\":\"none\",\"problems\":[\""
                 "citation_map has no entry with this id; the anchor is shown as plain text\"]}]");
    drop(&f);
}

static void test_a_source_is_described_by_name_page_and_words(void **state)
{
    (void)state;
    struct found f;
    find(&f, ENTRY("\"page_number\":42,\"text_snippet\":\"Up 20%\""), NULL);
    PL_CLEANUP_BUF struct pl_buf out;
    pl_buf_init(&out, 0);
    pl_cite_describe(&out, &f.conv, &f.cites.list.ptr[0]);
    pl_buf_addc(&out, '\0');
    assert_string_equal(out.ptr, "doc, page 42: \"Up 20%\"");
    drop(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_anchors_are_found),
        cmocka_unit_test(test_what_only_looks_like_an_anchor_is_none),
        cmocka_unit_test(test_pages_count_from_1_and_boxes_have_an_extent),
        cmocka_unit_test(test_a_snippet_is_looked_up_in_its_source),
        cmocka_unit_test(test_an_unknown_id_is_shown_as_it_is_written),
        cmocka_unit_test(test_a_source_is_described_by_name_page_and_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
