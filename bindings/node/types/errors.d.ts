// Errors and constants.


export const version: string;
export const formatVersion: number;
export const abiVersion: number;
export const optionNames: readonly string[];
export const limits: Readonly<{
  keyBytesMax: number; valueBytesMax: number; streamValueBytesMax: number;
  treeNameBytesMax: number; memoryBudgetBytesMin: number;
}>;

/** What all calls fail with. */
export class HawthornError extends Error {
  /** Such as 'CONFLICT'. */
  readonly code: string;
  /** The number of the code in the library. */
  readonly errno: number;
  /** Whether the transaction is to be tried again: CONFLICT, DEADLOCK, TIMED_OUT. */
  readonly retryable: boolean;
}
export class NotFoundError extends HawthornError {}
export class InvalidArgumentError extends HawthornError {}
export class NotSupportedError extends HawthornError {}
export class CorruptionError extends HawthornError {}
export class IoError extends HawthornError {}
export class NoSpaceError extends HawthornError {}
export class BusyError extends HawthornError {}
export class ConflictError extends HawthornError {}
export class ReadOnlyError extends HawthornError {}
export class OutOfMemoryError extends HawthornError {}
export class ForkedError extends HawthornError {}
export class UnknownOutcomeError extends HawthornError {}
export class ClosedError extends HawthornError {}
export class TimedOutError extends HawthornError {}
export class DeadlockError extends HawthornError {}
export class TooOldError extends HawthornError {}
export class NotInMemoryError extends HawthornError {}
export class PermissionDeniedError extends HawthornError {}
export class InternalError extends HawthornError {}
export class BufferTooSmallError extends HawthornError {
  readonly keyBytesNeeded: number;
  readonly valueBytesNeeded: number;
}
