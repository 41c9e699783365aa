import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { wordedLanguage } from '../../device/screen/wording.ts';
import { Icon } from './icon.tsx';
import { isConnected } from './store.ts';

/** A small button beside the state, and the dialog that it opens. */
export function Opener(props: {
  kind: 'about' | 'look';
  icon: string;
  name: string;
  /** The languages of those who read here. */
  languages: readonly string[];
  children: (languages: readonly string[], close: () => void) => ComponentChildren;
}) {
  const { kind, icon, name, languages, children } = props;
  /** The languages when it was opened: on the idle page they alternate. */
  const opened = useSignal<readonly string[] | null>(null);
  const close = () => {
    opened.value = null;
  };
  const isAnswered = isConnected.value;
  useEffect(() => {
    if (!isAnswered) close();
  }, [isAnswered]);
  return (
    <>
      <button
        type="button"
        class={kind}
        aria-label={name}
        lang={wordedLanguage(languages[0] ?? 'en')}
        onClick={() => (opened.value = languages)}
      >
        <Icon path={icon} />
      </button>
      {opened.value !== null && children(opened.value, close)}
    </>
  );
}
