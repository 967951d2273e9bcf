export type LiveName = 'kafka' | 'redis';

/** A real service that a test started. */
export interface LiveService {
  /** `KAFKA_BROKERS` or `REDIS_URL`. */
  readonly address: string;
  stop(): Promise<void>;
}
