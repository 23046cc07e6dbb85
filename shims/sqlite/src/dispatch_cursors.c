/* Cursors and entries; see dispatch.c. */

/* HW_BINARY and so on; -1 for a collation that is the program's. */
static int hwCollation(const CollSeq *pColl){
  if( sqlite3IsBinary(pColl) ) return HW_BINARY;
  if( pColl->xCmp==nocaseCollatingFunc ) return HW_NOCASE;
  if( pColl->xCmp==rtrimCollFunc ) return HW_RTRIM;
  return -1;
}

/* ---- Indexes by a program's own collations: records compare as SQLite compares them. */

/* Whether one of the columns has a collation of the program's. */
static int hwColumns(const KeyInfo *pKeyInfo, HwColumn *aColumn){
  int bOwn = 0;
  for(int i=0; i<pKeyInfo->nKeyField; i++){
    int eCollation = hwCollation(pKeyInfo->aColl[i]);
    if( eCollation<0 ) bOwn = 1;
    aColumn[i].collation = (u8)eCollation;
    aColumn[i].descending = (pKeyInfo->aSortFlags[i] & KEYINFO_ORDER_DESC)!=0;
  }
  return bOwn;
}

/* What is sought, or inserted, of which the first columns alone count. */
static int hwSought(UnpackedRecord *p, KeyInfo *pKeyInfo, Mem *aMem, int nMem){
  memset(p, 0, sizeof(*p));
  p->pKeyInfo = pKeyInfo;
  p->aMem = aMem;
  p->nField = (u16)MIN(nMem, pKeyInfo->nKeyField);
  for(int i=0; i<p->nField; i++){
    if( (aMem[i].flags & MEM_Zero) && sqlite3VdbeMemExpandBlob(&aMem[i]) ){
      return SQLITE_NOMEM_BKPT;
    }
  }
  return SQLITE_OK;
}

static void hwForget(void *pContext, void *pSought){
  sqlite3DbFree(((KeyInfo*)pContext)->db, pSought);
}

static int hwUnpack(void *pContext, const void *pRecord, unsigned nRecord, void **ppSought){
  KeyInfo *pKeyInfo = pContext;
  UnpackedRecord *p = sqlite3VdbeAllocUnpackedRecord(pKeyInfo);
  if( p==0 ) return SQLITE_NOMEM_BKPT;
#ifdef HW_UNPACKS_BY_KEYINFO
  sqlite3VdbeRecordUnpack(pKeyInfo, (int)nRecord, pRecord, p);
#else
  sqlite3VdbeRecordUnpack((int)nRecord, pRecord, p);
#endif
  if( p->nField<pKeyInfo->nKeyField ){
    sqlite3DbFree(pKeyInfo->db, p);
    return SQLITE_CORRUPT_BKPT;
  }
  p->nField = pKeyInfo->nKeyField;
  *ppSought = p;
  return SQLITE_OK;
}

static int hwCompare(
  void *pContext, void *pSought, const void *pRecord, unsigned nRecord, int *pOrder
){
  UnpackedRecord *p = pSought;
  p->default_rc = 0;
  p->errCode = SQLITE_OK;
  *pOrder = sqlite3VdbeRecordCompare((int)nRecord, pRecord, p);
  return p->errCode;
}

static void hwCollator(KeyInfo *pKeyInfo, HwCollator *p){
  p->context = pKeyInfo;
  p->unpack = hwUnpack;
  p->forget = hwForget;
  p->compare = hwCompare;
}

/* ---- Cursors */

SQLITE_PRIVATE int sqlite3BtreeCursor(
  Btree *p, Pgno iTable, int wrFlag, struct KeyInfo *pKeyInfo, BtCursor *pCur
){
  HwColumn aSmall[HW_SMALL];
  HwColumn *aColumn = aSmall;
  HwCollator collator;
  int bOwn = 0;
  int nColumn = -1;
  int rc;
  if( !HW(p) ) return stock_sqlite3BtreeCursor(p, iTable, wrFlag, pKeyInfo, pCur);
  if( wrFlag && iTable==SCHEMA_ROOT && hw_is_concurrent(HW(p)) ) return HW_SCHEMA_IN_CONCURRENT;
  if( pKeyInfo ){
    nColumn = pKeyInfo->nKeyField;
    if( nColumn>HW_SMALL ) aColumn = sqlite3DbMallocRaw(p->db, nColumn*sizeof(HwColumn));
    if( aColumn==0 ) return SQLITE_NOMEM_BKPT;
    bOwn = hwColumns(pKeyInfo, aColumn);
  }
  pCur->eState = CURSOR_INVALID;
  if( bOwn ) hwCollator(pKeyInfo, &collator);
  rc = hw_cursor_open(HW(p), iTable, nColumn, aColumn, bOwn ? &collator : 0, &pCur->eState,
                      &pCur->skipNext, &pCur->hawthorn);
  if( aColumn!=aSmall ) sqlite3DbFree(p->db, aColumn);
  if( rc!=SQLITE_OK ) return rc;
  pCur->pBtree = p;
  pCur->pBt = p->pBt;
  pCur->pgnoRoot = iTable;
  pCur->pKeyInfo = pKeyInfo;
  pCur->curFlags = wrFlag ? BTCF_WriteFlag : 0;
  pCur->curIntKey = pKeyInfo==0;
  if( wrFlag ) hw_cursor_writes(pCur->hawthorn);
  return SQLITE_OK;
}

SQLITE_PRIVATE int sqlite3BtreeCloseCursor(BtCursor *pCur){
  if( !HW(pCur) ) return stock_sqlite3BtreeCloseCursor(pCur);
  hw_cursor_close(HW(pCur));
  HW(pCur) = 0;
  pCur->pBtree = 0;
  return SQLITE_OK;
}

SQLITE_PRIVATE void sqlite3BtreeClearCursor(BtCursor *pCur){
  if( HW(pCur) ){
    hw_cursor_clear(HW(pCur));
  }else{
    stock_sqlite3BtreeClearCursor(pCur);
  }
}

SQLITE_PRIVATE void sqlite3BtreeCursorPin(BtCursor *pCur){
  if( HW(pCur) ) hw_cursor_pin(HW(pCur), 1);
  stock_sqlite3BtreeCursorPin(pCur);
}

SQLITE_PRIVATE void sqlite3BtreeCursorUnpin(BtCursor *pCur){
  if( HW(pCur) ) hw_cursor_pin(HW(pCur), 0);
  stock_sqlite3BtreeCursorUnpin(pCur);
}

#ifndef SQLITE_OMIT_INCRBLOB
SQLITE_PRIVATE void sqlite3BtreeIncrblobCursor(BtCursor *pCur){
  if( HW(pCur) ) hw_cursor_is_blob(HW(pCur));
  stock_sqlite3BtreeIncrblobCursor(pCur);
}
#endif

SQLITE_PRIVATE int sqlite3BtreeFirst(BtCursor *pCur, int *pRes){
  int bFound = 0;
  int rc;
  if( !HW(pCur) ) return stock_sqlite3BtreeFirst(pCur, pRes);
  rc = hw_first(HW(pCur), &bFound);
  *pRes = !bFound;
  return rc;
}

SQLITE_PRIVATE int sqlite3BtreeLast(BtCursor *pCur, int *pRes){
  int bFound = 0;
  int rc;
  if( !HW(pCur) ) return stock_sqlite3BtreeLast(pCur, pRes);
  rc = hw_last(HW(pCur), &bFound);
  *pRes = !bFound;
  return rc;
}

#ifdef HW_HAVE_sqlite3BtreeIsEmpty
SQLITE_PRIVATE int sqlite3BtreeIsEmpty(BtCursor *pCur, int *pRes){
  return HW(pCur) ? hw_is_empty(HW(pCur), pRes) : stock_sqlite3BtreeIsEmpty(pCur, pRes);
}
#endif

SQLITE_PRIVATE int sqlite3BtreeNext(BtCursor *pCur, int flags){
  return HW(pCur) ? hw_next(HW(pCur)) : stock_sqlite3BtreeNext(pCur, flags);
}

SQLITE_PRIVATE int sqlite3BtreePrevious(BtCursor *pCur, int flags){
  return HW(pCur) ? hw_previous(HW(pCur)) : stock_sqlite3BtreePrevious(pCur, flags);
}

SQLITE_PRIVATE int sqlite3BtreeEof(BtCursor *pCur){
  return HW(pCur) ? hw_at_end(HW(pCur)) : stock_sqlite3BtreeEof(pCur);
}

SQLITE_PRIVATE int sqlite3BtreeTableMoveto(BtCursor *pCur, i64 intKey, int bias, int *pRes){
  return HW(pCur) ? hw_seek_row(HW(pCur), intKey, pRes)
                  : stock_sqlite3BtreeTableMoveto(pCur, intKey, bias, pRes);
}

/* The values of a record for the engine, and what they need as long as they are used. */
typedef struct HwFields {
  sqlite3 *db;
  HwField aSmall[HW_SMALL];
  HwField *aField;
  int nText;
  sqlite3_value **apText; /* see hwFieldsOf */
} HwFields;

static void hwFreeFields(HwFields *p){
  for(int i=0; i<p->nText; i++) sqlite3ValueFree(p->apText[i]);
  sqlite3DbFree(p->db, p->apText);
  if( p->aField!=p->aSmall ) sqlite3DbFree(p->db, p->aField);
}

/* Text of UTF-16 is made UTF-8 for collations other than BINARY, which compare characters. */
static int hwText(HwFields *p, Mem *pMem, HwField *pField){
  sqlite3_value **apText;
  sqlite3_value *pText = sqlite3ValueNew(p->db);
  if( pText==0 ) return SQLITE_NOMEM_BKPT;
  apText = sqlite3DbRealloc(p->db, p->apText, (p->nText+1)*sizeof(sqlite3_value*));
  if( apText ) p->apText = apText;
  if( apText==0 || sqlite3VdbeMemCopy(pText, pMem) ){
    sqlite3ValueFree(pText);
    return SQLITE_NOMEM_BKPT;
  }
  p->apText[p->nText++] = pText;
  pField->bytes = (const char*)sqlite3ValueText(pText, SQLITE_UTF8);
  pField->size = sqlite3ValueBytes(pText, SQLITE_UTF8);
  return pField->bytes ? SQLITE_OK : SQLITE_NOMEM_BKPT;
}

/* hwFreeFields is due in any case. */
static int hwFieldsOf(BtCursor *pCur, Mem *aMem, int nField, HwFields *p){
  const KeyInfo *pKeyInfo = pCur->pKeyInfo;
  p->db = pCur->pBtree->db;
  p->aField = p->aSmall;
  p->nText = 0;
  p->apText = 0;
  if( nField>HW_SMALL ){
    p->aField = sqlite3DbMallocRaw(p->db, nField*sizeof(HwField));
    if( p->aField==0 ) return SQLITE_NOMEM_BKPT;
  }
  for(int i=0; i<nField; i++){
    Mem *pMem = &aMem[i];
    HwField *pField = &p->aField[i];
    if( pMem->flags & MEM_Null ){
      pField->type = HW_NULL;
    }else if( pMem->flags & (MEM_Int|MEM_IntReal) ){
      pField->type = HW_INTEGER;
      pField->integer = pMem->u.i;
    }else if( pMem->flags & MEM_Real ){
      pField->type = HW_REAL;
      pField->real = pMem->u.r;
    }else{
      int bText = (pMem->flags & MEM_Str)!=0;
      if( (pMem->flags & MEM_Zero) && sqlite3VdbeMemExpandBlob(pMem) ) return SQLITE_NOMEM_BKPT;
      pField->type = bText ? HW_TEXT : HW_BLOB;
      pField->bytes = pMem->z;
      pField->size = pMem->n;
      if( bText && pMem->enc!=SQLITE_UTF8 && hwCollation(pKeyInfo->aColl[i])!=HW_BINARY ){
        int rc = hwText(p, pMem, pField);
        if( rc!=SQLITE_OK ) return rc;
      }
    }
  }
  return SQLITE_OK;
}

/* The record on which it stands. Where there is no memory for it the whole statement fails of that,
** and not of what it makes of the record. */
static const void *hwPayload(BtCursor *pCur, u32 *pSize){
  const void *pByte = hw_payload(HW(pCur), pSize);
  if( pByte==0 && hw_payload_code(HW(pCur))==SQLITE_NOMEM ) sqlite3OomFault(pCur->pBtree->db);
  return pByte;
}

/* Of columns of the key alone. bAsked: eqSeen is to say whether an entry has them. */
static int hwMoveto(BtCursor *pCur, UnpackedRecord *pKey, int bAsked, int *pRes){
  HwFields fields;
  int bMet = 0;
  int rc;
  if( hw_is_collated(HW(pCur)) ){
    UnpackedRecord r;
    rc = hwSought(&r, pCur->pKeyInfo, pKey->aMem, pKey->nField);
    if( rc==SQLITE_OK ){
      rc = hw_seek_sought(HW(pCur), &r, pKey->default_rc, bAsked ? &bMet : 0, pRes);
    }
  }else{
    rc = hwFieldsOf(pCur, pKey->aMem, pKey->nField, &fields);
    if( rc==SQLITE_OK ){
      rc = hw_seek_record(HW(pCur), fields.aField, pKey->nField, pKey->default_rc,
                          bAsked ? &bMet : 0, pRes);
    }
    hwFreeFields(&fields);
  }
  if( bMet ) pKey->eqSeen = 1;
  return rc;
}

/* Where the key is fewer columns than an index has (NOT NULL and UNIQUE), at most one entry has
** those that are sought, and the rest of it decides whether it comes before what is sought. */
static int hwMovetoMore(BtCursor *pCur, UnpackedRecord *pKey, int *pRes){
  UnpackedRecord r = *pKey;
  u32 nByte = 0;
  const void *pByte;
  int rc;
  r.nField = pCur->pKeyInfo->nKeyField;
  r.default_rc = 1;
  r.eqSeen = 0;
  rc = hwMoveto(pCur, &r, 1, pRes);
  if( rc!=SQLITE_OK || !r.eqSeen ) return rc;
  pByte = hwPayload(pCur, &nByte);
  if( pByte==0 ) return hw_payload_code(HW(pCur));
  *pRes = sqlite3VdbeRecordCompare((int)nByte, pByte, pKey);
  return pKey->errCode;
}

SQLITE_PRIVATE int sqlite3BtreeIndexMoveto(BtCursor *pCur, UnpackedRecord *pKey, int *pRes){
  if( !HW(pCur) ) return stock_sqlite3BtreeIndexMoveto(pCur, pKey, pRes);
  pKey->errCode = 0;
  return pKey->nField>pCur->pKeyInfo->nKeyField
             ? hwMovetoMore(pCur, pKey, pRes)
             : hwMoveto(pCur, pKey, (pCur->hints & BTREE_SEEK_EQ)!=0, pRes);
}

SQLITE_PRIVATE int sqlite3BtreeCursorRestore(BtCursor *pCur, int *pDifferentRow){
  int rc;
  if( !HW(pCur) ) return stock_sqlite3BtreeCursorRestore(pCur, pDifferentRow);
  rc = hw_restore(HW(pCur));
  *pDifferentRow = rc!=SQLITE_OK || pCur->eState!=CURSOR_VALID;
  return rc;
}

/* ---- Entries */

SQLITE_PRIVATE i64 sqlite3BtreeIntegerKey(BtCursor *pCur){
  return HW(pCur) ? hw_row(HW(pCur)) : stock_sqlite3BtreeIntegerKey(pCur);
}

SQLITE_PRIVATE i64 sqlite3BtreeOffset(BtCursor *pCur){
  return HW(pCur) ? hw_place(HW(pCur)) : stock_sqlite3BtreeOffset(pCur);
}

/* One that cannot be read has the first of two bytes: a header that is longer than the record, so
** SQLITE_CORRUPT for who looks at that alone. Who wants the other byte, too, gets the error. */
static const void *hwUnreadable(u32 *pAmt){
  *pAmt = 1;
  return "\x7f";
}

SQLITE_PRIVATE u32 sqlite3BtreePayloadSize(BtCursor *pCur){
  u32 nByte = 0;
  if( !HW(pCur) ) return stock_sqlite3BtreePayloadSize(pCur);
  return hwPayload(pCur, &nByte) ? nByte : 2;
}

SQLITE_PRIVATE sqlite3_int64 sqlite3BtreeMaxRecordSize(BtCursor *pCur){
  return HW(pCur) ? 0x7fffffff : stock_sqlite3BtreeMaxRecordSize(pCur);
}

SQLITE_PRIVATE const void *sqlite3BtreePayloadFetch(BtCursor *pCur, u32 *pAmt){
  const void *pByte;
  if( !HW(pCur) ) return stock_sqlite3BtreePayloadFetch(pCur, pAmt);
  pByte = hwPayload(pCur, pAmt);
  return pByte ? pByte : hwUnreadable(pAmt);
}

SQLITE_PRIVATE int sqlite3BtreePayload(BtCursor *pCur, u32 offset, u32 amt, void *pBuf){
  u32 nByte = 0;
  const u8 *aByte;
  if( !HW(pCur) ) return stock_sqlite3BtreePayload(pCur, offset, amt, pBuf);
  aByte = hwPayload(pCur, &nByte);
  if( aByte==0 ) return hw_payload_code(HW(pCur));
  if( (u64)offset+amt>nByte ) return SQLITE_CORRUPT_BKPT;
  memcpy(pBuf, &aByte[offset], amt);
  return SQLITE_OK;
}

#ifndef SQLITE_OMIT_INCRBLOB
/* To the row on which it was opened, if that is there still. */
static int hwBackToRow(BtCursor *pCur){
  int rc = SQLITE_OK;
  if( pCur->eState==CURSOR_INVALID ) return SQLITE_ABORT;
  if( pCur->eState!=CURSOR_VALID ) rc = hw_restore(HW(pCur));
  return rc==SQLITE_OK && pCur->eState!=CURSOR_VALID ? SQLITE_ABORT : rc;
}

SQLITE_PRIVATE int sqlite3BtreePayloadChecked(BtCursor *pCur, u32 offset, u32 amt, void *pBuf){
  int rc;
  if( !HW(pCur) ) return stock_sqlite3BtreePayloadChecked(pCur, offset, amt, pBuf);
  rc = hwBackToRow(pCur);
  return rc==SQLITE_OK ? sqlite3BtreePayload(pCur, offset, amt, pBuf) : rc;
}

SQLITE_PRIVATE int sqlite3BtreePutData(BtCursor *pCur, u32 offset, u32 amt, void *z){
  int rc;
  if( !HW(pCur) ) return stock_sqlite3BtreePutData(pCur, offset, amt, z);
  rc = hwBackToRow(pCur);
  if( rc!=SQLITE_OK ) return rc;
  if( (pCur->curFlags & BTCF_WriteFlag)==0 ) return SQLITE_READONLY;
  return hw_overwrite(HW(pCur), offset, z, amt);
}
#endif

/* A record of an index, taken apart again where the values that it was made of are not at hand. */
static int hwInsertRecord(BtCursor *pCur, const void *pKey, i64 nKey, Mem *aMem, int nMem){
  HwFields fields;
  UnpackedRecord *pRec = 0;
  int nField = pCur->pKeyInfo->nKeyField;
  int rc;
  if( nMem<nField ){
    pRec = sqlite3VdbeAllocUnpackedRecord(pCur->pKeyInfo);
    if( pRec==0 ) return SQLITE_NOMEM_BKPT;
#ifdef HW_UNPACKS_BY_KEYINFO
    sqlite3VdbeRecordUnpack(pCur->pKeyInfo, (int)nKey, pKey, pRec);
#else
    sqlite3VdbeRecordUnpack((int)nKey, pKey, pRec);
#endif
    aMem = pRec->aMem;
    nMem = pRec->nField;
  }
  if( nMem<nField ){
    rc = SQLITE_CORRUPT_BKPT;
  }else if( hw_is_collated(HW(pCur)) ){
    UnpackedRecord r;
    rc = hwSought(&r, pCur->pKeyInfo, aMem, nField);
    if( rc==SQLITE_OK ) rc = hw_insert_sought(HW(pCur), &r, pKey, nKey);
  }else{
    rc = hwFieldsOf(pCur, aMem, nField, &fields);
    if( rc==SQLITE_OK ) rc = hw_insert_record(HW(pCur), fields.aField, nField, pKey, nKey);
    hwFreeFields(&fields);
  }
  sqlite3DbFree(pCur->pBtree->db, pRec);
  return rc;
}

SQLITE_PRIVATE int sqlite3BtreeInsert(
  BtCursor *pCur, const BtreePayload *pX, int flags, int seekResult
){
  if( !HW(pCur) ){
    /* A size of zero: sqlite3BtreeTransferRow has inserted it. */
    if( (flags & BTREE_PREFORMAT) && pCur->pBt->nPreformatSize==0 ) return SQLITE_OK;
    return stock_sqlite3BtreeInsert(pCur, pX, flags, seekResult);
  }
  if( flags & BTREE_PREFORMAT ) return SQLITE_OK;
  if( pCur->eState==CURSOR_FAULT ) return pCur->skipNext;
  if( pCur->pKeyInfo==0 ){
    return hw_insert_row(HW(pCur), pX->nKey, pX->pData, pX->nData, pX->nZero);
  }
  return hwInsertRecord(pCur, pX->pKey, pX->nKey, pX->aMem, pX->nMem);
}

/* Copies a row or a record as it is. Between stock tables SQLite prepares a cell for the insert
   that follows; everywhere else this is the insert. */
SQLITE_PRIVATE int sqlite3BtreeTransferRow(BtCursor *pDest, BtCursor *pSrc, i64 iKey){
  u32 nByte;
  u8 *aByte;
  int rc;
  if( !HW(pDest) && !HW(pSrc) ) return stock_sqlite3BtreeTransferRow(pDest, pSrc, iKey);
  nByte = sqlite3BtreePayloadSize(pSrc);
  aByte = sqlite3_malloc64((u64)nByte + 16);
  if( aByte==0 ) return SQLITE_NOMEM_BKPT;
  rc = sqlite3BtreePayload(pSrc, 0, nByte, aByte);
  memset(&aByte[nByte], 0, 16);
  if( rc==SQLITE_OK && HW(pDest) ){
    rc = pDest->pKeyInfo ? hwInsertRecord(pDest, aByte, nByte, 0, 0)
                         : hw_insert_row(HW(pDest), iKey, aByte, nByte, 0);
  }else if( rc==SQLITE_OK ){
    BtreePayload x;
    memset(&x, 0, sizeof(x));
    if( pDest->pKeyInfo ){
      x.pKey = aByte;
      x.nKey = nByte;
    }else{
      x.nKey = iKey;
      x.pData = aByte;
      x.nData = (int)nByte;
    }
    rc = stock_sqlite3BtreeInsert(pDest, &x, 0, 0);
    pDest->pBt->nPreformatSize = 0;
  }
  sqlite3_free(aByte);
  return rc;
}

SQLITE_PRIVATE int sqlite3BtreeDelete(BtCursor *pCur, u8 flags){
  int rc;
  if( !HW(pCur) ) return stock_sqlite3BtreeDelete(pCur, flags);
  if( pCur->eState>=CURSOR_REQUIRESEEK ){
    rc = hw_restore(HW(pCur));
    if( rc!=SQLITE_OK || pCur->eState!=CURSOR_VALID ) return rc;
  }else if( pCur->eState!=CURSOR_VALID ){
    return SQLITE_CORRUPT_BKPT;
  }
  return hw_delete(HW(pCur));
}

SQLITE_PRIVATE int sqlite3BtreeCount(sqlite3 *db, BtCursor *pCur, i64 *pnEntry){
  return HW(pCur) ? hw_count(HW(pCur), pnEntry) : stock_sqlite3BtreeCount(db, pCur, pnEntry);
}

SQLITE_PRIVATE i64 sqlite3BtreeRowCountEst(BtCursor *pCur){
  return HW(pCur) ? hw_estimate(HW(pCur)) : stock_sqlite3BtreeRowCountEst(pCur);
}
