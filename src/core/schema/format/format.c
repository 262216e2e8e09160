/* The table of formats (JSON Schema 2020-12 Validation, section 7.3), sorted by name. */
#include "schema/format/format.h"

#include "schema/format/format_int.h"

static const struct pl_schema_format formats[] = {
    {"date", pl_format_is_date, "a date like 2026-01-31", "形如 2026-01-31 的日期"},
    {"date-time", pl_format_is_date_time, "a date and time like 2026-01-31T09:30:00Z",
     "形如 2026-01-31T09:30:00Z 的日期时间"},
    {"duration", pl_format_is_duration, "a duration like P3DT12H or P2W",
     "形如 P3DT12H 或 P2W 的时长"},
    {"email", pl_format_is_email, "an e-mail address like ada@example.com",
     "形如 ada@example.com 的电子邮件地址"},
    {"hostname", pl_format_is_hostname, "a host name like www.example.com",
     "形如 www.example.com 的主机名"},
    {"idn-email", pl_format_is_idn_email, "an e-mail address like 用户@例子.中国",
     "形如 用户@例子.中国 的电子邮件地址"},
    {"idn-hostname", pl_format_is_idn_hostname, "a host name like 例子.中国",
     "形如 例子.中国 的主机名"},
    {"ipv4", pl_format_is_ipv4, "an IPv4 address like 192.0.2.1", "形如 192.0.2.1 的 IPv4 地址"},
    {"ipv6", pl_format_is_ipv6, "an IPv6 address like 2001:db8::1",
     "形如 2001:db8::1 的 IPv6 地址"},
    {"iri", pl_format_is_iri, "an absolute IRI like https://例子.中国/路径",
     "形如 https://例子.中国/路径 的绝对 IRI"},
    {"iri-reference", pl_format_is_iri_reference, "an IRI or a relative reference like /路径?q=值",
     "IRI 或形如 /路径?q=值 的相对引用"},
    {"json-pointer", pl_format_is_json_pointer,
     "a JSON Pointer like /items/0 (empty for the whole document)",
     "形如 /items/0 的 JSON 指针（空串指整个文档）"},
    {"regex", pl_format_is_regex,
     "a regular expression of ECMA-262 like ^[a-z]+$, of at most 8 KiB",
     "形如 ^[a-z]+$ 的 ECMA-262 正则表达式（最长 8 KiB）"},
    {"relative-json-pointer", pl_format_is_relative_json_pointer,
     "a relative JSON Pointer like 1/name or 0#", "形如 1/name 或 0# 的相对 JSON 指针"},
    {"time", pl_format_is_time, "a time with an offset like 09:30:00Z or 17:30:00+08:00",
     "带时区偏移的时间，如 09:30:00Z 或 17:30:00+08:00"},
    {"uri", pl_format_is_uri, "an absolute URI like https://example.com/path",
     "形如 https://example.com/path 的绝对 URI"},
    {"uri-reference", pl_format_is_uri_reference, "a URI or a relative reference like /path?q=1",
     "URI 或形如 /path?q=1 的相对引用"},
    {"uri-template", pl_format_is_uri_template, "a URI template like /users/{id}{?page}",
     "形如 /users/{id}{?page} 的 URI 模板"},
    {"uuid", pl_format_is_uuid, "a UUID like 2eb8aa08-aa98-11ea-b4aa-73b441d16380",
     "形如 2eb8aa08-aa98-11ea-b4aa-73b441d16380 的 UUID"},
};

const struct pl_schema_format *pl_schema_format_find(struct pl_str name)
{
    size_t low = 0, high = sizeof formats / sizeof *formats;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = pl_str_cmp(name, pl_str_of(formats[middle].name));
        if (order == 0)
            return &formats[middle];
        if (order > 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}
