import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { hideCredentials } from '@weir/domain/net/hide-credentials';
import { adminTokenFile } from '@weir/runtime/config/admin-token';
import { baseUrl } from '@weir/runtime/config/base-url';
import { CliError, EXIT } from './exit-codes.ts';

export type CliEnvironment = Readonly<Record<string, string | undefined>>;

export interface CliConfig {
  readonly url: string;
  readonly adminToken: string;
  /** Where the token comes from: WEIR_ADMIN_TOKEN, or the path of a file. */
  readonly tokenFrom: string;
}

/**
 * Reads the settings of the command (docs/api.md, Commands). The address is `WEIR_URL`, or else it is made from HOST and PORT. The token
 * is `WEIR_ADMIN_TOKEN`, or else it is read from the data folder. Throws `CliError` if a setting is invalid, or if the
 * token is missing or cannot be read.
 */
export function loadCliConfig(env: CliEnvironment): CliConfig {
  return { url: serverUrl(env), ...adminToken(env) };
}

function serverUrl(env: CliEnvironment): string {
  const configured = env.WEIR_URL?.trim();
  if (configured) {
    if (!/^https?:\/\//i.test(configured) || !URL.canParse(configured)) {
      throw new CliError(`WEIR_URL must be an http(s) URL, not "${hideCredentials(configured)}"`, EXIT.usage);
    }
    const { username, password } = new URL(configured);
    // The address is part of error messages, and `fetch` refuses such a URL.
    if (username || password) {
      const shown = hideCredentials(configured);
      throw new CliError(`WEIR_URL must not contain a user name or a password: ${shown}`, EXIT.usage);
    }
    return configured.replace(/\/+$/, '');
  }
  const url = baseUrl(env.HOST?.trim() || '127.0.0.1', env.PORT?.trim() || '8080');
  if (!URL.canParse(url)) throw new CliError(`HOST and PORT do not form a valid URL: ${url}`, EXIT.usage);
  return url;
}

type Token = Pick<CliConfig, 'adminToken' | 'tokenFrom'>;

function adminToken(env: CliEnvironment): Token {
  const configured = env.WEIR_ADMIN_TOKEN?.trim();
  if (configured) return checked({ adminToken: configured, tokenFrom: 'WEIR_ADMIN_TOKEN' });
  const file = adminTokenFile(resolve(env.WEIR_DATA_DIR?.trim() || './data'));
  return checked({ adminToken: readToken(file), tokenFrom: file });
}

/** A token with other characters cannot be sent: a header of HTTP cannot have them. */
function checked(token: Token): Token {
  if (/^[\x21-\x7e]+$/.test(token.adminToken)) return token;
  const fault =
    token.adminToken === '' ? 'is empty' : 'is no admin token, because a token has only visible ASCII characters';
  throw new CliError(
    `the text in ${token.tokenFrom} ${fault}: set WEIR_ADMIN_TOKEN to the token of this Weir`,
    EXIT.usage,
  );
}

function readToken(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new CliError(
      code === 'ENOENT' || code === 'ENOTDIR'
        ? `no admin token: set WEIR_ADMIN_TOKEN, or set WEIR_DATA_DIR to the data folder (${file} does not exist)`
        : `cannot read the admin token in ${file} (${code}): run this command as the user of Weir, or set WEIR_ADMIN_TOKEN`,
      EXIT.usage,
    );
  }
}
