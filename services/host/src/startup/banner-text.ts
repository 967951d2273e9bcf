import { resolve } from 'node:path';
import { shellWord } from '@weir/runtime/config/shell-word';
import { DEMO_SITE_ID } from './demo-site.ts';

export interface BannerFacts {
  readonly baseUrl: string;
  /** The setting WEIR_PUBLIC_URL. */
  readonly publicUrl: string | undefined;
  /** True if this process has the control role, which serves the dashboard. */
  readonly hasDashboard: boolean;
  /** The API key of the demo site in plain text, if this start created the key. */
  readonly demoKey: string | undefined;
  /** The admin token that Weir has created, if no earlier start has printed it. */
  readonly newAdminToken: string | undefined;
  /** The data folder. Undefined if WEIR_ADMIN_TOKEN is set: then the folder does not contain the admin token. */
  readonly tokenFolder: string | undefined;
}

/** Where commands look for Weir and for the admin token without settings. */
const DEFAULT_URL = 'http://127.0.0.1:8080';
const DEFAULT_FOLDER = './data';

/** The text that a start prints on standard output. It contains secrets only if no earlier start has printed them. */
export function bannerText(facts: BannerFacts): string {
  const { baseUrl, publicUrl, hasDashboard, demoKey, newAdminToken } = facts;
  const lines = ['', `Weir listens: ${baseUrl}`];
  if (hasDashboard) lines.push(`  dashboard    ${baseUrl}/dashboard`);
  if (newAdminToken !== undefined) {
    lines.push(`  admin token  ${newAdminToken}   (shown once; kept in the data folder)`);
  }
  if (demoKey !== undefined) {
    const gatewayUrl = publicUrl ?? baseUrl;
    lines.push(
      `  snippet      <script defer src="${gatewayUrl}/weir.js" data-site="${DEMO_SITE_ID}"></script>`,
      '',
      'Send a server event. The idempotency key makes it safe to send the event again: Weir stores it once.',
      `  curl -X POST ${gatewayUrl}/api/v1/events \\`,
      `    -H 'Authorization: Bearer ${demoKey}' -H 'Content-Type: application/json' \\`,
      `    -d '{"name": "signup", "user_id": "u_1", "value": 49, "idempotency_key": "signup-u_1"}'`,
    );
    if (hasDashboard) lines.push('', ...rowHint(facts));
  }
  return `${lines.join('\n')}\n`;
}

/** How to see the row of the event. The command has the settings that it needs in a new terminal, but never the admin token. */
function rowHint({ baseUrl, tokenFolder }: BannerFacts): readonly string[] {
  const settings = [
    ...(baseUrl === DEFAULT_URL ? [] : [`WEIR_URL=${shellWord(baseUrl)} `]),
    ...(tokenFolder === undefined || tokenFolder === resolve(DEFAULT_FOLDER)
      ? []
      : [`WEIR_DATA_DIR=${shellWord(tokenFolder)} `]),
  ].join('');
  return [
    tokenFolder === undefined ? 'See its row (first set WEIR_ADMIN_TOKEN as for this Weir):' : 'See its row:',
    `  ${settings}npm run -s weir -- sql 'SELECT event_name, value, timestamp FROM events'`,
  ];
}
