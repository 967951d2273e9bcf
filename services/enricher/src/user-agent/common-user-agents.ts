const APPLE_WEBKIT = 'AppleWebKit\\/[\\d.]+ \\(KHTML, like Gecko\\)';
/** Matches the engine and the version of a browser based on Chromium. The user agents of Edge and Opera end with `NAME`. */
const CHROMIUM = `${APPLE_WEBKIT} Chrome\\/[\\d.]+`;
const NAME = '(?: (?:Edg|EdgA|OPR)\\/[\\d.]+)?';
const DESKTOP =
  '(?:Windows NT \\d+\\.\\d+(?:; (?:Win64; x64|WOW64))?|X11; (?:Ubuntu; )?Linux (?:x86_64|i686))(?:; rv:\\d+\\.\\d+)?';
const MAC = 'Macintosh; Intel Mac OS X [\\d_.]+(?:; rv:\\d+\\.\\d+)?';
const IPHONE = '(?:iPhone; CPU iPhone|iPad; CPU) OS [\\d_]+ like Mac OS X';
/** Since version 110, Chrome sends Android 10 and the model `K` for every Android device. */
const ANDROID = '^Mozilla\\/5\\.0 \\(Linux; Android 10; K\\) ';

/**
 * Patterns that ua-parser-js tries before its own. They match the most common user agents of computers, of Android and of iPhones. The result is the
 * same as that of its own patterns, but those must first try most of the 200 patterns of devices and 90 patterns of browsers. Each pattern must match
 * the whole user agent, because an unknown addition can mean another device or browser.
 */
export const COMMON_DEVICES = [
  [
    new RegExp(
      `^Mozilla\\/5\\.0 \\(${DESKTOP}\\) (?:${CHROMIUM} Safari\\/[\\d.]+${NAME}|Gecko\\/\\d+ Firefox\\/\\d+\\.\\d+)$`,
    ),
  ],
  // A desktop computer has no vendor, no model and no type.
  [],
  [new RegExp(`${ANDROID}${CHROMIUM} Mobile Safari\\/[\\d.]+${NAME}$`)],
  [
    ['model', 'K'],
    ['type', 'mobile'],
  ],
  [new RegExp(`${ANDROID}${CHROMIUM} Safari\\/[\\d.]+${NAME}$`)],
  [
    ['model', 'K'],
    ['type', 'tablet'],
  ],
] as const;

export const COMMON_BROWSERS = [
  [
    new RegExp(
      `^Mozilla\\/5\\.0 \\((?:${DESKTOP}|${MAC}|Linux; Android 10; K)\\) ${APPLE_WEBKIT} (Chrome)\\/([\\d.]+)(?: Mobile)? Safari\\/[\\d.]+$`,
    ),
    new RegExp(`^Mozilla\\/5\\.0 \\((?:${DESKTOP}|${MAC})\\) Gecko\\/\\d+ (Firefox)\\/([\\d.]+)$`),
  ],
  ['name', 'version'],
  [new RegExp(`^Mozilla\\/5\\.0 \\(${MAC}\\) ${APPLE_WEBKIT} Version\\/([\\d.]+) (Safari)\\/[\\d.]+$`)],
  ['version', 'name'],
  [new RegExp(`^Mozilla\\/5\\.0 \\(${IPHONE}\\) ${APPLE_WEBKIT} Version\\/([\\d.]+) Mobile\\/\\w+ Safari\\/[\\d.]+$`)],
  ['version', ['name', 'Mobile Safari']],
] as const;
