/* What is asked of a database's pager, which is one of a database in memory, and of its file; see
   dispatch.c. A Pager of ours knows the journal mode that was asked for, and the locking mode:
   nothing depends on them but what WAL means for `synchronous`. */

#define HW_PAGER(p) ((p)->hawthornName!=0)

SQLITE_PRIVATE const char *sqlite3PagerFilename(const Pager *pPager, int nullIfMemDb){
  return HW_PAGER(pPager) ? pPager->hawthornName : stock_sqlite3PagerFilename(pPager, nullIfMemDb);
}

SQLITE_PRIVATE int sqlite3PagerGetJournalMode(Pager *pPager){
  return HW_PAGER(pPager) ? pPager->hawthornMode : stock_sqlite3PagerGetJournalMode(pPager);
}

SQLITE_PRIVATE int sqlite3PagerSetJournalMode(Pager *pPager, int eMode){
  if( !HW_PAGER(pPager) ) return stock_sqlite3PagerSetJournalMode(pPager, eMode);
  pPager->hawthornMode = (u8)eMode;
  return eMode;
}

/* Not while a transaction has written, as with a journal that is in use. */
SQLITE_PRIVATE int sqlite3PagerOkToChangeJournalMode(Pager *pPager){
  return HW_PAGER(pPager) ? !hw_has_written(pPager->hawthornOf)
                          : stock_sqlite3PagerOkToChangeJournalMode(pPager);
}

/* What was asked for; it keeps nobody out. */
SQLITE_PRIVATE int sqlite3PagerLockingMode(Pager *pPager, int eMode){
  if( !HW_PAGER(pPager) ) return stock_sqlite3PagerLockingMode(pPager, eMode);
  if( eMode>=0 ) pPager->hawthornLocking = (u8)eMode;
  return pPager->hawthornLocking;
}

#ifndef SQLITE_OMIT_WAL
SQLITE_PRIVATE int sqlite3PagerWalSupported(Pager *pPager){
  return HW_PAGER(pPager) ? 1 : stock_sqlite3PagerWalSupported(pPager);
}

/* What has been written to the log since it was checkpointed, once behind each commit. */
SQLITE_PRIVATE int sqlite3PagerWalCallback(Pager *pPager){
  int nPage;
  if( !HW_PAGER(pPager) ) return stock_sqlite3PagerWalCallback(pPager);
  nPage = pPager->hawthornLog;
  pPager->hawthornLog = 0;
  return nPage;
}

SQLITE_PRIVATE int sqlite3PagerCloseWal(Pager *pPager, sqlite3 *db){
  return HW_PAGER(pPager) ? SQLITE_OK : stock_sqlite3PagerCloseWal(pPager, db);
}
#endif

/* ---- The file: there is none to be read or written, but one to be asked. */

SQLITE_PRIVATE sqlite3_file *sqlite3PagerFile(Pager *pPager){
  return HW_PAGER(pPager) ? &pPager->hawthornFile : stock_sqlite3PagerFile(pPager);
}

static sqlite3_file hwFile = { &hwFileMethods };

static int hwFileRefuses(sqlite3_file *pFile){ return SQLITE_IOERR; }
static int hwFileRead(sqlite3_file *pFile, void *p, int n, sqlite3_int64 i){ return SQLITE_IOERR; }
static int hwFileWrite(sqlite3_file *pFile, const void *p, int n, sqlite3_int64 i){
  return SQLITE_IOERR;
}
static int hwFileTruncate(sqlite3_file *pFile, sqlite3_int64 n){ return SQLITE_IOERR; }
static int hwFileSync(sqlite3_file *pFile, int flags){ return SQLITE_IOERR; }
/* What VACUUM INTO asks of its target: nothing where nothing was written. */
static int hwFileSize(sqlite3_file *pFile, sqlite3_int64 *p){
  Pager *pPager = (Pager*)((char*)pFile - offsetof(Pager, hawthornFile));
  int bNew = 0;
  int rc;
  if( pFile==&hwFile ) return SQLITE_IOERR;
  rc = hw_is_new(pPager->hawthornOf, &bNew);
  *p = bNew ? 0 : pPager->pageSize;
  return rc;
}
static int hwFileLock(sqlite3_file *pFile, int eLock){ return SQLITE_IOERR; }
static int hwFileReserved(sqlite3_file *pFile, int *p){ return SQLITE_IOERR; }
static int hwFileControl(sqlite3_file *pFile, int op, void *p){ return SQLITE_NOTFOUND; }
static int hwFileSector(sqlite3_file *pFile){ return 4096; }
static int hwFileDevice(sqlite3_file *pFile){ return 0; }

static int hwFileShmMap(sqlite3_file *pFile, int i, int n, int bExtend, void volatile **pp){
  *pp = 0;
  return SQLITE_IOERR_SHMMAP;
}
static int hwFileShmLock(sqlite3_file *pFile, int i, int n, int flags){
  return SQLITE_IOERR_SHMLOCK;
}
static void hwFileShmBarrier(sqlite3_file *pFile){}
static int hwFileShmUnmap(sqlite3_file *pFile, int bDelete){ return SQLITE_OK; }
static int hwFileFetch(sqlite3_file *pFile, sqlite3_int64 i, int n, void **pp){
  *pp = 0;
  return SQLITE_OK;
}
static int hwFileUnfetch(sqlite3_file *pFile, sqlite3_int64 i, void *p){ return SQLITE_OK; }

static const sqlite3_io_methods hwFileMethods = {
  3, hwFileRefuses, hwFileRead, hwFileWrite, hwFileTruncate, hwFileSync, hwFileSize, hwFileLock,
  hwFileLock, hwFileReserved, hwFileControl, hwFileSector, hwFileDevice, hwFileShmMap,
  hwFileShmLock, hwFileShmBarrier, hwFileShmUnmap, hwFileFetch, hwFileUnfetch
};

SQLITE_API int sqlite3_file_control(sqlite3 *db, const char *zDbName, int op, void *pArg){
  int rc = SQLITE_OK;
  Btree *p;
  sqlite3_mutex_enter(db->mutex);
  p = sqlite3DbNameToBtree(db, zDbName);
  if( p==0 || !HW(p) ){
    sqlite3_mutex_leave(db->mutex);
    return stock_sqlite3_file_control(db, zDbName, op, pArg);
  }
  switch( op ){
    case SQLITE_FCNTL_FILE_POINTER:
    case SQLITE_FCNTL_JOURNAL_POINTER:
      *(sqlite3_file**)pArg = &hwFile;
      break;
    case SQLITE_FCNTL_VFS_POINTER:
      *(sqlite3_vfs**)pArg = sqlite3_vfs_find(0);
      break;
    case SQLITE_FCNTL_DATA_VERSION:
      *(unsigned int*)pArg = hw_seen_version(HW(p));
      break;
    case SQLITE_FCNTL_VFSNAME:
      *(char**)pArg = sqlite3_mprintf("%s", sqlite3_vfs_find(0)->zName);
      break;
    case SQLITE_FCNTL_RESET_CACHE:
      break;
    case SQLITE_FCNTL_LOCKSTATE:
      *(int*)pArg = p->inTrans==TRANS_WRITE ? RESERVED_LOCK
                  : p->inTrans==TRANS_READ ? SHARED_LOCK : NO_LOCK;
      break;
    default:
      rc = SQLITE_NOTFOUND;
  }
  sqlite3_mutex_leave(db->mutex);
  return rc;
}
