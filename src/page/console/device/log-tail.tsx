import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { devicePath, post, whyFailed } from '../client/api.ts';
import { log } from '../client/stream.ts';
import { Fault } from '../parts/fetched.tsx';
import { Time } from '../parts/words.tsx';
import { cleaned } from '../texts/cleaned.ts';
import { t } from '../texts/text.ts';

const MINUTES = [5, 15, 60];

/** The device's live log, on demand and for a limited time. */
export function LogTail({ device, until }: { readonly device: string; readonly until: string | null }) {
  const fault = useSignal<string | null>(null);
  const minutes = useSignal(5);
  const level = useSignal('info');
  const place = useRef<HTMLPreElement>(null);
  const { lines, dropped } = log.value;
  useEffect(() => {
    place.current?.scrollTo(0, place.current.scrollHeight);
  }, [lines]);
  const begin = async (): Promise<void> => {
    fault.value = null;
    try {
      await post(`/api/devices/${devicePath(device)}/log`, { minutes: minutes.value, level: level.value });
    } catch (error) {
      fault.value = whyFailed(error);
    }
  };
  return (
    <>
      <div class="row">
        <select
          aria-label={t('level')}
          value={level.value}
          onChange={({ currentTarget }) => {
            level.value = currentTarget.value;
          }}
        >
          {['debug', 'info', 'warn', 'error'].map((name) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </select>
        <select
          aria-label={t('duration')}
          value={minutes.value}
          onChange={({ currentTarget }) => {
            minutes.value = Number(currentTarget.value);
          }}
        >
          {MINUTES.map((n) => (
            <option key={n} value={n}>
              {t('follow_for', { n })}
            </option>
          ))}
        </select>
        <button type="button" class="first" onClick={() => void begin()}>
          {t('follow')}
        </button>
        {until !== null && (
          <span class="quiet">
            {t('log_until')} <Time at={until} />
          </span>
        )}
      </div>
      <Fault text={fault.value} />
      {dropped > 0 && <p class="warn">{t('log_dropped', { n: dropped })}</p>}
      {lines.length === 0 ? (
        <p class="sheet empty">{t('log_none')}</p>
      ) : (
        <pre ref={place} class="tall" role="log" aria-label={t('tab_log')} tabIndex={0}>
          {lines.map(lineText).join('\n')}
        </pre>
      )}
    </>
  );
}

/** A record of the log as a line: time, level, text, and the other fields. */
function lineText(line: string): string {
  try {
    const { time, ts, level, msg, message, ...rest } = JSON.parse(line) as Record<string, unknown>;
    delete rest['pid'];
    delete rest['hostname'];
    const more = Object.keys(rest).length > 0 ? ` ${JSON.stringify(rest)}` : '';
    const at = new Date(String(time ?? ts));
    const clock = Number.isNaN(at.getTime()) ? '' : `${at.toLocaleTimeString()} `;
    return cleaned(`${clock}${level ?? ''} ${msg ?? message ?? ''}${more}`);
  } catch {
    return cleaned(line);
  }
}
