import type { UserAgent } from './user-agent.ts';

const APPLE_HANDHELD = /\b(?:iPhone|iPad|iPod|iPh OS|iPad OS|iOS\b)/;
/** Programs on a Mac that use the HTTP library of the operating system. */
const MAC_PROGRAM = /\bDarwin\/\S+ \((?:i386|x86_64)\)/;
const WINDOWS_PHONE = /\bWindows ?CE\b|\bwds \d|\bXBLWP7\b/;
/**
 * Finds browsers on Android whose user agent does not contain `Android`. Silk and Samsung Internet leave it out when they ask for desktop pages.
 * UC Browser writes `Adr` or `JUC` instead, and Opera on televisions `Andr0id`.
 */
const ANDROID = /\bSilk\/|\bSamsungBrowser\/|\bAdr \d|\bJUC ?\(Linux|\bAndr0id\b/;
/** KaiOS also runs Android's apps, so its user agent can contain `Android`. */
const KAI_OS = /KAIOS\/([\d.]+)/;
/** Computers with OpenHarmony, the system of Huawei's newer devices. Phones and tablets have `Phone` or `Tablet` in this place. */
const HARMONY_PC = '(PC; OpenHarmony';
const WINDOWS = /\bWin(?:dows|16|32| NT)\b/;
const FEATURE_PHONE =
  /\b(?:KDDI-|DoCoMo\/|SoftBank\/|Vodafone\/|J-PHONE\/|FOMA\b|MIDP|CLDC|UP\.Browser|OPWV|J2ME|Obigo|jig browser|OpenBrowser|UCWEB|Fennec\/|Opera Mobi)/;

/**
 * Sets the operating system if ua-parser-js finds none or finds a wrong one, and then sets the device type that follows from
 * it.
 */
export function normalizeOs(agent: UserAgent, userAgent: string): UserAgent {
  const os = systemOf(agent.os, userAgent);
  const corrected = { ...agent, os, osVersion: versionOf(agent, os, userAgent) };
  return { ...corrected, deviceType: typeOf(corrected, os !== agent.os, userAgent) };
}

function systemOf(os: string, userAgent: string): string {
  if (userAgent.includes('KAIOS/')) return 'KaiOS';
  if (MAC_PROGRAM.test(userAgent)) return 'macOS';
  if (os === 'iOS' || os === 'Android' || os === 'Nintendo') return os;
  if (APPLE_HANDHELD.test(userAgent) && (os === '' || os === 'macOS')) return 'iOS';
  if (WINDOWS_PHONE.test(userAgent)) return 'Windows Phone';
  if (ANDROID.test(userAgent) && (os === 'Linux' || os === 'macOS')) return 'Android';
  return os === '' && WINDOWS.test(userAgent) ? 'Windows' : os;
}

function versionOf(agent: UserAgent, os: string, userAgent: string): string {
  if (os === 'KaiOS') return KAI_OS.exec(userAgent)?.[1] ?? '';
  if (agent.os !== '' && agent.os !== os) return '';
  // ua-parser-js knows no version of Windows after NT 10.0.
  if (agent.osVersion.startsWith('NT 1')) return agent.osVersion.slice(3).replace('.0', '');
  // If the user agent has no version of Linux, ua-parser-js returns the CPU, for example `aarch64`.
  return os === 'Linux' && !/^\d/.test(agent.osVersion) ? '' : agent.osVersion;
}

function typeOf({ os, deviceType }: UserAgent, isMoved: boolean, userAgent: string): string {
  if (userAgent.includes(HARMONY_PC)) return 'desktop';
  if (!isMoved) return deviceType === '' && FEATURE_PHONE.test(userAgent) ? 'mobile' : deviceType;
  if (os === 'macOS' || os === 'Windows') return 'desktop';
  if (deviceType !== '' && deviceType !== 'desktop') return deviceType;
  // Browsers on tablets often ask for desktop pages by default. Browsers on phones seldom do.
  if (os === 'Android') return /\bMobile\b|UCWEB/.test(userAgent) ? 'mobile' : 'tablet';
  return /\biPad/.test(userAgent) ? 'tablet' : 'mobile';
}
