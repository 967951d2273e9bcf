import { once } from 'node:events';
import { openSocket } from '@weir/testkit/http-client';
import { startWeir } from '@weir/testkit/weir-process';
import { describeOwnProcess } from '../use-weir.ts';

const EMAIL = 'ada@mail.example';
const ADDRESS = '203.0.113.77';

function expectJsonLines(output: string): void {
  for (const line of output.split('\n').filter((text) => text !== '')) expect(() => JSON.parse(line)).not.toThrow();
}

describeOwnProcess('LOG_LEVEL: logs are JSON, without IP addresses, e-mail addresses and keys', () => {
  test('for valid and for malformed requests', async () => {
    const weir = await startWeir({ env: { TRUSTED_PROXIES: '127.0.0.1', LOG_LEVEL: 'trace' } });
    const { client } = weir;
    const before = weir.output().length;
    const { site, key } = await client.createSiteWithKey();
    const secretPath = `/sites/${site}/identity-secret`;
    const made = (await client.must(201, 'POST', secretPath)) as { secret: string };
    expect((await client.admin('POST', `${secretPath}/${made.secret}`)).status).toBe(404);
    const from = { 'x-forwarded-for': ADDRESS };
    const hit = {
      site_id: site,
      visitor_id: 'v',
      session_id: 's',
      type: 'identify',
      identity: { user_id: 'u', email: EMAIL },
    };
    expect((await client.collect(hit, from)).status).toBe(204);
    expect((await client.identify(key, { visitor_id: 'v', user_id: EMAIL, email: EMAIL }, from)).status).toBe(200);
    expect((await client.events(key, { name: EMAIL, context: { ip: ADDRESS }, url: EMAIL }, from)).status).toBe(202);
    expect((await client.admin('POST', '/sql', { query: `SELECT '${EMAIL}' FROM nothing` })).status).toBe(400);
    for (const target of [
      `http://a:b/?e=${EMAIL}&k=${key}`,
      `/api/${EMAIL}%zz`,
      `/api/admin/sites/%zz${EMAIL}`,
      `x ${EMAIL}`,
    ]) {
      const socket = openSocket(weir.url).resume();
      socket.write(
        `GET ${target} HTTP/1.1\r\nHost: ${EMAIL}\r\nX-Forwarded-For: ${ADDRESS}\r\nAuthorization: Bearer ${key}\r\nConnection: close\r\n\r\n`,
      );
      await once(socket, 'close');
    }
    await client.settled();
    expect(await weir.terminate()).toBe(0);
    const logged = weir.output().slice(before);
    for (const secret of [EMAIL, ADDRESS, key, made.secret, client.adminToken]) expect(logged).not.toContain(secret);
    expectJsonLines(logged);
    await weir.stop();
  });

  test('for callers who leave before the export of a person is complete', async () => {
    const weir = await startWeir({ env: { RATE_LIMIT_EVENTS: '1000000' } });
    const { client } = weir;
    const before = weir.output().length;
    const { site, key } = await client.createSiteWithKey();
    // The export is larger than the buffers of the sockets. Therefore it is not complete when the caller closes the connection.
    const event = { name: 'e', visitor_id: 'v', properties: { text: 'x'.repeat(32_000) } };
    const answers = await Promise.all(Array.from({ length: 800 }, () => client.events(key, event)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202]));
    await client.settled();
    const exporting = () => {
      const socket = openSocket(weir.url);
      const target = `/api/admin/sites/${site}/person?visitor_id=v`;
      socket.write(`GET ${target} HTTP/1.1\r\nHost: weir\r\nAuthorization: Bearer ${client.adminToken}\r\n\r\n`);
      return socket;
    };
    for (let n = 0; n < 5; n++) {
      const socket = exporting();
      await once(socket, 'ready');
      socket.destroy();
    }
    const socket = exporting();
    const [head] = (await once(socket, 'data')) as [Buffer];
    expect(head.toString()).toMatch(/^HTTP\/1\.1 200 /);
    socket.destroy();
    expect(await weir.terminate()).toBe(0);
    const logged = weir.output().slice(before);
    expectJsonLines(logged);
    expect(logged).not.toContain('failed');
    await weir.stop();
  });
});
