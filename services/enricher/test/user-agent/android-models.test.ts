import { parseUserAgent } from '../../src/user-agent/parse-user-agent.ts';

const parse = (model: string, mobile: '' | 'Mobile ') =>
  parseUserAgent(
    `Mozilla/5.0 (Linux; Android 12; ${model}) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/124.0.0.0 ${mobile}Safari/537.36`,
    undefined,
  );

describe('televisions and set-top boxes, whether the user agent has `Mobile` or not', () => {
  test.each([
    'Chromecast Build/STTL.240508.005; wv',
    'Chromecast HD',
    'Mi Box',
    'MIBOX4',
    'MITV4-ANSM0',
    'Nexus Player',
    'SHIELD TV',
    'Xiaomi TV Box',
    'AQUOS-TVX22A Build/PTT1',
    'Hyundai TV',
    'itel TV',
    'KodakTV',
    'LenovoTV 49E82',
    'MagentaTV ONE',
  ])('%s', (model) => {
    expect(parse(model, 'Mobile ').deviceType).toBe('tv');
    expect(parse(model, '').deviceType).toBe('tv');
  });

  test.each(['BTV-W09', 'HTV33', 'STV100-1', 'LG-X170fTV', 'FlareS5LiteDTV', 'BNTV460'])('%s is none', (model) => {
    expect(parse(model, 'Mobile ').deviceType).not.toBe('tv');
  });
});

describe('tablets', () => {
  test.each([
    'moto tab g70',
    'Lenovo Smart Tab M10',
    'HUAWEI MatePad 11',
    'Honor Pad 8',
    'vivo Pad',
    'vivo Pad2',
    'POCO Pad',
    'itel Pad 1',
    'OUKITEL RT3 Pro',
  ])('%s', (model) => {
    expect(parse(model, '').deviceType).toBe('tablet');
    expect(parse(model, 'Mobile ').deviceType).toBe('mobile');
  });

  test.each(['Pixel 2', 'SM-G920I', 'TAH-AN00', 'HUAWEI P30 lite'])('the phone %s is none', (model) => {
    expect(parse(model, '').deviceType).toBe('mobile');
  });
});

test('a phone of the maker Coolpad is no tablet', () => {
  const app = 'Dalvik/2.1.0 (Linux; U; Android 8.1.0; Coolpad 3310A Build/3310A.SPRINT.200813.0S)';
  expect(parseUserAgent(app, undefined)).toMatchObject({ deviceType: 'mobile', deviceModel: 'Coolpad 3310A' });
});

test('a television of LG has the brand LG', () => {
  const television = 'HbbTV/1.1.1 ( ;LGE ;NetCast 4.0 ;03.20.30 ;1.0M ;)';
  expect(parseUserAgent(television, undefined)).toMatchObject({ deviceType: 'tv', deviceBrand: 'LG' });
});

describe('brands and models', () => {
  test.each([
    ['OUKITEL WP30 Pro', 'OUKITEL', 'OUKITEL WP30 Pro'],
    ['itel A667L', 'itel', 'A667L'],
    ['HUAWEI P30 lite', 'Huawei', 'P30 lite'],
    ['HONOR 9X', 'Honor', '9X'],
    ['vivo 1906', 'vivo', '1906'],
    ['V2111A Build/RP1A', 'vivo', 'V2111A'],
    ['ALCATEL A564C', 'Alcatel', 'A564C'],
    ['Alcatel_5044R', 'Alcatel', '5044R'],
    ['A101SH', 'Sharp', 'A101SH'],
    ['A201SO Build/64.0', 'Sony', 'A201SO'],
    ['A101OP', 'OPPO', 'A101OP'],
    ['A201XM', 'Xiaomi', 'A201XM'],
    ['A101KC', 'Kyocera', 'A101KC'],
    ['A103ZT', 'ZTE', 'A103ZT'],
    ['A101FC', '', 'A101FC'],
  ])('the phone %s: brand "%s", model %s', (model, deviceBrand, deviceModel) => {
    expect(parse(model, 'Mobile ')).toMatchObject({ deviceBrand, deviceModel, deviceType: 'mobile' });
  });

  test.each([
    ['A510', 'Acer', 'A510'],
    ['B1-710', 'Acer', 'B1-710'],
    ['A101LV', 'Lenovo', 'A101LV'],
    ['A301LV', 'Lenovo', 'A301LV'],
  ])('the tablet %s', (model, deviceBrand, deviceModel) => {
    expect(parse(model, '')).toMatchObject({ deviceBrand, deviceModel, deviceType: 'tablet' });
  });
});
