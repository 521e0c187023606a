// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/state/document/document_reader.h"

#include <gtest/gtest.h>

#include <QTemporaryDir>

#include "tests/app/pipeline/pipeline_fixture.h"

namespace parallelarium {
namespace {

struct ReaderTest : testing::Test {
  ReaderTest() {
    QObject::connect(&reader, &DocumentReader::was_read, &reader,
                     [this](const QString& path, const std::shared_ptr<Result<Document>>& read) {
                       paths << path;
                       document = read;
                     });
  }
  // A document with a run and a pin.
  QString written(int microbatches) {
    Session session;
    const PlanSetup setup = pipeline_setup(2, microbatches);
    session.restore(setup, {made_up_run(setup, 1.1)}, std::nullopt);
    session.wait_for_prediction();
    session.pin();
    const QString path = folder.filePath(QStringLiteral("%1.json").arg(microbatches));
    EXPECT_TRUE(write_document(path, document_of(session)).ok());
    return path;
  }
  QTemporaryDir folder;
  DocumentReader reader;
  QStringList paths;
  std::shared_ptr<Result<Document>> document;
};

TEST_F(ReaderTest, ADocumentIsReadOffTheThreadAndToldFromTheEventLoop) {
  const QString path = written(4);
  reader.read(path);
  EXPECT_TRUE(reader.busy());
  EXPECT_EQ(document, nullptr);
  reader.wait();
  EXPECT_FALSE(reader.busy());
  ASSERT_NE(document, nullptr);
  ASSERT_TRUE(document->ok()) << document->error().text;
  EXPECT_FALSE((*document)->is_bare);
  EXPECT_EQ(to_json((*document)->setup), to_json(pipeline_setup(2, 4)));
  EXPECT_EQ((*document)->runs.size(), 1u);
  EXPECT_TRUE((*document)->pinned);
  EXPECT_TRUE((*document)->notes.empty());
}

TEST_F(ReaderTest, OfSeveralTheLatestIsTold) {
  const QString first = written(4), second = written(8);
  reader.read(first);
  reader.read(second);
  reader.wait();
  EXPECT_EQ(paths, QStringList{second});
}

TEST_F(ReaderTest, AFileThatIsNoneIsASentence) {
  reader.read(folder.filePath(QStringLiteral("absent.json")));
  reader.wait();
  ASSERT_NE(document, nullptr);
  ASSERT_FALSE(document->ok());
  EXPECT_EQ(document->error().id, "document-open");
}

// What it leaves out is not the first lesson's.
TEST(DocumentOfJson, ASetupThatNamesAModelStartsFromTheSmallestMesh) {
  const Result<Document> bare =
      document_from_json({{"model", "llama3-8b"}, {"machine", "dgx-h100"}, {"mesh", {{"tp", 8}}}});
  ASSERT_TRUE(bare.ok()) << bare.error().text;
  EXPECT_EQ(bare->setup.mesh.pp, 1);
  EXPECT_EQ(bare->setup.mesh.tp, 8);
}

TEST(DocumentOfJson, ASetupIsBareAndARunThatCannotBeKeptIsANote) {
  const Result<Document> bare = document_from_json(to_json(default_setup()));
  ASSERT_TRUE(bare.ok()) << bare.error().text;
  EXPECT_TRUE(bare->is_bare);
  EXPECT_TRUE(bare->lesson.is_null());
  nlohmann::json json = document_of(Session());
  json["runs"].push_back({{"machine", 7}});
  const Result<Document> noted = document_from_json(json);
  ASSERT_TRUE(noted.ok()) << noted.error().text;
  EXPECT_FALSE(noted->is_bare);
  EXPECT_TRUE(noted->runs.empty());
  EXPECT_EQ(noted->notes.size(), 1u);
}

}  // namespace
}  // namespace parallelarium
