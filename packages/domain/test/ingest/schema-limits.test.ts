import collectHit from '../../../../schemas/collect-hit.schema.json' with { type: 'json' };
import identity from '../../../../schemas/identity.schema.json' with { type: 'json' };
import serverEvent from '../../../../schemas/server-event.schema.json' with { type: 'json' };
import { FieldError } from '../../src/ingest/field-error.ts';
import { readServerEvent } from '../../src/ingest/server-event.ts';
import { readIdentity } from '../../src/people/identity.ts';

const event = serverEvent.properties;
const person = identity.$defs.fields.properties;

it('the schemas contain the limits of docs/api.md', () => {
  expect([event.name.maxLength, event.visitor_id.maxLength, event.session_id.maxLength]).toEqual([128, 64, 64]);
  expect([event.user_id.maxLength, event.external_id.maxLength]).toEqual([256, 256]);
  expect([person.user_id.maxLength, person.email.maxLength, person.name.maxLength]).toEqual([255, 255, 255]);
  expect([person.image.maxLength, person.visitor_id.maxLength, identity['x-traits-max']]).toEqual([500, 64, 25]);
  expect(event.idempotency_key.pattern).toBe('^[A-Za-z0-9_.:-]{1,128}$');
  const hit = collectHit.properties;
  expect([hit.event_name.maxLength, hit.visitor_id.maxLength, hit.session_id.maxLength]).toEqual([128, 64, 64]);
});

const wrong = { wrong: true };

describe('every alias of the schemas is read', () => {
  const aliasesOf = (fields: Readonly<Record<string, object>>) =>
    Object.values(fields).flatMap((field) => ('x-aliases' in field ? (field['x-aliases'] as string[]) : []));

  it.each(aliasesOf(event))('%s', (alias) => {
    const value = /metadata|properties/i.test(alias) ? 5 : wrong;
    const read = readServerEvent(/^event_?name$/i.test(alias) ? { [alias]: value } : { name: 'x', [alias]: value });
    expect((read as FieldError).field).toBe(alias);
  });

  it.each(aliasesOf(event.context.properties))('context.%s', (alias) => {
    const read = readServerEvent({ name: 'x', context: { [alias]: wrong } });
    expect((read as FieldError).field).toBe(`context.${alias}`);
  });

  it.each(['visitorId', 'userId', 'paymentCustomerId', 'siteId'])('%s', (alias) => {
    const { [alias.replace(/[A-Z]/, (c) => `_${c.toLowerCase()}`)]: _, ...rest } = {
      visitor_id: 'v',
      user_id: 'u',
    } as Record<string, string>;
    const read = readIdentity({ ...rest, [alias]: wrong });
    expect(read).toBeInstanceOf(FieldError);
    expect((read as FieldError).message).toContain(alias);
  });
});
