// Words by Unicode's rules, their joining, and whether a text has been tokenised already.
#include <gtest/gtest.h>

#include "fovea/base/random.h"
#include "fovea/base/utf8.h"
#include "fovea/data/builtin.h"
#include "fovea/data/text_file.h"
#include "fovea/data/tokenizer_join.h"
#include "fovea/data/tokenizer_style.h"
#include "support/scratch.h"

namespace fovea {
namespace {

using test::shared_data;
using Views = std::vector<std::string_view>;

Views words_of(std::string_view text, const WordRules& rules = {}) {
  Views words;
  split_words(text, rules, words);
  return words;
}

Views by_icu(std::string_view text, const WordRules& rules = {}) {
  Views words;
  split_words_by_icu(text, rules, words);
  return words;
}

std::string marked(const Views& words) {
  std::string text;
  for (const std::string_view word : words) text += (text.empty() ? "" : "|") + std::string(word);
  return text;
}

struct Sentence {
  const char *text, *words;
};

void check_table(const std::vector<Sentence>& table, const WordRules& rules = {}) {
  for (const auto& [text, words] : table) {
    EXPECT_EQ(marked(words_of(text, rules)), words);
    EXPECT_EQ(marked(by_icu(text, rules)), words);
  }
}

TEST(Words, InManyScripts) {
  check_table({
      {"Angela Merkel, the chancellor, said: \"I don't know!\"",
       "Angela|Merkel|,|the|chancellor|,|said|:|\"|I|don't|know|!|\""},
      {"Mr. Smith's U.S. office (e.g. here).", "Mr.|Smith's|U.S.|office|(|e.g.|here|)|."},
      {"„Straße“ – schön, nicht wahr?", "„|Straße|“|–|schön|,|nicht|wahr|?"},
      {"L'homme d'aujourd'hui qu'il n'a pas vu : « c’est l’été ! »",
       "L'|homme|d'|aujourd'hui|qu'|il|n'|a|pas|vu|:|«|c’|est|l’|été|!|»"},
      {"Привет, мир! Как дела?", "Привет|,|мир|!|Как|дела|?"},
      {"Γειά σου, κόσμε! Τι κάνεις;", "Γειά|σου|,|κόσμε|!|Τι|κάνεις|;"},
      {"مرحبا بالعالم، كيف حالك؟", "مرحبا|بالعالم|،|كيف|حالك|؟"},
      {"שלום עולם! צה\"ל מה שלומך?", "שלום|עולם|!|צה\"ל|מה|שלומך|?"},
      {"नमस्ते दुनिया! आप कैसे हैं?", "नमस्ते|दुनिया|!|आप|कैसे|हैं|?"},
      {"สวัสดีชาวโลก วันนี้อากาศดี", "สวัสดี|ชาว|โลก|วัน|นี้|อากาศ|ดี"},
      {"我爱北京天安门，天安门上太阳升。", "我|爱|北京|天安门|，|天安门|上|太阳|升|。"},
      {"私は学生です。東京へ行きます！", "私|は|学生|です|。|東京|へ|行き|ます|！"},
      {"안녕하세요 세계! 반갑습니다.", "안녕하세요|세계|!|반갑습니다|."},
      {"I 👍🏽 love 👨‍👩‍👧‍👦, 🇩🇪🇫🇷 ❤️ 1️⃣",
       "I|👍🏽|love|👨‍👩‍👧‍👦|,|🇩🇪|🇫🇷|❤️|1️⃣"},
  });
}

TEST(Words, SignsNumbersAndAddresses) {
  check_table({
      {"terrible! TERRIBLE!!! well -- well ... so?!",
       "terrible|!|TERRIBLE|!!!|well|--|well|...|so|?|!"},
      {"3.14 1,000 50% $5 10:30 1/2/2024 555-1234 3, 4.",
       "3.14|1,000|50|%|$|5|10:30|1/2/2024|555-1234|3|,|4|."},
      {"See http://example.com/a(b). Or (www.foo.org), https://x.y/?q=1&r=2!",
       "See|http://example.com/a(b)|.|Or|(|www.foo.org|)|,|https://x.y/?q=1&r=2|!"},
      {"Mail john-smith+x@example.co.uk, @bob_2 and #fun #schön #1 a@b",
       "Mail|john-smith+x@example.co.uk|,|@bob_2|and|#fun|#schön|#|1|a@b"},
      {":-) great:) :( ;) :D. <3 note:D (a:b)", ":-)|great|:)|:(|;)|:D|.|<3|note|:|D|(|a|:|b|)"},
      {"good.The end, node.js and foo_bar", "good|.|The|end|,|node.js|and|foo_bar"},
      {"((a)) ''x'' \"\"", "(|(|a|)|)|''|x|''|\"|\""},
      {" \t\r\n\u00a0\u2003 ", ""},
      {"a\u00a0b\u2003c", "a|b|c"},
      {"", ""},
  });
}

TEST(Words, AsCorporaHaveThem) {
  const char* text = "I can't; it's well-made, they'LL cannot - don’t 's n't";
  check_table({{text, "I|can't|;|it's|well|-|made|,|they'LL|cannot|-|don’t|'|s|n't"}});
  check_table({{text, "I|ca|n't|;|it|'s|well|-|made|,|they|'LL|can|not|-|do|n’t|'s|n't"}},
              {.clitics = true});
  check_table({{text, "I|can't|;|it's|well-made|,|they'LL|cannot|-|don’t|'|s|n't"}},
              {.compounds = true});
}

// The machine of our own against ICU, on what finds faults and on what people write.
TEST(Words, AreThoseOfIcu) {
  Random random(1);
  const std::string few = "aBn3.,'-:/_@#!)(\" \t=;<w";
  const Views odd{"é", "ß", "ж", "א",    "\u0301", "\u200d", "東",
                  "ก", "😂", "’", "\xff", "\u00a0", "…",      "·"};
  const WordRules rules{.clitics = true, .compounds = true};
  for (int i = 0; i < 60'000; ++i) {
    std::string text;
    for (uint64_t n = random.below(24); n > 0; --n) {
      const uint64_t kind = random.below(i % 3 == 0 ? 4 : 3);
      if (kind == 0) text += static_cast<char>(1 + random.below(127));
      if (kind == 1 || kind == 2) text += few[random.below(few.size())];
      if (kind == 3) text += odd[random.below(odd.size())];
    }
    ASSERT_EQ(marked(words_of(text)), marked(by_icu(text))) << text;
    ASSERT_EQ(marked(words_of(text, rules)), marked(by_icu(text, rules))) << text;
  }
  for (const char* name :
       {"imdb/test.tsv.xz", "multi30k/raw/val.de.gz", "multi30k/raw/val.cs.gz"}) {
    const std::string path = shared_data(name);
    if (path.empty()) GTEST_SKIP() << name << " is not there";
    int64_t lines = 0;
    for_each_line(path, [&](std::string_view line, int64_t) {
      if (++lines > 1000) return;
      ASSERT_EQ(marked(words_of(line)), marked(by_icu(line)));
    });
  }
}

TEST(Words, AreJoinedAsPeopleWrite) {
  for (const std::string text :
       {"\"Don't,\" she said (twice), \"go!\"",
        "It costs $5, or 50% of 3.14: a well-made T-shirt...",
        "L'homme d'aujourd'hui qu'il n'a pas vu.", "Er sagt: „Ja“ – und geht; Vor- und Nachteile.",
        "«Olé», ¡qué bien!", "the dogs' ball", "a 'quoted' word",
        "我爱北京天安门，天安门上太阳升。", "สวัสดีชาวโลก", "and/or", "Привет, мир!"}) {
    EXPECT_EQ(join_words(words_of(text)), text);
  }
  EXPECT_EQ(join_words(Views{"it", "'s", "n't", "-", "x"}), "it'sn't-x");
  EXPECT_EQ(join_words({}), "");
}

TEST(TokenStyle, TellsTokenisedFromRaw) {
  using Lines = std::vector<std::string>;
  const auto style = detect_tokens(
      Lines{"it 's a well-made film , says mr. lopez .", "no , it is n't .", "ok", "fine ."});
  EXPECT_TRUE(style.tokenised && style.rules.clitics && style.rules.compounds);
  EXPECT_EQ(style.kind(), "spaces");
  EXPECT_EQ(style.reason(),
            "the text is tokenised already (5 points and commas stand apart, 1 behind a word): "
            "tokens are split at spaces");
  const auto raw =
      detect_tokens(Lines{"It's a film, says Mr. Lopez.", "Really , no.", "Vraiment ? Oui !"});
  EXPECT_FALSE(raw.tokenised || raw.rules.clitics);
  EXPECT_EQ(raw.kind(), "words");
  EXPECT_EQ(
      raw.reason(),
      "the text is raw (1 points and commas stand apart, 4 behind a word): words are found by "
      "Unicode's rules");
  EXPECT_FALSE(detect_tokens({}).tokenised);
  EXPECT_FALSE(detect_tokens(Lines{"no signs at all", ". , ."}).tokenised);
}

// What the rules are worth on real corpora, in boundaries between words that agree.
TEST(Words, AgreeWithTheTreebank) {
  const std::string path = shared_data("ud_ewt/en_ewt-ud-dev.conllu.xz");
  if (path.empty()) GTEST_SKIP() << "ud_ewt is not there";
  int64_t same = 0, theirs = 0, ours = 0;
  std::string text;
  size_t at = 0;
  std::vector<bool> edges;
  for_each_line(path, [&](std::string_view line, int64_t) {
    if (line.starts_with("# text = ")) {
      text = line.substr(9), at = 0;
      edges.assign(text.size() + 1, false);
    } else if (line.empty()) {
      for (const std::string_view word : words_of(text, {.clitics = true})) {
        const size_t begin = word.data() - text.data();
        same += edges[begin] + edges[begin + word.size()], ours += 2;
      }
    } else if (const size_t tab = line.find('\t');
               line.substr(0, tab).find_first_not_of("0123456789") == std::string_view::npos) {
      const std::string_view form = line.substr(tab + 1, line.find('\t', tab + 1) - tab - 1);
      at = text.find(form, at);
      ASSERT_NE(at, std::string::npos);
      edges[at] = edges[at + form.size()] = true, at += form.size(), theirs += 2;
    }
  });
  EXPECT_GT(2.0 * static_cast<double>(same) / static_cast<double>(ours + theirs), 0.99);
}

}  // namespace
}  // namespace fovea
