import { autocompletion, closeBrackets, closeCompletion, completionKeymap } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { type SQLNamespace, sql } from '@codemirror/lang-sql';
import { HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { Compartment, EditorState } from '@codemirror/state';
import { EditorView, keymap } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { useEffect, useRef } from 'react';

interface Props {
  readonly label: string;
  /**
   * The text at the start. If another object is passed, its text replaces the text of the editor. Never pass the typed text back: it would replace
   * what was typed since.
   */
  readonly chosen: { readonly text: string };
  /** The tables with their columns, for completion. */
  readonly schema: SQLNamespace;
  readonly onChange: (text: string) => void;
  readonly onRun: () => void;
}

/** The colours of the pages, which have enough contrast in both themes. */
const COLOURS = HighlightStyle.define([
  { tag: [tags.keyword, tags.typeName], color: 'var(--accent)' },
  { tag: tags.string, color: 'var(--good)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--warn)' },
  { tag: tags.comment, color: 'var(--muted)', fontStyle: 'italic' },
]);

/**
 * Replaces selected text itself when something is typed. Chromium would keep the colour of the replaced text: it adds an inline style, which
 * the content security policy refuses and reports.
 */
const replaceSelected = EditorView.domEventHandlers({
  beforeinput({ inputType, data }, view) {
    const { from, to, empty } = view.state.selection.main;
    if (inputType !== 'insertText' || data === null || empty) return false;
    const insert = () =>
      view.state.update(view.state.replaceSelection(data), { userEvent: 'input.type', scrollIntoView: true });
    const isHandled = view.state.facet(EditorView.inputHandler).some((handle) => handle(view, from, to, data, insert));
    if (!isHandled) view.dispatch(insert());
    return true;
  },
});

/**
 * An editor for one statement. It is in a shadow root: in a document, CodeMirror adds style elements, which the content security
 * policy refuses.
 */
export function SqlEditor({ label, chosen, schema, onChange, onRun }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(undefined);
  const language = useRef(new Compartment());
  const calls = useRef({ onChange, onRun });
  calls.current = { onChange, onRun };

  // biome-ignore lint/correctness/useExhaustiveDependencies: the editor is made once; the effects below change it
  useEffect(() => {
    const host = box.current;
    if (host === null) return;
    const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' });
    const run = (target: EditorView): boolean => {
      closeCompletion(target);
      calls.current.onRun();
      return true;
    };
    const editor = new EditorView({
      root,
      parent: root,
      state: EditorState.create({
        doc: chosen.text,
        extensions: [
          keymap.of([{ key: 'Mod-Enter', run }]),
          history(),
          closeBrackets(),
          autocompletion(),
          syntaxHighlighting(COLOURS),
          language.current.of(sql({ schema })),
          keymap.of([...completionKeymap, ...defaultKeymap, ...historyKeymap]),
          replaceSelected,
          EditorView.lineWrapping,
          EditorView.contentAttributes.of({ 'aria-label': label }),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) calls.current.onChange(update.state.doc.toString());
          }),
          EditorView.theme({
            '&': { fontSize: '14px', color: 'var(--text)', minHeight: '140px' },
            '.cm-content': { fontFamily: 'var(--mono)', caretColor: 'var(--text)', padding: '12px' },
            '&.cm-focused': { outline: '2px solid var(--accent)' },
            '.cm-cursor': { borderLeftColor: 'var(--text)' },
            '.cm-tooltip': { background: 'var(--raised)', color: 'var(--text)', border: '1px solid var(--line)' },
          }),
        ],
      }),
    });
    view.current = editor;
    return () => editor.destroy();
  }, []);
  useEffect(() => {
    view.current?.dispatch({ effects: language.current.reconfigure(sql({ schema })) });
  }, [schema]);
  useEffect(() => {
    const editor = view.current;
    if (editor === undefined || editor.state.doc.toString() === chosen.text) return;
    editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: chosen.text } });
  }, [chosen]);
  return <div ref={box} className="sql-editor" />;
}
