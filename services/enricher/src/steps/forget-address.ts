import type { Hit } from '../hit.ts';

/** From here on nothing can write the address anywhere (decisions.md: it never reaches ClickHouse). */
export function forgetAddress(hit: Hit): undefined {
  hit.ip = '';
}
