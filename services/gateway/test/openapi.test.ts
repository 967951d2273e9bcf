import { joinOpenApi } from '@weir/runtime/http/openapi';
import { useOpened } from '@weir/testkit/use-opened';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { gatewayOpenApi } from '../src/openapi/gateway-openapi.ts';
import { startGateway } from './start-gateway.ts';

type Document = {
  paths: Record<string, Record<string, object>>;
  components: { schemas: Record<string, object> };
};
const document = () => structuredClone(joinOpenApi([gatewayOpenApi(['/t/hit'])])) as unknown as Document;

describe('each documented path', () => {
  const weir = useOpened(() => startGateway({ config: { collectPaths: ['/t/hit'] } }));

  it.each(Object.entries(document().paths))('%s: other methods get 405 with Allow', async (path, operations) => {
    const methods = Object.keys(operations).map((method) => method.toUpperCase());
    const response = await fetch(`${weir.url}${path}`, { method: 'PUT' });
    expect(response.status).toBe(405);
    expect(response.headers.get('allow')).toBe([...methods, ...(methods[0] === 'GET' ? ['HEAD'] : [])].join(', '));
  });
});

describe('the published request schemas match what Weir accepts', () => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema({ $id: 'doc', ...document() });
  const accepts = (name: string, body: unknown) => ajv.validate(`doc#/components/schemas/${name}`, body);

  it.each([
    [
      'ServerEvent',
      { event_name: 'x', visitorId: null, metadata: { a: 1 }, context: { userAgent: 'x', ip: null } },
      true,
    ],
    ['ServerEvent', { eventName: 'x', eventValue: 1, eventProperties: { a: 1 } }, true],
    ['ServerEvent', { value: 1 }, false],
    ['ServerEvent', { name: 'x', visitorId: 'v'.repeat(65) }, false],
    ['Identity', { visitorId: 'v', user_id: 'u', plan: 'pro', removed: null }, true],
    ['Identity', { visitorId: 'v' }, false],
    ['Identity', { visitor_id: 'v', user_id: 'u', Plan: 'pro' }, false],
    ['Identity', { visitor_id: 'v', user_id: 'u', plan: {} }, false],
    ['CollectHit', { site_id: 's', visitor_id: '', session_id: '', type: 'pageview', url: null }, true],
    ['CollectHit', { site_id: 's', visitor_id: '', session_id: '', type: 'event' }, false],
    ['CollectHit', { site_id: 's', visitor_id: '', session_id: '', type: 'identify', identity: { userId: 'u' } }, true],
    ['BrowserIdentity', { user_id: 'u', firstName: {}, plan: 'pro', removed: null }, true],
    ['BrowserIdentity', { user_id: 'u', plan: {} }, false],
    ['BrowserIdentity', { user_id: 'u', signature: 'ab' }, true],
  ])('%s %j: %s', (name, body, expected) => {
    expect(accepts(name, body)).toBe(expected);
  });
});
