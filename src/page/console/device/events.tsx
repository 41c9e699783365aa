import type { DeviceEvent } from '../../../protocol/console-device.ts';
import { queryValue, setQuery } from '../parts/route.ts';
import { Table } from '../parts/table.tsx';
import { Time, Words } from '../parts/words.tsx';
import { cleaned } from '../texts/cleaned.ts';
import { t } from '../texts/text.ts';

/** Events of a device, newest first, with a filter by kind. */
export function Events({ events }: { readonly events: readonly DeviceEvent[] }) {
  const kind = queryValue('kind');
  const kinds = [...new Set(events.map((event) => event.kind))].sort();
  const shown = events.filter((event) => kind === '' || event.kind === kind).toReversed();
  return (
    <>
      <div class="row">
        <select
          aria-label={t('event_filter')}
          value={kind}
          onChange={({ currentTarget }) => setQuery({ kind: currentTarget.value })}
        >
          <option value="">{t('all_kinds')}</option>
          {(kinds.includes(kind) || kind === '' ? kinds : [kind, ...kinds]).map((name) => (
            <option key={name} value={name}>
              {cleaned(name).slice(0, 60)}
            </option>
          ))}
        </select>
      </div>
      {shown.length === 0 ? (
        <p class="sheet empty">{t('events_none')}</p>
      ) : (
        <Table hasCards label={t('tab_events')} heads={[t('time'), t('event'), t('lane'), t('details')]}>
          {shown.map((event) => (
            <Line key={event.number} event={event} />
          ))}
        </Table>
      )}
    </>
  );
}

function Line({ event }: { readonly event: DeviceEvent }) {
  const fields = Object.entries(event.fields);
  return (
    <tr>
      <td>
        <Time at={event.at} />
      </td>
      <td>
        <code>{cleaned(event.kind)}</code>
      </td>
      <td>{event.lane !== null && <Words text={event.lane} />}</td>
      <td class="wide">
        {event.message !== null && (
          <p>
            <Words text={event.message} />
          </p>
        )}
        {fields.length > 0 && (
          <p class="hint">
            <bdi>{cleaned(fields.map(([name, value]) => `${name} ${value}`).join(', '))}</bdi>
          </p>
        )}
      </td>
    </tr>
  );
}
