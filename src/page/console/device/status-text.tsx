import type { FleetRow } from '../../../protocol/console-fleet.ts';
import { Marked, reasonParts, reasonText, Sheet } from '../parts/words.tsx';
import { maybeText, t } from '../texts/text.ts';

/** The status in words, and what to do about it. */
export function DeviceStatusText({ row }: { readonly row: FleetRow }) {
  const { status, reasons } = row;
  return (
    <Sheet title={t('status')}>
      <p>
        <b>{t(`status_${status}`)}</b>: <Marked text={t(`says_${status}`)} />
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
      {status === 'ready' && reasons.length === 0 && <p class="quiet">{t('all_well')}</p>}
    </Sheet>
  );
}
