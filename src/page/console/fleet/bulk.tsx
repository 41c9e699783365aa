import { useSignal } from '@preact/signals';
import { Commands } from '../form/command-form.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { go } from '../parts/route.ts';
import { t } from '../texts/text.ts';
import { selectAll, selectedCount, selection, selectionOf } from './view.ts';

/** Actions for the selected devices. */
export function Bulk() {
  const isOpen = useSignal(false);
  const to = selectionOf();
  const close = (): void => {
    isOpen.value = false;
  };
  return (
    <section class="bulk" aria-label={t('selected', { n: selectedCount.value })}>
      <b>{t('selected', { n: selectedCount.value })}</b>
      {selection.value?.but !== null && <span class="hint">{t('selected_note')}</span>}
      <button
        type="button"
        class="first"
        disabled={selectedCount.value === 0}
        onClick={() => {
          isOpen.value = true;
        }}
      >
        {t('send_command')}
      </button>
      <button type="button" onClick={() => selectAll(false)}>
        {t('clear_selection')}
      </button>
      {isOpen.value && to !== null && (
        <Dialog title={t('send_to', { n: selectedCount.value })} onClose={close}>
          <Commands
            to={to}
            count={selectedCount.value}
            lanes={[]}
            onSent={({ job }) => {
              close();
              selectAll(false);
              go(`/jobs/${encodeURIComponent(job.id)}`);
            }}
          />
        </Dialog>
      )}
    </section>
  );
}
