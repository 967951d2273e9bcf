import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface OwnCertificate {
  readonly certFile: string;
  readonly keyFile: string;
  /** The certificate in PEM format, which clients must trust. */
  readonly ca: string;
}

/** Creates a self-signed certificate for `names` in the folder `dir`, with openssl. */
export function makeOwnCertificate(dir: string, names = 'IP:127.0.0.1,DNS:localhost'): OwnCertificate {
  const certFile = join(dir, 'cert.pem');
  const keyFile = join(dir, 'key.pem');
  const args = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=127.0.0.1'];
  const alternatives = ['-addext', `subjectAltName=${names}`];
  const { status, stderr } = spawnSync('openssl', [...args, ...alternatives, '-keyout', keyFile, '-out', certFile], {
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`openssl: ${stderr}`);
  return { certFile, keyFile, ca: readFileSync(certFile, 'utf8') };
}
