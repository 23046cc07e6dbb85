#pragma once
// A commit of several databases that one connection of SQLite's writes: all of them, or none,
// wherever the process ends. The engine knows transactions of one database, so one of them, the
// coordinator, decides for all:
//
//   announce   beside each other one, a participant, a file that names the coordinator (intent.h)
//   decide     the coordinator commits, and with it, in its tree `commits`, what each participant's
//              transaction has done (redo.h)
//   follow     the participants commit, each with the commit's id
//   forget     the files go, and what the coordinator holds with one of its next commits
//
// A participant that is opened and finds its file asks the coordinator. Has that the id, the
// operations are done again, unless they are there already; else nothing was decided. Then the file
// goes (Database::settle). The same where a participant could not follow: its commit has happened,
// so it is in doubt, and whoever is next to use it does it, or fails.
//
//   tree `commits`   ID           the participants' directories, a line each
//                    ID/0001/N    operations of the first of them, in pieces N
//
// 1. All hold their writers' locks to the end, so nobody writes a participant between the decision
//    and its commit.
// 2. What is forgotten was followed by all, as durable as the commit is.
// 3. Durable against a power failure unless `synchronous` is OFF for all of them.
//
// Threads: that of the connection.

#include <span>
#include <string>
#include <vector>

#include "shims/sqlite/src/connection.h"

namespace hawthorn::sqlite {

class Together {
 public:
  // Connections that write, and are dirty. All of them but one have a list of what they have done.
  Together(std::span<HwConnection* const> all, bool durable);

  // In this order. Errors: of announce and decide, as those of a commit; then nothing was committed
  // unless the next open tells otherwise (kUnknownOutcome), and undo() is due.
  Status announce();
  Status decide();
  void follow();
  void follow(HwConnection* participant) noexcept;
  void forget() noexcept;

  void undo() noexcept;
  // The transactions end.
  int end(bool keep_reading);

 private:
  Status hand_over(Transaction& txn);

  HwConnection* coordinator_ = nullptr;
  std::vector<HwConnection*> participants_;
  const Durability durability_;
  const std::string id_;
  size_t announced_ = 0;
  bool is_unknown_ = false;
};

}  // namespace hawthorn::sqlite
