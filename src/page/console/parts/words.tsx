import type { ComponentChildren } from 'preact';
import { devicePath } from '../client/api.ts';
import { cleaned } from '../texts/cleaned.ts';
import { longTimeText, maybeText, t, timeText } from '../texts/text.ts';

const LONGEST_DETAIL = 120;

/** A name from outside: isolated from the text around it, and cut with an ellipsis where it is too long. */
export function Name({ text }: { readonly text: string }) {
  const shown = cleaned(text);
  return (
    <bdi class="name" title={shown}>
      {shown}
    </bdi>
  );
}

/** Longer text from outside: isolated, and may wrap anywhere. */
export const Words = ({ text }: { readonly text: string }) => <bdi>{cleaned(text)}</bdi>;

export function DeviceLink({ device }: { readonly device: string }) {
  return (
    <a href={`/device/${devicePath(device)}`}>
      <Name text={device} />
    </a>
  );
}

export function Status({ status }: { readonly status: string }) {
  return <span class={`status ${status}`}>{maybeText('status', status) ?? cleaned(status)}</span>;
}

export function Time({ at }: { readonly at: string | null | undefined }) {
  if (at === null || at === undefined) return <span class="quiet">{t('unknown')}</span>;
  return (
    <time dateTime={at} title={longTimeText(at)}>
      {timeText(at)}
    </time>
  );
}

/** `code:detail` of a status, in words. */
export function reasonText(reason: string): string {
  const { code, detail } = reasonParts(reason);
  const says = maybeText('reason', code) ?? cleaned(code);
  if (detail === '') return says;
  const shown = cleaned(detail);
  return `${says} (${shown.length > LONGEST_DETAIL ? `${shown.slice(0, LONGEST_DETAIL)}…` : shown})`;
}

export function reasonParts(reason: string): { readonly code: string; readonly detail: string } {
  const [code = '', ...detail] = reason.split(':');
  return { code, detail: detail.join(':') };
}

/** Renders text with `code` marks, as in the command registry. */
export function Marked({ text }: { readonly text: string }) {
  const plain = text.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1');
  const parts = plain.split('`');
  return <>{parts.map((part, at) => (at % 2 === 1 ? <code key={at}>{part}</code> : part))}</>;
}

export function Sheet({ title, children }: { readonly title: string; readonly children: ComponentChildren }) {
  return (
    <section class="sheet column">
      <h2>{title}</h2>
      {children}
    </section>
  );
}
