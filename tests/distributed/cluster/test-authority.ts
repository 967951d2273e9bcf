import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A server certificate and its key in PEM format. */
export interface IssuedCertificate {
  readonly cert: string;
  readonly key: string;
  /** In Unix milliseconds. */
  readonly validUntil: number;
}

export interface TestAuthority {
  /** The file with the authority's certificate in PEM format. Clients must trust it. */
  readonly caFile: string;
  /** Issues a certificate for 127.0.0.1 that expires in `validMs`, rounded to seconds. */
  issue(validMs: number): IssuedCertificate;
}

const SUBJECT_NAMES = 'subjectAltName=IP:127.0.0.1,DNS:localhost';
const YESTERDAY_MS = -24 * 3600_000;

/** Creates an authority with openssl. All of its files are in `dir`. */
export function createTestAuthority(dir: string): TestAuthority {
  const file = (name: string): string => join(dir, name);
  const openssl = (...args: readonly string[]): void => void execFileSync('openssl', args, { stdio: 'pipe' });
  const [caFile, caKey] = [file('ca.pem'), file('ca-key.pem')];
  openssl(
    'req',
    '-x509',
    '-newkey',
    'rsa:2048',
    '-nodes',
    '-days',
    '2',
    '-subj',
    '/CN=test authority',
    '-keyout',
    caKey,
    '-out',
    caFile,
  );
  openssl(
    'req',
    '-new',
    '-newkey',
    'rsa:2048',
    '-nodes',
    '-subj',
    '/CN=127.0.0.1',
    '-keyout',
    file('key.pem'),
    '-out',
    file('request.pem'),
  );
  writeFileSync(file('names'), SUBJECT_NAMES);
  writeFileSync(
    file('ca.conf'),
    `[ca]
default_ca = own
[own]
database = ${file('index')}
new_certs_dir = ${dir}
rand_serial = yes
unique_subject = no
default_md = sha256
policy = any
[any]
commonName = supplied
`,
  );
  writeFileSync(file('index'), '');

  return {
    caFile,
    issue(validMs) {
      const validUntil = Math.floor((Date.now() + validMs) / 1000) * 1000;
      const times = ['-startdate', opensslTime(Date.now() + YESTERDAY_MS), '-enddate', opensslTime(validUntil)];
      const signer = ['-config', file('ca.conf'), '-cert', caFile, '-keyfile', caKey, '-extfile', file('names')];
      openssl('ca', '-batch', '-notext', ...signer, ...times, '-in', file('request.pem'), '-out', file('cert.pem'));
      return { cert: readFileSync(file('cert.pem'), 'utf8'), key: readFileSync(file('key.pem'), 'utf8'), validUntil };
    },
  };
}

/** Formats a time for openssl: `YYYYMMDDHHMMSSZ`. */
const opensslTime = (ms: number): string => `${new Date(ms).toISOString().replace(/\D/g, '').slice(0, 14)}Z`;
