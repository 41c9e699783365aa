import type { FleetRow } from '../../../protocol/console-fleet.ts';
import { cleaned, Marked, reasonParts, reasonText, Sheet, Words } from '../parts/words.tsx';
import { maybeText, t } from '../text.ts';

/** The status in words, and what to do about it. */
export function DeviceStatusText({
  row,
  advice,
}: {
  readonly row: FleetRow;
  /** The backend's own sentences, for reasons that this page does not know. */
  readonly advice: readonly string[];
}) {
  const { status, reasons } = row;
  const knowsAll = reasons.every((reason) => maybeText('todo', reasonParts(reason).code) !== null);
  return (
    <Sheet title={t('status')}>
      <p>
        <b>{t(`status_${status}`)}</b>: {t(`says_${status}`)}
      </p>
      {reasons.map((reason) => {
        const todo = maybeText('todo', reasonParts(reason).code);
        return (
          <div key={reason} class={`reason ${status === 'idle' ? 'idle' : ''}`}>
            <p>
              <b>
                <Marked text={reasonText(reason)} />
              </b>
            </p>
            {todo !== null && (
              <p>
                {t('what_to_do')}: <Marked text={todo} />
              </p>
            )}
          </div>
        );
      })}
      {!knowsAll &&
        advice.map((sentence) => (
          <p key={sentence}>
            <Words text={cleaned(sentence)} />
          </p>
        ))}
      {status === 'ready' && reasons.length === 0 && <p class="quiet">{t('all_well')}</p>}
    </Sheet>
  );
}
