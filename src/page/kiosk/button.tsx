import { Icon } from './icon.tsx';

export function Button(props: {
  icon?: string;
  label: string;
  /** What a screen reader says, if not the label. */
  name?: string;
  lang?: string;
  /** The text always stays, because the icon alone is not clear. */
  keepsText?: boolean;
  /** Whether the button is for typing. */
  isOwn?: boolean;
  isOff?: boolean;
  isChosen?: boolean;
  press: () => void;
}) {
  const {
    icon,
    label,
    name = label,
    lang,
    keepsText = false,
    isOwn = false,
    isOff = false,
    isChosen,
    press,
  } = props;
  return (
    <button
      type="button"
      class={isOwn ? 'own' : ''}
      disabled={isOff}
      aria-pressed={isChosen}
      aria-label={name}
      lang={lang}
      onClick={press}
    >
      {icon !== undefined && <Icon path={icon} />}
      <span class={keepsText ? 'kept' : ''}>{label}</span>
    </button>
  );
}
