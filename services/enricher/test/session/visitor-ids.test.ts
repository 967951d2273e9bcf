import { cookielessVisitorId } from '@weir/domain/people/cookieless';
import { visitorSessionsKey } from '@weir/domain/records/state-keys';
import { createVisitorIds } from '../../src/identity/visitor-ids.ts';

const VISITOR = { siteId: 'demo', ip: '81.2.69.142', userAgent: 'Chrome/126', lineDay: '' };

test('the cached ID of an address is used only for the same salt, site, user agent and day of the line', () => {
  const visitorOf = createVisitorIds();
  const visitors = [
    VISITOR,
    { ...VISITOR, siteId: 'other' },
    { ...VISITOR, userAgent: 'Firefox/128' },
    { ...VISITOR, lineDay: '2015-05-17' },
    { ...VISITOR, ip: '81.2.69.143' },
  ];
  for (const salt of ['salt', 'other salt', 'salt']) {
    for (const visitor of visitors) {
      const visitorId = cookielessVisitorId(salt, visitor);
      const keys = { visitorId, sessionsKey: visitorSessionsKey(visitor.siteId, visitorId) };
      expect(visitorOf(salt, VISITOR).visitorId).toBe(cookielessVisitorId(salt, VISITOR));
      expect(visitorOf(salt, visitor)).toMatchObject(keys);
      expect(visitorOf(salt, visitor)).toMatchObject(keys);
    }
  }
});
