import { hideCredentials } from '@weir/domain/net/hide-credentials';
import type { EnvReader } from './env-reader.ts';

/** Settings for `s3://` URLs. The AWS SDK reads the credentials itself, from the environment, shared files or the role of the machine. */
export interface S3Settings {
  /** The URL of another S3-compatible service. Undefined for AWS. */
  readonly endpoint: string | undefined;
  readonly region: string;
  readonly pathStyle: boolean;
}

export function readS3Settings({ text, flag, problem }: EnvReader): S3Settings {
  const endpoint = text('S3_ENDPOINT');
  if (endpoint !== undefined && !/^https?:\/\//.test(endpoint)) {
    problem(`S3_ENDPOINT must be an http or https URL, not "${hideCredentials(endpoint)}"`);
  }
  return { endpoint, region: text('S3_REGION') ?? 'us-east-1', pathStyle: flag('S3_PATH_STYLE', false) };
}
