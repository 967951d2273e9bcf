import { messageOf } from '@weir/domain/errors';

/** An error in the format of ClickHouse's HTTP interface: `Code: N. DB::Exception: message. (NAME)`. */
class ClickhouseError extends Error {
  override readonly name = 'ClickhouseError';
  readonly code: number;
  readonly status: number;

  constructor(code: number, text: string, status = STATUS_BY_CODE.get(code) ?? 500) {
    super(text);
    this.code = code;
    this.status = status;
  }
}

/** The HTTP statuses of error codes, as in ClickHouse's `exceptionCodeToHTTPStatus`. Error codes that are not in this map have status 500. */
const STATUS_BY_CODE = new Map<number, number>([
  ...[6, 26, 27, 38, 41, 42, 43, 44, 53, 62, 69, 70, 72, 117, 131, 164, 168, 179, 185, 215, 386, 456, 457].map(
    (code): [number, number] => [code, 400],
  ),
  ...[46, 47, 50, 56, 60, 73, 81, 115].map((code): [number, number] => [code, 404]),
  ...[193, 194, 497, 516].map((code): [number, number] => [code, 403]),
  [48, 501],
  [159, 408],
]);

export function clickhouseError(code: number, name: string, message: string, status?: number): ClickhouseError {
  return new ClickhouseError(code, `Code: ${code}. DB::Exception: ${message}. (${name})`, status);
}

const NO_SESSION = /^Failed to create connection/;

/** Converts an error of the engine to a `ClickhouseError`, which has an error code. */
export function toClickhouseError(error: unknown): ClickhouseError {
  if (error instanceof ClickhouseError) return error;
  const text = messageOf(error);
  const code = Number(/^Code:\s*(\d+)/.exec(text)?.[1] ?? Number.NaN);
  // chDB cannot open a session while the memory of ClickHouse is used up. The same statement can succeed later.
  if (NO_SESSION.test(text)) return clickhouseError(202, 'TOO_MANY_SIMULTANEOUS_QUERIES', text, 503);
  if (Number.isNaN(code)) return clickhouseError(1001, 'STD_EXCEPTION', text);
  return new ClickhouseError(code, text);
}
