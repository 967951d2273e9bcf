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
}

/** The text that a start prints on standard output. It contains secrets only if no earlier start has printed them. */
export function bannerText({ baseUrl, publicUrl, hasDashboard, demoKey, newAdminToken }: BannerFacts): string {
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
      '',
      'See its row:',
      `  npm run -s weir -- sql 'SELECT event_name, value, timestamp FROM events'`,
    );
  }
  return `${lines.join('\n')}\n`;
}
