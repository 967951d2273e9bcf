import type { UserAgent } from './user-agent.ts';

const APPLE_HANDHELD = /\b(?:iPhone|iPad|iPod|iPh OS|iPad OS|iOS\b)/;
/** Programs of a Mac that fetch through the system's own library. */
const MAC_PROGRAM = /\bDarwin\/\S+ \((?:i386|x86_64)\)/;
const WINDOWS_PHONE = /\bWindows ?CE\b|\bwds \d|\bXBLWP7\b/;
/** Browsers that exist on Android alone, and hide it when they ask for desktop pages; `Adr` and JUC are of UC Browser. */
const ANDROID = /\bSilk\/|\bSamsungBrowser\/|\bAdr \d|\bJUC ?\(Linux/;
const WINDOWS = /\bWin(?:dows|16|32| NT)\b/;
const FEATURE_PHONE =
  /\b(?:KDDI-|DoCoMo\/|SoftBank\/|Vodafone\/|J-PHONE\/|FOMA\b|MIDP|CLDC|UP\.Browser|OPWV|J2ME|Obigo|jig browser|OpenBrowser|UCWEB|Fennec\/|Opera Mobi)/;

/** The system where ua-parser-js finds none, or one that the user agent only pretends to; and the device that follows. */
export function normalizeOs(agent: UserAgent, userAgent: string): UserAgent {
  const os = systemOf(agent.os, userAgent);
  const moved = os === agent.os ? agent : { ...agent, os, osVersion: agent.os === '' ? agent.osVersion : '' };
  return { ...moved, deviceType: typeOf(moved, os !== agent.os, userAgent) };
}

function systemOf(os: string, userAgent: string): string {
  if (MAC_PROGRAM.test(userAgent)) return 'macOS';
  if (os === 'iOS' || os === 'Android' || os === 'Nintendo') return os;
  if (APPLE_HANDHELD.test(userAgent) && (os === '' || os === 'macOS')) return 'iOS';
  if (WINDOWS_PHONE.test(userAgent)) return 'Windows Phone';
  if (ANDROID.test(userAgent) && (os === 'Linux' || os === 'macOS')) return 'Android';
  return os === '' && WINDOWS.test(userAgent) ? 'Windows' : os;
}

function typeOf({ os, deviceType }: UserAgent, isMoved: boolean, userAgent: string): string {
  if (!isMoved) return deviceType === '' && FEATURE_PHONE.test(userAgent) ? 'mobile' : deviceType;
  if (os === 'macOS' || os === 'Windows') return 'desktop';
  if (deviceType !== '' && deviceType !== 'desktop') return deviceType;
  // A tablet's browser asks for desktop pages of its own accord; a phone's seldom.
  if (os === 'Android') return /\bMobile\b|UCWEB/.test(userAgent) ? 'mobile' : 'tablet';
  return /\biPad/.test(userAgent) ? 'tablet' : 'mobile';
}
