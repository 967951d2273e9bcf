import { DEMO_SITE_ID } from './demo-site.ts';

export interface WelcomeFacts {
  readonly baseUrl: string;
  /** The control role, which serves it, is in this process. */
  readonly hasDashboard: boolean;
  /** The demo site's plain key, when the site was made by this start. */
  readonly demoKey: string | undefined;
  /** The admin token, when it was made by this start. */
  readonly newAdminToken: string | undefined;
}

/** What a start prints for people, on standard output. Secrets are in it only at the start that made them. */
export function welcome({ baseUrl, hasDashboard, demoKey, newAdminToken }: WelcomeFacts): string {
  const lines = ['', `Weir listens: ${baseUrl}`];
  if (hasDashboard) lines.push(`  dashboard    ${baseUrl}/dashboard`);
  if (newAdminToken !== undefined) {
    lines.push(`  admin token  ${newAdminToken}   (shown once; kept in the data folder)`);
  }
  if (demoKey !== undefined) {
    lines.push(
      `  snippet      <script defer src="${baseUrl}/weir.js" data-site="${DEMO_SITE_ID}"></script>`,
      '',
      'Send a server event:',
      `  curl -X POST ${baseUrl}/api/v1/events \\`,
      `    -H 'Authorization: Bearer ${demoKey}' -H 'Content-Type: application/json' \\`,
      `    -d '{"name": "signup", "user_id": "u_1", "value": 49}'`,
      '',
      'See its row:',
      `  npm run -s weir -- sql 'SELECT event_name, value, timestamp FROM events'`,
    );
  }
  return `${lines.join('\n')}\n`;
}
