import {
  CAMPAIGN_TAGS,
  campaignTagsOfBody,
  campaignTagsOfQuery,
  FIRST_TAG_COLUMNS,
  FIRST_UTM_TAGS,
  hasCampaignTag,
  joinFirstTags,
  joinFirstUtmTags,
  mergeCampaignTags,
  NO_CAMPAIGN_TAGS,
} from '../../src/acquisition/campaign-tags.ts';

const named = campaignTagsOfQuery((tag) => tag);

test('the tags are joined in the order of their columns', () => {
  const column = (tag: string): string => (tag === 'source' ? 'source_param' : tag);
  expect(joinFirstTags(named, column).split(',')).toEqual(FIRST_TAG_COLUMNS);
  expect(joinFirstUtmTags(named, column).split(',')).toEqual(FIRST_UTM_TAGS);
});

test.each(CAMPAIGN_TAGS)(
  '%s is read from the body and from the query: mapTags and hasCampaignTag name each tag',
  (tag) => {
    expect(hasCampaignTag({ [tag]: 'sent' })).toBe(true);
    expect(hasCampaignTag({ [tag]: '' })).toBe(false);
    const wanted = { ...NO_CAMPAIGN_TAGS, [tag]: 'sent' };
    expect(campaignTagsOfBody<string>({ [tag]: 'sent' }, (value = '') => value)).toEqual(wanted);
    expect(campaignTagsOfQuery((name) => (name === tag ? 'sent' : ''))).toEqual(wanted);
    expect(Object.keys(NO_CAMPAIGN_TAGS)).toContain(tag);
  },
);

test.each(CAMPAIGN_TAGS)('a %s in the body replaces the one in the query, unless it is empty', (tag) => {
  const sent = campaignTagsOfQuery((name) => (name === tag ? 'sent' : ''));
  expect(mergeCampaignTags(sent, named)).toEqual({ ...named, [tag]: 'sent' });
  expect(mergeCampaignTags(NO_CAMPAIGN_TAGS, named)).toBe(named);
  expect(mergeCampaignTags(named, NO_CAMPAIGN_TAGS)).toBe(named);
});
