#include "base/thin.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "base/prng.h"

namespace hawthorn {
namespace {

// Beside a std::vector, with items that must be destroyed.
TEST(ThinVector, has_what_a_vector_has) {
  Prng prng(1);
  ThinVector<std::shared_ptr<int>> thin;
  std::vector<std::shared_ptr<int>> model;
  for (int i = 0; i < 5000; ++i) {
    const size_t at = model.empty() ? 0 : prng.below(model.size());
    switch (prng.below(8)) {
      case 0:
        if (model.empty()) break;
        model.erase(model.begin() + static_cast<ptrdiff_t>(at));
        thin.erase(thin.begin() + at);
        break;
      case 1:
        thin = ThinVector<std::shared_ptr<int>>(thin);
        break;
      case 2: {
        ThinVector<std::shared_ptr<int>> other(std::move(thin));
        EXPECT_TRUE(thin.empty());
        thin = std::move(other);
        break;
      }
      case 3:
        model.resize(at + 1);
        thin.resize(at + 1);
        break;
      case 4:
        if (prng.one_in(20)) {
          model.clear();
          thin.clear();
        }
        break;
      default:
        model.push_back(std::make_shared<int>(i));
        thin.push_back(model.back());
    }
    ASSERT_TRUE(std::equal(thin.begin(), thin.end(), model.begin(), model.end()));
  }
  thin.clear();
  for (const std::shared_ptr<int>& item : model) EXPECT_LE(item.use_count(), 1);
  static_assert(sizeof(thin) == sizeof(void*));
}

TEST(ThinString, is_its_bytes) {
  const std::string zero("\0a", 2);
  const ThinString none;
  const ThinString some(zero);
  ThinString copy = some;
  EXPECT_TRUE(none.empty());
  EXPECT_EQ(none, "");
  EXPECT_EQ(some, zero);
  EXPECT_EQ(std::string(some), zero);
  EXPECT_EQ(copy, some);
  EXPECT_LT(none, some);
  EXPECT_LT(some, std::string_view("b"));
  EXPECT_EQ(some.size(), 2u);
  copy = ThinString();
  EXPECT_EQ(copy, none);
  copy = some;
  const ThinString taken = std::move(copy);
  EXPECT_EQ(taken, some);
  static_assert(sizeof(taken) == sizeof(void*));
}

// As memcpy and its like want it.
TEST(ThinString, is_never_null) {
  const ThinString empty;
  EXPECT_NE(empty.data(), nullptr);
  EXPECT_NE(empty.view().data(), nullptr);
  EXPECT_TRUE(empty.view().empty());
}

}  // namespace
}  // namespace hawthorn
