#pragma once
// The whole public API.

#include "hawthorn/batch.h"
#include "hawthorn/counters.h"
#include "hawthorn/cursor.h"
#include "hawthorn/db.h"
#include "hawthorn/events.h"
#include "hawthorn/flush_filter.h"
#include "hawthorn/ingest.h"
#include "hawthorn/key_order.h"
#include "hawthorn/merge_operator.h"
#include "hawthorn/options.h"
#include "hawthorn/read_queue.h"
#include "hawthorn/stats.h"
#include "hawthorn/status.h"
#include "hawthorn/transaction.h"
#include "hawthorn/value.h"
#include "hawthorn/version.h"
