import { useEffect } from 'preact/hooks';
import type { DeviceDetail } from '../../../protocol/console-device.ts';
import { includesRole } from '../../../protocol/console-routes.ts';
import { devicePath, me } from '../client/api.ts';
import { followDevice, device as followed } from '../client/stream.ts';
import { Fault, useFetched } from '../parts/fetched.tsx';
import { pathParts } from '../parts/route.ts';
import { Name, Status, Time } from '../parts/words.tsx';
import { t } from '../texts/text.ts';
import { DeviceConfigTab } from './config-tab.tsx';
import { DeviceCommands } from './device-commands.tsx';
import { Doctor } from './doctor.tsx';
import { Events } from './events.tsx';
import { Health } from './health.tsx';
import { LogTail } from './log-tail.tsx';
import { Now } from './now.tsx';

const TABS = ['now', 'events', 'health', 'log', 'doctor', 'config', 'commands'] as const;
type Tab = (typeof TABS)[number];
const FOR_OPERATORS: readonly Tab[] = ['log', 'doctor', 'commands'];

/** The page of one device, with its tabs. */
export function Device() {
  const [, tenant = '', id = '', wanted = 'now'] = pathParts();
  const name = `${tenant}/${id}`;
  useEffect(() => followDevice(name), [name]);
  // The stream omits a device that has never connected; for such a device this request returns the error.
  const first = useFetched<DeviceDetail>(`/api/devices/${devicePath(name)}`);
  const live = followed.value?.row.device === name ? followed.value : null;
  const detail = live ?? (first.value?.row.device === name ? first.value : null);
  const isOperator = me.value ? includesRole(me.value.role, 'operator') : false;
  const tabs = TABS.filter((tab) => isOperator || !FOR_OPERATORS.includes(tab));
  const tab = tabs.find((one) => one === wanted) ?? 'now';
  useEffect(() => {
    document.querySelector('.tabs [aria-current]')?.scrollIntoView({ inline: 'nearest', block: 'nearest' });
  }, [tab]);
  const path = `/device/${devicePath(name)}`;
  return (
    <main id="main" class="column" tabIndex={-1}>
      <div class="row">
        <a href="/">{t('fleet')}</a>
        <span aria-hidden="true">›</span>
        <h1>
          <Name text={name} />
        </h1>
        {detail && <Status status={detail.row.status} />}
        {detail && (
          <span class="quiet">
            {t('since')} <Time at={detail.row.since} />
          </span>
        )}
      </div>
      <nav class="tabs" aria-label={name}>
        {tabs.map((one) => (
          <a
            key={one}
            href={one === 'now' ? path : `${path}/${one}`}
            aria-current={one === tab ? 'page' : undefined}
          >
            {t(`tab_${one}`)}
          </a>
        ))}
      </nav>
      {detail === null ? (
        first.fault === null ? (
          <p class="empty">{t('loading')}</p>
        ) : (
          <Fault text={first.fault} />
        )
      ) : (
        <Content key={name} tab={tab} detail={detail} />
      )}
    </main>
  );
}

function Content({ tab, detail }: { readonly tab: Tab; readonly detail: DeviceDetail }) {
  const { row, lanes } = detail;
  const laneIds = lanes.map(({ id }) => id);
  switch (tab) {
    case 'now':
      return <Now detail={detail} />;
    case 'events':
      return <Events events={detail.events} />;
    case 'health':
      return <Health device={row.device} />;
    case 'log':
      return <LogTail device={row.device} until={detail.logUntil} />;
    case 'doctor':
      return <Doctor device={row.device} />;
    case 'config':
      return <DeviceConfigTab device={row.device} lanes={laneIds} groups={row.groups} />;
    case 'commands':
      return <DeviceCommands device={row.device} lanes={laneIds} />;
  }
}
