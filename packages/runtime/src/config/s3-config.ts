import type { EnvReader } from './env-reader.ts';

/** Where `s3://` URLs lead. Credentials come from the usual places of the AWS SDK. */
export interface S3Settings {
  /** For another S3-compatible service; undefined: AWS. */
  readonly endpoint: string | undefined;
  readonly region: string;
  readonly pathStyle: boolean;
}

export function readS3Settings({ text, flag, problem }: EnvReader): S3Settings {
  const endpoint = text('S3_ENDPOINT');
  if (endpoint !== undefined && !/^https?:\/\//.test(endpoint)) {
    problem(`S3_ENDPOINT must be an http or https URL, not "${endpoint}"`);
  }
  return { endpoint, region: text('S3_REGION') ?? 'us-east-1', pathStyle: flag('S3_PATH_STYLE', false) };
}
