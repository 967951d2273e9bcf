import { createWeir } from './create-weir.ts';
import { keptCalls, type Methods } from './kept-calls.ts';
import { isOn, type Options } from './options.ts';

const { dataset, src } = document.currentScript as HTMLScriptElement;
const calls = keptCalls();
if (calls) {
  // biome-ignore lint/suspicious/noAssignInExpressions: saves 3 bytes
  const weir = (window.weir = createWeir(dataset as unknown as Options, src));
  // The kept calls run before the first pageview, so an opt-out among them applies to it.
  for (const [method, ...args] of calls) (weir as unknown as Methods)[method]!(...args);
  if (!isOn(dataset.manual)) weir.pageview();
}
