import { install } from './install.ts';
import { createWeir } from './weir.ts';

const { dataset, src } = document.currentScript as HTMLScriptElement;
install(
  createWeir({
    site: dataset.site as string,
    endpoints: [dataset.endpoint || new URL('/api/collect', src).href],
    cookieless: dataset.cookieless != null,
    spa: dataset.spa !== 'false',
  }),
);
