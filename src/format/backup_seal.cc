#include "format/backup_seal.h"

#include <string>

namespace hawthorn::format {

void BackupChain::add(std::string_view piece) {
  std::string bound(tag_.data(), tag_.size());
  bound += piece;
  good_ = good_ &&
          aead_->seal(make_nonce(pieces_++, 0), bound, std::string_view(), nullptr, tag_.data());
}

}  // namespace hawthorn::format
