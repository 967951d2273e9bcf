const OCTET = '(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])';
const IPV4 = `(?:${OCTET}\\.){3}${OCTET}`;
const GROUP = '[0-9A-Fa-f]{1,4}';

/**
 * Patterns for the spellings of IPv6 addresses (RFC 4291, section 2.2). The first two patterns are for addresses without `::`, the others for
 * addresses with it. The last two lines of the list are for addresses with `::` and a dotted IPv4 address.
 */
const IPV6 = [
  `(?:${GROUP}:){7}${GROUP}`,
  `(?:${GROUP}:){6}${IPV4}`,
  ...[1, 2, 3, 4, 5, 6].map((before) => `(?:${GROUP}:){${before}}(?::${GROUP}){1,${7 - before}}`),
  `:(?::${GROUP}){1,7}`,
  `(?:${GROUP}:){1,7}:`,
  '::',
  ...[1, 2, 3, 4, 5].map((before) => `(?:${GROUP}:){${before}}:(?:${GROUP}:){0,${5 - before}}${IPV4}`),
  `::(?:${GROUP}:){0,5}${IPV4}`,
].join('|');

/** Regular expressions for an IP address or a CIDR: first IPv4, then IPv6. */
export const CIDR_PATTERNS: readonly string[] = [
  `^${IPV4}(?:/(?:3[0-2]|[12]?[0-9]))?$`,
  `^(?:${IPV6})(?:/(?:12[0-8]|1[01][0-9]|[1-9]?[0-9]))?$`,
];
