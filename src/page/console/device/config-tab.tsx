import type { DeviceConfig } from '../../../protocol/console-device.ts';
import { includesRole } from '../../../protocol/console-routes.ts';
import { devicePath, me } from '../client/api.ts';
import { ConfigEditor } from '../form/config-editor.tsx';
import { keyOf, shownValue } from '../form/schema.ts';
import { Shown, useFetched } from '../parts/fetched.tsx';
import { Data, Table } from '../parts/table.tsx';
import { Sheet, Time, Words } from '../parts/words.tsx';
import { cleaned, cleanedJson } from '../texts/cleaned.ts';
import { t } from '../texts/text.ts';

/** The desired and the reported configuration side by side, and a form to change the desired one. */
export function DeviceConfigTab({
  device,
  lanes,
  groups,
}: {
  readonly device: string;
  readonly lanes: readonly string[];
  readonly groups: readonly string[];
}) {
  const config = useFetched<DeviceConfig>(`/api/devices/${devicePath(device)}/config`);
  const mayChange = me.value ? includesRole(me.value.role, 'administrator') : false;
  const [tenant = ''] = device.split('/');
  return (
    <Shown of={config}>
      {(shown) => (
        <>
          <Reported config={shown} />
          {groups.length > 0 && (
            <Sheet title={t('groups')}>
              <p class="hint">{t('groups_note')}</p>
              <ul>
                {groups.map((group) => (
                  <li key={group}>
                    <a href={`/group/${encodeURIComponent(tenant)}/${encodeURIComponent(group)}`}>
                      <Words text={group} />
                    </a>{' '}
                    {versionText(shown.groups.find((one) => one.group === group)?.desired ?? null)}
                  </li>
                ))}
              </ul>
            </Sheet>
          )}
          <Sheet title={`${t('desired')}: ${versionText(shown.desired)}`}>
            {mayChange ? (
              <ConfigEditor
                key={JSON.stringify(shown.desired)}
                target={{ device }}
                desired={shown.desired}
                lanes={lanes}
                onApplied={config.again}
              />
            ) : (
              <Document of={shown.desired} />
            )}
          </Sheet>
        </>
      )}
    </Shown>
  );
}

export function versionText(desired: DeviceConfig['desired']): string {
  return desired === null ? t('none') : t('desired_version', { version: String(desired['version'] ?? '?') });
}

export function Document({ of: document }: { readonly of: unknown }) {
  return document === null ? (
    <p class="quiet">{t('desired_none')}</p>
  ) : (
    <Data label={t('desired')} text={cleanedJson(document)} />
  );
}

function Reported({ config: { reported, differences } }: { readonly config: DeviceConfig }) {
  if (reported === null) return <p class="sheet empty">{t('not_reported')}</p>;
  return (
    <Sheet title={t('reported')}>
      <p class="quiet">
        <Time at={reported.at} />
        {Object.entries(reported.versions).map(([from, version]) => (
          <>
            {' · '}
            <bdi>{cleaned(from)}</bdi> {t('desired_version', { version })}
          </>
        ))}
      </p>
      {reported.errors.length > 0 && (
        <div class="reason">
          <h3>{t('desired_faults')}</h3>
          {reported.errors.map(({ from, key, message }) => (
            <p key={`${from} ${key}`}>
              <code>{cleaned(key)}</code> <Words text={message} />{' '}
              <span class="quiet">({cleaned(from)})</span>
            </p>
          ))}
        </div>
      )}
      {differences.length === 0 ? (
        <p class="good">{t('no_differences')}</p>
      ) : (
        <Table label={t('reported')} heads={[t('key'), t('desired'), t('reported')]}>
          {differences.map(({ key, desired, effective }) => (
            <tr key={key}>
              <td>
                <code>{cleaned(key.startsWith('/') ? keyOf(key) : key)}</code>
              </td>
              <td>{cleaned(shownValue(desired))}</td>
              <td class="warn">{cleaned(shownValue(effective))}</td>
            </tr>
          ))}
        </Table>
      )}
      <details>
        <summary>{t('in_force')}</summary>
        <Data label={t('in_force')} text={cleanedJson(reported.effective)} />
      </details>
    </Sheet>
  );
}
