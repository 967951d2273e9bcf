import {
  CAMPAIGN_TAG_COLUMNS,
  CAMPAIGN_TAGS,
  campaignTagsOfQuery,
  joinCampaignTags,
  mergeCampaignTags,
  NO_CAMPAIGN_TAGS,
} from '../../src/acquisition/campaign-tags.ts';

const named = campaignTagsOfQuery((tag) => tag);

test('the tags are joined in the order of their columns', () => {
  expect(joinCampaignTags(named, (text) => text)).toBe(CAMPAIGN_TAGS.join(','));
  expect(CAMPAIGN_TAG_COLUMNS).toHaveLength(CAMPAIGN_TAGS.length);
});

test.each(CAMPAIGN_TAGS)('a %s in the body replaces the one in the query, unless it is empty', (tag) => {
  const sent = campaignTagsOfQuery((name) => (name === tag ? 'sent' : ''));
  expect(mergeCampaignTags(sent, named)).toEqual({ ...named, [tag]: 'sent' });
  expect(mergeCampaignTags(NO_CAMPAIGN_TAGS, named)).toBe(named);
  expect(mergeCampaignTags(named, NO_CAMPAIGN_TAGS)).toBe(named);
});
