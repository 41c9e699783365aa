import { Icon } from './icon.tsx';

/** A sign with a word below it. */
export function Button(props: {
  icon?: string;
  label: string;
  /** What a screen reader says, if not the label. */
  name?: string;
  lang?: string;
  look?: 'end' | 'keyboard' | 'language' | 'staff';
  isOff?: boolean;
  isChosen?: boolean;
  press: () => void;
}) {
  const { icon, label, name = label, lang, look, isOff = false, isChosen, press } = props;
  return (
    <button
      type="button"
      class={look}
      disabled={isOff}
      aria-pressed={isChosen}
      aria-label={name}
      lang={lang}
      onClick={press}
    >
      {icon !== undefined && <Icon path={icon} />}
      <span>{label}</span>
    </button>
  );
}
