/* \p{…}: the names that ECMA-262 allows (section 22.2.2.9 with its tables 67 to 69), matched
 * exactly, and their PCRE2 names. PCRE2 itself is more tolerant of case and punctuation. Names and
 * properties are those of Unicode 14, as in PCRE2 10.42. */
#include "schema/regex/regex_int.h"

/* Lists of names, each followed by a space. */
static const char scripts[] =
    "Adlam Adlm Aghb Ahom Anatolian_Hieroglyphs Arab Arabic Armenian Armi Armn Avestan Avst "
    "Bali Balinese Bamu Bamum Bass Bassa_Vah Batak Batk Beng Bengali Bhaiksuki Bhks Bopo "
    "Bopomofo Brah Brahmi Brai Braille Bugi Buginese Buhd Buhid Cakm Canadian_Aboriginal Cans "
    "Cari Carian Caucasian_Albanian Chakma Cham Cher Cherokee Chorasmian Chrs Common Copt "
    "Coptic Cpmn Cprt Cuneiform Cypriot Cypro_Minoan Cyrillic Cyrl Deseret Deva Devanagari "
    "Diak Dives_Akuru Dogr Dogra Dsrt Dupl Duployan Egyp Egyptian_Hieroglyphs Elba Elbasan "
    "Elym Elymaic Ethi Ethiopic Geor Georgian Glag Glagolitic Gong Gonm Goth Gothic Gran "
    "Grantha Greek Grek Gujarati Gujr Gunjala_Gondi Gurmukhi Guru Han Hang Hangul Hani "
    "Hanifi_Rohingya Hano Hanunoo Hatr Hatran Hebr Hebrew Hira Hiragana Hluw Hmng Hmnp Hung "
    "Imperial_Aramaic Inherited Inscriptional_Pahlavi Inscriptional_Parthian Ital Java "
    "Javanese Kaithi Kali Kana Kannada Katakana Kayah_Li Khar Kharoshthi Khitan_Small_Script "
    "Khmer Khmr Khoj Khojki Khudawadi Kits Knda Kthi Lana Lao Laoo Latin Latn Lepc Lepcha "
    "Limb Limbu Lina Linb Linear_A Linear_B Lisu Lyci Lycian Lydi Lydian Mahajani Mahj Maka "
    "Makasar Malayalam Mand Mandaic Mani Manichaean Marc Marchen Masaram_Gondi Medefaidrin "
    "Medf Meetei_Mayek Mend Mende_Kikakui Merc Mero Meroitic_Cursive Meroitic_Hieroglyphs "
    "Miao Mlym Modi Mong Mongolian Mro Mroo Mtei Mult Multani Myanmar Mymr Nabataean Nand "
    "Nandinagari Narb Nbat New_Tai_Lue Newa Nko Nkoo Nshu Nushu Nyiakeng_Puachue_Hmong Ogam "
    "Ogham Ol_Chiki Olck Old_Hungarian Old_Italic Old_North_Arabian Old_Permic Old_Persian "
    "Old_Sogdian Old_South_Arabian Old_Turkic Old_Uyghur Oriya Orkh Orya Osage Osge Osma "
    "Osmanya Ougr Pahawh_Hmong Palm Palmyrene Pau_Cin_Hau Pauc Perm Phag Phags_Pa Phli Phlp "
    "Phnx Phoenician Plrd Prti Psalter_Pahlavi Qaac Qaai Rejang Rjng Rohg Runic Runr "
    "Samaritan Samr Sarb Saur Saurashtra Sgnw Sharada Shavian Shaw Shrd Sidd Siddham "
    "SignWriting Sind Sinh Sinhala Sogd Sogdian Sogo Sora Sora_Sompeng Soyo Soyombo Sund "
    "Sundanese Sylo Syloti_Nagri Syrc Syriac Tagalog Tagb Tagbanwa Tai_Le Tai_Tham Tai_Viet "
    "Takr Takri Tale Talu Tamil Taml Tang Tangsa Tangut Tavt Telu Telugu Tfng Tglg Thaa "
    "Thaana Thai Tibetan Tibt Tifinagh Tirh Tirhuta Tnsa Toto Ugar Ugaritic Unknown Vai Vaii "
    "Vith Vithkuqi Wancho Wara Warang_Citi Wcho Xpeo Xsux Yezi Yezidi Yi Yiii "
    "Zanabazar_Square Zanb Zinh Zyyy Zzzz ";

/* Binary properties; PCRE2 uses the same names. */
static const char binaries[] =
    "AHex ASCII ASCII_Hex_Digit Alpha Alphabetic Any Bidi_C Bidi_Control Bidi_M Bidi_Mirrored "
    "CI CWCF CWCM CWKCF CWL CWT CWU Case_Ignorable Cased Changes_When_Casefolded "
    "Changes_When_Casemapped Changes_When_Lowercased Changes_When_NFKC_Casefolded "
    "Changes_When_Titlecased Changes_When_Uppercased DI Dash Default_Ignorable_Code_Point Dep "
    "Deprecated Dia Diacritic EBase EComp EMod EPres Emoji Emoji_Component Emoji_Modifier "
    "Emoji_Modifier_Base Emoji_Presentation Ext ExtPict Extended_Pictographic Extender "
    "Gr_Base Gr_Ext Grapheme_Base Grapheme_Extend Hex Hex_Digit IDC IDS IDSB IDST "
    "IDS_Binary_Operator IDS_Trinary_Operator ID_Continue ID_Start Ideo Ideographic Join_C "
    "Join_Control LOE Logical_Order_Exception Lower Lowercase Math NChar "
    "Noncharacter_Code_Point Pat_Syn Pat_WS Pattern_Syntax Pattern_White_Space QMark "
    "Quotation_Mark RI Radical Regional_Indicator SD STerm Sentence_Terminal Soft_Dotted Term "
    "Terminal_Punctuation UIdeo Unified_Ideograph Upper Uppercase VS Variation_Selector "
    "White_Space XIDC XIDS XID_Continue XID_Start space ";

/* General_Category: the PCRE2 name of a value, and all its names. */
static const struct {
    const char *pcre_name, *names;
} categories[] = {
    {"C", "C Other "},
    {"Cc", "Cc Control cntrl "},
    {"Cf", "Cf Format "},
    {"Cn", "Cn Unassigned "},
    {"Co", "Co Private_Use "},
    {"Cs", "Cs Surrogate "},
    {"L", "L Letter "},
    {"L&", "LC Cased_Letter "},
    {"Ll", "Ll Lowercase_Letter "},
    {"Lm", "Lm Modifier_Letter "},
    {"Lo", "Lo Other_Letter "},
    {"Lt", "Lt Titlecase_Letter "},
    {"Lu", "Lu Uppercase_Letter "},
    {"M", "M Mark Combining_Mark "},
    {"Mc", "Mc Spacing_Mark "},
    {"Me", "Me Enclosing_Mark "},
    {"Mn", "Mn Nonspacing_Mark "},
    {"N", "N Number "},
    {"Nd", "Nd Decimal_Number digit "},
    {"Nl", "Nl Letter_Number "},
    {"No", "No Other_Number "},
    {"P", "P Punctuation punct "},
    {"Pc", "Pc Connector_Punctuation "},
    {"Pd", "Pd Dash_Punctuation "},
    {"Pe", "Pe Close_Punctuation "},
    {"Pf", "Pf Final_Punctuation "},
    {"Pi", "Pi Initial_Punctuation "},
    {"Po", "Po Other_Punctuation "},
    {"Ps", "Ps Open_Punctuation "},
    {"S", "S Symbol "},
    {"Sc", "Sc Currency_Symbol "},
    {"Sk", "Sk Modifier_Symbol "},
    {"Sm", "Sm Math_Symbol "},
    {"So", "So Other_Symbol "},
    {"Z", "Z Separator "},
    {"Zl", "Zl Line_Separator "},
    {"Zp", "Zp Paragraph_Separator "},
    {"Zs", "Zs Space_Separator "},
};

/* Whether the list contains `name`. */
static bool is_listed(const char *list, struct pl_str name)
{
    while (*list) {
        const char *end = strchr(list, ' ');
        if (pl_str_eq(name, (struct pl_str){list, (size_t)(end - list)}))
            return true;
        list = end + 1;
    }
    return false;
}

static void emit_property(struct pl_regex_scan *scan, bool is_negated, const char *prefix,
                          struct pl_str name)
{
    pl_regex_emit(scan, is_negated ? PL_STR("\\P{") : PL_STR("\\p{"));
    pl_regex_emit(scan, pl_str_of(prefix));
    pl_regex_emit(scan, name);
    pl_regex_emit(scan, PL_STR("}"));
}

static bool emit_category(struct pl_regex_scan *scan, bool is_negated, struct pl_str name)
{
    for (size_t i = 0; i < sizeof categories / sizeof *categories; i++)
        if (is_listed(categories[i].names, name)) {
            emit_property(scan, is_negated, "", pl_str_of(categories[i].pcre_name));
            return true;
        }
    return false;
}

/* \p{Name}: a category or a binary property. */
static bool emit_lone(struct pl_regex_scan *scan, bool is_negated, struct pl_str name)
{
    if (pl_str_eq(name, PL_STR("Assigned"))) {
        emit_property(scan, !is_negated, "", PL_STR("Cn"));
        return true;
    }
    if (emit_category(scan, is_negated, name))
        return true;
    if (!is_listed(binaries, name))
        return false;
    emit_property(scan, is_negated, "", name);
    return true;
}

/* \p{Name=Value}. */
static bool emit_pair(struct pl_regex_scan *scan, bool is_negated, struct pl_str name,
                      struct pl_str value)
{
    bool is_script = pl_str_eq(name, PL_STR("Script")) || pl_str_eq(name, PL_STR("sc"));

    if (pl_str_eq(name, PL_STR("General_Category")) || pl_str_eq(name, PL_STR("gc")))
        return emit_category(scan, is_negated, value);
    if (!is_script && !pl_str_eq(name, PL_STR("Script_Extensions")) &&
        !pl_str_eq(name, PL_STR("scx")))
        return false;
    if (!is_listed(scripts, value))
        return false;
    emit_property(scan, is_negated, is_script ? "sc:" : "scx:", value);
    return true;
}

enum pl_status pl_regex_property(struct pl_regex_scan *scan)
{
    struct pl_str rest = pl_str_slice(scan->pattern, scan->at, scan->pattern.len);
    size_t start = scan->at - 1;
    bool is_negated = rest.ptr[0] == 'P', is_known;
    const char *end = memchr(rest.ptr, '}', rest.len), *equals;
    struct pl_str name;

    if (!end || rest.ptr[1] != '{')
        return pl_regex_refuse(scan, PL_SYNTAX, start,
                               "\\p must be followed by a property in braces, as in \\p{Letter}");
    name = (struct pl_str){rest.ptr + 2, (size_t)(end - rest.ptr) - 2};
    equals = memchr(name.ptr, '=', name.len);
    if (equals) {
        size_t n_name = (size_t)(equals - name.ptr);
        is_known = emit_pair(scan, is_negated, pl_str_slice(name, 0, n_name),
                             pl_str_slice(name, n_name + 1, name.len));
    } else {
        is_known = emit_lone(scan, is_negated, name);
    }
    if (!is_known)
        return pl_regex_refuse(scan, PL_SYNTAX, start,
                               "this is not the exact name of a Unicode 14 property, such as "
                               "\\p{Lu}, \\p{Letter} or \\p{Script=Greek}");
    if (scan->to && !equals &&
        (pl_str_eq(name, PL_STR("CWKCF")) ||
         pl_str_eq(name, PL_STR("Changes_When_NFKC_Casefolded"))))
        return pl_regex_refuse(scan, PL_LIMIT, start,
                               "matching by Changes_When_NFKC_Casefolded is not supported");
    scan->at += (size_t)(end - rest.ptr) + 1;
    return PL_OK;
}
