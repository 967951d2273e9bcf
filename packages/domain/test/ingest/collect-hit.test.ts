import { type CollectHit, readCollectHit } from '../../src/ingest/collect-hit.ts';
import { FieldError } from '../../src/ingest/field-error.ts';
import type { JsonObject } from '../../src/json/json.ts';

const base = { site_id: 's', visitor_id: 'v', session_id: 'n', type: 'pageview' };
const event = { ...base, type: 'event', event_name: 'click' };
const read = (body: JsonObject) => readCollectHit(body) as CollectHit;

describe('"Four fields are always required"', () => {
  it.each(['site_id', 'visitor_id', 'session_id', 'type'])('%s', (field) => {
    expect(readCollectHit({ ...base, [field]: null })).toMatchObject({ message: `${field} is required` });
    expect(readCollectHit({ ...base, [field]: 5 })).toBeInstanceOf(FieldError);
  });

  it('visitor_id and session_id may be empty in cookieless mode', () => {
    expect(read({ ...base, visitor_id: '', session_id: '' })).toMatchObject({ visitorId: '', sessionId: '' });
    expect(readCollectHit({ ...base, site_id: '' })).toBeInstanceOf(FieldError);
  });
});

describe('by type', () => {
  it('an event has a name, a value and flat properties', () => {
    expect(read({ ...event, event_value: '2.5', event_properties: { a: null } })).toMatchObject({
      eventName: 'click',
      value: 2.5,
      valueText: '2.5',
      properties: { a: null },
    });
    for (const wrong of [
      { event_name: ' ' },
      { event_name: null },
      { event_properties: { a: {} } },
      { event_value: [] },
    ]) {
      expect(readCollectHit({ ...event, ...wrong } as JsonObject)).toBeInstanceOf(FieldError);
    }
  });

  it('the camelCase names of a server event are unknown fields here', () => {
    const camelCase = { eventName: 'no', eventValue: 1, eventProperties: { a: 1 } };
    expect(readCollectHit({ ...base, type: 'event', ...camelCase })).toMatchObject({
      message: 'event_name is required',
    });
    const hit = read({ ...event, ...camelCase });
    expect([hit.eventName, hit.value, hit.valueText, hit.properties]).toEqual(['click', undefined, '', undefined]);
  });

  it('fields of another type of hit are ignored, like unknown fields', () => {
    expect(read({ ...base, event_name: 5, event_properties: [], identity: 5 })).toMatchObject({
      eventName: '',
      properties: undefined,
      identity: undefined,
    });
  });

  it('an identify needs an identity with at least user_id', () => {
    const identify = { ...base, type: 'identify' };
    expect(read({ ...identify, identity: { userId: 'u', plan: 'x' } }).identity).toMatchObject({
      userId: 'u',
      traits: { plan: 'x' },
    });
    for (const identity of [null, [], 'u', {}, { user_id: '' }, { user_id: 'u', plan: {} }]) {
      expect(readCollectHit({ ...identify, identity })).toBeInstanceOf(FieldError);
    }
  });
});

describe('"Free context text that is too long is cut, not refused"', () => {
  it('URLs are cut to 4,096 code points, other texts to 255', () => {
    const long = '😀'.repeat(5000);
    const hit = read({ ...base, url: long, hostname: long, pathname: long, source: long });
    expect([hit.url, hit.hostname, hit.tags.source].map((text) => [...text].length)).toEqual([4096, 255, 255]);
  });

  it('a wrong type is refused', () => {
    for (const wrong of [{ url: 5 }, { screen_width: '5' }, { via: [] }]) {
      expect(readCollectHit({ ...base, ...wrong } as JsonObject)).toBeInstanceOf(FieldError);
    }
  });

  it('a number that cannot be a screen size counts as not sent', () => {
    expect(read({ ...base, screen_width: 1919.5, screen_height: -1 })).toMatchObject({
      screenWidth: 1920,
      screenHeight: undefined,
    });
  });
});
