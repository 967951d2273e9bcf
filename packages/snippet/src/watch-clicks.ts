import { isOn, type Options } from './options.ts';
import type { WeirCore } from './weir.ts';

interface ClickOrSubmit {
  readonly type: string;
  readonly target: Element;
  readonly button?: number;
}

/** Sends events for elements with `data-weir-event`, and for links and forms if the options say so. */
export function watchClicks(track: WeirCore['track'], cleanUrl: (url: string) => string, options: Options): void {
  const look = ({ type, target: element, button }: ClickOrSubmit): void => {
    // A right click only opens a menu, so it is not counted.
    if (!element.closest || (button as number) > 1) return;
    const isForm = type === 'submit';
    const marked = element.closest(`${isForm ? 'form' : ':not(form)'}[data-weir-event]`);
    // After a click on the text of a label, the browser also clicks the control of the label. Only the second click is counted if both are in
    // `marked`. If `element` is in no label, `look` is used, because it has no property `control`. `element` itself is not used: it can be a
    // form with a field `control`.
    if (
      marked &&
      ((element as HTMLInputElement).labels ||
        !marked.contains(((element.closest('label') || look) as HTMLLabelElement).control))
    ) {
      const properties: Record<string, string> = {};
      for (const { name, value } of marked.attributes) {
        if (/^data-weir-/.test(name)) properties[name.slice(10)] = value;
      }
      // biome-ignore lint/complexity/noCommaOperator: saves 4 bytes
      track(properties.event as string, (delete properties.event, properties));
    }
    const link = element.closest('a');
    const name = isForm
      ? 'form'
      : link &&
        (/\.(pdf|(doc|xls|ppt)x?|csv|txt|zip|rar|gz|dmg|exe|mp\d)$/i.test(link.pathname)
          ? 'download'
          : link.host && link.host !== location.host && 'outbound');
    // If `name` is null, false or empty, there is no such option.
    if (isOn(options[name as 'form'])) {
      track(
        name as 'form',
        isForm ? { form: element.getAttribute('id') } : { url: cleanUrl((link as HTMLAnchorElement).href) },
      );
    }
  };
  for (const type of ['click', 'auxclick', 'submit']) addEventListener(type, look as unknown as EventListener, true);
}
