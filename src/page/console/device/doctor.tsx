import { useComputed, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { JobAnswer, JobDetail, JobDevice } from '../../../protocol/console-jobs.ts';
import type { Diagnosis } from '../../../protocol/mqtt/diagnose.ts';
import { post, whyFailed } from '../client/api.ts';
import { jobs } from '../client/stream.ts';
import { isObject } from '../form/schema.ts';
import { Fault, useFetched } from '../parts/fetched.tsx';
import { queryValue, setQuery } from '../parts/route.ts';
import { Table } from '../parts/table.tsx';
import { Marked, Words } from '../parts/words.tsx';
import { cleaned } from '../texts/cleaned.ts';
import { t } from '../texts/text.ts';

/** The doctor's report; the job's id is in the address, so that the report survives a reload. */
export function Doctor({ device }: { readonly device: string }) {
  const fault = useSignal<string | null>(null);
  const id = queryValue('job');
  const examine = async (): Promise<void> => {
    fault.value = null;
    try {
      const body = { command: 'diagnose', args: {}, to: { devices: [device] } };
      const { job } = await post<JobAnswer>('/api/commands', body);
      setQuery({ job: job.id });
    } catch (error) {
      fault.value = whyFailed(error);
    }
  };
  return (
    <>
      <div class="row">
        <button type="button" class="first" onClick={() => void examine()}>
          {t('examine')}
        </button>
        <span class="hint">{t('doctor_none')}</span>
      </div>
      <Fault text={fault.value} />
      {id !== '' && (
        <SingleResult key={id} id={id}>
          {(result) => <Report result={result} />}
        </SingleResult>
      )}
    </>
  );
}

/** A device's answer to a command, as soon as it arrives. */
export function SingleResult({
  id,
  children,
}: {
  readonly id: string;
  children(result: JobDevice): preact.ComponentChildren;
}) {
  const live = useComputed(() => jobs.value.find((job) => job.id === id));
  const kept = useFetched<JobDetail>(`/api/jobs/${encodeURIComponent(id)}`);
  const endedAt = live.value?.endedAt;
  useEffect(() => {
    if (endedAt) kept.again();
  }, [endedAt]);
  const [whole] = kept.value?.devices ?? [];
  const result = live.value?.first?.data !== undefined ? live.value.first : (whole ?? live.value?.first);
  if (kept.fault !== null) return <Fault text={kept.fault} />;
  if (!result) return <p class="empty">{t('loading')}</p>;
  const isOpen = ['waiting', 'sent', 'accepted'].includes(result.state);
  return (
    <div role="status" class="column">
      {isOpen ? <p class="sheet">{t('sending')}</p> : children(result)}
    </div>
  );
}

/** Why a command was not carried out. */
export function Refusal({ result }: { readonly result: JobDevice }) {
  return (
    <p class="sheet fault">
      {t(`outcome_${result.state}`)}
      {result.code !== null && (
        <>
          {' '}
          <code>{cleaned(result.code)}</code>
        </>
      )}
      {result.message !== null && (
        <>
          {': '}
          <Words text={result.message} />
        </>
      )}
    </p>
  );
}

function Report({ result }: { readonly result: JobDevice }) {
  if (result.state !== 'ok' || !isDiagnosis(result.data)) return <Refusal result={result} />;
  const { checks } = result.data;
  // Worst verdict first.
  const order = ['problem', 'warning', 'ok', 'skipped'];
  const sorted = checks.toSorted((one, other) => order.indexOf(one.verdict) - order.indexOf(other.verdict));
  return (
    <Table hasCards label={t('tab_doctor')} heads={[t('check'), t('result'), t('finding')]}>
      {sorted.map(({ check, lane, verdict, finding, fix }) => (
        <tr key={`${check} ${lane}`}>
          <td>
            <code>{cleaned(check)}</code> {lane !== null && <Words text={lane} />}
          </td>
          <td class={{ problem: 'bad', warning: 'warn', ok: 'good', skipped: 'quiet' }[verdict]}>
            {t(`verdict_${verdict}`)}
          </td>
          <td class="wide">
            <p>
              <Marked text={cleaned(finding)} />
            </p>
            {fix !== null && (
              <p>
                <b>{t('what_to_do')}</b>: <Marked text={cleaned(fix)} />
              </p>
            )}
          </td>
        </tr>
      ))}
    </Table>
  );
}

const isDiagnosis = (data: unknown): data is Diagnosis =>
  isObject(data) && Array.isArray(data['checks']) && typeof data['version'] === 'string';
