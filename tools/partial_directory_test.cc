#include "tools/partial_directory.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "testing/temp_directory.h"

namespace hawthorn::tools {
namespace {

class Partial : public ::testing::Test {
 protected:
  bool there(const std::string& name) const { return std::filesystem::exists(folder_ + name); }

  const hawthorn::testing::TempDirectory directory_;
  const std::string folder_ = directory_.path();
};

TEST_F(Partial, HasItsNameWhenItIsFinished) {
  Result<PartialDirectory> made = PartialDirectory::make(folder_ + "/db//");
  ASSERT_TRUE(made.ok()) << made.status().to_string();
  EXPECT_EQ(made->path(), folder_ + "/db.partial");
  std::ofstream(made->path() + "/file") << "x";
  EXPECT_FALSE(there("/db"));
  ASSERT_TRUE(made->finish().ok());
  EXPECT_TRUE(there("/db/file"));
  EXPECT_FALSE(there("/db.partial"));
}

TEST_F(Partial, GoesWithoutBeingFinished) {
  {
    Result<PartialDirectory> made = PartialDirectory::make(folder_ + "/db");
    ASSERT_TRUE(made.ok());
    std::ofstream(made->path() + "/file") << "x";
    // Somebody else's is left alone.
    EXPECT_TRUE(PartialDirectory::make(folder_ + "/db").status().is(StatusCode::kInvalidArgument));
    EXPECT_TRUE(there("/db.partial/file"));
  }
  EXPECT_FALSE(there("/db.partial"));
  std::ofstream(folder_ + "/db") << "x";
  EXPECT_TRUE(PartialDirectory::make(folder_ + "/db").status().is(StatusCode::kInvalidArgument));
  EXPECT_FALSE(there("/db.partial"));
  EXPECT_TRUE(PartialDirectory::make(folder_ + "/no/db").status().is(StatusCode::kNotFound));
}

TEST_F(Partial, MovesOutWhatIsNamed) {
  {
    Result<PartialDirectory> made = PartialDirectory::make(folder_ + "/db");
    ASSERT_TRUE(made.ok());
    for (const char* name : {"/db", "/more", "/rest"}) {
      std::ofstream(made->path() + name) << name;
    }
    ASSERT_TRUE(made->finish_by_moving_out({"more", "db"}).ok());
  }
  EXPECT_TRUE(there("/db"));
  EXPECT_TRUE(there("/more"));
  EXPECT_FALSE(there("/rest"));
  EXPECT_FALSE(there("/db.partial"));
  {
    Result<PartialDirectory> made = PartialDirectory::make(folder_ + "/other");
    ASSERT_TRUE(made.ok());
    std::ofstream(made->path() + "/more") << "another";
    EXPECT_TRUE(made->finish_by_moving_out({"more"}).is(StatusCode::kInvalidArgument));
  }
  EXPECT_FALSE(there("/other.partial"));
  std::ifstream more(folder_ + "/more");
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(more), {}), "/more");
}

}  // namespace
}  // namespace hawthorn::tools
