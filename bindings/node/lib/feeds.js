'use strict';
// Change feeds, replicas and followers.

const { native, kHandle, both, disposable, then } = require('./native');
const { databaseOptions, durabilityOf, known } = require('./options');
const { InvalidArgumentError } = require('./errors');

class Feed {
  constructor(handle) {
    this[kHandle] = handle;
  }

  get position() {
    return native.feedInfo(true, this[kHandle]).position;
  }

  get sourceId() {
    return native.feedInfo(true, this[kHandle]).sourceId;
  }

  // Commit after commit, for as long as the loop goes on.
  async* commits({ timeoutMs = Infinity } = {}) {
    for (;;) {
      const wait = Math.min(timeoutMs, 1000);
      const commit = await this.next({ timeoutMs: wait });
      if (commit !== undefined) yield commit;
      else if (timeoutMs !== Infinity) return;
    }
  }
}
disposable(Feed);
both(Feed.prototype, {
  next(sync, options) {
    const { timeoutMs = 0 } = known(options, ['timeoutMs'], 'feed options');
    return native.feedNext(sync, this[kHandle], timeoutMs, 0);
  },
  nextPieces(sync, options) {
    const { timeoutMs = 0 } = known(options, ['timeoutMs'], 'feed options');
    return native.feedNext(sync, this[kHandle], timeoutMs, 1);
  },
  acknowledge(sync, timestamp) {
    return native.feedAcknowledge(sync, this[kHandle], timestamp);
  },
});

class Replica {
  constructor(handle) {
    this[kHandle] = handle;
  }

  get position() {
    return native.replicaInfo(true, this[kHandle]).position;
  }

  get sourceId() {
    return native.replicaInfo(true, this[kHandle]).sourceId;
  }
}
disposable(Replica);
both(Replica.prototype, {
  copy(sync, source) {
    return native.replicaCopy(sync, this[kHandle], source?.[kHandle]);
  },
  beginAt(sync, sourceId, timestamp) {
    return native.replicaBeginAt(sync, this[kHandle], sourceId, timestamp);
  },
  apply(sync, commit, options) {
    const { durability } = known(options, ['durability'], 'apply options');
    if (!Array.isArray(commit?.pieces)) throw new InvalidArgumentError('a commit without pieces');
    const offsets = new BigInt64Array(commit.pieces.length + 1);
    commit.pieces.forEach((piece, i) => {
      offsets[i + 1] = offsets[i] + BigInt(piece.length);
    });
    return native.replicaApply(sync, this[kHandle], durabilityOf(durability),
      Buffer.concat(commit.pieces), offsets);
  },
});

const ofDatabases = {
  createFeed(sync, name, options) {
    const { logBytesMax } = known(options, ['logBytesMax'], 'feed options');
    return native.nameFeed(sync, this[kHandle], false, name, logBytesMax !== undefined,
      logBytesMax ?? 0);
  },
  dropFeed(sync, name) {
    return native.nameFeed(sync, this[kHandle], true, name, false, 0);
  },
  listFeeds(sync) {
    return native.listFeeds(sync, this[kHandle]);
  },
  feed(sync, name) {
    return then(sync, native.feedOpen(sync, this[kHandle], name, 0), (handle) => new Feed(handle));
  },
  feedAt(sync, position) {
    return then(sync, native.feedOpen(sync, this[kHandle], undefined, position),
      (handle) => new Feed(handle));
  },
  replica(sync) {
    return then(sync, native.replicaOpen(sync, this[kHandle]), (handle) => new Replica(handle));
  },
};

function addTo(databaseType) {
  both(databaseType.prototype, ofDatabases);

  class Follower {
    constructor(handle) {
      this[kHandle] = handle;
    }
  }
  disposable(Follower);
  both(Follower, {
    open(sync, path, options) {
      const { pairs, functions } = databaseOptions(options);
      if (Object.keys(functions).length > 0) {
        throw new InvalidArgumentError('followers call no functions');
      }
      return then(sync, native.followerOpen(sync, path, pairs), (handle) => new Follower(handle));
    },
  });
  const view = (latest) => function read(sync) {
    return then(sync, native.followerView(sync, this[kHandle], latest), (handle) => (
      Object.assign(new databaseType(handle), { isView: true })));
  };
  both(Follower.prototype, {
    refresh(sync) {
      return native.followerRefresh(sync, this[kHandle], false);
    },
    rebuild(sync) {
      return native.followerRefresh(sync, this[kHandle], true);
    },
    view: view(false),
    latest: view(true),
  });
  return Follower;
}

module.exports = { Feed, Replica, addTo };
