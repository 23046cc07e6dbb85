/* sqlite3_backup_* and sqlite3_serialize where Hawthorn is a part of it; see dispatch.c and
   dispatch_copy.c.

     ours -> ours         entries, from a snapshot
     ours -> SQLite's     entries, into a temporary database of SQLite's, whose pages follow
     SQLite's -> ours     pages, into a temporary database of SQLite's, whose entries follow; all in
                          one step: entries

   Of ours the source is read through a connection of its own, at one moment, that of the first step
   that has come so far: what is written later is not in the copy, and nothing has to begin again.
   Pages of SQLite's source are copied by SQLite, with all that it does when the source is written
   meanwhile. Ours as a destination is written through a connection of its own, in one transaction:
   the program's statements on it do not see it, and cannot end it. */

typedef struct HwBackup {
  enum { HW_TO_BEGIN, HW_PAGES_IN, HW_ENTRIES, HW_PAGES_OUT, HW_ENDED } eState;
  int nPhase;    /* Of which each has an equal part of the pages that are told */
  int iPhase;
  char *zSrcDb;
  char *zDestDb;
  sqlite3 *pReader; /* Of a source of ours */
  Btree *pWriter;   /* Of a destination of ours */
  sqlite3 *pStage;  /* The temporary database */
  HwCopy copy;
  int bWal;               /* The source says that it is in WAL mode */
  sqlite3_backup *pPages; /* SQLite's, from or into pStage */
  sqlite3_backup pagesOut;
  i64 nEntry; /* That were copied, for xProgress */
  void (*xProgress)(void*, long long);
  void *pArg;
} HwBackup;

static int hwIs(sqlite3 *db, const char *zDb){
  int i = sqlite3FindDbName(db, zDb);
  return i>=0 && db->aDb[i].pBt!=0 && HW(db->aDb[i].pBt)!=0;
}

/* ---- Databases between, or beside */

static int hwVacuumOf(Btree *p){
  int bEnds = sqlite3BtreeTxnState(p)==SQLITE_TXN_NONE;
  int iVersion;
  if( sqlite3BtreeBeginTrans(p, 0, &iVersion)==SQLITE_OK && bEnds ) sqlite3BtreeCommit(p);
  return sqlite3BtreeGetAutoVacuum(p);
}

/* A temporary database in a file that nobody sees, which is never rolled back. Its auto_vacuum is
   that of pLike. */
static int hwOpenStage(Btree *pLike, int nPageSize, sqlite3 **ppStage){
  int rc = sqlite3_open_v2("", ppStage, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, 0);
  if( rc==SQLITE_OK ){
    rc = sqlite3_exec(*ppStage, "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF", 0, 0, 0);
  }
  if( rc==SQLITE_OK ){
    rc = sqlite3BtreeSetPageSize((*ppStage)->aDb[0].pBt, nPageSize, 0, 0);
  }
  if( rc==SQLITE_OK ){
    rc = sqlite3BtreeSetAutoVacuum((*ppStage)->aDb[0].pBt, hwVacuumOf(pLike));
  }
  if( rc!=SQLITE_OK ){
    sqlite3_close(*ppStage);
    *ppStage = 0;
  }
  return rc;
}

/* A connection that has nothing but the database p, through a B-tree of its own. */
static int hwOpenReader(Btree *p, sqlite3 **ppReader){
  Btree *pOwn = 0;
  sqlite3 *db;
  int rc = sqlite3_open_v2(":memory:", ppReader, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, 0);
  db = *ppReader;
  if( rc==SQLITE_OK ){
    sqlite3_mutex_enter(db->mutex);
    rc = hwBtreeBeside(p, db, &pOwn);
    if( rc==SQLITE_OK ){
      sqlite3ResetAllSchemasOfConnection(db);
      sqlite3BtreeClose(db->aDb[0].pBt);
      db->aDb[0].pBt = pOwn;
      db->aDb[0].pSchema = sqlite3SchemaGet(db, pOwn);
      if( db->aDb[0].pSchema==0 ) rc = SQLITE_NOMEM_BKPT;
    }
    sqlite3_mutex_leave(db->mutex);
  }
  if( rc!=SQLITE_OK ){
    sqlite3_close(db);
    *ppReader = 0;
  }
  return rc;
}

static Btree *hwMain(sqlite3 *db){ return db->aDb[0].pBt; }

/* ---- Steps */

/* Nothing but what to try again is busy, and that is nothing that has begun. */
static int hwLasting(int rc){
  int e = rc & 0xff;
  return e==SQLITE_BUSY || e==SQLITE_LOCKED ? SQLITE_IOERR : rc;
}

static int hwIsFatal(int rc){
  return rc!=SQLITE_OK && (rc & 0xff)!=SQLITE_BUSY && (rc & 0xff)!=SQLITE_LOCKED;
}

/* How many pages are left, where `rPart` of a phase is done. Those of the last are never 0 before
   the end. */
static void hwTell(sqlite3_backup *p, double rPart){
  HwBackup *pHw = p->hawthorn;
  double rDone = (pHw->iPhase + MIN(rPart, 1.0))/pHw->nPhase;
  u32 nDone = (u32)(rDone*p->nPagecount);
  p->nRemaining = nDone<p->nPagecount ? p->nPagecount - nDone : 1;
}

static int hwLockDestination(sqlite3_backup *p){
  HwBackup *pHw = p->hawthorn;
  int rc;
  if( pHw->pWriter ){
    /* The transaction is no part of the program's. */
    if( hwConcurrent(p->pDestDb) ) return SQLITE_BUSY;
    rc = sqlite3BtreeBeginTrans(pHw->pWriter, 2, (int*)&p->iDestSchema);
  }else{
    Btree *pDest = findBtree(p->pDestDb, p->pDestDb, pHw->zDestDb);
    if( pDest==0 ) return SQLITE_ERROR;
    rc = sqlite3BtreeSetPageSize(pDest, sqlite3BtreeGetPageSize(p->pSrc), 0, 0);
    if( rc==SQLITE_NOMEM ) return rc;
    rc = sqlite3BtreeBeginTrans(pDest, 2, (int*)&p->iDestSchema);
    if( rc==SQLITE_OK ) p->pDest = pDest;
  }
  if( rc==SQLITE_OK ) p->bDestLocked = 1;
  return rc;
}

/* The pages that SQLite's source has. */
static int hwCountPages(Btree *p, Pgno *pnPage){
  int bEnds = sqlite3BtreeTxnState(p)==SQLITE_TXN_NONE;
  int rc = sqlite3BtreeBeginTrans(p, 0, 0);
  if( rc!=SQLITE_OK ) return rc;
  *pnPage = sqlite3BtreeLastPage(p);
  return bEnds ? sqlite3BtreeCommit(p) : SQLITE_OK;
}

static int hwBeginEntries(sqlite3_backup *p, sqlite3 *db, int iDb, Btree *pTo){
  HwBackup *pHw = p->hawthorn;
  int rc;
  pHw->eState = HW_ENTRIES;
  if( db!=p->pSrcDb ){
    rc = hwTakeCollations(db, p->pSrcDb);
    if( rc!=SQLITE_OK ) return rc;
  }
  rc = hwCopyBegin(&pHw->copy, db, iDb, pTo);
  if( rc==SQLITE_OK ) pHw->bWal = hwSaysWal(pHw->copy.from.pBt);
  return rc;
}

static int hwBeginOut(sqlite3_backup *p){
  HwBackup *pHw = p->hawthorn;
  int rc = hwOpenStage(hwMain(pHw->pReader), sqlite3BtreeGetPageSize(p->pDest), &pHw->pStage);
  if( rc==SQLITE_OK ) rc = sqlite3BtreeBeginTrans(hwMain(pHw->pStage), 1, 0);
  pHw->nPhase = 2;
  return rc==SQLITE_OK ? hwBeginEntries(p, pHw->pReader, 0, hwMain(pHw->pStage)) : rc;
}

static int hwBeginIn(sqlite3_backup *p){
  HwBackup *pHw = p->hawthorn;
  int rc = hwOpenStage(p->pSrc, sqlite3BtreeGetPageSize(p->pSrc), &pHw->pStage);
  if( rc!=SQLITE_OK ) return rc;
  pHw->nPhase = 2;
  pHw->eState = HW_PAGES_IN;
  pHw->pPages = stock_sqlite3_backup_init(pHw->pStage, "main", p->pSrcDb, pHw->zSrcDb);
  return pHw->pPages ? SQLITE_OK : sqlite3_errcode(pHw->pStage);
}

static int hwBegin(sqlite3_backup *p, int nPage){
  HwBackup *pHw = p->hawthorn;
  int rc = p->bDestLocked ? SQLITE_OK : hwLockDestination(p);
  if( rc!=SQLITE_OK ) return rc;
  pHw->nPhase = 1;
  if( pHw->pReader ){
    rc = pHw->pWriter ? hwBeginEntries(p, pHw->pReader, 0, pHw->pWriter) : hwBeginOut(p);
    if( rc==SQLITE_OK ) p->nPagecount = sqlite3BtreeLastPage(hwMain(pHw->pReader));
  }else{
    rc = hwCountPages(p->pSrc, &p->nPagecount);
    if( rc!=SQLITE_OK ) return rc; /* It may be busy */
    if( nPage>=0 ){
      rc = hwBeginIn(p);
    }else{
      rc = hwBeginEntries(p, p->pSrcDb, sqlite3FindDbName(p->pSrcDb, pHw->zSrcDb), pHw->pWriter);
      if( (rc & 0xff)==SQLITE_BUSY ){
        hwCopyEnd(&pHw->copy);
        pHw->eState = HW_TO_BEGIN;
        return rc;
      }
    }
  }
  if( p->nPagecount==0 ) p->nPagecount = 1;
  hwTell(p, 0);
  return hwLasting(rc);
}

/* Of SQLite's own copying: so many pages as make nAhead of those that are told. */
static int hwStepPages(sqlite3_backup *p, int nAhead, Pgno nTotal){
  HwBackup *pHw = p->hawthorn;
  int nPage = -1;
  int rc;
  if( nAhead>=0 ){
    double rPages = (double)nAhead*pHw->nPhase*nTotal/p->nPagecount;
    nPage = rPages<1 ? 1 : rPages>0x7ffffff0 ? 0x7ffffff0 : (int)rPages;
  }
  rc = stock_sqlite3_backup_step(pHw->pPages, nPage);
  if( rc!=SQLITE_OK ) return rc;
  nTotal = pHw->pPages->nPagecount;
  if( pHw->eState==HW_PAGES_IN ) p->nPagecount = nTotal;
  hwTell(p, 1.0 - (double)pHw->pPages->nRemaining/nTotal);
  return SQLITE_OK;
}

static int hwEndPagesIn(sqlite3_backup *p){
  HwBackup *pHw = p->hawthorn;
  int rc = stock_sqlite3_backup_finish(pHw->pPages);
  pHw->pPages = 0;
  pHw->iPhase++;
  hwTell(p, 0);
  return rc==SQLITE_OK ? hwLasting(hwBeginEntries(p, pHw->pStage, 0, pHw->pWriter)) : rc;
}

/* All is in the temporary database: its pages follow. */
static int hwBeginPagesOut(sqlite3_backup *p){
  HwBackup *pHw = p->hawthorn;
  Btree *pFrom = hwMain(pHw->pStage);
  int rc = SQLITE_OK;
  if( pHw->bWal && !sqlite3PagerIsMemdb(sqlite3BtreePager(p->pDest)) ){
    rc = sqlite3BtreeSetVersion(pFrom, 2);
  }
  if( rc==SQLITE_OK ) rc = sqlite3BtreeCommit(pFrom);
  if( rc!=SQLITE_OK ) return rc;
  /* As VACUUM has it: without a connection of the destination, and with the transaction that is
     open there. */
  pHw->pagesOut.pSrcDb = pHw->pStage;
  pHw->pagesOut.pSrc = pFrom;
  pHw->pagesOut.pDest = p->pDest;
  pHw->pagesOut.bDestLocked = 1;
  pHw->pagesOut.iDestSchema = p->iDestSchema;
  pHw->pagesOut.iNext = 1;
  pHw->pPages = &pHw->pagesOut;
  pHw->eState = HW_PAGES_OUT;
  pHw->iPhase++;
  hwTell(p, 0);
  return SQLITE_OK;
}

/* All is there: others see it from now on. */
static int hwCommitWriter(sqlite3_backup *p){
  HwBackup *pHw = p->hawthorn;
  int rc = SQLITE_OK;
  if( pHw->bWal ) rc = hw_set_wal(HW(pHw->pWriter), 1);
  if( rc==SQLITE_OK ){
    rc = sqlite3BtreeUpdateMeta(pHw->pWriter, BTREE_SCHEMA_VERSION, p->iDestSchema + 1);
  }
  return rc==SQLITE_OK ? sqlite3BtreeCommit(pHw->pWriter) : rc;
}

static int hwEndEntries(sqlite3_backup *p){
  HwBackup *pHw = p->hawthorn;
  int rc;
  hwCopyEnd(&pHw->copy);
  if( pHw->pWriter==0 ) return hwLasting(hwBeginPagesOut(p));
  rc = hwLasting(hwCommitWriter(p));
  return rc==SQLITE_OK ? SQLITE_DONE : rc;
}

/* What a copy that has come to its end does not need any more. */
static void hwRelease(HwBackup *pHw){
  hwCopyEnd(&pHw->copy);
  if( pHw->pPages ) stock_sqlite3_backup_finish(pHw->pPages);
  pHw->pPages = 0;
  if( pHw->pWriter ) sqlite3BtreeClose(pHw->pWriter);
  pHw->pWriter = 0;
  sqlite3_close(pHw->pReader);
  pHw->pReader = 0;
  sqlite3_close(pHw->pStage);
  pHw->pStage = 0;
}

/* nAhead < 0: to the end. */
static int hwStepOnce(sqlite3_backup *p, int nAhead){
  HwBackup *pHw = p->hawthorn;
  int rc;
  switch( pHw->eState ){
    case HW_PAGES_IN:
      rc = hwStepPages(p, nAhead, p->nPagecount);
      return rc==SQLITE_DONE ? hwEndPagesIn(p) : rc;
    case HW_ENTRIES:
      rc = hwLasting(hwCopyNext(&pHw->copy));
      if( rc==SQLITE_DONE ) return hwEndEntries(p);
      if( rc==SQLITE_OK && pHw->copy.rTotal>0 ) hwTell(p, pHw->copy.rDone/pHw->copy.rTotal);
      if( rc==SQLITE_OK && pHw->xProgress ) pHw->xProgress(pHw->pArg, ++pHw->nEntry);
      return rc;
    default:
      return hwStepPages(p, nAhead, sqlite3BtreeLastPage(hwMain(pHw->pStage)));
  }
}

static int hwStep(sqlite3_backup *p, int nPage){
  HwBackup *pHw = p->hawthorn;
  Pgno nGoal = 0;
  int rc = SQLITE_OK;
  if( HW(p->pSrc) ? p->pSrc->inTrans==TRANS_WRITE : p->pSrc->pBt->inTransaction==TRANS_WRITE ){
    return SQLITE_BUSY;
  }
  if( pHw->eState==HW_TO_BEGIN ) rc = hwBegin(p, nPage);
  if( nPage>=0 && p->nRemaining>(Pgno)nPage ) nGoal = p->nRemaining - (Pgno)nPage;
  while( rc==SQLITE_OK && (nPage<0 || p->nRemaining>nGoal) ){
    rc = hwStepOnce(p, nPage<0 ? -1 : (int)(p->nRemaining - nGoal));
  }
  if( rc==SQLITE_DONE ){
    pHw->eState = HW_ENDED;
    hwRelease(pHw);
    p->nRemaining = 0;
    sqlite3ResetAllSchemasOfConnection(p->pDestDb);
  }
  return rc==SQLITE_IOERR_NOMEM ? SQLITE_NOMEM_BKPT : rc;
}

/* ---- The interface */

static void hwBackupFree(sqlite3_backup *p){
  hwRelease(p->hawthorn);
  sqlite3_free(p->hawthorn->zSrcDb);
  sqlite3_free(p->hawthorn->zDestDb);
  sqlite3_free(p->hawthorn);
  sqlite3_free(p);
}

/* Both connections are locked. An error is the destination's. */
static sqlite3_backup *hwBackupInit(
  sqlite3 *pDestDb, const char *zDestDb, sqlite3 *pSrcDb, const char *zSrcDb
){
  Btree *pSrc = findBtree(pDestDb, pSrcDb, zSrcDb);
  Btree *pDest = findBtree(pDestDb, pDestDb, zDestDb);
  sqlite3_backup *p;
  HwBackup *pHw;
  int rc = SQLITE_OK;
  if( pSrc==0 || pDest==0 || checkReadTransaction(pDestDb, pDest)!=SQLITE_OK ) return 0;
  p = sqlite3MallocZero(sizeof(*p));
  pHw = sqlite3MallocZero(sizeof(*pHw));
  if( p==0 || pHw==0 ){
    sqlite3_free(p);
    sqlite3_free(pHw);
    sqlite3Error(pDestDb, SQLITE_NOMEM_BKPT);
    return 0;
  }
  p->hawthorn = pHw;
  p->pDestDb = pDestDb;
  p->pSrcDb = pSrcDb;
  p->pSrc = pSrc;
  pHw->zSrcDb = sqlite3_mprintf("%s", zSrcDb);
  pHw->zDestDb = sqlite3_mprintf("%s", zDestDb);
  if( pHw->zSrcDb==0 || pHw->zDestDb==0 ) rc = SQLITE_NOMEM_BKPT;
  if( rc==SQLITE_OK && HW(pSrc) ) rc = hwOpenReader(pSrc, &pHw->pReader);
  if( rc==SQLITE_OK && HW(pDest) ) rc = hwBtreeBeside(pDest, pDestDb, &pHw->pWriter);
  if( rc!=SQLITE_OK ){
    hwBackupFree(p);
    sqlite3Error(pDestDb, rc);
    return 0;
  }
  p->pSrc->nBackup++;
  return p;
}

SQLITE_API sqlite3_backup *sqlite3_backup_init(
  sqlite3 *pDestDb, const char *zDestDb, sqlite3 *pSrcDb, const char *zSrcDb
){
  sqlite3_backup *p = 0;
  int bOurs;
  sqlite3_mutex_enter(pSrcDb->mutex);
  sqlite3_mutex_enter(pDestDb->mutex);
  bOurs = pSrcDb!=pDestDb && (hwIs(pDestDb, zDestDb) || hwIs(pSrcDb, zSrcDb));
  if( bOurs ) p = hwBackupInit(pDestDb, zDestDb, pSrcDb, zSrcDb);
  sqlite3_mutex_leave(pDestDb->mutex);
  sqlite3_mutex_leave(pSrcDb->mutex);
  return bOurs ? p : stock_sqlite3_backup_init(pDestDb, zDestDb, pSrcDb, zSrcDb);
}

SQLITE_API int sqlite3_backup_step(sqlite3_backup *p, int nPage){
  int rc;
  if( p==0 || p->hawthorn==0 ) return stock_sqlite3_backup_step(p, nPage);
  sqlite3_mutex_enter(p->pSrcDb->mutex);
  sqlite3BtreeEnter(p->pSrc);
  sqlite3_mutex_enter(p->pDestDb->mutex);
  if( !hwIsFatal(p->rc) ) p->rc = hwStep(p, nPage);
  rc = p->rc;
  sqlite3_mutex_leave(p->pDestDb->mutex);
  sqlite3BtreeLeave(p->pSrc);
  sqlite3_mutex_leave(p->pSrcDb->mutex);
  return rc;
}

SQLITE_API int sqlite3_backup_finish(sqlite3_backup *p){
  sqlite3 *pSrcDb;
  sqlite3 *pDestDb;
  Btree *pSrc;
  int rc;
  if( p==0 || p->hawthorn==0 ) return stock_sqlite3_backup_finish(p);
  pSrcDb = p->pSrcDb;
  pDestDb = p->pDestDb;
  pSrc = p->pSrc;
  rc = p->rc==SQLITE_DONE ? SQLITE_OK : p->rc;
  sqlite3_mutex_enter(pSrcDb->mutex);
  sqlite3BtreeEnter(pSrc);
  sqlite3_mutex_enter(pDestDb->mutex);
  if( p->pDest && p->hawthorn->eState!=HW_ENDED ) sqlite3BtreeRollback(p->pDest, SQLITE_OK, 0);
  hwBackupFree(p);
  pSrc->nBackup--;
  sqlite3Error(pDestDb, rc);
  sqlite3LeaveMutexAndCloseZombie(pDestDb);
  sqlite3BtreeLeave(pSrc);
  sqlite3LeaveMutexAndCloseZombie(pSrcDb);
  return rc;
}

int hw_copy(sqlite3 *pTo, sqlite3 *pFrom, void (*xProgress)(void*, long long), void *pArg){
  sqlite3_backup *p = sqlite3_backup_init(pTo, "main", pFrom, "main");
  if( p==0 ) return sqlite3_errcode(pTo);
  if( p->hawthorn ){
    p->hawthorn->xProgress = xProgress;
    p->hawthorn->pArg = pArg;
  }
  sqlite3_backup_step(p, -1);
  return sqlite3_backup_finish(p);
}

SQLITE_PRIVATE int sqlite3BtreeCopyFile(Btree *pTo, Btree *pFrom){
  if( HW(pTo) || HW(pFrom) ) return SQLITE_ERROR;
  return stock_sqlite3BtreeCopyFile(pTo, pFrom);
}

/* ---- The bytes of a file of SQLite's with what a database of ours holds */

static int hwSerializeInto(sqlite3 *db, int iDb, sqlite3 *pStage){
  HwCopy copy;
  int rc = sqlite3BtreeBeginTrans(hwMain(pStage), 1, 0);
  if( rc!=SQLITE_OK ) return rc;
  rc = hwCopyBegin(&copy, db, iDb, hwMain(pStage));
  while( rc==SQLITE_OK ) rc = hwCopyNext(&copy);
  hwCopyEnd(&copy);
  return rc==SQLITE_DONE ? sqlite3BtreeCommit(hwMain(pStage)) : rc;
}

SQLITE_API unsigned char *sqlite3_serialize(
  sqlite3 *db, const char *zSchema, sqlite3_int64 *piSize, unsigned int mFlags
){
  sqlite3 *pStage = 0;
  unsigned char *aOut = 0;
  int iDb;
  int rc;
  sqlite3_mutex_enter(db->mutex);
  if( zSchema==0 ) zSchema = db->aDb[0].zDbSName;
  if( !hwIs(db, zSchema) ){
    sqlite3_mutex_leave(db->mutex);
    return stock_sqlite3_serialize(db, zSchema, piSize, mFlags);
  }
  if( piSize ) *piSize = -1;
  if( (mFlags & SQLITE_SERIALIZE_NOCOPY)==0 ){
    iDb = sqlite3FindDbName(db, zSchema);
    Btree *p = db->aDb[iDb].pBt;
    rc = hwOpenStage(p, sqlite3BtreeGetPageSize(p), &pStage);
    if( rc==SQLITE_OK ) rc = hwSerializeInto(db, iDb, pStage);
    if( rc==SQLITE_OK ) aOut = stock_sqlite3_serialize(pStage, "main", piSize, 0);
    if( rc!=SQLITE_OK ) sqlite3_log(rc, "hawthorn: %s is not serialized", zSchema);
    sqlite3_close(pStage);
  }
  sqlite3_mutex_leave(db->mutex);
  return aOut;
}
