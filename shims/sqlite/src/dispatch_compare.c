/* Compares what two databases hold, entry by entry; see dispatch.c and copies.h. */

#include "copies.h"

typedef struct HwComparison {
  HwTrees one;
  HwTrees other;
  HwBuffer oneBuffer;
  HwBuffer otherBuffer;
  HwCompared *pOut;
  char **pzWhat;
  void (*xProgress)(void*, long long);
  void *pArg;
} HwComparison;

static int hwDiffers(HwComparison *p, char *zWhat){
  sqlite3_free(*p->pzWhat);
  *p->pzWhat = zWhat;
  return SQLITE_MISMATCH;
}

/* Both cursors are on an entry. sqlite_schema's rows are compared but for their roots, which belong
   together from now on. */
static int hwCompareEntry(
  HwComparison *p, BtCursor *pOne, BtCursor *pOther, int bSchema, int bIndex, int *pbSame
){
  const u8 *aOne;
  const u8 *aOther;
  u32 nOne;
  u32 nOther;
  HwSchemaRow one;
  HwSchemaRow other;
  HwTree *pTree;
  int rc = hwRecord(pOne, bSchema, &p->oneBuffer, &aOne, &nOne);
  if( rc==SQLITE_OK ) rc = hwRecord(pOther, bSchema, &p->otherBuffer, &aOther, &nOther);
  if( rc!=SQLITE_OK ) return rc;
  *pbSame = bIndex || sqlite3BtreeIntegerKey(pOne)==sqlite3BtreeIntegerKey(pOther);
  if( !bSchema ){
    *pbSame = *pbSame && nOne==nOther && memcmp(aOne, aOther, nOne)==0;
    p->pOut->bytes += nOne;
    return SQLITE_OK;
  }
  rc = hwSchemaRow(aOne, nOne, &one);
  if( rc==SQLITE_OK ) rc = hwSchemaRow(aOther, nOther, &other);
  if( rc!=SQLITE_OK ) return rc;
  for(int i=0; i<HW_SCHEMA_FIELDS && *pbSame; i++){
    u32 n = one.aAt[i+1] - one.aAt[i];
    if( i==HW_ROOT_FIELD ) continue;
    *pbSame = one.aType[i]==other.aType[i]
           && memcmp(&aOne[one.aAt[i]], &aOther[other.aAt[i]], n)==0;
  }
  *pbSame = *pbSame && (one.iRoot==0)==(other.iRoot==0);
  if( *pbSame && one.iRoot!=0 ){
    pTree = hwFindTree(&p->one, one.iRoot);
    if( pTree==0 || hwFindTree(&p->other, other.iRoot)==0 ) return SQLITE_CORRUPT_BKPT;
    pTree->iTo = (Pgno)other.iRoot;
  }
  return SQLITE_OK;
}

static int hwCompareCursors(
  HwComparison *p, BtCursor *pOne, BtCursor *pOther, const char *zName, int bSchema, int bIndex,
  i64 *pnEntry
){
  int bOneEnds = 0;
  int bOtherEnds = 0;
  int rc = sqlite3BtreeFirst(pOne, &bOneEnds);
  if( rc==SQLITE_OK ) rc = sqlite3BtreeFirst(pOther, &bOtherEnds);
  *pnEntry = 0;
  while( rc==SQLITE_OK && !bOneEnds && !bOtherEnds ){
    int bSame = 0;
    rc = hwCompareEntry(p, pOne, pOther, bSchema, bIndex, &bSame);
    if( rc!=SQLITE_OK ) return rc;
    if( !bSame && !bIndex ){
      return hwDiffers(p, sqlite3_mprintf("%s: row %lld, and row %lld of the copy", zName,
                                          sqlite3BtreeIntegerKey(pOne),
                                          sqlite3BtreeIntegerKey(pOther)));
    }
    if( !bSame ) return hwDiffers(p, sqlite3_mprintf("%s: entry %lld", zName, *pnEntry + 1));
    ++*pnEntry;
    if( p->xProgress ){
      p->xProgress(p->pArg, p->pOut->rows + p->pOut->index_entries + *pnEntry);
    }
    rc = sqlite3BtreeNext(pOne, 0);
    bOneEnds = rc==SQLITE_DONE;
    if( rc==SQLITE_OK || rc==SQLITE_DONE ) rc = sqlite3BtreeNext(pOther, 0);
    bOtherEnds = rc==SQLITE_DONE;
    if( rc==SQLITE_DONE ) rc = SQLITE_OK;
  }
  if( rc==SQLITE_OK && bOneEnds!=bOtherEnds ){
    return hwDiffers(p, sqlite3_mprintf("%s: %s has more than %lld entries", zName,
                                        bOneEnds ? "the copy" : "the source", *pnEntry));
  }
  return rc;
}

static int hwCompareTree(HwComparison *p, HwTree *pTree, const char *zName){
  HwTree schema;
  HwTree *pOther = &schema;
  KeyInfo *pOneInfo = 0;
  KeyInfo *pOtherInfo = 0;
  BtCursor *pOneCur = 0;
  BtCursor *pOtherCur = 0;
  int bSchema = pTree==0;
  i64 nEntry = 0;
  int rc;
  memset(&schema, 0, sizeof(schema));
  schema.iRoot = SCHEMA_ROOT;
  if( bSchema ){
    pTree = &schema;
  }else{
    pOther = hwFindTree(&p->other, pTree->iTo);
    if( pOther==0 ) return SQLITE_CORRUPT_BKPT;
  }
  rc = hwKeyInfo(p->one.db, pTree->pIdx, &pOneInfo);
  if( rc==SQLITE_OK ) rc = hwKeyInfo(p->other.db, pOther->pIdx, &pOtherInfo);
  if( rc==SQLITE_OK ) rc = hwOpenCursor(p->one.pBt, pTree->iRoot, 0, pOneInfo, &pOneCur);
  if( rc==SQLITE_OK ) rc = hwOpenCursor(p->other.pBt, pOther->iRoot, 0, pOtherInfo, &pOtherCur);
  if( rc==SQLITE_OK ){
    rc = hwCompareCursors(p, pOneCur, pOtherCur, zName, bSchema, pTree->pIdx!=0, &nEntry);
  }
  hwCloseCursor(&pOneCur);
  hwCloseCursor(&pOtherCur);
  sqlite3KeyInfoUnref(pOneInfo);
  sqlite3KeyInfoUnref(pOtherInfo);
  if( rc!=SQLITE_OK || bSchema ) return rc;
  if( pTree->pIdx && (!IsPrimaryKeyIndex(pTree->pIdx) || HasRowid(pTree->pIdx->pTable)) ){
    p->pOut->indexes++;
    p->pOut->index_entries += nEntry;
  }else{
    p->pOut->tables++;
    p->pOut->rows += nEntry;
  }
  return SQLITE_OK;
}

static int hwCompareNumbers(HwComparison *p){
  static const struct { u8 iMeta; const char *zName; } aMeta[] = {
    { BTREE_TEXT_ENCODING, "encoding" },
    { BTREE_USER_VERSION, "user_version" },
    { BTREE_APPLICATION_ID, "application_id" },
  };
  for(int i=0; i<ArraySize(aMeta); i++){
    u32 iOne = 0;
    u32 iOther = 0;
    sqlite3BtreeGetMeta(p->one.pBt, aMeta[i].iMeta, &iOne);
    sqlite3BtreeGetMeta(p->other.pBt, aMeta[i].iMeta, &iOther);
    if( iOne!=iOther ){
      return hwDiffers(p, sqlite3_mprintf("%s: %u, and %u", aMeta[i].zName, iOne, iOther));
    }
  }
  return SQLITE_OK;
}

/* Both have begun. */
static int hwCompareAll(HwComparison *p){
  int rc = hwCompareNumbers(p);
  if( rc==SQLITE_OK ) rc = hwCompareTree(p, 0, "sqlite_schema");
  for(int i=0; i<p->one.nTree && rc==SQLITE_OK; i++){
    HwTree *pTree = &p->one.aTree[i];
    rc = hwCompareTree(p, pTree, pTree->zName);
    if( rc!=SQLITE_OK && *p->pzWhat==0 ) *p->pzWhat = sqlite3_mprintf("%s", pTree->zName);
  }
  return rc;
}

int hw_compare(
  sqlite3 *pOne, const char *zOne, sqlite3 *pOther, const char *zOther, HwCompared *pOut,
  char **pzWhat, void (*xProgress)(void*, long long), void *pArg
){
  HwComparison all;
  int iOne;
  int iOther;
  int rc = SQLITE_ERROR;
  memset(pOut, 0, sizeof(*pOut));
  memset(&all, 0, sizeof(all));
  *pzWhat = 0;
  all.pOut = pOut;
  all.pzWhat = pzWhat;
  all.xProgress = xProgress;
  all.pArg = pArg;
  sqlite3_mutex_enter(pOne->mutex);
  sqlite3_mutex_enter(pOther->mutex);
  sqlite3BtreeEnterAll(pOne);
  sqlite3BtreeEnterAll(pOther);
  iOne = sqlite3FindDbName(pOne, zOne);
  iOther = sqlite3FindDbName(pOther, zOther);
  if( iOne>=0 && iOther>=0 ) rc = hwTreesBegin(&all.one, pOne, iOne);
  if( rc==SQLITE_OK ) rc = hwTreesBegin(&all.other, pOther, iOther);
  if( rc==SQLITE_OK ) rc = hwCompareAll(&all);
  hwTreesEnd(&all.one);
  hwTreesEnd(&all.other);
  sqlite3_free(all.oneBuffer.a);
  sqlite3_free(all.otherBuffer.a);
  sqlite3BtreeLeaveAll(pOther);
  sqlite3BtreeLeaveAll(pOne);
  sqlite3_mutex_leave(pOther->mutex);
  sqlite3_mutex_leave(pOne->mutex);
  return rc;
}
