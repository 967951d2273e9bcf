import { isDependencyError, messageOf } from '@weir/domain/errors';

const FULL = ['ENOSPC', 'EDQUOT'];

/** Whether an error says that a disk or a quota is full. Errors of LMDB and ClickHouse have no such code, but the text of the operating system. */
export function isDiskFull(error: unknown): boolean {
  if (isDependencyError(error) && error.isFull) return true;
  const { code = '' } = Object(error) as NodeJS.ErrnoException;
  return FULL.includes(code) || /no space left on device/i.test(messageOf(error));
}
