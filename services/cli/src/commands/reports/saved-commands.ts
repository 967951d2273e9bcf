import { type Command, Option } from 'commander';
import { type CommandContext, groupOf, siteOption, sitePath, withExamples } from '../../command-context.ts';
import { print } from '../../output.ts';
import { addListCommand, addRemoveCommand } from '../../site-lists.ts';

interface SegmentView {
  readonly segment_id: string;
  readonly name: string;
  readonly filters: readonly string[];
}

interface AnnotationView {
  readonly annotation_id: string;
  readonly at: string;
  readonly text: string;
}

interface SavedOptions {
  readonly json?: boolean;
  readonly site: string;
  readonly name: string;
  readonly filter: readonly string[];
  readonly at: string;
}

export function addSavedCommands(program: Command, context: CommandContext): void {
  addSegmentCommands(program, context);
  addAnnotationCommands(program, context);
}

function addSegmentCommands(program: Command, context: CommandContext): void {
  const { io, client } = context;
  const segment = groupOf(program, 'segment', 'filters that are saved under a name', 'weir segment list --site shop');

  withExamples(
    segment.command('add').description('save filters under a name'),
    "weir segment add --site shop --name 'Germany on phones' --filter country:is:DE --filter device:is:mobile",
  )
    .addOption(siteOption())
    .requiredOption('--name <name>', 'the name')
    .addOption(
      new Option('--filter <filter...>', 'as in weir stats: DIMENSION:OPERATOR:VALUE,VALUE').makeOptionMandatory(),
    )
    .action(async ({ json, site, name, filter }: SavedOptions) => {
      const body = { name, filters: filter };
      const made = await client().call<SegmentView>('POST', sitePath(site, 'segments'), body);
      print(io, json, made, ({ segment_id }) => `added ${segment_id}`);
    });

  addListCommand<SegmentView>(segment, context, {
    path: 'segments',
    description: 'list the segments',
    row: ({ segment_id, name, filters }) => ({ segment_id, name, filters: filters.join('  ') }),
    none: 'no segments',
  });

  addRemoveCommand(segment, context, { path: 'segments', id: 'segment_id', description: 'remove a segment' });
}

function addAnnotationCommands(program: Command, context: CommandContext): void {
  const { io, client } = context;
  const annotation = groupOf(
    program,
    'annotation',
    'notes that the charts of a site show',
    'weir annotation list --site shop',
  );

  withExamples(
    annotation.command('add <text>').description('add a note at a moment'),
    "weir annotation add 'Version 2 released' --site shop --at 2026-11-22",
  )
    .addOption(siteOption())
    .requiredOption('--at <time>', 'a date in the time zone of the site, or an ISO 8601 time')
    .action(async (text: string, { json, site, at }: SavedOptions) => {
      const made = await client().call<AnnotationView>('POST', sitePath(site, 'annotations'), { at, text });
      print(io, json, made, (shown) => `added ${shown.annotation_id} at ${shown.at}`);
    });

  addListCommand<AnnotationView>(annotation, context, {
    path: 'annotations',
    description: 'list the notes',
    row: ({ annotation_id, at, text }) => ({ annotation_id, at, text }),
    none: 'no annotations',
  });

  addRemoveCommand(annotation, context, { path: 'annotations', id: 'annotation_id', description: 'remove a note' });
}
