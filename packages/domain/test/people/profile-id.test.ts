import { version } from 'uuid';
import { profileId } from '../../src/people/profile-id.ts';

it('profileId: the same site and user always give the same ID (UUIDv5)', () => {
  expect(profileId('site', 'user')).toBe(profileId('site', 'user'));
  expect(version(profileId('site', 'user'))).toBe(5);
  expect(profileId('a', 'bc')).not.toBe(profileId('ab', 'c'));
  // These IDs are stored in tables: they must never change.
  expect(profileId('demo', 'ada')).toBe('b9bf200a-0397-5ec2-a9c8-d6c08114a251');
  expect(profileId('demo', 'ä😀')).toBe('10097f1b-48b5-5bd1-891a-d41595b49bc5');
  expect(profileId('demo', 'half a pair \ud83d')).toBe(profileId('demo', 'half a pair \ufffd'));
});
