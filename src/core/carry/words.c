/* The table of words. It belongs to the version of the carry: a changed word is a new version. */
#include "carry/words.h"

/* The lowest bits: as many as a text has bytes, at most sixteen. */
#define WITHIN(n) (uint16_t)(((1u << (n)) - 1) & 0xFFFF)
#define KNOWN(text)                                                                                \
    {                                                                                              \
        text, WITHIN(sizeof(text) - 1), sizeof(text) - 1                                           \
    }
#define KEY(word)   KNOWN("\"" word "\":")
#define VALUE(word) KNOWN("\"" word "\"")

const struct pl_carry_known pl_carry_words[128] = {
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
    [0] = '#',   [1] = 'N',   [2] = '$',   [3] = 'U',   [9] = 'p',   [13] = 'q',  [22] = 'Z',
    [23] = 'v',  [26] = 'h',  [29] = 'F',  [30] = 'J',  [32] = '!',  [35] = 'A',  [37] = '&',
    [38] = 'b',  [46] = 'd',  [50] = 'D',  [52] = 'O',  [54] = 'M',  [56] = 'G',  [60] = 'j',
    [61] = 'K',  [63] = 'P',  [73] = 'c',  [74] = 'g',  [75] = 'w',  [76] = 'o',  [77] = 'Q',
    [78] = 'V',  [79] = 'R',  [81] = 'z',  [83] = 'B',  [85] = 'k',  [86] = 'T',  [91] = 'S',
    [96] = 'I',  [97] = 'y',  [99] = 'W',  [100] = 'L', [102] = 'Y', [104] = 'i', [109] = 'm',
    [120] = 'H', [121] = '%', [122] = 'C', [126] = 'X', [127] = 'x'};
const char pl_carry_values[PL_CARRY_SLOTS] = {
    [16] = '<', [19] = ')', [23] = '~',  [25] = '_',  [29] = ';',  [51] = '?', [86] = '*',
    [92] = '=', [94] = '(', [106] = '>', [109] = '@', [115] = '|', [125] = '`'};
