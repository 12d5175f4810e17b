#include "dikkat/data/series.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <map>
#include <numeric>
#include <set>

#include "dikkat/base/hash.h"
#include "dikkat/base/testing.h"
#include "dikkat/random/streams.h"

namespace dikkat::data {
namespace {

using dikkat::testing::error_of;
using dikkat::testing::TemporaryFolder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using std::string_view_literals::operator""sv;

SeriesTable read(std::string_view content, const SeriesOptions& options = {}) {
  return series_in(std::string(content), "s.csv", options);
}

Error refused(std::string_view content, const SeriesOptions& options = {}) {
  Error error = error_of([&] { (void)read(content, options); });
  EXPECT_EQ(error.place().file, "s.csv");
  EXPECT_FALSE(error.place().hint.empty()) << error.what();
  return error;
}

void expect_malformed(std::string_view content, std::string_view message, std::string_view key,
                      const SeriesOptions& options = {}) {
  const Error error = refused(content, options);
  EXPECT_EQ(error.kind(), ErrorKind::malformed) << error.what();
  EXPECT_THAT(error.message(), HasSubstr(message));
  EXPECT_EQ(error.place().key, key) << error.what();
}

TEST(Series, AreRowsOfALabelAndValues) {
  const SeriesTable table = read("cat,1,2.5,-3e-1\ndog,4,5,6\n");
  EXPECT_EQ(table.channels, 1U);
  EXPECT_THAT(table.channel_names, ElementsAre("value"));
  EXPECT_THAT(table.values, ElementsAre(1, 2.5, -0.3, 4, 5, 6));
  EXPECT_THAT(table.lengths, ElementsAre(3, 3));
  EXPECT_THAT(table.labels, ElementsAre("cat", "dog"));
  EXPECT_THAT(table.names, ElementsAre("row 1", "row 2"));
  EXPECT_EQ(table.label_name, "");
  EXPECT_EQ(table.fingerprint, xxh3_128_hex("cat,1,2.5,-3e-1\ndog,4,5,6\n"));
}

TEST(Series, FindTheirDelimiter) {
  for (const char delimiter : {',', ';', '\t'}) {
    std::string content = "a|1|2\nb|3|4\n";
    std::replace(content.begin(), content.end(), '|', delimiter);
    EXPECT_THAT(read(content).values, ElementsAre(1, 2, 3, 4)) << delimiter;
  }
  // a label may hold another delimiter, in quotes or not
  EXPECT_THAT(read("a,b\t1\t2\nc\t3\t4\n").labels, ElementsAre("a,b", "c"));
  EXPECT_THAT(read("\"a;b\",1,2\nc,3,4\n").labels, ElementsAre("a;b", "c"));
  EXPECT_THAT(refused("1 2 3\n4 5 6\n").message(), HasSubstr("no comma, semicolon or tab"));
}

TEST(Series, TakeEveryLineEndByteOrderMarkAndBlankLine) {
  for (const std::string_view content :
       {"x,1,2\ny,3,4"sv, "x,1,2\ny,3,4\n\n \n"sv, "x,1,2\r\ny,3,4\r\n"sv, "x,1,2\ry,3,4\r"sv,
        "\xEF\xBB\xBFx,1,2\ny,3,4\n"sv, "\n\nx,1,2\n\ny,3,4"sv, "x , 1, 2 \n y,\t3,4"sv}) {
    const SeriesTable table = read(content);
    EXPECT_THAT(table.values, ElementsAre(1, 2, 3, 4)) << content;
    EXPECT_THAT(table.labels, ElementsAre("x", "y")) << content;
  }
  EXPECT_THAT(read("\n\nx,1\n\ny,3").names, ElementsAre("row 3", "row 5"));
}

TEST(Series, UnquoteFieldsAndKeepLabelsAsWritten) {
  const SeriesTable table = read("\"a \"\"b\"\"\nc\",1,\"2\"\nçay 🫖,3,4\n\" z \" ,5,6\n");
  EXPECT_THAT(table.labels, ElementsAre("a \"b\"\nc", "çay 🫖", " z "));
  EXPECT_THAT(table.values, ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(table.names, ElementsAre("row 1", "row 3", "row 4"));
  expect_malformed("a,1\n5\" pipe,2\n", "a quote inside", "row 2, column 1");
  expect_malformed("a,1\n\"b,2\n", "never ends", "row 2, column 1");
  expect_malformed("a,1\n\"b\"c,2\n", "text after the end", "row 2, column 1");
}

TEST(Series, KnowAHeaderByItsText) {
  const SeriesTable named = read("h0,Class,h1\n1,a,2\n3,b,4\n");
  EXPECT_THAT(named.labels, ElementsAre("a", "b"));
  EXPECT_THAT(named.values, ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(named.label_name, "Class");
  EXPECT_THAT(named.names, ElementsAre("row 2", "row 3"));
  EXPECT_THAT(read("kind,h0\na,1\nb,2\n").labels, ElementsAre("a", "b"));  // no label's name: the first
  EXPECT_THAT(read("1,5,6\n2,7,8\n").labels, ElementsAre("1", "2"));
  EXPECT_THAT(read("y,0.5,0.25\nn,7,8\n").labels, ElementsAre("y", "n"));  // a label that is called as one
}

TEST(Series, KnowAHeaderOfNumbersByItsLabelsName) {
  EXPECT_THAT(read("label,0,1,2\na,5,6,7\n").labels, ElementsAre("a"));
  EXPECT_THAT(read("1,2,3,target\n5,6,7,b\n").labels, ElementsAre("b"));
  SeriesOptions none;
  none.header = Header::no;
  EXPECT_THAT(read("label,0,1\na,5,6\n", none).labels, ElementsAre("label", "a"));
  SeriesOptions named;
  named.header = Header::yes;
  EXPECT_THAT(read("1,2,3\na,5,6\n", named).labels, ElementsAre("a"));
}

TEST(Series, AskWhereTheFirstRowIsBothNamesAndValues) {
  const Error error = refused("0.1,0.2,cat\n0.3,0.4,dog\n");
  EXPECT_EQ(error.kind(), ErrorKind::malformed);
  EXPECT_EQ(error.place().key, "row 1, column 3");
  EXPECT_THAT(error.place().hint, HasSubstr("--label 3"));
  SeriesOptions options;
  options.label = "3";
  EXPECT_THAT(read("0.1,0.2,cat\n0.3,0.4,dog\n", options).labels, ElementsAre("cat", "dog"));
}

TEST(Series, TakeTheLabelsColumnByNameOrNumber) {
  SeriesOptions options;
  options.label = "kind";
  EXPECT_THAT(read("a,kind\n1,x\n2,y\n", options).labels, ElementsAre("x", "y"));
  options.label = "2";
  EXPECT_THAT(read("a,kind\n1,x\n2,y\n", options).labels, ElementsAre("x", "y"));
  EXPECT_THAT(read("1,x\n2,y\n", options).labels, ElementsAre("x", "y"));
  options.label = "kin";
  const Error error = refused("a,kind\n1,x\n", options);
  EXPECT_EQ(error.kind(), ErrorKind::usage);
  EXPECT_EQ(error.place().hint, "did you mean 'kind'?");
  for (const char* wrong : {"0", "3", "-1", "99999999999999999999"}) {
    options.label = wrong;
    EXPECT_EQ(refused("1,2\n3,4\n", options).kind(), ErrorKind::usage) << wrong;
  }
  options.label = "a";
  EXPECT_EQ(refused("a,a\n1,2\n", options).kind(), ErrorKind::malformed);
  EXPECT_EQ(refused("label,Label,h\n1,2,3\n").kind(), ErrorKind::usage);  // which of the two?
  EXPECT_THAT(read("class,y,Label\n1,2,3\n").labels, ElementsAre("3"));
}

TEST(Series, ThatAreShorterEndInEmptyFieldsOrNaN) {
  const SeriesTable table = read("a,1,2,3\nb,4,,\nc,5,NaN,nan\nd,6,7,\n");
  EXPECT_THAT(table.lengths, ElementsAre(3, 1, 1, 2));
  EXPECT_THAT(table.values, ElementsAre(1, 2, 3, 4, 5, 6, 7));
  SeriesOptions options;
  options.label = "4";
  EXPECT_THAT(read("1,2,,a\n3,,,b\n", options).lengths, ElementsAre(2, 1));
}

TEST(Series, RefuseMissingValuesWithTheirPlace) {
  expect_malformed("a,1,2,3\nb,4,,6\n", "a value is missing", "row 2, column 3");
  expect_malformed("label,h0,h1,h2\na,NaN,2,3\n", "a value is missing", "row 2, column 2 (h0)");
  expect_malformed("a,1,?,3\n", "a value is missing: '?'", "row 1, column 3");
  expect_malformed("a,1,NA\n", "a value is missing: 'NA'", "row 1, column 3");
  expect_malformed("a,1,2\nb,,\n", "the series has no values", "row 2");
}

TEST(Series, RefuseWhatIsNoNumberWithItsPlace) {
  expect_malformed("label,h0,h1\na,1,2\nb,3,x4\n", "'x4' is not a number", "row 3, column 3 (h1)");
  for (const char* text : {"1.2.3", "0x10", "1e", "--1", "+1", "1 2", "1_000", "٣"}) {
    expect_malformed("a,1\nb," + std::string(text) + "\n", "is not a number", "row 2, column 2");
  }
  expect_malformed("a,1\nb,inf\n", "'inf' is not finite", "row 2, column 2");
  expect_malformed("a,1\nb,-Infinity\n", "is not finite", "row 2, column 2");
  expect_malformed("a,1\nb,1e999\n", "beyond the numbers", "row 2, column 2");
  EXPECT_THAT(refused("a;1,5;2\nb;1;2\n").place().hint, HasSubstr("decimal point"));
  EXPECT_THAT(refused("a,1,2\nb,1,\xFF\n").message(), HasSubstr("'\\xff' is not a number"));
}

TEST(Series, RefuseRaggedRows) {
  expect_malformed("a,1,2\nb,3\n", "the row has 2 columns, the first one has 3", "row 2");
  expect_malformed("a,1,2\nb,3,4,5\n", "the row has 4 columns, the first one has 3", "row 2");
  expect_malformed("a,1,2\nb,3,4,\n", "the row has 4 columns, the first one has 3", "row 2");
}

TEST(Series, RefuseFilesWithoutSeries) {
  expect_malformed("", "the file is empty", "");
  expect_malformed("\xEF\xBB\xBF\n \n", "there is no series", "");
  expect_malformed("label,h0,h1\n", "there is no series", "");
  expect_malformed("\xFF\xFEl\0"sv, "UTF-16", "");
}

// More than the pieces in which a file is let go of.
TEST(Series, AreReadFromAFileOfAnySize) {
  const TemporaryFolder folder;
  std::string row;
  for (std::size_t i = 0; i < 500; ++i) row += i % 2 == 0 ? ",1.5" : ",-3.25";
  std::string content;
  for (std::size_t i = 0; content.size() < 18'000'000; ++i) content += (i % 2 == 0 ? "a" : "b") + row + '\n';
  std::ofstream(folder / "s.csv", std::ios::binary) << content;
  const SeriesTable table = read_series(folder / "s.csv");
  EXPECT_EQ(table.fingerprint, xxh3_128_hex(content));
  EXPECT_EQ(table.values, read(content).values);
  EXPECT_EQ(table.names.back(), "row " + std::to_string(table.count()));
}

TEST(Series, RefuseFilesThatCannotBeRead) {
  const TemporaryFolder folder;
  EXPECT_EQ(error_of([&] { (void)read_series(folder.path()); }).kind(), ErrorKind::malformed);
  EXPECT_EQ(error_of([&] { (void)read_series(folder / "missing.csv"); }).kind(), ErrorKind::io);
}

TEST(Series, RefuseAColumnOfRowNumbersWithoutAName) {
  expect_malformed(",label,h0\n0,a,1\n1,b,2\n", "a column has no name", "row 1, column 1");
  EXPECT_THAT(read("label,h0,h1,\na,1,2,\nb,3,,\n").lengths, ElementsAre(2, 1));  // a delimiter at each row's end
}

TEST(Series, MissNoLabelInOnePart) {
  expect_malformed("a,1\n,2\n", "a label is missing", "row 2");
  expect_malformed("a,1\nNaN,2\n", "a label is missing", "row 2");
  expect_malformed("label,h\n,1\n,2\n", "no series has a label", "row 2");
  expect_malformed("a,1\n\xC3,2\n", "the label '\\xc3' is not UTF-8", "row 2, column 1");
}

TEST(Series, MayHaveNoLabelsWhereTheyAreNotRequired) {
  SeriesOptions options;
  options.labels = Labels::if_there;
  EXPECT_THAT(read("label,h0\na,1\n", options).labels, ElementsAre("a"));
  EXPECT_THAT(read("label,h0\n,1\n,2\n", options).labels, IsEmpty());
  expect_malformed("label,h0\na,1\n,2\n", "a label is missing", "row 3", options);
  for (const char* content : {"h0,h1\n1,2\n", "1,2\n3,4\n"}) {
    const Error error = refused(content, options);
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_THAT(error.place().hint, HasSubstr("--label none"));
  }
  options.label = "none";
  EXPECT_THAT(read("h0,h1\n1,2\n", options).values, ElementsAre(1, 2));
  EXPECT_THAT(read("1,2\n3,4\n", options).lengths, ElementsAre(2, 2));
  options.labels = Labels::required;
  EXPECT_EQ(refused("h0,h1\n1,2\n", options).kind(), ErrorKind::usage);
}

TEST(Series, InTheLongFormAreGroupedAndSortedByTime) {
  const SeriesTable table = read(
      "id,time,x,label,y\n"
      "b,2,3,dog,4\n"
      "a,0,5,cat,6\n"
      "b,1,1,dog,2\n"
      "b,10,7,dog,8\n");
  EXPECT_EQ(table.channels, 2U);
  EXPECT_THAT(table.channel_names, ElementsAre("x", "y"));
  EXPECT_THAT(table.names, ElementsAre("b", "a"));
  EXPECT_THAT(table.labels, ElementsAre("dog", "cat"));
  EXPECT_THAT(table.lengths, ElementsAre(3, 1));
  EXPECT_THAT(table.values, ElementsAre(1, 2, 3, 4, 7, 8, 5, 6));
  EXPECT_EQ(table.label_name, "label");
}

TEST(Series, InTheLongFormTakeTheirColumnsByOption) {
  SeriesOptions options;
  options.id = "who";
  options.time = "2";
  options.label = "kind";
  EXPECT_THAT(read("who,when,v,kind\nq,1,2,z\nq,0,1,z\n", options).values, ElementsAre(1, 2));
  options.time.reset();
  EXPECT_EQ(refused("who,when,v,kind\nq,1,2,z\n", options).kind(), ErrorKind::usage);
  options.time = "whem";
  EXPECT_EQ(refused("who,when,v,kind\nq,1,2,z\n", options).place().hint, "did you mean 'when'?");
  options.time = "who";
  EXPECT_THAT(refused("who,when,v,kind\nq,1,2,z\n", options).message(), HasSubstr("one column cannot be two"));
  SeriesOptions numbers;
  numbers.id = "1";
  numbers.time = "2";
  numbers.label = "3";
  numbers.header = Header::no;
  EXPECT_THAT(read("q,1,z,2,5\nq,0,z,1,4\n", numbers).values, ElementsAre(1, 4, 2, 5));
}

TEST(Series, InTheLongFormRefuseWhatDoesNotFit) {
  const std::string head = "id,time,v,label\n";
  expect_malformed(head + "a,1,2,x\nb,1,2,x\na,1.0,3,x\n", "has the time 1 twice, also in row 2", "row 4");
  expect_malformed(head + "a,1,2,x\na,2,3,y\n", "two labels, 'x' in row 2 and 'y' here", "row 3");
  expect_malformed(head + "a,1,,x\n", "a value is missing", "row 2, column 3 (v)");
  expect_malformed(head + "a,1,NaN,x\n", "a value is missing", "row 2, column 3 (v)");
  expect_malformed(head + "a,,1,x\n", "a value is missing", "row 2, column 2 (time)");
  expect_malformed(head + "a,2024-01-02,1,x\n", "'2024-01-02' is not a number", "row 2, column 2 (time)");
  expect_malformed(head + ",1,2,x\n", "an id is missing", "row 2, column 1 (id)");
  expect_malformed(head + "a,1,2\n", "the row has 3 columns", "row 2");
  expect_malformed(head + "a,1,2,x,5\n", "the row has 5 columns", "row 2");
  expect_malformed(head + "a,1,2,x\nb,1,2,\n", "a label is missing", "row 3");
  expect_malformed(head, "there is no series", "");
  expect_malformed("id,time,label\na,1,x\n", "no column of values", "");
  expect_malformed("id,time,v,v,label\na,1,2,3,x\n", "'v' is there twice", "row 1, column 4");
  EXPECT_EQ(refused("id,time,v\na,1,2\n").kind(), ErrorKind::usage);  // no label
  SeriesOptions options;
  options.labels = Labels::if_there;
  EXPECT_THAT(read("ID,Time,v\na,1,2\n", options).labels, IsEmpty());
}

TEST(Series, OfTheUcrArchiveAreReadAsTheyAre) {
  const SeriesTable table = read("1\t0.5\t-1.25\t3e-05\n-1\t2\t1.5\tNaN\n");
  EXPECT_THAT(table.labels, ElementsAre("1", "-1"));
  EXPECT_THAT(table.lengths, ElementsAre(3, 2));
  EXPECT_THAT(table.values, ElementsAre(0.5, -1.25, 3e-05, 2, 1.5));
}

constexpr std::string_view kTwoDimensions =
    "#Some words: with a colon, a comma\n"
    "@problemName Walks\n"
    "@timeStamps false\n"
    "@missing false\n"
    "@univariate false\n"
    "@dimensions 2\n"
    "@equalLength false\n"
    "@classLabel true up down\n"
    "@data\n"
    "1,2,3:4,5,6:up\n"
    "\n"
    "7,8:9,10:down\n";

TEST(Series, OfTheTsFormHaveDimensions) {
  const SeriesTable table = read(kTwoDimensions);
  EXPECT_EQ(table.channels, 2U);
  EXPECT_THAT(table.channel_names, ElementsAre("value 1", "value 2"));
  EXPECT_THAT(table.values, ElementsAre(1, 4, 2, 5, 3, 6, 7, 9, 8, 10));
  EXPECT_THAT(table.lengths, ElementsAre(3, 2));
  EXPECT_THAT(table.labels, ElementsAre("up", "down"));
  EXPECT_THAT(table.names, ElementsAre("row 10", "row 12"));
}

TEST(Series, OfTheTsFormMayHaveNumbersForLabelsOrNone) {
  const SeriesTable table =
      read("@PROBLEMNAME x\r\n@univariate true\r\n@targetlabel true\r\n@DATA\r\n1,2 : 0.5\r\n3,4:1\r\n");
  EXPECT_THAT(table.labels, ElementsAre("0.5", "1"));
  EXPECT_THAT(table.channel_names, ElementsAre("value"));
  const std::string none = "@univariate true\n@classLabel false\n@data\n1,2\n3,4\n";
  expect_malformed(none, "it has no labels", "row 3");
  SeriesOptions options;
  options.labels = Labels::if_there;
  EXPECT_THAT(read(none, options).labels, IsEmpty());
  EXPECT_THAT(read(none, options).values, ElementsAre(1, 2, 3, 4));
}

TEST(Series, OfTheTsFormRefuseWhatBreaksIt) {
  const std::string head = "@univariate true\n@classLabel true a b\n@data\n";
  expect_malformed(head + "1,?,3:a\n", "a value is missing: '?'", "row 4, dimension 1, step 2");
  expect_malformed(head + "1,NaN:a\n", "a value is missing", "row 4, dimension 1, step 2");
  expect_malformed(head + "1,2x:a\n", "'2x' is not a number", "row 4, dimension 1, step 2");
  expect_malformed(head + ":a\n", "a value is missing", "row 4, dimension 1, step 1");
  expect_malformed(head + "1,2\n", "1 parts separated by ':', expected 1 and the label", "row 4");
  expect_malformed(head + "1,2:3,4:a\n", "3 parts", "row 4");
  expect_malformed(head + "1,2:c\n", "'c' is not one of those @classLabel names", "row 4");
  expect_malformed(head + "1,2:\n1,2:a\n", "a label is missing", "row 4");
  expect_malformed(head, "there is no series", "row 3");
  expect_malformed("@classLabel true a b\n1,2:a\n", "a series before @data", "row 2");
  expect_malformed("@classLabel true a b\n", "the line @data is missing", "row 1");
  expect_malformed("@classLabel true a b\n@data\n1,2:a\n@data\n3,4:b\n", "a second @data", "row 4");
  expect_malformed("@clasLabel true a b\n", "is no tag", "row 1");
  expect_malformed("@timeStamps true\n", "time stamps", "row 1");
  expect_malformed("@missing maybe\n", "neither true nor false but 'maybe'", "row 1");
  expect_malformed("@dimensions 0\n", "no whole number from 1", "row 1");
  expect_malformed("@dimensions 99999999999\n@classLabel true a\n@data\n1:a\n", "more than the file can hold", "row 4");
  expect_malformed("@classLabel true a b\n@data\n1,2:3:a\n", "dimension 2 has 1 steps, dimension 1 has 2", "row 3");
  expect_malformed("@equalLength true\n@classLabel true a\n@data\n1,2:a\n1:a\n",
                   "has 1 steps, the header says all have 2", "row 5");
  expect_malformed("@equalLength true\n@seriesLength 3\n@classLabel true a\n@data\n1,2:a\n", "has 2 steps", "row 5");
  SeriesOptions options;
  options.label = "1";
  EXPECT_EQ(refused(head + "1,2:a\n", options).kind(), ErrorKind::usage);
}

// Bytes changed at random: read or refused, never anything else.
TEST(Series, NeverCrashWhateverTheBytes) {
  const std::string seeds[] = {"label,h0,h1\na,1,2\n\"b \"\"c\"\"\",3,\nd,5,NaN\n",
                               "id,time,x,y,label\na,0,1,2,u\nb,1,3,4,v\na,1,5,6,u\n", std::string(kTwoDimensions)};
  const std::string alphabet = ",;\t\"\r\n:@#?.-+0123456789eENaNinf \xEF\xBB\xBF\xFF" + std::string(1, '\0');
  const random::Stream stream = random::stream(1, "mutations");
  std::size_t read_ones = 0;
  for (std::uint32_t i = 0; i < 6000; ++i) {
    std::string content = seeds[i % 3];
    const std::uint64_t changes = 1 + random::below(stream, {i, 0, 0, 0}, 6);
    for (std::uint32_t change = 1; change <= changes && !content.empty(); ++change) {
      const auto at = static_cast<std::ptrdiff_t>(random::below(stream, {i, change, 0, 0}, content.size()));
      const char byte = alphabet[random::below(stream, {i, change, 1, 0}, alphabet.size())];
      const std::uint64_t kind = random::below(stream, {i, change, 2, 0}, 4);
      if (kind == 0) content.insert(content.begin() + at, byte);
      if (kind == 1) content.erase(content.begin() + at);
      if (kind == 2) content[static_cast<std::size_t>(at)] = byte;
      if (kind == 3) content.resize(static_cast<std::size_t>(at) + 1);
    }
    SeriesOptions options;
    if (i % 5 == 1) options.labels = Labels::if_there;
    if (i % 7 == 1) options.label = "2";
    try {
      const SeriesTable table = read(content, options);
      ++read_ones;
      const std::size_t steps = std::accumulate(table.lengths.begin(), table.lengths.end(), std::size_t{0});
      ASSERT_EQ(table.values.size(), steps * table.channels) << content;
      ASSERT_TRUE(table.labels.empty() || table.labels.size() == table.count()) << content;
      ASSERT_EQ(table.names.size(), table.count()) << content;
      ASSERT_GT(table.count(), 0U) << content;
    } catch (const Error& error) {
      ASSERT_NE(error.kind(), ErrorKind::internal) << content;
    }
  }
  EXPECT_GT(read_ones, 300U);
  EXPECT_LT(read_ones, 5000U);
}

std::vector<std::string> labels_of(std::string_view letters) {
  std::vector<std::string> labels;
  for (const char letter : letters) labels.emplace_back(1, letter);
  return labels;
}

TEST(ValidationRows, AreAShareOfEachLabel) {
  std::string letters;
  for (const auto& [letter, count] : std::map<char, std::size_t>{{'a', 100}, {'b', 38}, {'c', 2}, {'d', 1}, {'e', 3}}) {
    letters += std::string(count, letter);
  }
  const auto labels = labels_of(letters);
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    std::map<std::string, std::size_t> chosen;
    const auto rows = validation_rows(labels, 0.2, seed);
    EXPECT_TRUE(std::is_sorted(rows.begin(), rows.end()));
    EXPECT_EQ(std::set<std::size_t>(rows.begin(), rows.end()).size(), rows.size());
    for (const std::size_t row : rows) ++chosen[labels[row]];
    EXPECT_EQ(chosen, (std::map<std::string, std::size_t>{{"a", 20}, {"b", 8}, {"c", 1}, {"e", 1}}));
  }
  EXPECT_THAT(validation_rows(labels, 0, 1), IsEmpty());
  EXPECT_THAT(validation_rows(labels_of("aab"), 0.999, 1).size(), 1U);  // one is left to train on
}

// The k-th row of a label is chosen or not, wherever it stands among the rows of other labels.
TEST(ValidationRows, DoNotDependOnHowLabelsAreMixed) {
  const std::string sorted = std::string(30, 'a') + std::string(20, 'b') + std::string(10, 'c');
  const auto chosen_places = [](const std::string& letters, std::uint64_t seed) {
    std::map<char, std::size_t> seen;
    std::vector<std::pair<char, std::size_t>> places;  // of each row: its label, and which of its label it is
    for (const char letter : letters) places.emplace_back(letter, seen[letter]++);
    std::set<std::pair<char, std::size_t>> chosen;
    for (const std::size_t row : validation_rows(labels_of(letters), 0.3, seed)) chosen.insert(places[row]);
    return chosen;
  };
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    std::string mixed = sorted;
    const random::Stream stream = random::stream(seed, "mix");
    for (std::uint32_t i = 0; i + 1 < mixed.size(); ++i) {
      std::swap(mixed[i], mixed[i + random::below(stream, {i, 0, 0, 0}, mixed.size() - i)]);
    }
    EXPECT_EQ(chosen_places(mixed, seed), chosen_places(sorted, seed));
    EXPECT_EQ(chosen_places(sorted.substr(0, 30), seed), [&] {
      auto only_a = chosen_places(sorted, seed);
      std::erase_if(only_a, [](const auto& place) { return place.first != 'a'; });
      return only_a;
    }());
  }
}

TEST(ValidationRows, DependOnTheSeedAndFavourNoPlace) {
  const std::vector<std::string> labels(40, "a");
  std::vector<std::size_t> times(labels.size(), 0);
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    for (const std::size_t row : validation_rows(labels, 0.25, seed)) ++times[row];
  }
  // 500 expected each, standard deviation 19.4
  EXPECT_GT(*std::min_element(times.begin(), times.end()), 420U);
  EXPECT_LT(*std::max_element(times.begin(), times.end()), 580U);
  EXPECT_NE(validation_rows(labels, 0.25, 1), validation_rows(labels, 0.25, 2));
  std::vector<std::string> two = labels;  // the rows of another label are not those of the first again
  two.resize(80, "b");
  auto rows = validation_rows(two, 0.25, 1);
  EXPECT_EQ(std::vector<std::size_t>(rows.begin(), rows.begin() + 10), validation_rows(labels, 0.25, 1));
  for (std::size_t& row : rows) row %= 40;
  EXPECT_NE(std::vector<std::size_t>(rows.begin(), rows.begin() + 10),
            std::vector<std::size_t>(rows.begin() + 10, rows.end()));
}

TEST(ValidationRows, OfNumbersAreAShareOfAll) {
  EXPECT_EQ(validation_rows(10, 0.2, 1).size(), 2U);
  EXPECT_EQ(validation_rows(2, 0.01, 1).size(), 1U);
  EXPECT_THAT(validation_rows(1, 0.5, 1), IsEmpty());
  EXPECT_THAT(validation_rows(0, 0.5, 1), IsEmpty());
  for (const double share : {-0.1, 1.0, 2.0, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_EQ(error_of([&] { (void)validation_rows(10, share, 1); }).kind(), ErrorKind::usage);
    EXPECT_EQ(error_of([&] { (void)validation_rows(labels_of("ab"), share, 1); }).kind(), ErrorKind::usage);
  }
}

TEST(Series, ColumnsCountFromOne) {
  SeriesOptions options;
  options.label = "0";
  const Error error = refused("v,kind\n1,a\n2,b\n", options);
  EXPECT_EQ(error.kind(), ErrorKind::usage);
  EXPECT_EQ(error.place().hint, "columns count from 1 to 2");
}

}  // namespace
}  // namespace dikkat::data
