import { type AddressNumber, addressNumber, type Network } from './network.ts';

/** Returns the value of the most specific network that contains `ip`; `undefined` if there is none, or if `ip` is not an address. */
export type NetworkTable<Value> = (ip: string) => Value | undefined;

/**
 * Stores networks as a sorted list of the addresses at which the value changes, so that a lookup is one binary search, also with
 * 10,000 networks. If two networks are equal, the first one counts.
 */
export function compileNetworks<Value>(entries: readonly (readonly [Network, Value])[]): NetworkTable<Value> {
  const ipv4 = segmentsOf(entries.filter(([network]) => network.family === 4));
  const ipv6 = segmentsOf(entries.filter(([network]) => network.family === 6));
  return (ip) => {
    // If there are no IPv6 networks, no IPv6 address matches. Then the address is not parsed: parsing costs more than the search.
    if (ipv6.starts.length === 0 && ip.includes(':') && !/^::ffff:/i.test(ip)) return undefined;
    const address = addressNumber(ip);
    if (address === undefined) return undefined;
    return typeof address === 'number' ? find(ipv4, address) : find(ipv6, address);
  };
}

/** `values[i]` is the value of the addresses from `starts[i]` up to the next start. */
interface Segments<Value> {
  readonly starts: AddressNumber[];
  readonly values: (Value | undefined)[];
}

/**
 * Goes through the networks in the order of their first addresses. `open` is a stack of the networks that contain the present address. Two
 * networks are disjoint, or one contains the other, so the network on top of the stack always ends first.
 */
function segmentsOf<Value>(entries: readonly (readonly [Network, Value])[]): Segments<Value> {
  const sorted = entries.toSorted(([a], [b]) =>
    a.first === b.first ? a.prefix - b.prefix : a.first < b.first ? -1 : 1,
  );
  const segments: Segments<Value> = { starts: [], values: [] };
  const open: (readonly [Network, Value])[] = [];
  const closeBefore = (address: AddressNumber | undefined): void => {
    for (let inner = open.at(-1); inner !== undefined; inner = open.at(-1)) {
      const { last } = inner[0];
      if (address !== undefined && last >= address) return;
      open.pop();
      begin(segments, typeof last === 'number' ? last + 1 : last + 1n, open.at(-1)?.[1]);
    }
  };
  for (const entry of sorted) {
    const [network, value] = entry;
    closeBefore(network.first);
    const around = open.at(-1)?.[0];
    if (around?.first === network.first && around.prefix === network.prefix) continue;
    open.push(entry);
    begin(segments, network.first, value);
  }
  closeBefore(undefined);
  return segments;
}

function begin<Value>({ starts, values }: Segments<Value>, start: AddressNumber, value: Value | undefined): void {
  if (starts.at(-1) === start) values[values.length - 1] = value;
  else {
    starts.push(start);
    values.push(value);
  }
}

function find<Value>({ starts, values }: Segments<Value>, address: AddressNumber): Value | undefined {
  let low = 0;
  let high = starts.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((starts[middle] as AddressNumber) <= address) low = middle + 1;
    else high = middle;
  }
  return low === 0 ? undefined : values[low - 1];
}
