// What fit takes a file for: files of many shapes, each with what must be found, or the question
// that must be asked.
#include <gtest/gtest.h>

#include "fovea/data/table.h"
#include "fovea/task/fit/inference.h"
#include "fovea/task/solver.h"
#include "support/made_rows.h"
#include "support/scratch.h"

namespace fovea::test {
namespace {

std::string utf16(const std::string& ascii) {
  std::string text = "\xff\xfe";
  for (char c : ascii) text += c, text += '\0';
  return text;
}

struct FileShape {
  std::string name, text;
  std::string task;     // or "?": a question is asked
  std::string columns;  // as settings have them; "*": not looked at
};

std::vector<FileShape> shapes() {
  const auto s = [](Random& r) { return sentence(r); };
  const Row label_tab = [=](Random& r, int i) { return label(i) + "\t" + s(r); };
  const Row text_tab = [=](Random& r, int i) { return s(r) + "\t" + label(i); };
  const Row quoted = [=](Random& r, int i) { return "\"" + s(r) + ", he said\"," + label(i); };
  const Row pairs = [=](Random& r, int) { return sentence(r, 6) + "\t" + sentence(r, 7); };
  return {
      {"label_tab", rows(label_tab), "classify", "label=1,text=2"},
      {"text_tab", rows(text_tab), "classify", "label=2,text=1"},
      {"header_tab", rows(label_tab, 60, "category\treview"), "classify",
       "label=category,text=review"},
      {"header_swapped", rows(text_tab, 60, "review\tcategory"), "classify",
       "label=category,text=review"},
      {"csv", rows([=](Random& r, int i) { return label(i) + "," + s(r); }), "classify",
       "label=1,text=2"},
      {"csv_quoted", rows(quoted, 60, "text,label"), "classify", "label=label,text=text"},
      {"semicolons",
       rows([=](Random& r, int i) { return s(r) + ";" + label(i); }, 60, "text;class"), "classify",
       "label=class,text=text"},
      {"digits_first", rows([=](Random& r, int i) { return digit(i) + "\t" + s(r); }), "classify",
       "label=1,text=2"},
      {"digits_last", rows([=](Random& r, int i) { return s(r) + "\t" + digit(i); }), "classify",
       "label=2,text=1"},
      {"with_id",
       rows([=](Random& r, int i) { return std::to_string(i) + "," + s(r) + "," + label(i); }, 60,
            "id,text,label"),
       "classify", "label=label,text=text"},
      {"label_id_text",
       rows([=](Random& r, int i) { return label(i) + "\t" + std::to_string(i) + "\t" + s(r); }),
       "classify", "label=1,text=3"},
      {"dates",
       rows(
           [=](Random& r, int i) {
             return "2020-01-" + std::to_string(10 + i % 20) + "," + label(i) + "," + s(r);
           },
           60, "date,category,body"),
       "classify", "label=category,text=body"},
      {"fasttext", rows([=](Random& r, int i) { return "__label__" + label(i) + " " + s(r); }),
       "classify", "*"},
      {"first_word", rows([=](Random& r, int i) { return digit(i) + " " + s(r); }), "classify",
       "*"},
      {"jsonl", rows([=](Random& r, int i) {
         return R"({"text": ")" + s(r) + R"(", "label": ")" + label(i) + "\"}";
       }),
       "classify", "label=label,text=text"},
      {"jsonl_other", rows([=](Random& r, int i) {
         return R"({"sentiment": ")" + label(i) + R"(", "review": ")" + s(r) + "\"}";
       }),
       "classify", "label=sentiment,text=review"},
      {"jsonl_numbers", rows([=](Random& r, int i) {
         return R"({"label": )" + digit(i) + R"(, "text": ")" + s(r) + "\"}";
       }),
       "classify", "label=label,text=text"},
      {"crlf", rows([=](Random& r, int i) { return label(i) + "\t" + s(r) + "\r"; }), "classify",
       "label=1,text=2"},
      {"bom", "\xef\xbb\xbf" + rows(label_tab, 60, "label\ttext"), "classify",
       "label=label,text=text"},
      {"utf16", utf16(rows(label_tab, 60, "label\ttext")), "classify", "label=label,text=text"},
      {"latin1", rows([=](Random& r, int i) { return label(i) + "\tcaf\xe9 " + s(r); }), "classify",
       "label=1,text=2"},
      {"bars", rows([=](Random& r, int i) { return label(i) + "|" + s(r); }, 60, "label|text"),
       "classify", "label=label,text=text"},
      {"few_rows", rows(label_tab, 6), "classify", "*"},
      {"long_texts", rows([](Random& r, int i) { return digit(i) + "\t" + sentence(r, 200); }),
       "classify", "label=1,text=2"},
      {"pairs", rows(pairs), "translate", "*"},
      {"pairs_header", rows(pairs, 60, "source\ttarget"), "translate",
       "source=source,target=target"},
      {"pairs_jsonl", rows([](Random& r, int) {
         return R"({"source": ")" + sentence(r) + R"(", "target": ")" + sentence(r) + "\"}";
       }),
       "translate", "source=source,target=target"},
      {"conll", rows([](Random& r, int i) { return conll(r, i, "\t"); }), "label", ""},
      {"conll_spaces", rows([](Random& r, int i) { return conll(r, i, " "); }), "label", ""},
      {"conll_four", rows([](Random& r, int i) { return conll(r, i, " NN I-NP "); }), "label", ""},
      {"conll_docstart",
       "-DOCSTART- -X- O O\n\n" + rows([](Random& r, int i) { return conll(r, i, " NN B-NP "); }),
       "label", ""},
      {"conllu", rows([](Random& r, int) { return conllu(r); }), "label", ""},
      {"numbers", rows([](Random& r, int) { return number(r) + "," + number(r); }), "regress", ""},
      {"numbers_header",
       rows([](Random& r, int) { return number(r) + "," + number(r) + "," + number(r); }, 60,
            "a,b,price"),
       "regress", ""},
      {"numbers_tab", rows([](Random& r, int) { return number(r) + "\t" + number(r); }), "regress",
       ""},
      {"numbers_whole", rows([](Random& r, int i) {
         return std::to_string(i) + "," + std::to_string(r.below(1000));
       }),
       "regress", ""},
      {"prices",
       rows([=](Random& r, int) { return s(r) + "," + number(r); }, 60, "description,price"),
       "regress", "target=price,text=description"},
      {"prose", rows([](Random& r, int) { return sentence(r, 12) + "."; }), "lm", ""},
      {"poem",
       rows([](Random& r, int i) { return i % 5 == 4 ? "" : sentence(r, 4 + i % 3) + ","; }), "lm",
       ""},
      {"one_line", sentence(*std::make_unique<Random>(3), 400) + "\n", "lm", ""},
      {"dialogue", rows([](Random& r, int i) {
         return (i % 2 ? "HAMLET: " : "KING: ") + sentence(r, 9) + ".";
       }),
       "*", "*"},
      // Tasks with more than a text and an answer.
      {"pair_names",
       rows([=](Random& r, int i) { return s(r) + "\t" + s(r) + "\t" + label(i); }, 60,
            "premise\thypothesis\tgold_label"),
       "pair", ""},
      {"pair_jsonl", rows([=](Random& r, int i) {
         return R"({"id": )" + std::to_string(i) + R"(, "question1": ")" + s(r) +
                R"(", "question2": ")" + s(r) + R"(", "label": )" + digit(i) + "}";
       }),
       "pair", ""},
      {"pair_no_header",
       rows([=](Random& r, int i) { return label(i) + "\t" + s(r) + "\t" + s(r); }), "pair",
       "label=1,a=2,b=3"},
      {"similarity",
       rows([=](Random& r, int) { return s(r) + "\t" + s(r) + "\t" + number(r); }, 60,
            "sentence1\tsentence2\tscore"),
       "regress", "target=score,text=sentence1+sentence2"},
      {"word_similarity", rows([](Random& r, int) {
         return sentence(r, 1) + "\t" + sentence(r, 1) + "\t" + number(r);
       }),
       "regress", "target=3,text=1+2"},
      {"aspect_names",
       rows([=](Random& r, int i) { return s(r) + " food\tfood\t" + label(i); }, 60,
            "text\taspect\tsentiment"),
       "aspect", ""},
      {"aspect_three_lines",
       rows([=](Random& r, int i) { return s(r) + " $T$ was seen\nthe food\n" + digit(i); }),
       "aspect", ""},
      {"aspect_xml",
       "<?xml version=\"1.0\"?>\n<sentences>\n<sentence id=\"1\"><text>good food</text>"
       "<aspectTerms><aspectTerm term=\"food\" polarity=\"positive\" from=\"5\" to=\"9\"/>"
       "</aspectTerms></sentence>\n</sentences>\n",
       "aspect", ""},
      {"babi", rows([=](Random& r, int) {
         return "1 " + s(r) + ".\n2 " + s(r) + ".\n3 Where is Mary? \tgarden\t1";
       }),
       "qa", ""},
      {"stories",
       rows([=](Random& r, int) { return s(r) + ".\n" + s(r) + ".\nWhere is Mary?\tgarden\n"; }),
       "qa", ""},
      {"memories", rows([](Random&, int) {
         return R"({"id": 1, "split": "train", "question": "who is it ?", "answers": ["x"], )"
                R"("memory": [["a", "b", "x"]]})";
       }),
       "qa", ""},
      {"graphs", rows([](Random&, int) {
         return R"({"nodes": [{"id": "a"}, {"id": "b"}], "edges": [["a", "b"]], "label": "x"})";
       }),
       "graph", ""},
      {"jsonl_tags",
       rows([](Random&, int) { return R"({"tokens": ["the", "man"], "tags": ["D", "N"]})"; }),
       "label", ""},
      {"split_is_no_label",
       rows([=](Random& r, int i) { return (i % 5 ? "train" : "test") + ("\t" + s(r)); }, 60,
            "split\tquestion"),
       "?", ""},
      {"word_vectors", rows([](Random& r, int) {
         std::string line = sentence(r, 1);
         for (int i = 0; i < 20; ++i) line += " " + number(r);
         return line;
       }),
       "?", ""},
      {"html", "<!DOCTYPE html>\n<html><body>hello there</body></html>\n", "?", ""},
      {"empty", "", "?", ""},
      {"blank", "\n\n  \n", "?", ""},
      {"only_numbers", rows([](Random& r, int) { return number(r); }), "*", "*"},
      {"all_differ",
       rows([](Random& r, int i) { return "key" + std::to_string(i) + "\t" + sentence(r, 12); }),
       "?", ""},
      {"json_array", "[{\"text\": \"a\", \"label\": \"b\"}]\n", "?", ""},
  };
}

TEST(FitInference, TakesFilesOfManyShapesForWhatTheyAre) {
  const ScratchFolder scratch;
  const auto all = shapes();
  EXPECT_GE(all.size(), 40U);
  for (const FileShape& shape : all) {
    SCOPED_TRACE(shape.name);
    const std::string path = scratch.write(shape.name, shape.text);
    FitData data;
    const std::string question = error_of([&] { data = infer_data({.files = {path}}); });
    if (shape.task == "?") {
      EXPECT_NE(question, "") << data.task << " " << data.settings.get("columns");
      continue;
    }
    if (shape.task == "*") continue;  // either way will do, as long as it is said
    EXPECT_EQ(question, "");
    EXPECT_EQ(data.task, shape.task);
    EXPECT_FALSE(data.because.empty());
    if (shape.columns == "*") continue;
    EXPECT_EQ(data.settings.get("columns"), shape.columns);
  }
}

// What is said to be the target is what the reader takes for it.
TEST(FitInference, TheTargetOfNumbersIsTheReaders) {
  const ScratchFolder scratch;
  const auto target = [&](const std::string& header) {
    std::string text = header + "\n";
    for (int i = 0; i < 40; ++i) text += say(1000 + 7 * i, ",", i * i, ",", i % 9, "\n");
    const std::string path = scratch.write("t.csv", text);
    const FitData data = infer_data({.files = {path}});
    std::string said;
    for (const std::string& line : data.because) said += line + "\n";
    return std::pair(said, read_numbers(path, {}, nullptr).names.back());
  };
  const auto [named, reads] = target("price,area,rooms");
  EXPECT_NE(named.find("'price', by its name"), std::string::npos) << named;
  EXPECT_EQ(reads, "price");
  const auto [last, reads_last] = target("width,area,rooms");
  EXPECT_NE(last.find("'rooms', the last"), std::string::npos) << last;
  EXPECT_EQ(reads_last, "rooms");
}

TEST(FitInference, PartsAreToldByNames) {
  const ScratchFolder scratch;
  const std::string text = shapes()[0].text;
  const std::string train = scratch.write("x.train.tsv", text),
                    dev = scratch.write("x_valid.tsv", text),
                    test = scratch.write("x-test.tsv", text);
  const FitData data = infer_data({.files = {test, train, dev}});
  EXPECT_EQ(data.settings.get("data"), train);
  EXPECT_EQ(data.settings.get("dev"), dev);
  EXPECT_EQ(data.settings.get("test"), test);
  const std::string de = scratch.write("a.de", "ein Satz.\n"),
                    en = scratch.write("a.en", "a sentence.\n");
  EXPECT_EQ(infer_data({.files = {de, en}}).task, "translate");
  EXPECT_NE(error_of([&] { infer_data({.files = {train, de, en}}); }), "");
  EXPECT_NE(error_of([&] { infer_data({.files = {}}); }), "");
}

TEST(FitInference, FoldersAndTwoFilesAreToldByTheirForm) {
  const ScratchFolder scratch;
  const auto folder = [&](const std::string& name) {
    std::filesystem::create_directories(scratch.path() + "/" + name);
    return scratch.path() + "/" + name;
  };
  const std::string graph = folder("graph"), stories = folder("stories"), other = folder("other");
  for (const char* name : {"features", "labels", "edges"}) {
    scratch.write(std::string("graph/") + name + ".txt", "0\n1\n");
  }
  scratch.write("stories/qa1_a_train.txt", "1 a b.\n2 c?\td\t1\n");
  scratch.write("stories/qa1_a_test.txt", "1 a b.\n2 c?\td\t1\n");
  scratch.write("other/x.txt", "y\n");
  EXPECT_EQ(infer_data({.files = {graph}}).task, "graph");
  const auto says_a_tenth = [](const FitData& data) {
    return std::ranges::any_of(data.because,
                               [](const auto& b) { return b.starts_with("split: a tenth"); });
  };
  EXPECT_TRUE(says_a_tenth(infer_data({.files = {graph}})));
  scratch.write("graph/split.txt", "train 0\ntest 1\n");
  EXPECT_FALSE(says_a_tenth(infer_data({.files = {graph}}))) << "it is divided already";
  EXPECT_EQ(infer_data({.files = {stories}}).task, "qa");
  EXPECT_NE(error_of([&] { infer_data({.files = {other}}); }).find("--task"), std::string::npos);
  const std::string nodes = scratch.write("n.csv", "id,label,x\na,p,1\nb,q,2\n"),
                    edges = scratch.write("e.csv", "source,target\na,b\n");
  const FitData found = infer_data({.files = {edges, nodes}});
  EXPECT_EQ(found.task, "graph");
  EXPECT_EQ(found.settings.get("data"), nodes + "," + edges);
  EXPECT_FALSE(found.settings.has("skip_bad")) << "graph does not read it";
}

TEST(FitInference, TwoTablesAreNoParallelTexts) {
  const ScratchFolder scratch;
  const Row csv = [](Random& r, int i) { return label(i) + "," + sentence(r); };
  const Row json = [](Random& r, int i) {
    return R"({"label": ")" + label(i) + R"(", "text": ")" + sentence(r) + "\"}";
  };
  const Row prose = [](Random& r, int) { return sentence(r, 5) + ", " + sentence(r, 4) + "."; };
  const auto two = [&](const std::string& text) {
    const std::string a = scratch.write("jan", text), b = scratch.write("feb", text);
    return infer_data({.files = {a, b}});
  };
  for (const std::string& text : {rows(csv, 60, "category,review"), rows(json)}) {
    const std::string refused = error_of([&] { two(text); });
    EXPECT_NE(refused.find("into one file"), std::string::npos) << refused;
    EXPECT_NE(refused.find("--dev"), std::string::npos) << refused;
  }
  EXPECT_EQ(two(rows(prose)).task, "translate");
}

TEST(FitInference, CommasNameSeveralFiles) {
  const ScratchFolder scratch;
  const std::string en = scratch.write("train.en", "a sentence.\n"),
                    de = scratch.write("train.de", "ein Satz.\n"),
                    dev_en = scratch.write("dev.en", "a word.\n"),
                    dev_de = scratch.write("dev.de", "ein Wort.\n"),
                    nodes = scratch.write("nodes.csv", "id,label,x\na,p,1\nb,q,2\n"),
                    edges = scratch.write("edges.csv", "source,target\na,b\n"),
                    one = scratch.write("a,b.tsv", shapes()[0].text);
  const FitData texts = infer_data({.files = {en + "," + de, dev_en + "," + dev_de}});
  EXPECT_EQ(texts.task, "translate");
  EXPECT_EQ(texts.settings.get("data"), en + "," + de);
  EXPECT_EQ(texts.settings.get("dev"), dev_en + "," + dev_de);
  EXPECT_EQ(infer_data({.files = {nodes + "," + edges}}).task, "graph");
  EXPECT_EQ(infer_data({.files = {one}}).task, "classify") << "a file of that very name";
  EXPECT_NE(error_of([&] { infer_data({.files = {en + ",nothing"}}); }), "");
}

TEST(FitInference, RolesThatAreSaidTellTheTask) {
  const ScratchFolder scratch;
  const std::string path = scratch.write("questions.csv", rows(
                                                              [](Random& r, int i) {
                                                                return std::to_string(i) + "," +
                                                                       sentence(r) + "," +
                                                                       sentence(r) + "," + digit(i);
                                                              },
                                                              60, "nr,Frage eins,Frage zwei,dup"));
  const auto taken = [&](const std::string& columns) {
    return infer_data({.files = {path}, .columns = columns});
  };
  EXPECT_EQ(taken("a=Frage eins,b=Frage zwei,label=dup").task, "pair");
  EXPECT_EQ(taken("target=nr,text=Frage eins").task, "regress");
  EXPECT_EQ(taken("source=Frage eins,target=Frage zwei").task, "translate");
  EXPECT_EQ(taken("label=dup,text=Frage zwei").task, "classify");
  EXPECT_EQ(taken("a=2,b=3,label=4").settings.get("columns"), "a=2,b=3,label=4");
  for (const char* columns :
       {"source=Frage eins,label=dup", "lable=dup,text=Frage eins", "target=dup"}) {
    const std::string question = error_of([&] { taken(columns); });
    EXPECT_NE(question.find("--task"), std::string::npos) << columns << ": " << question;
  }
}

TEST(FitInference, SaysWhatIsHeldOutAsTheTaskDoesIt) {
  const ScratchFolder scratch;
  const std::string numbers =
      scratch.write("n.csv", rows([](Random& r, int) { return number(r) + "," + number(r); }));
  const std::string prose =
      scratch.write("prose", rows([](Random& r, int) { return sentence(r, 12) + "."; }));
  const auto split = [](const FitAsked& asked) { return infer_data(asked).because.back(); };
  EXPECT_EQ(split({.files = {numbers}}),
            "split: a tenth validates, a quarter of the rest tests; drawn, the same every time; "
            "give --dev and --test to choose");
  EXPECT_EQ(split({.files = {numbers}, .dev = numbers, .set = {{"test_part", "0.3"}}}),
            "split: 30 % tests; drawn, the same every time; give --test to choose");
  EXPECT_EQ(split({.files = {prose}}),
            "split: of the end of the text a tenth tests, and before it a tenth validates; give "
            "--dev and --test to choose");
}

}  // namespace
}  // namespace fovea::test
