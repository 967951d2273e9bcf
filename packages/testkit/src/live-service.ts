export type LiveName = 'kafka' | 'redis' | 's3';

/** A real service that a test uses. */
export interface LiveService {
  /** A value for `KAFKA_BROKERS`, `REDIS_URL` or `S3_ENDPOINT`. */
  readonly address: string;
  stop(): Promise<void>;
}
