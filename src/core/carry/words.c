/* The table of words. It belongs to the version of the carry: a changed word is a new version. */
#include "carry/words.h"

#define KEY(word)                                                                                  \
    {                                                                                              \
        "\"" word "\":", sizeof(word) + 2                                                          \
    }
#define VALUE(word)                                                                                \
    {                                                                                              \
        "\"" word "\"", sizeof(word) + 1                                                           \
    }

const struct pl_str pl_carry_words[128] = {
    ['A'] = KEY("additionalProperties"),
    ['B'] = KEY("tool_calls"),
    ['C'] = KEY("content"),
    ['D'] = KEY("description"),
    ['F'] = KEY("function"),
    ['G'] = KEY("generationConfig"),
    ['H'] = KEY("functionDeclarations"),
    ['I'] = KEY("id"),
    ['J'] = KEY("call_id"),
    ['K'] = KEY("input_schema"),
    ['L'] = KEY("tool_call_id"),
    ['M'] = KEY("messages"),
    ['N'] = KEY("name"),
    ['O'] = KEY("output"),
    ['P'] = KEY("parameters"),
    ['Q'] = KEY("required"),
    [PL_CARRY_ROLE] = KEY("role"),
    ['S'] = KEY("stream"),
    ['T'] = KEY("text"),
    ['U'] = KEY("instructions"),
    ['V'] = KEY("tool_use_id"),
    ['W'] = KEY("systemInstruction"),
    ['X'] = KEY("contents"),
    [PL_CARRY_TYPE] = KEY("type"),
    ['Z'] = KEY("tools"),
    ['b'] = KEY("properties"),
    ['c'] = KEY("parts"),
    ['d'] = KEY("data"),
    ['g'] = KEY("arguments"),
    ['h'] = KEY("temperature"),
    ['i'] = KEY("input"),
    ['j'] = KEY("max_tokens"),
    ['k'] = KEY("max_completion_tokens"),
    ['m'] = KEY("model"),
    ['o'] = KEY("max_output_tokens"),
    ['p'] = KEY("maxOutputTokens"),
    ['q'] = KEY("tool_choice"),
    ['v'] = KEY("thinking"),
    ['w'] = KEY("reasoning"),
    ['x'] = KEY("source"),
    ['y'] = KEY("summary"),
    ['z'] = KEY("stream_options"),
    ['!'] = KEY("functionCall"),
    ['#'] = KEY("functionResponse"),
    ['$'] = KEY("image_url"),
    ['%'] = KEY("mimeType"),
    ['&'] = KEY("cache_control"),
    ['('] = VALUE("user"),
    [')'] = VALUE("assistant"),
    ['*'] = VALUE("text"),
    [';'] = VALUE("function"),
    ['<'] = VALUE("object"),
    ['='] = VALUE("string"),
    ['>'] = VALUE("system"),
    ['?'] = VALUE("message"),
    ['@'] = VALUE("model"),
    ['_'] = VALUE("tool_use"),
    ['`'] = VALUE("tool_result"),
    ['|'] = VALUE("function_call"),
    ['~'] = VALUE("function_call_output"),
};

/* No two keys share a slot, and no two values; tests check these tables against the one above. */
const char pl_carry_keys[PL_CARRY_SLOTS] = {
    [0] = 'H',   [1] = 'W',   [3] = 'M',   [5] = 'g',   [7] = '%',   [10] = 'B',  [12] = 'L',
    [13] = 'G',  [17] = 'J',  [20] = 'T',  [23] = 'U',  [33] = 'k',  [34] = 'd',  [35] = 'i',
    [36] = 'N',  [38] = 'P',  [39] = 'A',  [41] = 'I',  [42] = 'Y',  [44] = 'h',  [46] = 'b',
    [47] = 'j',  [48] = 'R',  [49] = 'C',  [50] = 'F',  [51] = '$',  [52] = 'Z',  [53] = 'z',
    [70] = 'v',  [71] = 'm',  [73] = 'x',  [74] = 'w',  [75] = 'K',  [77] = '&',  [81] = 'o',
    [84] = 'q',  [85] = 'p',  [90] = 'D',  [97] = 'X',  [108] = '#', [110] = 'V', [111] = 'O',
    [113] = 'S', [118] = '!', [119] = 'y', [120] = 'c', [122] = 'Q'};
const char pl_carry_values[PL_CARRY_SLOTS] = {
    [20] = '*', [33] = '?', [43] = ')', [50] = ';', [52] = '|',  [55] = '<', [71] = '@',
    [73] = '>', [77] = '=', [86] = '`', [93] = '(', [102] = '~', [122] = '_'};
