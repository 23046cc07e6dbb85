/* Included behind SQLite (prepare.py): functions of its B-tree layer. Each asks whose
   the database is, and calls either SQLite's own, stock_NAME, or Hawthorn (storage.h).

   A database of Hawthorn's has a stock B-tree beneath, of an empty database in memory. It answers
   what has nothing to do with storage: schemas, page sizes, the pager's settings. inTrans of Btree
   and eState, skipNext, curFlags and hints of BtCursor mean what they mean in SQLite. */

#include "storage.h"

#define HW(p) ((p)->hawthorn)
/* Of so many columns no memory is asked for. */
#define HW_SMALL 16

static const sqlite3_io_methods hwFileMethods;

/* ---- Opening */

/* New databases are ours, but for those that are named with ?hawthorn=0. What is there decides
   itself. Negative: there is no memory to tell. */
static int hwOurs(sqlite3_vfs *pVfs, const char *zFilename, int flags, int vfsFlags){
  if( zFilename==0 || zFilename[0]==0 || strcmp(zFilename, ":memory:")==0 ) return 0;
  if( (flags & (BTREE_MEMORY|BTREE_SINGLE)) || (vfsFlags & SQLITE_OPEN_MEMORY) ) return 0;
  if( (vfsFlags & SQLITE_OPEN_MAIN_DB)==0 || pVfs!=sqlite3_vfs_find(0) ) return 0;
  return hw_is_ours(zFilename, sqlite3_uri_boolean(zFilename, "hawthorn", 1)
                               && (vfsFlags & SQLITE_OPEN_READONLY)==0);
}

/* As sqlite3_db_filename gives it: the whole path, with the parameters of the URI that the program
   gave. */
static char *hwKeepName(const char *zFull, const char *zFilename){
  const char *azParam[64];
  int n = 0;
  const char *zKey;
  for(n=0; n<32 && (zKey = sqlite3_uri_key(zFilename, n))!=0; n++){
    azParam[n*2] = zKey;
    azParam[n*2+1] = sqlite3_uri_parameter(zFilename, zKey);
  }
  return (char*)sqlite3_create_filename(zFull, "", "", n, azParam);
}

/* The B-tree of a connection, which is closed where there is no memory for it. */
static int hwBtreeOf(
  HwConnection *pConn, const char *zFull, const char *zFilename, sqlite3 *db, Btree **ppBtree
){
  char *zName = hwKeepName(zFull, zFilename);
  Pager *pPager;
  int rc = SQLITE_NOMEM_BKPT;
  if( zName ){
    rc = stock_sqlite3BtreeOpen(sqlite3_vfs_find(0), ":memory:", db, ppBtree, BTREE_MEMORY,
                                SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_MEMORY | SQLITE_OPEN_READWRITE);
  }
  if( rc!=SQLITE_OK ){
    sqlite3_free_filename(zName);
    hw_close(pConn);
    return rc;
  }
  HW(*ppBtree) = pConn;
  (*ppBtree)->hawthornName = zName;
  pPager = (*ppBtree)->pBt->pPager;
  pPager->hawthornName = zName;
  pPager->hawthornMode = PAGER_JOURNALMODE_DELETE;
  pPager->hawthornFile.pMethods = &hwFileMethods;
  pPager->hawthornOf = pConn;
  return SQLITE_OK;
}

SQLITE_PRIVATE int sqlite3BtreeOpen(
  sqlite3_vfs *pVfs,
  const char *zFilename,
  sqlite3 *db,
  Btree **ppBtree,
  int flags,
  int vfsFlags
){
  HwConnection *pConn = 0;
  char *zFull;
  int rc;
  rc = hwOurs(pVfs, zFilename, flags, vfsFlags);
  if( rc<0 ) return SQLITE_NOMEM_BKPT;
  if( rc==0 ) return stock_sqlite3BtreeOpen(pVfs, zFilename, db, ppBtree, flags, vfsFlags);
  zFull = sqlite3MallocZero(pVfs->mxPathname + 1);
  if( zFull==0 ) return SQLITE_NOMEM_BKPT;
  rc = sqlite3OsFullPathname(pVfs, zFilename, pVfs->mxPathname + 1, zFull);
  if( rc==SQLITE_OK_SYMLINK ){
    rc = (vfsFlags & SQLITE_OPEN_NOFOLLOW) ? SQLITE_CANTOPEN_SYMLINK : SQLITE_OK;
  }
  if( rc==SQLITE_OK ){
    rc = hw_open(zFull, (vfsFlags & SQLITE_OPEN_CREATE)!=0, (vfsFlags & SQLITE_OPEN_READONLY)!=0,
                 sqlite3_uri_int64(zFilename, "hawthorn_memory", 0), &pConn);
  }
  if( rc==SQLITE_OK ) rc = hwBtreeOf(pConn, zFull, zFilename, db, ppBtree);
  sqlite3_free(zFull);
  return rc;
}

/* A second one of the same database, by a connection of its own. */
static int hwBtreeBeside(Btree *p, sqlite3 *db, Btree **ppBtree){
  HwConnection *pConn = 0;
  int rc = hw_open_beside(HW(p), &pConn);
  if( rc==SQLITE_OK ) rc = hwBtreeOf(pConn, p->hawthornName, p->hawthornName, db, ppBtree);
  if( rc==SQLITE_OK ){
    (*ppBtree)->hawthornSync = p->hawthornSync;
    (*ppBtree)->pBt->pPager->mxPgno = p->pBt->pPager->mxPgno;
  }
  return rc;
}

SQLITE_PRIVATE int sqlite3BtreeClose(Btree *p){
  if( HW(p) ){
    hw_close(HW(p));
    HW(p) = 0;
    p->inTrans = TRANS_NONE;
    p->pBt->pPager->hawthornName = 0;
    sqlite3_free_filename(p->hawthornName);
  }
  return stock_sqlite3BtreeClose(p);
}

SQLITE_PRIVATE const char *sqlite3BtreeGetFilename(Btree *p){
  return HW(p) ? p->hawthornName : stock_sqlite3BtreeGetFilename(p);
}

SQLITE_PRIVATE const char *sqlite3BtreeGetJournalname(Btree *p){
  return HW(p) ? "" : stock_sqlite3BtreeGetJournalname(p);
}

SQLITE_PRIVATE int sqlite3BtreeIsReadonly(Btree *p){
  return HW(p) ? hw_read_only(HW(p)) : stock_sqlite3BtreeIsReadonly(p);
}

/* ---- Settings */

/* As in SQLite: pages, or KiB where it is negative. SQLite's default asks for nothing. */
SQLITE_PRIVATE int sqlite3BtreeSetCacheSize(Btree *p, int mxPage){
  if( HW(p) && mxPage!=SQLITE_DEFAULT_CACHE_SIZE && mxPage!=0 ){
    i64 nByte = mxPage<0 ? (i64)mxPage * -1024 : (i64)mxPage * sqlite3BtreeGetPageSize(p);
    int rc = hw_set_cache(HW(p), nByte);
    if( rc!=SQLITE_OK ) return rc;
  }
  return stock_sqlite3BtreeSetCacheSize(p, mxPage);
}

SQLITE_PRIVATE int sqlite3BtreeSetPagerFlags(Btree *p, unsigned pgFlags){
  p->hawthornSync = (u8)(pgFlags & PAGER_SYNCHRONOUS_MASK);
  return stock_sqlite3BtreeSetPagerFlags(p, pgFlags);
}

/* What is deleted is not overwritten, which the pragma says. */
SQLITE_PRIVATE int sqlite3BtreeSecureDelete(Btree *p, int newFlag){
  return p!=0 && HW(p) ? 0 : stock_sqlite3BtreeSecureDelete(p, newFlag);
}

/* What was asked for before there was a table, which the database keeps. Nothing depends on it:
   space comes back by itself. */
SQLITE_PRIVATE int sqlite3BtreeSetAutoVacuum(Btree *p, int autoVacuum){
  if( !HW(p) ) return stock_sqlite3BtreeSetAutoVacuum(p, autoVacuum);
  if( p->hawthornFixed && (p->hawthornVacuum!=0)!=(autoVacuum!=0) ) return SQLITE_READONLY;
  p->hawthornVacuum = (u8)autoVacuum;
  return SQLITE_OK;
}
SQLITE_PRIVATE int sqlite3BtreeGetAutoVacuum(Btree *p){
  return HW(p) ? p->hawthornVacuum : stock_sqlite3BtreeGetAutoVacuum(p);
}

typedef char HwSameNumbers[
    HW_SCHEMA_VERSION==BTREE_SCHEMA_VERSION && HW_LARGEST_ROOT==BTREE_LARGEST_ROOT_PAGE
    && HW_INCR_VACUUM==BTREE_INCR_VACUUM ? 1 : -1];

/* As SQLite's header has it: whether at all, and whether by increments. */
static int hwKeepVacuum(Btree *p, int autoVacuum){
  int rc = hw_set_meta(HW(p), BTREE_LARGEST_ROOT_PAGE, autoVacuum!=BTREE_AUTOVACUUM_NONE);
  if( rc==SQLITE_OK ){
    rc = hw_set_meta(HW(p), BTREE_INCR_VACUUM, autoVacuum==BTREE_AUTOVACUUM_INCR);
  }
  return rc;
}

static int hwIsPageSize(int nByte){
  return nByte>=512 && nByte<=SQLITE_MAX_PAGE_SIZE && (nByte&(nByte-1))==0;
}

/* The stock B-tree beneath answers with it, and takes no other one from now on. */
static int hwUsePageSize(Btree *p, int nByte){
  if( !hwIsPageSize(nByte) ) return SQLITE_OK;
  if( nByte==sqlite3BtreeGetPageSize(p) ){
    p->pBt->btsFlags |= BTS_PAGESIZE_FIXED;
    return SQLITE_OK;
  }
  p->pBt->btsFlags &= ~BTS_PAGESIZE_FIXED;
  return sqlite3BtreeSetPageSize(p, nByte, 0, 1);
}

/* The page size, on which nothing depends but what pragmas answer. bKeeps: the transaction may
   write such numbers. */
static int hwTakePageSize(Btree *p, const HwSettings *pNow, int bKeeps){
  if( pNow->page_bytes!=0 ) return hwUsePageSize(p, (int)pNow->page_bytes);
  if( !bKeeps ) return SQLITE_OK;
  p->pBt->btsFlags |= BTS_PAGESIZE_FIXED;
  return hw_set_meta(HW(p), HW_PAGE_BYTES, (u32)sqlite3BtreeGetPageSize(p));
}

/* Of the database, or of the connection as long as there is no table; see hwTakePageSize. */
static int hwTakeVacuum(Btree *p, const HwSettings *pNow, int bKeeps){
  if( pNow->auto_vacuum || pNow->has_tables ){
    p->hawthornVacuum = !pNow->auto_vacuum ? BTREE_AUTOVACUUM_NONE
                      : pNow->incremental_vacuum ? BTREE_AUTOVACUUM_INCR : BTREE_AUTOVACUUM_FULL;
    p->hawthornFixed = 1;
  }else if( bKeeps && p->hawthornVacuum!=BTREE_AUTOVACUUM_NONE ){
    return hwKeepVacuum(p, p->hawthornVacuum);
  }
  return SQLITE_OK;
}
SQLITE_PRIVATE int sqlite3BtreeIncrVacuum(Btree *p){
  return HW(p) ? SQLITE_DONE : stock_sqlite3BtreeIncrVacuum(p);
}

SQLITE_PRIVATE void sqlite3BtreeClearCache(Btree *p){
  if( !HW(p) ) stock_sqlite3BtreeClearCache(p);
}

SQLITE_PRIVATE Pgno sqlite3BtreeLastPage(Btree *p){
  return HW(p) ? hw_pages(HW(p), (u32)sqlite3BtreeGetPageSize(p), 0)
               : stock_sqlite3BtreeLastPage(p);
}

/* What the pager beneath keeps of PRAGMA max_page_count. */
static void hwLimitPages(Btree *p){
  Pgno nMax = p->pBt->pPager->mxPgno;
  hw_limit_pages(HW(p), nMax<SQLITE_MAX_PAGE_COUNT ? nMax : 0xffffffff,
                 (u32)sqlite3BtreeGetPageSize(p));
}

SQLITE_PRIVATE Pgno sqlite3BtreeMaxPageCount(Btree *p, Pgno mxPage){
  Pgno nMax;
  if( HW(p) && mxPage>0 ){
    Pgno nPage = hw_pages(HW(p), (u32)sqlite3BtreeGetPageSize(p), 1);
    mxPage = MAX(mxPage, nPage);
  }
  nMax = stock_sqlite3BtreeMaxPageCount(p, mxPage);
  if( HW(p) ) hwLimitPages(p);
  return nMax;
}

SQLITE_PRIVATE int sqlite3BtreeNewDb(Btree *p){
  return HW(p) ? SQLITE_OK : stock_sqlite3BtreeNewDb(p);
}

/* ---- Transactions */

/* Whether to ask once more; the engine's own wait does without the handler's sleeps. */
static int hwBusy(Btree *p, int rc){
  return (rc & 0xff)==SQLITE_BUSY && p->inTrans==TRANS_NONE
      && sqlite3InvokeBusyHandler(&p->db->busyHandler);
}

/* The milliseconds for which the engine itself waits; -1 where the program has a handler of its
   own, which is asked then. */
static i64 hwWait(sqlite3 *db){
  return db->busyHandler.xBusyHandler==sqliteDefaultBusyCallback ? db->busyTimeout
       : db->busyHandler.xBusyHandler ? -1 : 0;
}

/* Whether BEGIN CONCURRENT has begun the transaction (prepare.py). */
static int hwConcurrent(sqlite3 *db){
  return db->hawthornConcurrent && !db->autoCommit && !db->isTransactionSavepoint;
}

/* Whether the transaction writes another database of ours, too. */
static int hwWritesAnother(Btree *p){
  for(int i=0; i<p->db->nDb; i++){
    Btree *pOther = p->db->aDb[i].pBt;
    if( pOther && pOther!=p && HW(pOther) && pOther->inTrans==TRANS_WRITE ) return 1;
  }
  return 0;
}

/* Whether the journal mode is WAL the database says, and which other one the connection. */
static void hwTakeMode(Btree *p, const HwSettings *pNow){
  Pager *pPager = p->pBt->pPager;
  if( pNow->is_wal ){
    pPager->hawthornMode = PAGER_JOURNALMODE_WAL;
  }else if( pPager->hawthornMode==PAGER_JOURNALMODE_WAL ){
    pPager->hawthornMode = PAGER_JOURNALMODE_DELETE;
  }
}

SQLITE_PRIVATE int sqlite3BtreeBeginTrans(Btree *p, int wrflag, int *pSchemaVersion){
  int rc = SQLITE_OK;
  if( !HW(p) ) return stock_sqlite3BtreeBeginTrans(p, wrflag, pSchemaVersion);
  if( wrflag && hw_read_only(HW(p)) ) return SQLITE_READONLY;
  if( hw_failed(HW(p)) ) return hw_failed(HW(p));
  if( p->inTrans!=TRANS_WRITE && hwConcurrent(p->db) ){
    rc = hw_begin_concurrent(HW(p), hwWait(p->db));
    if( rc!=SQLITE_OK ) return rc;
    p->inTrans = TRANS_READ;
    if( wrflag && hwWritesAnother(p) ) return HW_SECOND_IN_CONCURRENT;
  }
  if( p->inTrans<(wrflag ? TRANS_WRITE : TRANS_READ) ){
    if( wrflag ){
      i64 nWait = hwWait(p->db);
      do{
        rc = hw_begin_write(HW(p), p->inTrans==TRANS_NONE ? nWait : 0);
      }while( nWait<0 && hwBusy(p, rc) );
    }else{
      rc = hw_begin_read(HW(p));
    }
    if( rc!=SQLITE_OK ) return rc;
    p->hawthornModeChanges = 0;
    p->inTrans = wrflag ? TRANS_WRITE : TRANS_READ;
    if( wrflag && hwWritesAnother(p) ) hw_may_be_together(HW(p));
  }
  if( pSchemaVersion ){
    int bKeeps = wrflag && !hw_is_concurrent(HW(p));
    HwSettings now;
    rc = hw_settings(HW(p), &now);
    if( rc==SQLITE_OK ){
      *pSchemaVersion = (int)now.schema_version;
      hwTakeMode(p, &now);
      rc = hwTakeVacuum(p, &now, bKeeps);
    }
    if( rc==SQLITE_OK ) rc = hwTakePageSize(p, &now, bKeeps);
  }
  if( wrflag ) hwLimitPages(p);
  if( rc==SQLITE_OK && wrflag ) rc = hw_open_savepoints(HW(p), p->db->nSavepoint);
  return rc;
}

/* 2: the journal mode is WAL, for all connections from now on. */
SQLITE_PRIVATE int sqlite3BtreeSetVersion(Btree *p, int iVersion){
  int rc;
  if( !HW(p) ) return stock_sqlite3BtreeSetVersion(p, iVersion);
  rc = sqlite3BtreeBeginTrans(p, 2, 0);
  if( rc==SQLITE_OK ) p->hawthornModeChanges = 1;
  return rc==SQLITE_OK ? hw_set_wal(HW(p), iVersion==2) : rc;
}

/* What statements still read goes on, by a transaction that reads. */
static int hwGoesOn(Btree *p){
  return p->db->nVdbeRead>1;
}

static void hwEndRead(Btree *p){
  if( p->inTrans==TRANS_NONE ) return;
  if( hwGoesOn(p) ){
    hw_end_concurrent(HW(p));
    return;
  }
  hw_end_read(HW(p));
  p->inTrans = TRANS_NONE;
}

/* Whether a hook of the program's is to hear of a commit, but for one that changes the mode.
   SQLite's own one has nothing to do: there is no log that would have to be checkpointed. */
static int hwTellsOfLog(Btree *p){
  return p->db->xWalCallback!=0 && p->db->xWalCallback!=sqlite3WalDefaultHook
      && !p->hawthornModeChanges && hw_has_written(HW(p)) && hw_is_wal(HW(p));
}

/* It is committed. */
static void hwEndWrite(Btree *p, int bTell){
  p->inTrans = hwGoesOn(p) ? TRANS_READ : TRANS_NONE;
  if( bTell ){
    i64 nPage = hw_log_bytes(HW(p)) / sqlite3BtreeGetPageSize(p) + 1;
    p->pBt->pPager->hawthornLog = (int)MIN(nPage, 0x7fffffff);
  }
}

/* SQLite leaves a transaction open where COMMIT returns SQLITE_BUSY, and nothing else: that others
   have changed what it depends on stands in the connection (prepare.py). */
static int hwCommit(Btree *p){
  i64 nWait = hwWait(p->db);
  int bTell;
  int rc;
  if( p->inTrans!=TRANS_WRITE ) return SQLITE_OK;
  bTell = hwTellsOfLog(p);
  do{
    rc = hw_commit(HW(p), p->hawthornSync, hwGoesOn(p), nWait);
  }while( rc==SQLITE_BUSY && nWait<0 && !hw_failed(HW(p))
       && sqlite3InvokeBusyHandler(&p->db->busyHandler) );
  if( rc==SQLITE_OK ) hwEndWrite(p, bTell);
  if( rc==SQLITE_BUSY_SNAPSHOT ){
    p->db->hawthornConflict = 1;
    rc = SQLITE_BUSY;
  }
  return rc;
}

/* Of several that were written: all or none. */
static int hwCommitTogether(sqlite3 *db){
  HwConnection *aConn[SQLITE_MAX_ATTACHED+2];
  int aSync[SQLITE_MAX_ATTACHED+2];
  Btree *aBtree[SQLITE_MAX_ATTACHED+2];
  int aTell[SQLITE_MAX_ATTACHED+2];
  int n = 0;
  int rc;
  for(int i=0; i<db->nDb; i++){
    Btree *p = db->aDb[i].pBt;
    if( p==0 || !HW(p) || p->inTrans!=TRANS_WRITE || !hw_is_dirty(HW(p)) ) continue;
    aConn[n] = HW(p);
    aSync[n] = p->hawthornSync;
    aTell[n] = hwTellsOfLog(p);
    aBtree[n++] = p;
  }
  if( n<2 ) return SQLITE_OK;
  rc = hw_commit_together(aConn, n, aSync, db->nVdbeRead>1);
  for(int i=0; i<n && rc==SQLITE_OK; i++) hwEndWrite(aBtree[i], aTell[i]);
  return rc;
}

/* Ours first, as the commit of a concurrent one may fail, and nothing has happened then. */
SQLITE_PRIVATE int sqlite3BtreeCommitPhaseOne(Btree *p, const char *zSuperJrnl){
  int rcAll = hwCommitTogether(p->db);
  if( rcAll!=SQLITE_OK ) return rcAll;
  for(int i=0; i<p->db->nDb; i++){
    Btree *pOurs = p->db->aDb[i].pBt;
    if( pOurs && HW(pOurs) ){
      int rc = hwCommit(pOurs);
      if( rc!=SQLITE_OK ) return rc;
    }
  }
  return HW(p) ? SQLITE_OK : stock_sqlite3BtreeCommitPhaseOne(p, zSuperJrnl);
}

SQLITE_PRIVATE int sqlite3BtreeCommitPhaseTwo(Btree *p, int bCleanup){
  if( !HW(p) ) return stock_sqlite3BtreeCommitPhaseTwo(p, bCleanup);
  hwEndRead(p);
  return SQLITE_OK;
}

SQLITE_PRIVATE int sqlite3BtreeCommit(Btree *p){
  int rc;
  if( !HW(p) ) return stock_sqlite3BtreeCommit(p);
  rc = hwCommit(p);
  return rc==SQLITE_OK ? sqlite3BtreeCommitPhaseTwo(p, 0) : rc;
}

SQLITE_PRIVATE int sqlite3BtreeTripAllCursors(Btree *p, int errCode, int writeOnly){
  if( p==0 || !HW(p) ) return stock_sqlite3BtreeTripAllCursors(p, errCode, writeOnly);
  hw_trip_all(HW(p), errCode, writeOnly);
  return SQLITE_OK;
}

SQLITE_PRIVATE int sqlite3BtreeRollback(Btree *p, int tripCode, int writeOnly){
  int rc = SQLITE_OK;
  if( !HW(p) ) return stock_sqlite3BtreeRollback(p, tripCode, writeOnly);
  if( tripCode==SQLITE_OK ){
    rc = tripCode = hw_save_all(HW(p));
    if( rc ) writeOnly = 0;
  }
  if( tripCode ) hw_trip_all(HW(p), tripCode, writeOnly);
  if( p->inTrans==TRANS_WRITE ){
    int rc2 = hw_roll_back(HW(p), hwGoesOn(p));
    p->db->hawthornConflict = 0;
    if( rc==SQLITE_OK ) rc = rc2;
    p->inTrans = hwGoesOn(p) ? TRANS_READ : TRANS_NONE;
  }
  hwEndRead(p);
  return rc;
}

SQLITE_PRIVATE int sqlite3BtreeBeginStmt(Btree *p, int iStatement){
  return HW(p) ? hw_open_savepoints(HW(p), iStatement) : stock_sqlite3BtreeBeginStmt(p, iStatement);
}

SQLITE_PRIVATE int sqlite3BtreeSavepoint(Btree *p, int op, int iSavepoint){
  int rc;
  if( p==0 || !HW(p) ) return stock_sqlite3BtreeSavepoint(p, op, iSavepoint);
  if( p->inTrans!=TRANS_WRITE ) return SQLITE_OK;
  if( op==SAVEPOINT_RELEASE ) return hw_release_savepoint(HW(p), iSavepoint);
  rc = hw_save_all(HW(p));
  return rc==SQLITE_OK ? hw_roll_back_to(HW(p), iSavepoint) : rc;
}

#ifndef SQLITE_OMIT_WAL
SQLITE_PRIVATE int sqlite3BtreeCheckpoint(Btree *p, int eMode, int *pnLog, int *pnCkpt){
  if( p==0 || !HW(p) ) return stock_sqlite3BtreeCheckpoint(p, eMode, pnLog, pnCkpt);
  if( p->inTrans!=TRANS_NONE ) return SQLITE_LOCKED;
  if( pnLog ) *pnLog = 0;
  if( pnCkpt ) *pnCkpt = 0;
  return hw_sync(HW(p));
}
#endif

/* ---- Numbers of the database */

SQLITE_PRIVATE void sqlite3BtreeGetMeta(Btree *p, int idx, u32 *pMeta){
  if( !HW(p) ){
    stock_sqlite3BtreeGetMeta(p, idx, pMeta);
  }else if( idx==BTREE_DATA_VERSION ){
    *pMeta = hw_data_version(HW(p));
  }else if( hw_meta(HW(p), idx, pMeta)!=SQLITE_OK ){
    *pMeta = 0;
  }
}

SQLITE_PRIVATE int sqlite3BtreeUpdateMeta(Btree *p, int idx, u32 iMeta){
  if( !HW(p) ) return stock_sqlite3BtreeUpdateMeta(p, idx, iMeta);
  if( idx==BTREE_INCR_VACUUM && p->hawthornVacuum!=BTREE_AUTOVACUUM_NONE ){
    p->hawthornVacuum = iMeta ? BTREE_AUTOVACUUM_INCR : BTREE_AUTOVACUUM_FULL;
  }
  return hw_set_meta(HW(p), idx, iMeta);
}

/* ---- Tables */

SQLITE_PRIVATE int sqlite3BtreeCreateTable(Btree *p, Pgno *piTable, int flags){
  return HW(p) ? hw_create_tree(HW(p), piTable) : stock_sqlite3BtreeCreateTable(p, piTable, flags);
}

SQLITE_PRIVATE int sqlite3BtreeDropTable(Btree *p, int iTable, int *piMoved){
  if( !HW(p) ) return stock_sqlite3BtreeDropTable(p, iTable, piMoved);
  *piMoved = 0;
  return hw_drop_tree(HW(p), (u32)iTable);
}

SQLITE_PRIVATE int sqlite3BtreeClearTable(Btree *p, int iTable, i64 *pnChange){
  i64 nEntry = 0;
  int rc;
  if( !HW(p) ) return stock_sqlite3BtreeClearTable(p, iTable, pnChange);
  rc = hw_clear_tree(HW(p), (u32)iTable, pnChange ? &nEntry : 0);
  if( rc==SQLITE_OK && pnChange ) *pnChange += nEntry;
  return rc;
}

SQLITE_PRIVATE int sqlite3BtreeClearTableOfCursor(BtCursor *pCur){
  return sqlite3BtreeClearTable(pCur->pBtree, (int)pCur->pgnoRoot, 0);
}
