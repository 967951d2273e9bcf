/** Matches the rest of a model up to the end of its part of the user agent. */
const REST = /[^;()/]*?(?=\s*(?:Build\/|[;()/]|$))/y;

/** The model of an Android device, and the text before it in the same part of the user agent. */
export interface WholeModel {
  readonly model: string;
  /** Often the brand: `motorola ` in `; motorola edge 40)`. */
  readonly before: string;
}

/**
 * Completes a model of which ua-parser-js returns only a part: `edge` of `motorola edge 40`, `KA` of `AFTKA`, `Quest 3` of `Quest 3S`.
 */
export function wholeModel(model: string, userAgent: string): WholeModel {
  const from = userAgent.indexOf('Android');
  const at = model === '' || from < 0 ? -1 : userAgent.indexOf(model, from);
  if (at < 0) return { model, before: '' };
  let begin = at;
  while (/[A-Za-z0-9]/.test(userAgent.charAt(begin - 1))) begin -= 1;
  const part = Math.max(...[';', '(', ')', '/'].map((end) => userAgent.lastIndexOf(end, begin - 1))) + 1;
  REST.lastIndex = at + model.length;
  return {
    model: userAgent.slice(begin, at) + model + (REST.exec(userAgent)?.[0] ?? ''),
    before: userAgent.slice(part, begin).trim(),
  };
}
