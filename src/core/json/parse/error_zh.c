/* Chinese messages for JSON syntax errors. */
#include "json/parse/error_zh.h"

#include "base/text/phrase.h"

static const struct pl_phrase sentences[] = {
    {"expected *, but found *; *", "此处应为$1，却是$2；$3"},
    {"expected *, but found *", "此处应为$1，却是$2"},
    {"a value", "一个值"},
    {"a value or ']'", "一个值或 ']'"},
    {"a number", "一个数字"},
    {"a key in double quotes", "双引号中的键"},
    {"a key in double quotes or '}'", "双引号中的键或 '}'"},
    {"':' after the key", "键后面的 ':'"},
    {"',' or '}'", "',' 或 '}'"},
    {"',' or ']'", "',' 或 ']'"},
    {"the end of the text", "文本的结尾"},
    {"byte *", "字节 $1"},
    {"JSON has no comments; remove it or read the text leniently",
     "JSON 没有注释；请删除它，或以宽松方式读取"},
    {"remove the trailing comma or read the text leniently",
     "请删除末尾多余的逗号，或以宽松方式读取"},
    {"strings need double quotes", "字符串要用双引号"},
    {"JSON has no NaN; use null", "JSON 没有 NaN；请用 null"},
    {"JSON has no infinity", "JSON 没有无穷大"},
    {"write true in lower case", "请用小写的 true"},
    {"write false in lower case", "请用小写的 false"},
    {"write null", "请写 null"},
    {"JSON has no undefined; use null", "JSON 没有 undefined；请用 null"},
    {"remove the byte-order mark or read the text leniently",
     "请删除字节顺序标记（BOM），或以宽松方式读取"},
    {"numbers have no plus sign", "数字前不能有加号"},
    {"write a digit before the decimal point", "小数点前要有一位数字"},
    {"numbers have no leading zeros", "数字不能以多余的零开头"},
    {"invalid UTF-8: unexpected byte *", "UTF-8 无效：不应有的字节 $1"},
    {"control character * in a string; write it as *", "字符串中有控制字符 $1；请写成 $2"},
    {"more than * values; split the document", "值的数目超过 $1；请拆分文档"},
    {"\\u must be followed by four hexadecimal digits", "\\u 后面要有四位十六进制数字"},
    {"\\u0000 is not accepted here", "此处不接受 \\u0000"},
    {"* is half of a surrogate pair; the * half is missing", "$1 是代理对的一半；缺少$2"},
    {"first", "前一半"},
    {"second", "后一半"},
    {"unknown escape; JSON has *", "未知的转义；JSON 只有 $1"},
    {"this string is not closed; add the missing quote", "字符串没有结束；请补上引号"},
    {"a number has more than * characters", "数字超过 $1 个字符"},
    {"duplicate key * in this object", "对象中的键 $1 重复"},
    {"nested deeper than * levels", "嵌套超过 $1 层"},
    {"the JSON text has * bytes; the maximum is *", "JSON 文本有 $1 字节；最多 $2 字节"},
    {"the validation exceeds the limit of steps or levels", "验证超过了步数或层数的上限"},
    {"out of memory*", "内存不足"},
    {0},
};

void pl_json_error_in_chinese(struct pl_error *err)
{
    PL_CLEANUP_BUF struct pl_buf text;
    pl_buf_init(&text, sizeof err->message - 1);
    if (!pl_phrase_translate(sentences, pl_str_of(err->message), &text) || text.status != PL_OK)
        return;
    pl_bytes_copy(err->message, text.ptr, text.len);
    err->message[text.len] = '\0';
}
