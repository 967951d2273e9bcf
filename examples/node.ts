import { Weir } from '@weir/node-sdk';

const { WEIR_URL = 'http://127.0.0.1:8080', WEIR_KEY = '' } = process.env;
const weir = new Weir({ url: WEIR_URL, apiKey: WEIR_KEY });
weir.track('signup', { userId: 'ada', value: 49, properties: { plan: 'pro' } });
await weir.close();
