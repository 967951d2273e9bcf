import { parseUserAgent } from '../../src/user-agent/parse-user-agent.ts';

const GECKO = 'AppleWebKit/537.36 (KHTML, like Gecko)';
const app = (model: string) =>
  `Mozilla/5.0 (Linux; Android 11; ${model} Build/RTM9; wv) ${GECKO} Version/4.0 Chrome/113.0.5672.132 Mobile Safari/537.36`;

test.each([
  ['Fire TV', app('AFTKA'), { deviceType: 'tv', deviceBrand: 'Amazon', deviceModel: 'AFTKA' }],
  ['Fire TV of another maker', app('AFTWMST22'), { deviceType: 'tv', deviceBrand: 'Amazon', deviceModel: 'AFTWMST22' }],
  ['Philips', app('TPM191E'), { deviceType: 'tv', deviceBrand: 'Philips' }],
  ['Google', app('Google TV Streamer'), { deviceType: 'tv', deviceBrand: 'Google' }],
  ['Nexus Player', app('Nexus Player'), { deviceType: 'tv', deviceBrand: 'Google' }],
  [
    'Vizio',
    `Mozilla/5.0 (Linux armv7l) ${GECKO} Chrome/84.0.4147.125 Safari/537.36 OPR/46.0 Model/Vizio-MTK9288 VIZIO SmartCast(Conjure/E50x-E1)`,
    { deviceType: 'tv', deviceBrand: 'VIZIO' },
  ],
  [
    'Samsung, HbbTV',
    `Mozilla/5.0 (SMART-TV; Linux; Tizen 6.0) ${GECKO} 76.0.3809.146/6.0 TV Safari/537.36 HbbTV/1.5.1 (+DRM;Samsung;SmartTV2021)`,
    { os: 'Tizen', deviceType: 'tv', deviceBrand: 'Samsung' },
  ],
  ['Roku', 'Roku/DVP-13.0 (13.0.0.4163-55)', { os: 'Roku OS', osVersion: '13.0', deviceBrand: 'Roku' }],
  ['an older Roku', 'Roku4640X/DVP-7.70 (297.70E04154A)', { os: 'Roku OS', osVersion: '7.70', deviceType: 'tv' }],
  [
    'Apple TV',
    'Mozilla/5.0 (AppleTV; CPU OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148',
    { os: 'tvOS', osVersion: '17.5', deviceType: 'tv', deviceModel: 'Apple TV' },
  ],
  ['a program on Apple TV', 'AppleTV6,2/11.1', { os: 'tvOS', deviceType: 'tv', deviceBrand: 'Apple' }],
  [
    'PlayStation, with the word SmartTV',
    'Mozilla/5.0 (PlayStation 5 3.03/SmartTV) AppleWebKit/605.1.15 (KHTML, like Gecko)',
    { os: 'PlayStation', deviceType: 'console', deviceBrand: 'Sony', deviceModel: 'PlayStation 5' },
  ],
  [
    'Xbox One, with underscores',
    `Mozilla/5.0 (Windows NT 10.0; Win64; x64; XBOX_ONE_ED) ${GECKO} Chrome/51.0.2704.79 Safari/537.36 Edge/14.14393`,
    { os: 'Xbox', deviceType: 'console', deviceBrand: 'Microsoft' },
  ],
  [
    'Xbox One, as Windows Phone',
    `Mozilla/5.0 (Windows Phone 10.0; Android 4.2.1; Xbox; Xbox One) ${GECKO} Chrome/46.0.2486.0 Mobile Safari/537.36 Edge/13.10586`,
    { os: 'Xbox', deviceType: 'console' },
  ],
  ['Pixel Watch', app('Pixel Watch'), { os: 'Android', deviceType: 'wearable', deviceBrand: 'Google' }],
  [
    'Quest 3S',
    `Mozilla/5.0 (Linux; Android 12; Quest 3S) ${GECKO} OculusBrowser/36.1.0.2.49 Chrome/130.0.6723.91 Mobile VR Safari/537.36`,
    { deviceType: 'wearable', deviceModel: 'Quest 3S' },
  ],
  [
    'Pico Neo 3',
    `Mozilla/5.0 (X11; Linux x86_64; Pico Neo 3) ${GECKO} PicoBrowser/3.3.22 Chrome/105.0.5195.68 VR Safari/537.36`,
    { os: 'Android', deviceType: 'wearable' },
  ],
  [
    'Nintendo Switch',
    'Mozilla/5.0 (Nintendo Switch; ShareApplet) AppleWebKit/601.6 (KHTML, like Gecko) NF/4.0.0.5.9 NintendoBrowser/5.1.0.13341',
    { browser: 'Nintendo Browser', browserVersion: '5.1.0.13341', deviceType: 'console' },
  ],
  [
    'Yandex Browser on a television',
    `Mozilla/5.0 (Linux; Android 11; 43LE7021 Build/RP1A; wv) ${GECKO} Version/4.0 Chrome/113.0.5672.163 YaBrowser/24.1.2.86 (lite) TV Safari/537.36`,
    { browser: 'Yandex Browser', os: 'Android', deviceType: 'tv' },
  ],
  [
    'the same browser, with TV at the end',
    `Mozilla/5.0 (Linux; Android 13; 43LE7021 Build/TP1A; wv) ${GECKO} Version/4.0 Chrome/101.0.4951.61 YaBrowser/24.1.2.163 (lite) Safari/537.36 TV`,
    { deviceType: 'tv' },
  ],
  [
    'Opera, which does not write Android',
    `Mozilla/5.0 (Linux; Andr0id 13; 50OV6000U) ${GECKO} Chrome/123.0.6312.107 Safari/537.36 OMI/4.25.0.50.StableAVB.15`,
    { os: 'Android', deviceType: 'tv' },
  ],
  [
    'TV Bro',
    `TV Bro/1.0 Mozilla/5.0 (Linux; Android 9; AQUOS_TVE19A Build/PTO8; wv) ${GECKO} Version/4.0 Chrome/100.0.4896.88 Safari/537.36`,
    { deviceType: 'tv' },
  ],
  [
    'Windows NT 11.0',
    `Mozilla/5.0 (Windows NT 11.0; Win64; x64) ${GECKO} Chrome/131.0.0.0 Safari/537.36`,
    { os: 'Windows', osVersion: '11', deviceType: 'desktop' },
  ],
  [
    'Kindle',
    'Mozilla/5.0 (X11; U; Linux armv7l like Android; en-us) AppleWebKit/531.2+ (KHTML, like Gecko) Version/5.0 Safari/533.2+ Kindle/3.0+',
    { deviceType: 'tablet', deviceBrand: 'Amazon', deviceModel: 'Kindle' },
  ],
  [
    'KaiOS, with the word Android',
    'Mozilla/5.0 (Mobile; LYF/F220B/LYF-F220B-001-01-15-130718-i;Android; rv:48.0) Gecko/48.0 Firefox/48.0 KAIOS/2.5',
    { os: 'KaiOS', osVersion: '2.5', deviceType: 'mobile' },
  ],
  [
    'a computer with OpenHarmony',
    `Mozilla/5.0 (PC; OpenHarmony 5.0) ${GECKO} Chrome/114.0.0.0 Safari/537.36 ArkWeb/4.1.6.1`,
    { os: 'HarmonyOS', osVersion: '5.0', deviceType: 'desktop' },
  ],
  [
    'a web view without `wv`',
    `Mozilla/5.0 (Linux; Android 13; SM-A135F) ${GECKO} Version/4.0 Chrome/125.0.6422.53 Mobile Safari/537.36`,
    { browser: 'Android WebView', browserVersion: '125.0.6422.53' },
  ],
  [
    'Thunderbird',
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:128.0) Gecko/20100101 Thunderbird/128.2.0',
    { browser: 'Thunderbird', browserVersion: '128.2.0', os: 'Windows' },
  ],
])('%s', (_, userAgent, expected) => {
  expect(parseUserAgent(userAgent, undefined)).toMatchObject(expected);
});
