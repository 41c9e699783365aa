import type { DeviceDetail, DeviceLane, DeviceNotice } from '../../../protocol/console-device.ts';
import { Name, Sheet, Time, Words } from '../parts/words.tsx';
import { cleaned } from '../texts/cleaned.ts';
import { lastingText, maybeText, numberText, t } from '../texts/text.ts';
import { Fields } from './fields.tsx';
import { DeviceStatusText } from './status-text.tsx';

/** Lowest and highest level that the bar shows. */
const LEVEL_DBFS = { min: -80, max: 0 };

export function Now({ detail }: { readonly detail: DeviceDetail }) {
  const { row, lanes, budget, health } = detail;
  return (
    <>
      <DeviceStatusText row={row} />
      <div class="sheets">
        {lanes.map((lane) => (
          <LaneSheet key={lane.id} lane={lane} />
        ))}
      </div>
      <div class="sheets">
        <Sheet title={t('device')}>
          <dl>
            <dt>{t('version')}</dt>
            <dd>
              <Words text={row.version} />
            </dd>
            <dt>{t('groups')}</dt>
            <dd>
              {row.groups.length === 0
                ? t('none')
                : row.groups.map((group) => (
                    <>
                      <a key={group} href={`/?${new URLSearchParams({ group })}`}>
                        <Name text={group} />
                      </a>{' '}
                    </>
                  ))}
            </dd>
            <dt>{t('site')}</dt>
            <dd>{row.site === null ? t('none') : <Words text={row.site} />}</dd>
            <Fields sheet="device" of={detail} />
            {budget && (
              <>
                <dt>{t('budget')}</dt>
                <dd>{t('budget_used', { used: budget.usedMinutes, most: budget.minutesPerDay })}</dd>
              </>
            )}
          </dl>
        </Sheet>
        {health && (
          <Sheet title={t('tab_health')}>
            <dl>
              <dt>{t('uptime')}</dt>
              <dd>{lastingText(health.uptimeS)}</dd>
              <dt>{t('health_rssMb')}</dt>
              <dd>{health.rssBytes === null ? t('unknown') : numberText(health.rssBytes / 2 ** 20)}</dd>
              <dt>{t('health_temperatureC')}</dt>
              <dd>{health.temperatureC === null ? t('unknown') : numberText(health.temperatureC)}</dd>
              <Fields sheet="health" of={health} />
            </dl>
          </Sheet>
        )}
      </div>
    </>
  );
}

function LaneSheet({ lane }: { readonly lane: DeviceLane }) {
  return (
    <section class="sheet column" aria-label={`${t('lane')} ${lane.id}`}>
      <div class="row">
        <h2>
          {t('lane')} <Name text={lane.id} />
        </h2>
        <span>{maybeText('phase', lane.phase) ?? cleaned(lane.phase)}</span>
        {lane.muted && <b class="warn">{t('muted')}</b>}
        {lane.inConversation && <b class="good">{t('in_conversation')}</b>}
      </div>
      <p>
        <bdi lang={lane.source}>{cleaned(lane.source)}</bdi> → <bdi>{cleaned(lane.targets.join(', '))}</bdi>
      </p>
      <dl>
        <dt>{t('level')}</dt>
        <dd>{lane.levelDbfs === null ? t('unknown') : <Level dbfs={lane.levelDbfs} />}</dd>
        <dt>{t('delay')}</dt>
        <dd>
          {lane.captureToWireMs === null && lane.wireToSpeakerMs === null
            ? t('unknown')
            : t('delay_pair', { up: delay(lane.captureToWireMs), down: delay(lane.wireToSpeakerMs) })}
        </dd>
        <dt>{t('volume')}</dt>
        <dd>{lane.volume === null ? t('unknown') : `${lane.volume} %`}</dd>
        <dt>{t('microphone')}</dt>
        <dd>
          <Words text={lane.capture} />
          {lane.captureFindings.map((finding) => (
            <b key={finding} class="bad">
              {' '}
              {cleaned(finding)}
            </b>
          ))}
        </dd>
        <Fields sheet="lane" of={lane} />
      </dl>
      <Notice title={t('last_error')} notice={lane.lastError} />
      <Notice title={t('last_warning')} notice={lane.lastWarning} />
    </section>
  );
}

const delay = (ms: number | null): string => (ms === null ? t('unknown') : t('ms', { n: numberText(ms) }));

function Level({ dbfs }: { readonly dbfs: number }) {
  return (
    <span class="row steady">
      <meter {...LEVEL_DBFS} value={dbfs} aria-label={t('level')} />
      {`${numberText(dbfs)} dBFS`}
    </span>
  );
}

function Notice({ title, notice }: { readonly title: string; readonly notice: DeviceNotice | null }) {
  if (notice === null) return null;
  return (
    <div class="reason">
      <h3>
        {title}: <code>{cleaned(notice.code)}</code> <Time at={notice.at} />
      </h3>
      <Words text={notice.message} />
    </div>
  );
}
