import { inAppBrowser } from '../../src/user-agent/in-app-browsers.ts';
import { parseUserAgent } from '../../src/user-agent/parse-user-agent.ts';
import { CHROME } from '../pipeline/enrich-harness.ts';

const IOS =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148';
const ANDROID =
  'Mozilla/5.0 (Linux; Android 14; SM-A546B; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/125.0.6422.165 Mobile Safari/537.36';

describe('in-app browsers and web views', () => {
  test.each([
    [`${IOS} [FBAN/FBIOS;FBAV/465.0.1.41.103;FBBV/602060281;FBDV/iPhone14,5]`, 'Facebook', '465.0.1.41.103'],
    [`${ANDROID} [FB_IAB/FB4A;FBAV/466.0.0.51.109;]`, 'Facebook', '466.0.0.51.109'],
    [`${IOS} [FBAN/MessengerForiOS;FBAV/460.0.0.44.109;FBDV/iPhone14,5]`, 'Messenger', '460.0.0.44.109'],
    [`${ANDROID} [FB_IAB/Orca-Android;FBAV/460.0;]`, 'Messenger', '460.0'],
    [
      `${IOS} Instagram 334.0.4.32.98 (iPhone14,5; iOS 17_5_1; en_US; en; scale=3.00; 1170x2532)`,
      'Instagram',
      '334.0.4.32.98',
    ],
    [`${IOS} Barcelona 335.0.0.23.93 (iPhone14,5; iOS 17_4)`, 'Threads', '335.0.0.23.93'],
    [`${IOS} Safari/604.1 MetaIAB Facebook`, 'Facebook', ''],
    [`${ANDROID} MetaIAB Facebook`, 'Facebook', ''],
    [`${ANDROID} MetaIAB Instagram NV/1`, 'Instagram', ''],
    [`${ANDROID} MetaIAB Threads`, 'Threads', ''],
    [`${ANDROID} MetaIAB Messenger`, 'Messenger', ''],
    [`${IOS} musical_ly_34.9.0 JsSdk/2.0 NetType/WIFI Channel/App Store BytedanceWebview/d8a21c6`, 'TikTok', '34.9.0'],
    [`${ANDROID} trill_340803 BytedanceWebview/d8a21c6 JsSdk/1.0 AppName/trill`, 'TikTok', ''],
    [`${ANDROID} musical_ly_2023501040 JsSdk/1.0 AppName/musical_ly app_version/35.1.4 Region/GB`, 'TikTok', '35.1.4'],
    [`${IOS} Viber/22.9.0`, 'Viber', '22.9.0'],
    [`${IOS} Zalo iOS/24070205`, 'Zalo', '24070205'],
    [`${ANDROID} VKAndroidApp/8.82-20815`, 'VK', '8.82'],
    [`${IOS} LinkedInApp/9.31.2411`, 'LinkedIn', '9.31.2411'],
    [`${ANDROID} Twitter/10.50.0-release.0`, 'X', '10.50.0'],
    [`${IOS} Safari/605.1.15 (Ecosia ios@9.1.0.1820)`, 'Ecosia', '9.1.0.1820'],
    [`${ANDROID} AlohaBrowser/5.9.0`, 'Aloha Browser', '5.9.0'],
    [`${CHROME} CCleaner/131.0.0.0`, 'CCleaner Browser', '131.0.0.0'],
    [`${CHROME} Avira/131.0.0.0`, 'Avira Secure Browser', '131.0.0.0'],
    [`${CHROME} Norton/131.0.0.0`, 'Norton Private Browser', '131.0.0.0'],
    [`${IOS} aweme_29.1.0 JsSdk/2.0`, 'Douyin', '29.1.0'],
    [`${IOS} Safari Line/14.9.0`, 'LINE', '14.9.0'],
    [`${ANDROID} Line/14.9.0/IAB`, 'LINE', '14.9.0'],
    [`${IOS} MicroMessenger/8.0.49(0x18003137) NetType/WIFI Language/zh_CN`, 'WeChat', '8.0.49'],
    [`${IOS} [LinkedInApp]/9.29.7720`, 'LinkedIn', '9.29.7720'],
    [`${ANDROID} [LinkedInApp]`, 'LinkedIn', ''],
    [`${IOS} Snapchat/12.90.0.42 (like Safari/8618.2.12.10.9, panda)`, 'Snapchat', '12.90.0.42'],
    [`${ANDROID}Snapchat12.90.0.46 (SM-A546B; Android 14; gzip; )`, 'Snapchat', '12.90.0.46'],
    [`${IOS} [Pinterest/iOS]`, 'Pinterest', ''],
    [`${ANDROID} Pinterest for Android/11.2`, 'Pinterest', '11.2'],
    [`${IOS} GSA/320.0.640888186 Safari/604.1`, 'Google App', '320.0.640888186'],
    [`${ANDROID} GSA/15.22.29.28.arm64`, 'Google App', '15.22.29.28'],
    [`${IOS} Twitter for iPhone/10.45`, 'X', '10.45'],
    [`${ANDROID} TwitterAndroid`, 'X', ''],
    [`${ANDROID} Reddit/Version 2024.20.0/Build 1/Android 13`, 'Reddit', '2024.20.0'],
    [`${ANDROID} GoogleApp/16.34.61.ve.arm64`, 'Google App', '16.34.61'],
    [`${ANDROID} YJApp-ANDROID jp.co.yahoo.android.yjtop/3.227.1`, 'Yahoo! Japan', '3.227.1'],
    [`${ANDROID} PHX/19.5`, 'Phoenix Browser', '19.5'],
    [`${IOS} KAKAOTALK 10.4.3`, 'KakaoTalk', '10.4.3'],
    [`${ANDROID} NAVER(inapp; search; 2000; 12.6.4)`, 'NAVER', '12.6.4'],
    [`${ANDROID} Telegram-Android/11.4.2 (Samsung SM-A546B; Android 14; SDK 34; AVERAGE)`, 'Telegram', '11.4.2'],
    [`${IOS} AlipayClient/10.5.96`, 'Alipay', '10.5.96'],
    [`${IOS} Weibo (iPhone14,5__weibo__14.6.1__iphone__os17.5)`, 'Weibo', '14.6.1'],
    [`${ANDROID} MQQBrowser/6.2 TBS/045 QQ/8.8.88`, 'QQ', '8.8.88'],
    [`${ANDROID} BingSapphire/28.2`, 'Bing', '28.2'],
    [
      'Mozilla/5.0 (compatible; MSIE 10.0; Windows NT 6.2; WOW64; Trident/6.0; QQBrowser/7.6.21433.400)',
      'QQ Browser',
      '7.6.21433.400',
    ],
    ['IUC(U;iOS 5.1.1;Zh-cn;320*480;)/UCWEB7.9.0.94/41/997', 'UC Browser', '7.9.0.94'],
    [
      'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/120 Safari/537.36 Valve Steam GameOverlay/1700',
      'Steam',
      '',
    ],
  ])('%s', (userAgent, name, version) => {
    expect(inAppBrowser(userAgent)).toEqual({ name, version });
    expect(parseUserAgent(userAgent, undefined)).toMatchObject({ browser: name, browserVersion: version });
  });

  test('a web view of an unknown app is named after its system, and no app is found in a browser', () => {
    expect(parseUserAgent(IOS, undefined).browser).toBe('Safari (in-app)');
    expect(parseUserAgent(ANDROID, undefined).browser).toBe('Android WebView');
    expect(inAppBrowser(IOS)).toBeUndefined();
    // `Line` also occurs inside other words.
    expect(inAppBrowser(`${ANDROID} Online/1.0`)).toBeUndefined();
  });
});
