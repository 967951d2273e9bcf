import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { openClickhouseAnalytics } from '../../src/clickhouse/clickhouse-analytics.ts';

test('an answer without a row does not count as an empty table', async () => {
  const proxy = createServer((request, response) => void request.resume().on('end', () => response.end()));
  await new Promise<void>((resolve) => void proxy.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const analytics = openClickhouseAnalytics({ url, username: 'weir', password: '', migrationsDir: '/nowhere' });
  await expect(analytics.highestRawOffset('log', 0)).rejects.toMatchObject({ code: 'analytics_unavailable' });
  await expect(analytics.latestBlock()).rejects.toMatchObject({ code: 'analytics_unavailable' });
  await analytics.close();
  await new Promise((resolve) => void proxy.close(resolve));
});
