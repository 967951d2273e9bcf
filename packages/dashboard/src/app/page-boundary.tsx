import { Component, type ReactNode } from 'react';
import { useTexts } from '../i18n/text-context.tsx';
import { Empty } from '../ui/states.tsx';

interface Props {
  /** The address of the page. If it changes after an error, the page is rendered again. */
  readonly place: string;
  readonly children: ReactNode;
}

interface State {
  readonly place: string;
  readonly error: unknown;
}

/** Shows what to do if the page throws, for example because Weir was updated and no longer has the files that the page loads. */
export class PageBoundary extends Component<Props, State> {
  override state: State = { place: this.props.place, error: undefined };

  static getDerivedStateFromError(error: unknown): Partial<State> {
    return { error: error ?? new Error('unknown') };
  }

  static getDerivedStateFromProps({ place }: Props, state: State): State | null {
    return place === state.place ? null : { place, error: undefined };
  }

  override render() {
    return this.state.error === undefined ? this.props.children : <PageFailed error={this.state.error} />;
  }
}

function PageFailed({ error }: { readonly error: unknown }) {
  const { t } = useTexts();
  return (
    <div role="alert">
      <Empty title={t('page.failed')}>
        <p className="note">{error instanceof Error ? error.message : String(error)}</p>
        <button type="button" className="button" onClick={() => location.reload()}>
          {t('page.reload')}
        </button>
      </Empty>
    </div>
  );
}
