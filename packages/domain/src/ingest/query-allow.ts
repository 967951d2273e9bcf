/**
 * Limits of the list of query parameters that a site keeps in its stored URLs. Weir reads source, campaign and click ID from a URL
 * before it removes the other parameters.
 */
export const QUERY_ALLOW_NAMES_MAX = 100;
export const QUERY_ALLOW_NAME_CHARS_MAX = 128;

/**
 * Removes query parameters from a URL or a path. Keeps the parameters for which `keeps` returns true, as they were written and in
 * their order. `keeps` receives the decoded name. The fragment stays.
 */
export function cutQuery(url: string, keeps: (name: string) => boolean): string {
  const start = url.indexOf('?');
  const hash = url.indexOf('#');
  if (start < 0 || (hash >= 0 && hash < start)) return url;
  const end = hash < 0 ? url.length : hash;
  const kept = url
    .slice(start + 1, end)
    .split('&')
    .filter((pair) => pair !== '' && keeps(nameOf(pair)));
  return `${url.slice(0, start)}${kept.length === 0 ? '' : `?${kept.join('&')}`}${url.slice(end)}`;
}

function nameOf(pair: string): string {
  const equals = pair.indexOf('=');
  const name = equals < 0 ? pair : pair.slice(0, equals);
  if (!/[%+]/.test(name)) return name;
  const [decoded = name] = new URLSearchParams(name).keys();
  return decoded;
}
