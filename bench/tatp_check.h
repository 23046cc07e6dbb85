#pragma once
// Compares the whole database of TATP with what the model says it holds.
//
// Used by tatp.cc. Errors: EngineError. Threads: one, while no transaction is under way.

#include <string>
#include <vector>

#include "bench/tatp_database.h"
#include "bench/tatp_model.h"

namespace hawthorn::bench {

// What is wrong; empty where nothing is.
using TatpErrors = std::vector<std::string>;

// Every row to its last column, the index of sub_nbr, counts and sums as the database adds them up,
// and what it says of its own integrity. Fills the sums of what the model has.
TatpErrors check_tatp(const TatpPopulation& population, const TatpModel& model,
                      TatpInspector& inspector, TatpSums& sums);

// Counts and sums alone.
TatpErrors check_tatp_sums(const TatpSums& right, TatpInspector& inspector);

}  // namespace hawthorn::bench
