import { join } from 'node:path';
import { eventually } from '@weir/testkit/eventually';
import { PROJECT_ROOT } from '@weir/testkit/weir-process';
import type { Browser, Page } from 'playwright-core';
import { ADMIN_TOKEN } from '../../services/control/test/control-harness.ts';
import { type Lane, openLanes } from '../reports-model/report-lanes.ts';
import { openDashboard } from './dashboard-page.ts';
import { scriptOf, sendMarkedTraffic } from './marked-traffic.ts';
import { launchChromium, STEP_WITHIN_MS } from './use-browser.ts';

/** A script for the page. It records calls of `hacked`, and violations of the content security policy. */
const WATCH = `
  window.hackedBy = [];
  window.hacked = (by) => window.hackedBy.push('script ' + by);
  document.addEventListener('securitypolicyviolation', (event) => window.hackedBy.push(event.violatedDirective + ' ' + event.blockedURI));`;
/** Elements and attributes that no page of the dashboard has. */
const INJECTED =
  '[onerror], [onclick], [onload], img[src="x"], script:not([src]), iframe, object, embed, base, a[href^="javascript:" i]';

export interface MarkedDashboard {
  readonly lane: Lane;
  readonly browser: Browser;
  readonly site: string;
  /** A signed-in page. */
  readonly page: Page;
  readonly errors: string[];
  /** Waits until the page shows the texts of these fields. Checks that the browser has treated none of them as HTML. */
  expectTexts(...fields: readonly string[]): Promise<void>;
  close(): Promise<void>;
}

/** Starts a Weir with the traffic of marked-traffic.ts, and opens its dashboard. */
export async function openMarkedDashboard(): Promise<MarkedDashboard> {
  const lanes = await openLanes(1, join(PROJECT_ROOT, 'dist/dashboard'));
  const lane = lanes.lanes[0] as Lane;
  const site = await sendMarkedTraffic(lanes, lane, ADMIN_TOKEN);
  const browser = await launchChromium();
  const context = async () => {
    const opened = await browser.newContext({ locale: 'en', viewport: { width: 1280, height: 900 } });
    opened.setDefaultTimeout(STEP_WITHIN_MS);
    await opened.addInitScript(WATCH);
    return opened;
  };
  const weir = { url: lane.client.urls[0] ?? '', client: lane.client };
  const { page, errors } = await openDashboard({ weir, context });
  const dialogs: string[] = [];
  page.on('dialog', (dialog) => {
    dialogs.push(dialog.message());
    void dialog.dismiss();
  });
  return {
    ...{ lane, browser, site, page, errors },
    async expectTexts(...fields) {
      for (const field of fields) {
        await eventually(`the text of ${field}`, () =>
          page.evaluate<boolean>(`document.body.innerText.includes(${JSON.stringify(scriptOf(field))})`),
        );
      }
      expect(await page.evaluate(`[...document.querySelectorAll('${INJECTED}')].map((one) => one.outerHTML)`)).toEqual(
        [],
      );
      expect(await page.evaluate('window.hackedBy')).toEqual([]);
      expect(dialogs).toEqual([]);
      expect(errors).toEqual([]);
    },
    async close() {
      await browser.close();
      await lanes.close();
    },
  };
}
