import { filesWith, sendClientAddresses } from '@weir/testkit/client-addresses';
import { ACCEPTANCE_ENV, describeOwnProcess, useOwnWeir } from '../use-weir.ts';

const MARK = 'mark-that-is-on-the-disk';

describeOwnProcess('the client IP is on disk only in encrypted form', () => {
  const weir = useOwnWeir(ACCEPTANCE_ENV);

  test('no file of the data folder contains an address, whatever endpoint received it, before and after a kill', async () => {
    const { client } = weir;
    const site = await client.createSite();
    const rows = await sendClientAddresses(client, site, MARK);
    expect(filesWith(weir.dataDir)).toEqual([]);
    await client.rows('events', site, rows);
    // The search finds the mark in the stored records, so it would also find an address in them.
    expect(filesWith(weir.dataDir, [MARK]).map((found) => found.split('/')[0])).toContain('log');
    expect(filesWith(weir.dataDir)).toEqual([]);
    await weir.kill9();
    expect(filesWith(weir.dataDir)).toEqual([]);
    await weir.restart();
    // The restart keeps the salt of the day, so the visitors get the same visitor IDs.
    await sendClientAddresses(client, site, `${MARK}-again`);
    await client.rows('events', site, 2 * rows);
    const visitors = `SELECT uniqExact(visitor_id) FROM events WHERE site_id = {site:String} AND cookieless AND source != 'import'`;
    expect(await client.number(visitors, { site })).toBe(3);
    expect(filesWith(weir.dataDir)).toEqual([]);
  });
});
