/* Checks and vacuum; see dispatch.c. */

typedef struct HwComplaints {
  sqlite3_str *pText;
  int nMax;
  int nErr;
} HwComplaints;

static void hwComplain(void *pArg, const char *zWhat){
  HwComplaints *pAll = pArg;
  if( pAll->nErr>=pAll->nMax ) return;
  if( pAll->nErr++ ) sqlite3_str_append(pAll->pText, "\n", 1);
  sqlite3_str_appendall(pAll->pText, zWhat);
}

/* Of the index whose root this is, where its collations are there. pnMin: of the fields of its
** entries as many as that at least; rows of a table WITHOUT ROWID may have fewer than columns. */
static KeyInfo *hwKeyInfoOfRoot(sqlite3 *db, Btree *p, Pgno iRoot, int *pnMin){
  int iDb = 0;
  while( iDb<db->nDb && db->aDb[iDb].pBt!=p ) iDb++;
  if( iDb==db->nDb ) return 0;
  for(HashElem *i=sqliteHashFirst(&db->aDb[iDb].pSchema->tblHash); i; i=sqliteHashNext(i)){
    for(Index *pIdx=((Table*)sqliteHashData(i))->pIndex; pIdx; pIdx=pIdx->pNext){
      int nKey = pIdx->uniqNotNull ? pIdx->nKeyCol : pIdx->nColumn;
      int bKnown = 1;
      KeyInfo *pKeyInfo;
      if( pIdx->tnum!=iRoot ) continue;
      pKeyInfo = sqlite3KeyInfoAlloc(db, nKey, pIdx->nColumn - nKey);
      if( pKeyInfo==0 ) return 0;
      for(int j=0; j<pIdx->nColumn; j++){
        const char *zColl = pIdx->azColl[j];
        CollSeq *pColl = 0;
        if( zColl!=sqlite3StrBINARY ){
          pColl = sqlite3FindCollSeq(db, ENC(db), zColl, 0);
          if( pColl==0 || pColl->xCmp==0 ) bKnown = 0;
        }
        pKeyInfo->aColl[j] = pColl;
        pKeyInfo->aSortFlags[j] = pIdx->aSortOrder[j];
      }
      *pnMin = IsPrimaryKeyIndex(pIdx) && !HasRowid(pIdx->pTable) ? nKey : pIdx->nColumn;
      if( bKnown ) return pKeyInfo;
      sqlite3KeyInfoUnref(pKeyInfo);
      return 0;
    }
  }
  return 0;
}

static int hwCheckTree(sqlite3 *db, Btree *p, Pgno iRoot, i64 *pnEntry, HwComplaints *pAll){
  HwEntries entries;
  HwCollator collator;
  HwColumn *aColumn = 0;
  KeyInfo *pKeyInfo;
  int rc;
  memset(&entries, 0, sizeof(entries));
  pKeyInfo = hwKeyInfoOfRoot(db, p, iRoot, &entries.fields_min);
  if( pKeyInfo ){
    aColumn = sqlite3DbMallocRaw(db, pKeyInfo->nKeyField*sizeof(HwColumn));
    if( aColumn==0 ){
      sqlite3KeyInfoUnref(pKeyInfo);
      return SQLITE_NOMEM_BKPT;
    }
    entries.fields_max = pKeyInfo->nAllField;
    if( hwColumns(pKeyInfo, aColumn) ){
      hwCollator(pKeyInfo, &collator);
      entries.collator = &collator;
    }else{
      entries.orders = aColumn;
      /* Keys have texts by others than BINARY in UTF-8, which the check does not make. */
      for(int i=0; i<pKeyInfo->nKeyField; i++){
        if( ENC(db)!=SQLITE_UTF8 && aColumn[i].collation!=HW_BINARY ) entries.orders = 0;
      }
      entries.columns = pKeyInfo->nKeyField;
    }
  }
  rc = hw_check_tree(HW(p), iRoot, &entries, pnEntry, hwComplain, pAll);
  sqlite3DbFree(db, aColumn);
  sqlite3KeyInfoUnref(pKeyInfo);
  return rc;
}

/* A root of zero at first: of the trees that are named alone. aEntry: how many entries each has. */
static int hwCheck(
  sqlite3 *db, Btree *p, const Pgno *aRoot, i64 *aEntry, int nRoot, int mxErr, int *pnErr,
  char **pzOut
){
  HwComplaints all;
  int rc = SQLITE_OK;
  all.pText = sqlite3_str_new(db);
  all.nMax = mxErr;
  all.nErr = 0;
  if( nRoot>0 && aRoot[0]!=0 ) rc = hw_check_files(HW(p), hwComplain, &all);
  for(int i=0; i<nRoot && rc==SQLITE_OK; i++){
    i64 nEntry = 0;
    if( aRoot[i]==0 ) continue;
    rc = hwCheckTree(db, p, aRoot[i], &nEntry, &all);
    if( aEntry ) aEntry[i] = nEntry;
  }
  *pnErr = all.nErr;
  *pzOut = sqlite3_str_finish(all.pText);
  if( all.nErr==0 ){
    sqlite3_free(*pzOut);
    *pzOut = 0;
  }
  return rc;
}

#if defined(HW_CHECK_COUNTS)
SQLITE_PRIVATE int sqlite3BtreeIntegrityCheck(
  sqlite3 *db, Btree *p, Pgno *aRoot, sqlite3_value *aCnt, int nRoot, int mxErr, int *pnErr,
  char **pzOut
){
  i64 *aEntry;
  int rc;
  if( !HW(p) ){
    return stock_sqlite3BtreeIntegrityCheck(db, p, aRoot, aCnt, nRoot, mxErr, pnErr, pzOut);
  }
  aEntry = sqlite3DbMallocZero(db, nRoot*sizeof(i64));
  if( aEntry==0 ) return SQLITE_NOMEM_BKPT;
  rc = hwCheck(db, p, aRoot, aEntry, nRoot, mxErr, pnErr, pzOut);
  for(int i=0; i<nRoot; i++) sqlite3MemSetArrayInt64(aCnt, i, aEntry[i]);
  sqlite3DbFree(db, aEntry);
  return rc;
}
#elif defined(HW_CHECK_RETURNS_CODE)
SQLITE_PRIVATE int sqlite3BtreeIntegrityCheck(
  sqlite3 *db, Btree *p, Pgno *aRoot, int nRoot, int mxErr, int *pnErr, char **pzOut
){
  if( !HW(p) ) return stock_sqlite3BtreeIntegrityCheck(db, p, aRoot, nRoot, mxErr, pnErr, pzOut);
  return hwCheck(db, p, aRoot, 0, nRoot, mxErr, pnErr, pzOut);
}
#else
SQLITE_PRIVATE char *sqlite3BtreeIntegrityCheck(
  sqlite3 *db, Btree *p, Pgno *aRoot, int nRoot, int mxErr, int *pnErr
){
  char *zOut = 0;
  if( !HW(p) ) return stock_sqlite3BtreeIntegrityCheck(db, p, aRoot, nRoot, mxErr, pnErr);
  if( hwCheck(db, p, aRoot, 0, nRoot, mxErr, pnErr, &zOut)!=SQLITE_OK ) ++*pnErr;
  return zOut;
}
#endif

SQLITE_PRIVATE const char *sqlite3ErrStr(int rc){
  switch( rc ){
    case HW_SCHEMA_IN_CONCURRENT: return "a concurrent transaction cannot change the schema";
    case HW_SECOND_IN_CONCURRENT: return "a concurrent transaction writes one database alone";
    default: return stock_sqlite3ErrStr(rc);
  }
}

/* What was asked for before, where it is something else than what is there, and another version of
   the schema, as SQLite has it. The vacuum itself goes on beside one that writes; where there is
   one and nothing was asked for, the version stays. */
static int hwTakeAtVacuum(sqlite3 *db, Btree *p){
  int eVacuum = db->nextAutovac>=0 ? db->nextAutovac : p->hawthornVacuum;
  int nByte = hwIsPageSize(db->nextPagesize)
           && sqlite3PagerGetJournalMode(p->pBt->pPager)!=PAGER_JOURNALMODE_WAL
            ? db->nextPagesize : sqlite3BtreeGetPageSize(p);
  int bAsked = eVacuum!=p->hawthornVacuum || nByte!=sqlite3BtreeGetPageSize(p);
  int iVersion;
  int rc = sqlite3BtreeBeginTrans(p, 2, &iVersion);
  if( rc==SQLITE_BUSY && !bAsked ) return SQLITE_OK;
  if( rc!=SQLITE_OK ) return rc;
  rc = hw_set_meta(HW(p), BTREE_SCHEMA_VERSION, (u32)iVersion + 1);
  if( rc==SQLITE_OK && bAsked ) rc = hwKeepVacuum(p, eVacuum);
  if( rc==SQLITE_OK && bAsked ) rc = hw_set_meta(HW(p), HW_PAGE_BYTES, (u32)nByte);
  if( rc==SQLITE_OK ) rc = sqlite3BtreeCommit(p);
  if( rc!=SQLITE_OK ){
    sqlite3BtreeRollback(p, SQLITE_OK, 0);
    return rc;
  }
  sqlite3ResetAllSchemasOfConnection(db);
  p->hawthornVacuum = (u8)eVacuum;
  return hwUsePageSize(p, nByte);
}

/* SQLITE_DBCONFIG_RESET_DATABASE, behind which a vacuum leaves an empty database. */
static int hwReset(sqlite3 *db, Btree *p){
  int iVersion;
  int rc = sqlite3BtreeBeginTrans(p, 2, &iVersion);
  if( rc!=SQLITE_OK ) return rc;
  rc = hw_reset(HW(p));
  if( rc==SQLITE_OK ) rc = sqlite3BtreeCommit(p);
  if( rc!=SQLITE_OK ) sqlite3BtreeRollback(p, SQLITE_OK, 0);
  sqlite3ResetAllSchemasOfConnection(db);
  return rc;
}

SQLITE_PRIVATE int sqlite3RunVacuum(char **pzErrMsg, sqlite3 *db, int iDb, sqlite3_value *pOut){
  Btree *p = db->aDb[iDb].pBt;
  int rc;
  if( p==0 || !HW(p) || pOut!=0 ) return stock_sqlite3RunVacuum(pzErrMsg, db, iDb, pOut);
  if( !db->autoCommit ){
    sqlite3SetString(pzErrMsg, db, "cannot VACUUM from within a transaction");
    return SQLITE_ERROR;
  }
  if( db->nVdbeActive>1 ){
    sqlite3SetString(pzErrMsg, db, "cannot VACUUM - SQL statements in progress");
    return SQLITE_ERROR;
  }
  if( db->flags & SQLITE_ResetDatabase ){
    rc = hwReset(db, p);
    if( rc!=SQLITE_OK ) return rc;
  }
  rc = hwTakeAtVacuum(db, p);
  return rc==SQLITE_OK ? hw_compact(HW(p)) : rc;
}
