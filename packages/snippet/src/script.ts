import { createWeir } from './create-weir.ts';
import { install } from './install.ts';
import type { Options } from './options.ts';

const { dataset, src } = document.currentScript as HTMLScriptElement;

// A tag that stands twice counts once.
if (!window.weir || window.weir.q) {
  const options = Object.assign({ endpoint: new URL('api/collect', src).href }, dataset);
  install(createWeir(options as unknown as Options), 'manual' in dataset);
}
