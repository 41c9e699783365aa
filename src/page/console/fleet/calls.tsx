import { useSignal } from '@preact/signals';
import type { FleetCall } from '../../../protocol/console-fleet.ts';
import type { JobAnswer } from '../../../protocol/console-jobs.ts';
import { me, post, whyFailed } from '../client/api.ts';
import { calls } from '../client/stream.ts';
import { Refusal, SingleResult } from '../device/doctor.tsx';
import { Fault } from '../parts/fetched.tsx';
import { DeviceLink, Name, Time } from '../parts/words.tsx';
import { t } from '../texts/text.ts';

/** Visitors who wait for a member of staff. A call leaves when it is answered or over; the result of an own answer stays. */
export function Calls({ mayAnswer }: { readonly mayAnswer: boolean }) {
  const answer = useSignal<{ readonly device: string; readonly job: string } | null>(null);
  const fault = useSignal<string | null>(null);
  const take = async (device: string): Promise<void> => {
    fault.value = null;
    try {
      const args = { do: 'answer', by: me.value?.name };
      const body = { command: 'help', args, to: { devices: [device] } };
      const { job } = await post<JobAnswer>('/api/commands', body);
      answer.value = { device, job: job.id };
    } catch (error) {
      fault.value = whyFailed(error);
    }
  };
  if (calls.value.length === 0 && answer.value === null && fault.value === null) return null;
  return (
    <section class="calls" aria-label={t('calls')}>
      <div role="status">
        {calls.value.map((call) => (
          <Call key={call.device} call={call} take={mayAnswer ? take : null} />
        ))}
      </div>
      <Fault text={fault.value} />
      {answer.value !== null && (
        <div class="call">
          <DeviceLink device={answer.value.device} />
          <SingleResult key={answer.value.job} id={answer.value.job}>
            {(result) =>
              result.state === 'ok' ? <p class="good">{t('call_taken')}</p> : <Refusal result={result} />
            }
          </SingleResult>
          <button
            type="button"
            onClick={() => {
              answer.value = null;
            }}
          >
            {t('close')}
          </button>
        </div>
      )}
    </section>
  );
}

function Call({
  call: { device, site, since, isLate },
  take,
}: {
  readonly call: FleetCall;
  /** Null: this person may not answer. */
  readonly take: ((device: string) => Promise<void>) | null;
}) {
  return (
    <div class={isLate ? 'call late' : 'call'}>
      <b>{t(isLate ? 'call_late' : 'call_open')}</b>
      <DeviceLink device={device} />
      {site !== null && <Name text={site} />}
      <span>
        {t('since')} <Time at={since} />
      </span>
      {take !== null && (
        <button type="button" class="first" onClick={() => void take(device)}>
          {t('call_take')}
        </button>
      )}
    </div>
  );
}
