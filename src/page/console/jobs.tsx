import { useComputed, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { Job, JobDetail, JobState } from '../../protocol/console-jobs.ts';
import { includesRole } from '../../protocol/console-routes.ts';
import { me, post, whyFailed } from './client/api.ts';
import { jobs } from './client/stream.ts';
import { Fault, Shown, useFetched } from './parts/fetched.tsx';
import { pathParts, queryValue, setQuery } from './parts/route.ts';
import { Table } from './parts/table.tsx';
import { DeviceLink, Time, Words } from './parts/words.tsx';
import { cleaned } from './texts/cleaned.ts';
import { numberText, t } from './texts/text.ts';

const STATES: readonly JobState[] = [
  'ok',
  'error',
  'expired',
  'silent',
  'accepted',
  'sent',
  'waiting',
  'stopped',
];
const PAGE = 100;

/** Commands to many devices, and their results. */
export function Jobs() {
  const [, id = ''] = pathParts();
  return (
    <main id="main" class="column" tabIndex={-1}>
      {id === '' ? <List /> : <Detail key={id} id={id} />}
    </main>
  );
}

function List() {
  const all = useFetched<{ jobs: readonly Job[] }>('/api/jobs');
  return (
    <>
      <h1>{t('jobs')}</h1>
      <Shown of={all}>
        {({ jobs: kept }) => {
          const live = new Map(jobs.value.map((job) => [job.id, job]));
          const shown = [...jobs.value.filter(({ id }) => !kept.some((job) => job.id === id)), ...kept];
          return shown.length === 0 ? (
            <p class="sheet empty">{t('job_none')}</p>
          ) : (
            <Table
              hasCards
              label={t('jobs')}
              heads={[t('time'), t('command'), t('who'), t('target'), t('result')]}
            >
              {shown.map((job) => (
                <JobLine key={job.id} job={live.get(job.id) ?? job} />
              ))}
            </Table>
          );
        }}
      </Shown>
    </>
  );
}

function JobLine({ job }: { readonly job: Job }) {
  return (
    <tr>
      <td>
        <a href={`/jobs/${encodeURIComponent(job.id)}`}>
          <Time at={job.at} />
        </a>
      </td>
      <td>
        <code>{cleaned(job.command)}</code>
      </td>
      <td>
        <Words text={job.who} />
      </td>
      <td>
        {job.devices === 1 && job.first ? (
          <DeviceLink device={job.first.device} />
        ) : (
          t('devices', { n: job.devices })
        )}
      </td>
      <td>
        <Progress job={job} />
      </td>
    </tr>
  );
}

const doneOf = ({ counts, devices }: Job): number => devices - counts.waiting - counts.sent - counts.accepted;

function Progress({ job }: { readonly job: Job }) {
  const done = doneOf(job);
  const failed = job.counts.error + job.counts.expired + job.counts.silent;
  return (
    <div class="row">
      <progress max={job.devices} value={done} aria-label={t('result')} />
      <span>{t('job_done', { done: numberText(done), n: job.devices })}</span>
      {failed > 0 && <span class="bad">{t('job_failed', { n: failed })}</span>}
    </div>
  );
}

function Detail({ id }: { readonly id: string }) {
  const state = STATES.find((name) => name === queryValue('state'));
  const shown = useSignal(PAGE);
  const query = new URLSearchParams({ first: '0', last: String(shown.value), ...(state && { state }) });
  const detail = useFetched<JobDetail>(`/api/jobs/${encodeURIComponent(id)}?${query}`);
  // The stream has only the counts; the devices' results are fetched again when the counts change.
  const live = useComputed(() => jobs.value.find((job) => job.id === id));
  const progress = JSON.stringify(live.value?.counts);
  useEffect(() => {
    if (progress !== undefined) detail.again();
  }, [progress]);
  const fault = useSignal<string | null>(null);
  const stop = async (): Promise<void> => {
    try {
      await post(`/api/jobs/${encodeURIComponent(id)}/stop`);
      detail.again();
    } catch (error) {
      fault.value = whyFailed(error);
    }
  };
  return (
    <Shown of={detail}>
      {({ job: kept, devices, total }) => {
        const job = live.value ?? kept;
        const mayStop =
          job.endedAt === null && job.devices > 1 && me.value && includesRole(me.value.role, 'operator');
        return (
          <>
            <h1>
              <code>{cleaned(job.command)}</code>
            </h1>
            <p class="quiet">
              <Words text={job.who} />, <Time at={job.at} /> · {t('devices', { n: job.devices })}
              {Object.keys(job.args).length > 0 && (
                <>
                  {' · '}
                  <code>{cleaned(JSON.stringify(job.args))}</code>
                </>
              )}
            </p>
            <div class="row">
              <Progress job={job} />
              {mayStop && (
                <button type="button" class="danger" onClick={() => void stop()}>
                  {t('job_stop')}
                </button>
              )}
            </div>
            <Fault text={fault.value} />
            <div class="counts" role="group" aria-label={t('result')}>
              {STATES.filter((name) => job.counts[name] > 0).map((name) => (
                <button
                  key={name}
                  type="button"
                  aria-pressed={state === name}
                  onClick={() => setQuery({ state: state === name ? '' : name })}
                >
                  {t(`outcome_${name}`)} <b>{numberText(job.counts[name])}</b>
                </button>
              ))}
            </div>
            <Table hasCards label={t('jobs')} heads={[t('device'), t('result'), t('details')]}>
              {devices.map((one) => (
                <tr key={one.device}>
                  <td>
                    <DeviceLink device={one.device} />
                  </td>
                  <td class={toneOf(one.state)}>{t(`outcome_${one.state}`)}</td>
                  <td>
                    {one.code !== null && <code>{cleaned(one.code)}</code>}{' '}
                    {one.message !== null && <Words text={one.message} />}
                  </td>
                </tr>
              ))}
            </Table>

            {devices.length < total && (
              <button
                type="button"
                onClick={() => {
                  shown.value += PAGE;
                }}
              >
                {t('more')}
              </button>
            )}
          </>
        );
      }}
    </Shown>
  );
}

export function toneOf(state: JobState): string {
  if (state === 'ok') return 'good';
  return state === 'error' || state === 'silent' || state === 'expired' ? 'bad' : 'quiet';
}
