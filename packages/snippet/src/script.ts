import { createWeir } from './create-weir.ts';
import { install, keptCalls } from './install.ts';
import type { Options } from './options.ts';

const { dataset, src } = document.currentScript as HTMLScriptElement;
const calls = keptCalls();
if (calls) {
  const weir = createWeir(dataset as unknown as Options, src);
  install(weir, calls);
  if (!/^(true)?$/.test(dataset.manual as string)) weir.pageview();
}
