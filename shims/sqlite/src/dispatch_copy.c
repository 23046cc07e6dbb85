/* Copies all that a database holds, entry by entry; see dispatch.c. One of the two is ours, or both
   are, and they have no pages in common. */

/* ---- What is in a database */

/* A table, or an index by pIdx, which a table WITHOUT ROWID is, too. */
typedef struct HwTree {
  Pgno iRoot;
  Pgno iTo; /* In the copy; 0 as long as there is none */
  Index *pIdx;
  const char *zName;
} HwTree;

typedef struct HwTrees {
  sqlite3 *db;
  int iDb;
  Btree *pBt;
  int bEnds;     /* It reads in a transaction that was begun for it */
  HwTree *aTree; /* By their roots, but for sqlite_schema's */
  int nTree;
} HwTrees;

static int hwByRoot(const void *p1, const void *p2){
  const HwTree *pOne = p1;
  const HwTree *pOther = p2;
  return pOne->iRoot<pOther->iRoot ? -1 : pOne->iRoot>pOther->iRoot;
}

static HwTree *hwFindTree(HwTrees *p, i64 iRoot){
  HwTree key;
  if( iRoot<2 || iRoot>0xffffffff || p->nTree==0 ) return 0;
  memset(&key, 0, sizeof(key));
  key.iRoot = (Pgno)iRoot;
  return bsearch(&key, p->aTree, (size_t)p->nTree, sizeof(key), hwByRoot);
}

/* Begins a transaction that reads, where there is none, in which the schema that the connection has
   loaded is that of the database. */
static int hwBeginReading(HwTrees *p){
  sqlite3 *db = p->db;
  int rc = SQLITE_OK;
  p->bEnds = sqlite3BtreeTxnState(p->pBt)==SQLITE_TXN_NONE;
  for(int i=0; i<100; i++){
    int iCookie = 0;
    char *zErr = 0;
    rc = sqlite3BtreeBeginTrans(p->pBt, 0, &iCookie);
    if( rc!=SQLITE_OK ) break;
    if( DbHasProperty(db, p->iDb, DB_SchemaLoaded)
     && db->aDb[p->iDb].pSchema->schema_cookie==iCookie ){
      return SQLITE_OK;
    }
    /* Statements, those that load a schema among them, end it. */
    if( p->bEnds ) sqlite3BtreeCommit(p->pBt);
    sqlite3ResetOneSchema(db, p->iDb);
    rc = sqlite3Init(db, &zErr);
    if( rc!=SQLITE_OK ) sqlite3_log(rc, "hawthorn: %s", zErr ? zErr : "no schema");
    sqlite3DbFree(db, zErr);
    if( rc!=SQLITE_OK ) break;
  }
  if( p->bEnds && sqlite3BtreeTxnState(p->pBt)==SQLITE_TXN_READ ) sqlite3BtreeCommit(p->pBt);
  p->bEnds = 0;
  return rc==SQLITE_OK ? SQLITE_BUSY : rc;
}

static void hwTreesEnd(HwTrees *p){
  if( p->bEnds ) sqlite3BtreeCommit(p->pBt);
  sqlite3_free(p->aTree);
  memset(p, 0, sizeof(*p));
}

static int hwTreesBegin(HwTrees *p, sqlite3 *db, int iDb){
  Schema *pSchema;
  HashElem *pElem;
  int nMax = 0;
  int rc;
  memset(p, 0, sizeof(*p));
  p->db = db;
  p->iDb = iDb;
  p->pBt = db->aDb[iDb].pBt;
  rc = hwBeginReading(p);
  if( rc!=SQLITE_OK ) return rc;
  pSchema = db->aDb[iDb].pSchema;
  for(pElem=sqliteHashFirst(&pSchema->tblHash); pElem; pElem=sqliteHashNext(pElem)) nMax++;
  for(pElem=sqliteHashFirst(&pSchema->idxHash); pElem; pElem=sqliteHashNext(pElem)) nMax++;
  p->aTree = sqlite3MallocZero((nMax + 1)*sizeof(HwTree));
  if( p->aTree==0 ){
    hwTreesEnd(p);
    return SQLITE_NOMEM_BKPT;
  }
  for(pElem=sqliteHashFirst(&pSchema->tblHash); pElem; pElem=sqliteHashNext(pElem)){
    Table *pTab = sqliteHashData(pElem);
    HwTree *pTree = &p->aTree[p->nTree];
    if( pTab->tnum<2 || !IsOrdinaryTable(pTab) ) continue;
    pTree->iRoot = pTab->tnum;
    pTree->zName = pTab->zName;
    if( !HasRowid(pTab) ) pTree->pIdx = sqlite3PrimaryKeyIndex(pTab);
    p->nTree++;
  }
  for(pElem=sqliteHashFirst(&pSchema->idxHash); pElem; pElem=sqliteHashNext(pElem)){
    Index *pIdx = sqliteHashData(pElem);
    HwTree *pTree = &p->aTree[p->nTree];
    if( pIdx->tnum<2 || (IsPrimaryKeyIndex(pIdx) && !HasRowid(pIdx->pTable)) ) continue;
    pTree->iRoot = pIdx->tnum;
    pTree->zName = pIdx->zName;
    pTree->pIdx = pIdx;
    p->nTree++;
  }
  qsort(p->aTree, (size_t)p->nTree, sizeof(HwTree), hwByRoot);
  return SQLITE_OK;
}

/* A database's program may have collations that the one that reads for it has not. */
static int hwTakeCollations(sqlite3 *db, sqlite3 *pFrom){
  HashElem *pElem;
  for(pElem=sqliteHashFirst(&pFrom->aCollSeq); pElem; pElem=sqliteHashNext(pElem)){
    CollSeq *aColl = sqliteHashData(pElem);
    for(int i=0; i<3; i++){
      CollSeq *pColl;
      if( aColl[i].xCmp==0 ) continue;
      pColl = sqlite3FindCollSeq(db, (u8)(i + SQLITE_UTF8), aColl[i].zName, 1);
      if( pColl==0 ) return SQLITE_NOMEM_BKPT;
      pColl->enc = aColl[i].enc;
      pColl->pUser = aColl[i].pUser;
      pColl->xCmp = aColl[i].xCmp;
      pColl->xDel = 0;
    }
  }
  db->xCollNeeded = pFrom->xCollNeeded;
  db->xCollNeeded16 = pFrom->xCollNeeded16;
  db->pCollNeededArg = pFrom->pCollNeededArg;
  return SQLITE_OK;
}

static int hwKeyInfo(sqlite3 *db, Index *pIdx, KeyInfo **ppKeyInfo){
  Parse sParse;
  int rc = SQLITE_OK;
  *ppKeyInfo = 0;
  if( pIdx==0 ) return SQLITE_OK;
  sqlite3ParseObjectInit(&sParse, db);
  *ppKeyInfo = sqlite3KeyInfoOfIndex(&sParse, pIdx);
  if( *ppKeyInfo==0 ){
    rc = db->mallocFailed ? SQLITE_NOMEM_BKPT : SQLITE_ERROR;
    sqlite3_log(rc, "hawthorn: index %s: %s", pIdx->zName,
                sParse.zErrMsg ? sParse.zErrMsg : "out of memory");
  }
  sqlite3DbFree(db, sParse.zErrMsg);
  sqlite3ParseObjectReset(&sParse);
  return rc;
}

static int hwOpenCursor(Btree *p, Pgno iRoot, int wrFlag, KeyInfo *pKeyInfo, BtCursor **ppCur){
  BtCursor *pCur = sqlite3MallocZero(sqlite3BtreeCursorSize());
  int rc;
  *ppCur = 0;
  if( pCur==0 ) return SQLITE_NOMEM_BKPT;
  sqlite3BtreeCursorZero(pCur);
  rc = sqlite3BtreeCursor(p, iRoot, wrFlag, pKeyInfo, pCur);
  if( rc!=SQLITE_OK ){
    sqlite3_free(pCur);
    return rc;
  }
  *ppCur = pCur;
  return SQLITE_OK;
}

static void hwCloseCursor(BtCursor **ppCur){
  if( *ppCur==0 ) return;
  sqlite3BtreeCloseCursor(*ppCur);
  sqlite3_free(*ppCur);
  *ppCur = 0;
}

typedef struct HwBuffer {
  u8 *a;
  u64 nMax;
} HwBuffer;

/* The record on which a cursor stands: in the page, or in the buffer, where it is in several pages
   or is to have zeros behind it. Valid until the cursor moves. */
static int hwRecord(BtCursor *pCur, int bZeros, HwBuffer *pBuffer, const u8 **paByte, u32 *pnByte){
  u32 nLocal = 0;
  int rc;
  *pnByte = sqlite3BtreePayloadSize(pCur);
  *paByte = sqlite3BtreePayloadFetch(pCur, &nLocal);
  if( *paByte==0 ) return SQLITE_IOERR;
  if( nLocal>=*pnByte && !bZeros ) return SQLITE_OK;
  if( pBuffer->nMax<(u64)*pnByte + 16 ){
    u8 *aNew = sqlite3_realloc64(pBuffer->a, (u64)*pnByte + *pnByte/4 + 256);
    if( aNew==0 ) return SQLITE_NOMEM_BKPT;
    pBuffer->a = aNew;
    pBuffer->nMax = (u64)*pnByte + *pnByte/4 + 256;
  }
  if( nLocal>=*pnByte ){
    memcpy(pBuffer->a, *paByte, *pnByte);
  }else{
    rc = sqlite3BtreePayload(pCur, 0, *pnByte, pBuffer->a);
    if( rc!=SQLITE_OK ) return rc;
  }
  memset(&pBuffer->a[*pnByte], 0, 16);
  *paByte = pBuffer->a;
  return SQLITE_OK;
}

/* ---- Rows of sqlite_schema: type, name, tbl_name, rootpage, sql */

#define HW_ROOT_FIELD 3
#define HW_SCHEMA_FIELDS 5

typedef struct HwSchemaRow {
  u32 aType[HW_SCHEMA_FIELDS];
  u32 aAt[HW_SCHEMA_FIELDS + 1];
  i64 iRoot; /* 0: it has none */
} HwSchemaRow;

/* Behind the record there are zeros. */
static int hwSchemaRow(const u8 *a, u32 n, HwSchemaRow *pRow){
  Mem mem;
  u32 nHeader;
  u32 at = (u32)getVarint32(a, nHeader);
  u64 iAt = nHeader;
  if( nHeader>n ) return SQLITE_CORRUPT_BKPT;
  for(int i=0; i<HW_SCHEMA_FIELDS; i++){
    if( at>=nHeader ) return SQLITE_CORRUPT_BKPT;
    at += (u32)getVarint32(&a[at], pRow->aType[i]);
    pRow->aAt[i] = (u32)iAt;
    iAt += sqlite3VdbeSerialTypeLen(pRow->aType[i]);
    if( iAt>n ) return SQLITE_CORRUPT_BKPT;
  }
  pRow->aAt[HW_SCHEMA_FIELDS] = (u32)iAt;
  memset(&mem, 0, sizeof(mem));
  sqlite3VdbeSerialGet(&a[pRow->aAt[HW_ROOT_FIELD]], pRow->aType[HW_ROOT_FIELD], &mem);
  pRow->iRoot = mem.flags & MEM_Int ? mem.u.i : 0;
  return SQLITE_OK;
}

/* The same with another root; aOut has 16 bytes more than the row. */
static u32 hwWithRoot(const u8 *a, const HwSchemaRow *pRow, Pgno iRoot, u8 *aOut){
  u8 aHeader[HW_SCHEMA_FIELDS*9];
  u32 nHeader = 0;
  u32 nOut;
  u32 nRoot = iRoot<=0x7f ? 1 : iRoot<=0x7fff ? 2 : iRoot<=0x7fffff ? 3 : iRoot<=0x7fffffff ? 4 : 6;
  for(int i=0; i<HW_SCHEMA_FIELDS; i++){
    u32 eType = i==HW_ROOT_FIELD ? (nRoot==6 ? 5 : nRoot) : pRow->aType[i];
    nHeader += (u32)putVarint32(&aHeader[nHeader], eType);
  }
  /* Five types of at most five bytes: the header's size takes one. */
  aOut[0] = (u8)(nHeader + 1);
  memcpy(&aOut[1], aHeader, nHeader);
  nOut = nHeader + 1;
  for(int i=0; i<HW_SCHEMA_FIELDS; i++){
    u32 nByte = pRow->aAt[i+1] - pRow->aAt[i];
    if( i!=HW_ROOT_FIELD ){
      memcpy(&aOut[nOut], &a[pRow->aAt[i]], nByte);
      nOut += nByte;
    }else{
      for(u32 j=0; j<nRoot; j++){
        u32 nShift = 8*(nRoot - 1 - j);
        aOut[nOut++] = nShift<32 ? (u8)(iRoot>>nShift) : 0;
      }
    }
  }
  return nOut;
}

/* ---- Copying, in steps. pTo is in a transaction that writes, and one of SQLite's is empty. */

typedef struct HwCopy {
  HwTrees from;
  Btree *pTo;
  int iTree; /* Which one is next */
  KeyInfo *pKeyInfo;
  BtCursor *pRead; /* 0: none is being copied */
  BtCursor *pWrite;
  UnpackedRecord *pRec; /* For records of an index of ours */
  HwBuffer buffer;
  HwBuffer rewritten;
  double rDone; /* Of rTotal: entries where they are counted at no cost, else bytes */
  double rTotal;
} HwCopy;

static void hwCopyCloseTree(HwCopy *p){
  hwCloseCursor(&p->pRead);
  hwCloseCursor(&p->pWrite);
  if( p->pRec ) sqlite3DbFree(p->pKeyInfo->db, p->pRec);
  p->pRec = 0;
  sqlite3KeyInfoUnref(p->pKeyInfo);
  p->pKeyInfo = 0;
}

static void hwCopyEnd(HwCopy *p){
  hwCopyCloseTree(p);
  hwTreesEnd(&p->from);
  sqlite3_free(p->buffer.a);
  sqlite3_free(p->rewritten.a);
  memset(p, 0, sizeof(*p));
}

/* To the end of a table or an index, where it belongs. */
static int hwAppend(HwCopy *p, i64 iKey, const u8 *aByte, u32 nByte){
  BtCursor *pCur = p->pWrite;
  BtreePayload x;
  if( HW(pCur) && p->pKeyInfo ){
#ifdef HW_UNPACKS_BY_KEYINFO
    sqlite3VdbeRecordUnpack(p->pKeyInfo, (int)nByte, aByte, p->pRec);
#else
    sqlite3VdbeRecordUnpack((int)nByte, aByte, p->pRec);
#endif
    return hwInsertRecord(pCur, aByte, nByte, p->pRec->aMem, p->pRec->nField);
  }
  if( HW(pCur) ) return hw_insert_row(HW(pCur), iKey, aByte, nByte, 0);
  if( !sqlite3BtreeCursorIsValidNN(pCur) ){
    int bEmpty = 0;
    int rc = sqlite3BtreeLast(pCur, &bEmpty);
    if( rc!=SQLITE_OK ) return rc;
  }
  memset(&x, 0, sizeof(x));
  if( p->pKeyInfo ){
    x.pKey = aByte;
    x.nKey = nByte;
  }else{
    x.nKey = iKey;
    x.pData = aByte;
    x.nData = (int)nByte;
  }
  return stock_sqlite3BtreeInsert(pCur, &x, BTREE_APPEND, -1);
}

/* One of sqlite_schema's, and an empty tree for it. */
static int hwCopySchemaRow(HwCopy *p){
  HwSchemaRow row;
  const u8 *aByte;
  u32 nByte;
  HwTree *pTree;
  int rc = hwRecord(p->pRead, 1, &p->buffer, &aByte, &nByte);
  if( rc==SQLITE_OK ) rc = hwSchemaRow(aByte, nByte, &row);
  if( rc!=SQLITE_OK ) return rc;
  if( row.iRoot==0 ) return hwAppend(p, sqlite3BtreeIntegerKey(p->pRead), aByte, nByte);
  pTree = hwFindTree(&p->from, row.iRoot);
  if( pTree==0 || pTree->iTo!=0 ) return SQLITE_CORRUPT_BKPT;
  rc = sqlite3BtreeCreateTable(p->pTo, &pTree->iTo, pTree->pIdx ? BTREE_BLOBKEY : BTREE_INTKEY);
  if( rc!=SQLITE_OK ) return rc;
  if( p->rewritten.nMax<(u64)nByte + 64 ){
    u8 *aNew = sqlite3_realloc64(p->rewritten.a, (u64)nByte + 64);
    if( aNew==0 ) return SQLITE_NOMEM_BKPT;
    p->rewritten.a = aNew;
    p->rewritten.nMax = (u64)nByte + 64;
  }
  nByte = hwWithRoot(aByte, &row, pTree->iTo, p->rewritten.a);
  return hwAppend(p, sqlite3BtreeIntegerKey(p->pRead), p->rewritten.a, nByte);
}

static int hwCopySchema(HwCopy *p){
  int bEmpty = 0;
  int rc = hwOpenCursor(p->from.pBt, SCHEMA_ROOT, 0, 0, &p->pRead);
  if( rc==SQLITE_OK ) rc = hwOpenCursor(p->pTo, SCHEMA_ROOT, BTREE_WRCSR, 0, &p->pWrite);
  if( rc==SQLITE_OK ) rc = sqlite3BtreeFirst(p->pRead, &bEmpty);
  while( rc==SQLITE_OK && !bEmpty ){
    rc = hwCopySchemaRow(p);
    if( rc==SQLITE_OK ) rc = sqlite3BtreeNext(p->pRead, 0);
  }
  hwCloseCursor(&p->pRead);
  hwCloseCursor(&p->pWrite);
  return rc==SQLITE_DONE ? SQLITE_OK : rc;
}

static int hwCopyNumbers(HwCopy *p){
  static const u8 aMeta[] = { BTREE_FILE_FORMAT, BTREE_DEFAULT_CACHE_SIZE, BTREE_TEXT_ENCODING,
                              BTREE_USER_VERSION, BTREE_APPLICATION_ID };
  int rc = SQLITE_OK;
  for(int i=0; i<ArraySize(aMeta) && rc==SQLITE_OK; i++){
    u32 iValue = 0;
    sqlite3BtreeGetMeta(p->from.pBt, aMeta[i], &iValue);
    rc = sqlite3BtreeUpdateMeta(p->pTo, aMeta[i], iValue);
  }
  if( rc==SQLITE_OK && HW(p->pTo) ){
    rc = hwKeepVacuum(p->pTo, sqlite3BtreeGetAutoVacuum(p->from.pBt));
    if( rc==SQLITE_OK ){
      rc = hw_set_meta(HW(p->pTo), HW_PAGE_BYTES, (u32)sqlite3BtreeGetPageSize(p->from.pBt));
    }
  }
  return rc;
}

static int hwCopyTotal(HwCopy *p){
  int rc = SQLITE_OK;
  if( HW(p->from.pBt)==0 ){
    p->rTotal = (double)sqlite3BtreeLastPage(p->from.pBt)*sqlite3BtreeGetPageSize(p->from.pBt);
    return SQLITE_OK;
  }
  for(int i=0; i<p->from.nTree && rc==SQLITE_OK; i++){
    long long nEntry = 0;
    rc = hw_count_tree(HW(p->from.pBt), p->from.aTree[i].iRoot, &nEntry);
    p->rTotal += (double)nEntry;
  }
  return rc;
}

/* Whether the database says that its journal mode is WAL. */
static int hwSaysWal(Btree *p){
  return HW(p) ? hw_is_wal(HW(p)) : p->pBt->pPage1!=0 && p->pBt->pPage1->aData[19]==2;
}

/* From the database of a connection. hwCopyEnd is due in any case. SQLITE_BUSY: nothing was
   done. */
static int hwCopyBegin(HwCopy *p, sqlite3 *db, int iDb, Btree *pTo){
  int rc;
  memset(p, 0, sizeof(*p));
  p->pTo = pTo;
  rc = hwTreesBegin(&p->from, db, iDb);
  if( rc==SQLITE_OK ) rc = hwCopyTotal(p);
  if( rc==SQLITE_OK && HW(pTo) ) rc = hw_clear_all(HW(pTo));
  if( rc==SQLITE_OK ) rc = hwCopySchema(p);
  if( rc==SQLITE_OK ) rc = hwCopyNumbers(p);
  return rc;
}

static int hwCopyOpenTree(HwCopy *p){
  HwTree *pTree = &p->from.aTree[p->iTree];
  int bEmpty = 0;
  int rc;
  if( pTree->iTo==0 ) return SQLITE_CORRUPT_BKPT;
  rc = hwKeyInfo(p->from.db, pTree->pIdx, &p->pKeyInfo);
  if( rc==SQLITE_OK ){
    rc = hwOpenCursor(p->from.pBt, pTree->iRoot, 0, p->pKeyInfo, &p->pRead);
  }
  if( rc==SQLITE_OK ){
    rc = hwOpenCursor(p->pTo, pTree->iTo, BTREE_WRCSR, p->pKeyInfo, &p->pWrite);
  }
  if( rc==SQLITE_OK && p->pKeyInfo && HW(p->pTo) ){
    p->pRec = sqlite3VdbeAllocUnpackedRecord(p->pKeyInfo);
    if( p->pRec==0 ) rc = SQLITE_NOMEM_BKPT;
  }
  if( rc==SQLITE_OK ) rc = sqlite3BtreeFirst(p->pRead, &bEmpty);
  return rc==SQLITE_OK && bEmpty ? SQLITE_DONE : rc;
}

/* The next one is copied. */
static void hwCopyLeaveTree(HwCopy *p){
  hwCopyCloseTree(p);
  p->iTree++;
}

static int hwCopyEntry(HwCopy *p){
  const u8 *aByte;
  u32 nByte = 0;
  i64 iKey = 0;
  int rc = hwRecord(p->pRead, p->pKeyInfo!=0, &p->buffer, &aByte, &nByte);
  if( rc!=SQLITE_OK ) return rc;
  if( p->pKeyInfo==0 ) iKey = sqlite3BtreeIntegerKey(p->pRead);
  rc = hwAppend(p, iKey, aByte, nByte);
  if( rc!=SQLITE_OK ) return rc;
  p->rDone += HW(p->from.pBt) ? 1 : (double)nByte + 4;
  return sqlite3BtreeNext(p->pRead, 0);
}

/* Copies one entry more. SQLITE_DONE: there is none. */
static int hwCopyNext(HwCopy *p){
  int rc = SQLITE_OK;
  while( p->pRead==0 && rc==SQLITE_OK ){
    if( p->iTree==p->from.nTree ) return SQLITE_DONE;
    rc = hwCopyOpenTree(p);
    if( rc!=SQLITE_DONE ) break;
    hwCopyLeaveTree(p);
    rc = SQLITE_OK;
  }
  if( rc==SQLITE_OK ) rc = hwCopyEntry(p);
  if( rc==SQLITE_DONE ){
    hwCopyLeaveTree(p);
    rc = SQLITE_OK;
  }
  if( rc!=SQLITE_OK ) sqlite3_log(rc, "hawthorn: %s is not copied", p->from.aTree[p->iTree].zName);
  return rc;
}
