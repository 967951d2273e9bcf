import { type Command, Option } from 'commander';
import { type CommandContext, groupOf, siteOption, sitePath, withExamples } from '../../command-context.ts';
import { print, table } from '../../output.ts';

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

function addSegmentCommands(program: Command, { io, client }: CommandContext): void {
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

  withExamples(segment.command('list').description('list the segments'), 'weir segment list --site shop')
    .addOption(siteOption())
    .action(async ({ json, site }: SavedOptions) => {
      print(io, json, await client().call<SegmentView[]>('GET', sitePath(site, 'segments')), (segments) =>
        table(
          ['segment_id', 'name', 'filters'],
          segments.map((row) => [row.segment_id, row.name, row.filters.join('  ')]),
          'no segments',
        ),
      );
    });

  withExamples(
    segment.command('remove <segment_id>').description('remove a segment'),
    'weir segment remove segment_abcdefghijkm --site shop',
  )
    .addOption(siteOption())
    .action(async (segmentId: string, { json, site }: SavedOptions) => {
      const removed = await client().call<{ segment_id: string }>('DELETE', sitePath(site, 'segments', segmentId));
      print(io, json, removed, ({ segment_id }) => `removed ${segment_id}`);
    });
}

function addAnnotationCommands(program: Command, { io, client }: CommandContext): void {
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

  withExamples(annotation.command('list').description('list the notes'), 'weir annotation list --site shop')
    .addOption(siteOption())
    .action(async ({ json, site }: SavedOptions) => {
      print(io, json, await client().call<AnnotationView[]>('GET', sitePath(site, 'annotations')), (annotations) =>
        table(
          ['annotation_id', 'at', 'text'],
          annotations.map((row) => [row.annotation_id, row.at, row.text]),
          'no annotations',
        ),
      );
    });

  withExamples(
    annotation.command('remove <annotation_id>').description('remove a note'),
    'weir annotation remove annotation_abcdefghijkm --site shop',
  )
    .addOption(siteOption())
    .action(async (annotationId: string, { json, site }: SavedOptions) => {
      const path = sitePath(site, 'annotations', annotationId);
      const removed = await client().call<{ annotation_id: string }>('DELETE', path);
      print(io, json, removed, ({ annotation_id }) => `removed ${annotation_id}`);
    });
}
