/* The messages of lint in Chinese: those of this directory, of the lint of a format and of the
 * repair of settings. Values inside a message are not translated. */
#include "base/text/phrase.h"
#include "conv/lint/lint.h"
#include "json/parse/error_zh.h"

static const struct pl_phrase sentences[] = {
    /* calls and their results */
    {"the call * of * has no result; add one, even if the tool failed or never ran",
     "$2 的调用 $1 没有结果；请补上一个，即使工具失败或从未运行"},
    {"this call of * has no result; add one, even if the tool failed or never ran",
     "$1 的这个调用没有结果；请补上一个，即使工具失败或从未运行"},
    {"the call * already has a result; keep one of them", "调用 $1 已经有结果；请只保留一个"},
    {"no earlier call has the id \"*\"; remove this result or restore its call",
     "前面没有 id 为 \"$1\" 的调用；请删除这个结果，或恢复它的调用"},
    {"no earlier call of * waits for this result; remove it or restore its call",
     "前面没有等待这个结果的 $1 调用；请删除这个结果，或恢复它的调用"},
    {"the result of * comes after another message; it belongs directly after its call",
     "$1 的结果隔着另一条消息；它应紧跟在调用之后"},
    {"the schema of this tool cannot be used: *", "这个工具的 schema 无法使用：$1"},
    {"checking arguments against the schemas of the tools takes too many steps; from here on they "
     "were "
     "not checked",
     "按工具的 schema 检查参数需要的步数过多；此后的参数没有检查"},
    {"the arguments do not match the tool's schema at \"*\": *",
     "参数在 \"$1\" 处不符合工具的 schema：$2"},
    {"the arguments are not JSON: * (column *)", "参数不是 JSON：$1（第 $2 列）"},
    {"the arguments are not an object; many targets accept only objects",
     "参数不是对象；许多目标只接受对象"},
    {"there is no tool *; declare it, or the model learns to call missing tools",
     "没有名为 $1 的工具；请声明它，否则模型会学着调用不存在的工具"},
    {"arguments must be a string that contains JSON, not * itself",
     "参数必须是包含 JSON 的字符串，而不是$1本身"},
    {"the error of a tool needs *, a text, for the model to know what to do",
     "工具的错误需要文本 $1，模型才知道该怎么做"},
    {"a failed tool must say so in JSON: *", "失败的工具必须用 JSON 说明：$1"},
    {"two tools have the name *", "有两个工具都叫 $1"},
    /* texts and media */
    {"this looks like *; remove it, and revoke it if it is real",
     "这看起来像$1；请删除它，如果是真的，请吊销"},
    {"an API key", "一个 API 密钥"},
    {"a payment key", "一个支付密钥"},
    {"a cloud access key", "一个云访问密钥"},
    {"a cloud API key", "一个云 API 密钥"},
    {"an access token", "一个访问令牌"},
    {"a repository token", "一个代码仓库令牌"},
    {"a package registry token", "一个软件包仓库令牌"},
    {"a model hub token", "一个模型平台令牌"},
    {"a chat token", "一个聊天令牌"},
    {"a mail key", "一个邮件密钥"},
    {"a signed token", "一个签名令牌"},
    {"a private key", "一个私钥"},
    {"this text contains binary data; send it as an image, audio or file part",
     "这段文本含有二进制数据；请作为图片、音频或文件发送"},
    {"this signed URL expired * ago; store the file and link to it",
     "这个签名 URL 已于$1前过期；请保存文件并链接到它"},
    {"this signed URL expires in *; store the file to keep the conversation usable",
     "这个签名 URL 将在$1后过期；请保存文件，对话才能继续使用"},
    {"this signed URL expires; store the file to keep the conversation usable",
     "这个签名 URL 会过期；请保存文件，对话才能继续使用"},
    {"* days", " $1 天"},
    {"* hours", " $1 小时"},
    {"* minutes", " $1 分钟"},
    {"a video cannot be sent as a file; send frames as images and the sound as audio (*)",
     "视频不能作为文件发送；请把画面作为图片、声音作为音频发送（$1）"},
    {"audio needs its format (wav, mp3, …) next to the data",
     "音频数据旁边要有它的格式（wav、mp3……）"},
    {"an image without data, URL or file id", "图片没有数据、URL 或文件 id"},
    {"\"*\" is no format of sound; use *", "\"$1\" 不是音频格式；请用$2"},
    {"wav, mp3, flac, ogg, opus, aac, m4a, webm or pcm16",
     " wav、mp3、flac、ogg、opus、aac、m4a、webm 或 pcm16"},
    {"the data of a sound must be base64, and this is not", "音频数据必须是 base64，而这里不是"},
    /* parts and segments */
    {"there is no part type \"*\"; did you mean \"*\"?",
     "没有类型为 \"$1\" 的部分；是否想写 \"$2\"？"},
    {"there is no part type \"*\", so no model gets this part",
     "没有类型为 \"$1\" 的部分，因此模型得不到它"},
    {"another part of this message also has the index *; count the parts from 0",
     "这条消息的另一个部分也有序号 $1；请从 0 开始编号"},
    {"a segment of kind * does not match the role *; put it into a message of role *",
     "$1 类型的片段不适合角色 $2；请放到角色为 $3 的消息中"},
    {"system, user or assistant", "system、user 或 assistant"},
    {"system or user", "system 或 user"},
    {"charCount is wrong; the text has * Unicode code points",
     "charCount 有误；这段文本有 $1 个 Unicode 码点"},
    /* citations */
    {"the anchor \"*\" has no entry in citation_map; it is shown as text",
     "锚点 \"$1\" 在 citation_map 中没有条目；它会显示为文本"},
    {"the source \"*\" is not cited; add * or remove the source",
     "来源 \"$1\" 没有被引用；请加上 $2，或删除这个来源"},
    {"a bbox is [x1, y1, x2, y2] with x1 < x2 and y1 < y2",
     "bbox 是 [x1, y1, x2, y2]，其中 x1 < x2 且 y1 < y2"},
    {"page_number counts from 1", "page_number 从 1 开始"},
    /* across messages */
    {"another message also has the id \"*\"", "另一条消息也有 id \"$1\""},
    {"another call also has the id \"*\", so results are ambiguous",
     "另一个调用也有 id \"$1\"，因此结果无法对应"},
    {"* agent has a name here; set `name` to say which one this is",
     "这里有 $1 个智能体有名字；请设置 `name`，说明这是哪一个"},
    {"* agents have a name here; set `name` to say which one this is",
     "这里有 $1 个智能体有名字；请设置 `name`，说明这是哪一个"},
    {"the assistant's message is empty: no text, no call, no reasoning; remove it or give the "
     "answer",
     "助手的消息是空的：没有文本、调用或思考；请删除它，或给出回答"},
    {"this message is empty; remove it", "这条消息是空的；请删除"},
    {"this text is empty; remove it", "这段文本是空的；请删除"},
    {"two * messages in a row; * treats them as one", "连续两条 $1 消息；$2会把它们当作一条"},
    {"the first message is the assistant's; * expects the user's",
     "第一条消息是助手的；$1要求是用户的"},
    {"only the system speaks; * expects a user message", "只有系统消息；$1要求有用户消息"},
    {"the last message is the assistant's; * does not continue it",
     "最后一条消息是助手的；$1不会接着它写"},
    {"the target", "目标"},
    {"about * tokens exceed the context window of *; trim the conversation (parley trim)",
     "大约 $1 个 token 超出了上下文窗口 $2；请裁剪对话（parley trim）"},
    {"* tokens exceed the context window of *; trim the conversation (parley trim)",
     "$1 个 token 超出了上下文窗口 $2；请裁剪对话（parley trim）"},
    {"and * more of this kind; * are listed: correct those, then check again",
     "同类问题还有 $1 个；已列出 $2 个：请先改正它们，再检查一次"},
    /* settings that the target refuses */
    {"the target refuses this setting", "目标拒绝这个设置"},
    {"this model cannot be forced to call a tool; it chooses itself",
     "无法强制这个模型调用工具；由它自己选择"},
    {"this model always thinks; the effort says how much", "这个模型总会思考；effort 决定思考多少"},
    {"this model's lowest thinking level is \"*\"", "这个模型最低的思考级别是 \"$1\""},
    {"with thinking off, the highest effort is high", "关闭思考时，最高的 effort 是 high"},
    {"the effort \"*\" was added", "加上了 effort \"$1\""},
    {"this model thinks with a token budget, or not at all",
     "这个模型按 token 预算思考，或者完全不思考"},
    {"this model has no token budget; an effort says how much it thinks",
     "这个模型没有 token 预算；effort 决定它思考多少"},
    {"this model has no efforts", "这个模型没有 effort"},
    {"the nearest effort of this model is \"*\"", "这个模型最接近的 effort 是 \"$1\""},
    {"this model cannot think when it has tools; its effort is \"none\"",
     "这个模型有工具时不能思考；它的 effort 是 \"none\""},
    {"this model uses * instead", "这个模型改用 $1"},
    {"this server uses * instead", "这个服务器改用 $1"},
    {"this model calls no tools; none is offered to it", "这个模型不调用工具；不向它提供任何工具"},
    /* values of another type */
    {"expected *, but found *; it is not read", "此处应为$1，却是$2；它没有被读取"},
    {"a string", "字符串"},
    {"a number", "数字"},
    {"true or false", " true 或 false"},
    {"an array", "数组"},
    {"an object", "对象"},
    {"an integer", "整数"},
    {"a string or an array of strings", "字符串或字符串数组"},
    {"a string or a number", "字符串或数字"},
    {"a string or an array", "字符串或数组"},
    {"a string or an object", "字符串或对象"},
    {"an array or an object", "数组或对象"},
    {"a string, an array or an object", "字符串、数组或对象"},
    {"an array with something else in it", "含有其他类型的数组"},
    {"another type", "另一种类型"},
    {"null", " null"},
    {"false", " false"},
    {"true", " true"},
    {0},
};

/* Errors in JSON text have the parser's own messages. */
static bool translate_json(struct pl_str text, struct pl_buf *to)
{
    struct pl_error err = {0};
    size_t n = text.len < sizeof err.message ? text.len : sizeof err.message - 1;
    pl_bytes_copy(err.message, text.ptr, n);
    pl_json_error_in_chinese(&err);
    if (pl_str_eq(pl_str_of(err.message), pl_str_slice(text, 0, n)))
        return false;
    pl_buf_adds(to, err.message);
    return true;
}

bool pl_findings_to_chinese(struct pl_findings *findings, struct pl_arena *arena)
{
    PL_CLEANUP_BUF struct pl_buf text;
    pl_buf_init(&text, 0);
    for (size_t i = 0; i < findings->list.len; i++) {
        struct pl_finding *finding = &findings->list.ptr[i];
        text.len = 0;
        if (!pl_phrase_translate(sentences, finding->message, &text) &&
            !translate_json(finding->message, &text))
            continue;
        finding->message = pl_arena_dup(arena, pl_buf_str(&text));
        if (text.status != PL_OK || !finding->message.ptr)
            return false;
    }
    return true;
}
