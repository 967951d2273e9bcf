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
    'H-LED43GU7003 Build/PPR2',
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
    ['motorola edge 40', 'Motorola', 'edge 40'],
    ['motorola razr 50 ultra Build/U3UXS34', 'Motorola', 'razr 50 ultra'],
    ['Infinix HOT 40i', 'Infinix', 'HOT 40i'],
    ['SC-51D', 'Samsung', 'SC-51D'],
    ['ZTE A7030', 'ZTE', 'A7030'],
    ['NX729J', 'ZTE', 'NX729J'],
    ['Wiko W-V770', 'Wiko', 'Wiko W-V770'],
    ['CUBOT_X30', 'Cubot', 'CUBOT_X30'],
    ['24069PC21G', 'Xiaomi', '24069PC21G'],
    ['2409BRN2CA', 'Xiaomi', '2409BRN2CA'],
    ['Xiaomi 14', 'Xiaomi', 'Xiaomi 14'],
    ['PGT110', 'OPPO', 'PGT110'],
    ['PEUM00', 'OPPO', 'PEUM00'],
    ['TA-1053', 'Nokia', 'TA-1053'],
    ['A059P', 'Nothing', 'A059P'],
    ['A001T', 'Nothing', 'A001T'],
    ['T671G', 'TCL', 'T671G'],
    ['XT2093DL', 'Motorola', 'XT2093DL'],
    ['PANB0015IN', 'Motorola', 'PANB0015IN'],
    ['MZB07Z0IN', 'Xiaomi', 'MZB07Z0IN'],
    ['Galaxy S21', 'Samsung', 'Galaxy S21'],
    ['iQOO Neo 5', 'vivo', 'iQOO Neo 5'],
    ['OPG04', 'OPPO', 'OPG04'],
    ['CPH2387', 'OPPO', 'CPH2387'],
    ['CPH2581', 'OnePlus', 'CPH2581'],
    ['PJZ110', 'OnePlus', 'PJZ110'],
    ['PGKM10', 'OnePlus', 'PGKM10'],
    ['CDY-NX9B; HMSCore 5.0.5.300', 'Huawei', 'CDY-NX9B'],
    ['MIS-LX9', 'Huawei', 'MIS-LX9'],
    ['KYG02', 'Kyocera', 'KYG02'],
    ['F-51B', 'Fujitsu', 'F-51B'],
    ['SH-M24', 'Sharp', 'SH-M24'],
    ['V1938T', 'vivo', 'V1938T'],
    ['GM1913', 'OnePlus', 'GM1913'],
    ['LGM-V300L', 'LG', 'LGM-V300L'],
  ])('the phone %s: brand "%s", model %s', (model, deviceBrand, deviceModel) => {
    expect(parse(model, 'Mobile ')).toMatchObject({ deviceBrand, deviceModel, deviceType: 'mobile' });
  });

  test.each([
    ['A510', 'Acer', 'A510'],
    ['B1-710', 'Acer', 'B1-710'],
    ['A101LV', 'Lenovo', 'A101LV'],
    ['A301LV', 'Lenovo', 'A301LV'],
    ['KFRASWI', 'Amazon', 'KFRASWI'],
    ['RMP2102', 'Realme', 'RMP2102'],
    ['TB-X606F Build/QP1A', 'Lenovo', 'TB-X606F'],
    ['AGS3K-W09; HMSCore 6.3.0.326', 'Huawei', 'AGS3K-W09'],
    ['PA2353', 'vivo', 'PA2353'],
  ])('the tablet %s', (model, deviceBrand, deviceModel) => {
    expect(parse(model, '')).toMatchObject({ deviceBrand, deviceModel, deviceType: 'tablet' });
  });
});

describe('Honor, which uses the model numbers of Huawei', () => {
  test.each([
    [12, 'TAH-AN00', 'Huawei'],
    [10, 'ELS-NX9', 'Huawei'],
    [10, 'BAH3-W09', 'Huawei'],
    [10, 'ELS-N29', 'Huawei'],
    [12, 'NTN-LX1', 'Honor'],
    [12, 'LLY-NX1', 'Honor'],
    [12, 'PGT-N19', 'Honor'],
    [13, 'MAA-AN00', 'Honor'],
    [14, 'ROD2-W09', 'Honor'],
  ])('Android %i, %s: %s', (version, model, deviceBrand) => {
    const userAgent = `Mozilla/5.0 (Linux; Android ${version}; ${model}) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/114.0.5735.196 Safari/537.36`;
    expect(parseUserAgent(userAgent, undefined)).toMatchObject({ deviceBrand, deviceModel: model });
  });
});

test('a device without a model is a phone if its user agent has `Mobile`, wherever that stands', () => {
  const type = (end: string) =>
    parseUserAgent(
      `Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/131.0.0.0 ${end}`,
      undefined,
    ).deviceType;
  expect(type('Mobile DuckDuckGo/5 Safari/537.36')).toBe('mobile');
  expect(type('DuckDuckGo/5 Safari/537.36')).toBe('tablet');
});
