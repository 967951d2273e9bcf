import { deviceBrand } from '../../src/user-agent/device-brand.ts';
import { parseUserAgent } from '../../src/user-agent/parse-user-agent.ts';

const chrome = (machine: string, end = '') =>
  `Mozilla/5.0 (${machine}) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/110.0.0.0 Safari/537.36${end}`;

describe('televisions, consoles and other devices', () => {
  test.each([
    [
      'webOS',
      chrome('Web0S; Linux/SmartTV', ' WebAppManager'),
      { os: 'webOS', osVersion: '', deviceType: 'tv', deviceBrand: 'LG' },
    ],
    [
      'webOS, which is no phone',
      chrome('Web0S; Linux/SmartTV', ' DMOST/2.0.0 (; LGE; webOSTV; WEBOS6.3.0)'),
      { os: 'webOS', deviceType: 'tv' },
    ],
    [
      'Tizen',
      'Mozilla/5.0 (SMART-TV; LINUX; Tizen 6.5) AppleWebKit/537.36 (KHTML, like Gecko) 85.0.4183.93/6.5 TV Safari/537.36',
      { browser: 'Samsung Internet', os: 'Tizen', deviceType: 'tv', deviceBrand: 'Samsung' },
    ],
    [
      'Fire TV',
      chrome('Linux; Android 9; AFTMM Build/PS7633'),
      { os: 'Android', deviceType: 'tv', deviceBrand: 'Amazon' },
    ],
    [
      'Bravia',
      chrome('Linux; Android 9; BRAVIA 4K UR2 Build/PTT1.190515.001.S104'),
      { os: 'Android', deviceType: 'tv', deviceBrand: 'Sony' },
    ],
    [
      'Chromecast',
      chrome('Linux; Android 12; Chromecast Build/STTE.230319.008', ' CrKey/1.56.500000 DeviceType/AndroidTV'),
      { deviceType: 'tv', deviceBrand: 'Google' },
    ],
    ['Shield', chrome('Linux; Android 11; SHIELD Android TV'), { deviceType: 'tv' }],
    ['Vizio', chrome('X11; Linux armv7l', ' OPR/46.0 VIZIO SmartCast(Conjure/MTKF-4.1.0)'), { deviceType: 'tv' }],
    ['Roku', 'Roku/DVP-12.0 (12.0.0.4182-88)', { os: 'Roku OS', deviceType: 'tv', deviceBrand: 'Roku' }],
    [
      'Apple TV',
      'Mozilla/5.0 (Apple TV; U; CPU AppleTV5,3 OS 14.5) AppleWebKit/605',
      { os: 'tvOS', deviceType: 'tv', deviceModel: 'Apple TV' },
    ],
    ['HbbTV', 'HbbTV/1.4.1 (+DRM;Samsung;SmartTV2018;T-KTMAKUC-1290.1;;)', { deviceType: 'tv' }],
    [
      'a Japanese set',
      'Mozilla/5.0 (DTV; TVwithVideoPlayer) NetFront/4.1 InettvBrowser/2.2 (08001F;DTV04VSFC3;0001;0001)',
      { deviceType: 'tv' },
    ],
    [
      'PlayStation 5',
      'Mozilla/5.0 (PlayStation; PlayStation 5/8.20) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/15.4 Safari/605.1.15',
      { os: 'PlayStation', deviceType: 'console', deviceBrand: 'Sony' },
    ],
    ['PLAYSTATION 3', 'Mozilla/5.0 (PLAYSTATION 3; 1.00)', { os: 'PlayStation', deviceType: 'console' }],
    [
      'Xbox',
      chrome('Windows NT 10.0; Win64; x64; Xbox; Xbox Series X', ' Edg/122.0.0.0'),
      { browser: 'Edge', os: 'Xbox', deviceType: 'console' },
    ],
    [
      'Xbox 360',
      'Mozilla/5.0 (compatible; MSIE 9.0; Windows NT 6.1; Trident/5.0; Xbox)',
      { os: 'Xbox', deviceType: 'console' },
    ],
    [
      'Switch',
      'Mozilla/5.0 (Nintendo Switch; WifiWebAuthApplet) AppleWebKit/609.4 (KHTML, like Gecko) NF/6.0.2.22.5 NintendoBrowser/5.1.0.23519',
      { browser: 'Nintendo Browser', os: 'Nintendo', deviceType: 'console' },
    ],
    [
      '3DS, which is no iPhone',
      'Mozilla/5.0 (New Nintendo 3DS like iPhone) AppleWebKit/536.30 (KHTML, like Gecko) NX/3.0.0.5.23 Mobile NintendoBrowser/1.10.10166.EU',
      { os: 'Nintendo', deviceType: 'console' },
    ],
    [
      'Apple Watch',
      'Mozilla/5.0 (Apple Watch; CPU Apple Watch OS 10_1 like Mac OS X) AppleWebKit/605',
      { os: 'watchOS', deviceType: 'wearable', deviceBrand: 'Apple' },
    ],
    ['Galaxy Watch', chrome('Linux; Android 13; SM-R930 Build/TWR7'), { os: 'Android', deviceType: 'wearable' }],
    [
      'Quest',
      'Mozilla/5.0 (X11; Linux x86_64; Quest 3) AppleWebKit/537.36 (KHTML, like Gecko) OculusBrowser/33.0.0 Chrome/124.0.6367.118 VR Safari/537.36',
      { os: 'Android', deviceType: 'wearable', deviceBrand: 'Meta', deviceModel: 'Quest 3' },
    ],
  ])('%s', (_, userAgent, expected) => {
    expect(parseUserAgent(userAgent, undefined)).toMatchObject(expected);
  });
});

describe('operating systems that ua-parser-js misses or reports wrongly', () => {
  test.each([
    [
      'Silk asks for desktop pages',
      'Mozilla/5.0 (Macintosh; U; Intel Mac OS X 10_6_3; en-us; Silk/1.1.0-80) AppleWebKit/533.16 (KHTML, like Gecko) Version/5.0 Safari/533.16',
      { os: 'Android', osVersion: '', deviceType: 'tablet' },
    ],
    [
      'so does Samsung Internet',
      'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/30.0 Chrome/143.0.0.0 Safari/537.36',
      { browser: 'Samsung Internet', os: 'Android' },
    ],
    [
      'UC Browser, Android',
      'UCWEB/2.0 (Linux; U; Adr 4.2.2; zh-CN; ZTE V818) U2/1.0.0 UCBrowser/9.3.2.349 U2/1.0.0 Mobile',
      { os: 'Android', deviceType: 'mobile' },
    ],
    [
      'UC Browser, iPad',
      'UCWEB/2.0 (iOS; U; iPad OS 6_1_3; en-US; iPad2,5) U2/1.0.0 UCBrowser/9.0.0.260 U2/1.0.0 Mobile',
      { os: 'iOS', deviceType: 'tablet' },
    ],
    ['an app without a Mozilla', 'server-bag [iPhone OS,6.1,10B144,iPhone3,2]', { os: 'iOS', deviceType: 'mobile' }],
    [
      'a program of a Mac',
      'Safari/9537.71 CFNetwork/673.0.2 Darwin/13.0.1 (x86_64) (MacBookPro11,1)',
      { os: 'macOS', deviceType: 'desktop' },
    ],
    [
      'Windows CE',
      'Mozilla/5.0 (WindowsCE 6.0; rv:2.0.1) Gecko Firefox/5.0.1',
      { os: 'Windows Phone', deviceType: 'mobile' },
    ],
    [
      'Windows, some',
      'Mozilla/5.0 (Windows; U; en-US) AppleWebKit/531.9 (KHTML, like Gecko) AdobeAIR/2.5.1',
      { os: 'Windows', deviceType: 'desktop' },
    ],
    [
      'a feature phone',
      'SoftBank/1.0/841SH/SHJ001/SN000 Browser/NetFront/3.5 Profile/MIDP-2.0 Configuration/CLDC-1.1',
      { os: '', deviceType: 'mobile' },
    ],
    [
      'Safari 26 on iOS, whose user agent stands still at 18',
      'Mozilla/5.0 (iPhone; CPU iPhone OS 18_7 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.6.1 Mobile/15E148 Safari/604.1',
      { os: 'iOS', osVersion: '26.6.1' },
    ],
    [
      'Instagram on iOS 26',
      'Mozilla/5.0 (iPhone; CPU iPhone OS 18_7 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/23C71 Instagram 416.1.0.27.68 (iPhone15,3; iOS 26_2_1; pt_BR; pt; scale=3.00; 1290x2796; IABMV/1; 881475720) Safari/604.1',
      { browser: 'Instagram', os: 'iOS', osVersion: '26.2.1' },
    ],
    [
      'Facebook on iPadOS 26',
      'Mozilla/5.0 (iPad; CPU OS 18_7 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 [FBAN/FBIOS;FBAV/549.1.0.40.107;FBBV/886965988;FBDV/iPad15,7;FBMD/iPad;FBSN/iPadOS;FBSV/26.2;FBSS/2;FBCR/;FBID/tablet;FBLC/en_US;FBOP/80]',
      { browser: 'Facebook', os: 'iOS', osVersion: '26.2' },
    ],
    [
      'Threads on iOS 26',
      'Mozilla/5.0 (iPhone; CPU iPhone OS 18_7 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/23D5103d Barcelona 413.1.0.23.79 (iPhone18,1; iOS 26_3; en_US; en; scale=3.00; 1206x2622; IABMV/1; 865807478)',
      { browser: 'Threads', os: 'iOS', osVersion: '26.3' },
    ],
    [
      'DuckDuckGo on iOS 26',
      'Mozilla/5.0 (iPhone; CPU iPhone OS 18_7 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.0 Mobile/15E148 DuckDuckGo/26 Safari/605.1.15',
      { browser: 'DuckDuckGo', os: 'iOS', osVersion: '26.0' },
    ],
    [
      'DuckDuckGo 26 on iOS 18',
      'Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.6 Mobile/15E148 DuckDuckGo/26 Safari/605.1.15',
      { os: 'iOS', osVersion: '18.6' },
    ],
    [
      'Instagram on iOS 18',
      'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/22F76 Instagram 393.1.0.36.70 (iPhone15,3; iOS 18_5; en_US; en; scale=3.00; 1290x2796; IABMV/1; 776538208) Safari/604.1',
      { os: 'iOS', osVersion: '18.5' },
    ],
    [
      'Safari 18 on iOS 18',
      'Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1',
      { os: 'iOS', osVersion: '18.1' },
    ],
    [
      'a version of Ubuntu',
      'Mozilla/5.0 (X11; U; Linux i686; de; rv:1.9.0.10) Gecko/2009042523 Ubuntu/9.04 (jaunty) Firefox/3.0.10',
      { os: 'Linux', osVersion: '9.04' },
    ],
    ['Linux stays Linux', chrome('X11; Linux x86_64'), { os: 'Linux', deviceType: 'desktop' }],
    ['a Mac stays a Mac', chrome('Macintosh; Intel Mac OS X 10_15_7'), { os: 'macOS', deviceType: 'desktop' }],
    ['Chromebook', chrome('X11; CrOS x86_64 14541.0.0'), { os: 'Chrome OS', deviceType: 'desktop' }],
    [
      'KaiOS',
      'Mozilla/5.0 (Mobile; Nokia_2720_Flip; rv:48.0) Gecko/48.0 Firefox/48.0 KAIOS/2.5',
      { os: 'KaiOS', deviceType: 'mobile' },
    ],
  ])('%s', (_, userAgent, expected) => {
    expect(parseUserAgent(userAgent, undefined)).toMatchObject(expected);
  });

  test.each(['aarch64', 'i686', 'riscv64', 'ppc64le', 'i686 on x86_64'])(
    '%s is the CPU, not the version of Linux',
    (cpu) => {
      const userAgent = `Mozilla/5.0 (X11; Linux ${cpu}; rv:130.0) Gecko/20100101 Firefox/130.0`;
      expect(parseUserAgent(userAgent, undefined)).toMatchObject({ os: 'Linux', osVersion: '', deviceType: 'desktop' });
    },
  );
});

test.each([
  ['Pixel 8', 'Google'],
  ['SM-S918B', 'Samsung'],
  ['moto g power', 'Motorola'],
  ['M2012K11AC', 'Xiaomi'],
  ['22101316G', 'Xiaomi'],
  ['RMX2030', 'Realme'],
  ['CPH2211', 'OPPO'],
  ['V2145', 'vivo'],
  ['KB2003', 'OnePlus'],
  ['SO-51C', 'Sony'],
  ['VOG-L29', 'Huawei'],
  ['SH-54D', 'Sharp'],
  ['Nokia G42', 'Nokia'],
  ['Infinix X6835', 'Infinix'],
  ['TECNO CK7n', 'TECNO'],
  ['itel A667L', 'itel'],
  ['FP5', 'Fairphone'],
  ['A065', 'Nothing'],
  ['TB-J606F', 'Lenovo'],
  ['LM-Q730', 'LG'],
  ['Quest 3', 'Meta'],
  ['Unheard Of', ''],
  ['', ''],
])('the maker of %s', (model, brand) => {
  expect(deviceBrand(model)).toBe(brand);
});
