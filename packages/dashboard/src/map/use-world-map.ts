import { useQuery } from '@tanstack/react-query';
import mapUrl from 'world-atlas/countries-110m.json';
import { AdminError, fetchFile } from '../api/call-admin.ts';
import { useTexts } from '../i18n/text-context.tsx';

/**
 * The component of the map and the shapes of its countries. They are requested while the report of the countries is still on its way. The code is
 * not loaded with `lazy`: React shows a `lazy` component at the earliest 300 ms after its fallback.
 */
export function useWorldMap(enabled: boolean) {
  const { t } = useTexts();
  return useQuery({
    queryKey: ['map'],
    enabled,
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async () => {
      const [{ shapesOf, WorldMap }, file] = await Promise.all([import('./world-map.tsx'), fetchFile(mapUrl)]).catch(
        (error: unknown) => {
          // After an upgrade of Weir, the files that an open page names can be missing.
          const isMissing = !(error instanceof AdminError) || error.status === 404;
          throw isMissing ? new Error(t('map.failed'), { cause: error }) : error;
        },
      );
      return { WorldMap, shapes: shapesOf(JSON.parse(await file.text())) };
    },
  });
}
