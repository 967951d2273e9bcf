import { bots } from './bots.ts';
import { channels } from './channels.ts';
import { clients } from './clients.ts';
import { countries } from './countries.ts';
import type { Section } from './section.ts';
import { sources } from './sources.ts';

/** The parts of docs/accuracy.md, in order. Each is a function from its own file of this folder. */
export const SECTIONS: readonly (() => Section | Promise<Section>)[] = [clients, bots, sources, channels, countries];
