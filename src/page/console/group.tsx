import type { GroupConfig } from '../../protocol/console-config.ts';
import { includesRole } from '../../protocol/console-routes.ts';
import { me } from './client/api.ts';
import { Document, versionText } from './device/config-tab.tsx';
import { ConfigEditor } from './form/config-editor.tsx';
import { Shown, useFetched } from './parts/fetched.tsx';
import { pathParts } from './parts/route.ts';
import { Name, Sheet } from './parts/words.tsx';
import { t } from './texts/text.ts';

/** The configuration of a group. */
export function Group() {
  const [, tenant = '', group = ''] = pathParts();
  const path = `/api/groups/${encodeURIComponent(tenant)}/${encodeURIComponent(group)}/config`;
  const config = useFetched<GroupConfig>(path);
  const mayChange = me.value ? includesRole(me.value.role, 'administrator') : false;
  return (
    <main id="main" class="column" tabIndex={-1}>
      <h1>
        {t('group')} <Name text={group} />
      </h1>
      <p>
        <a href={`/?${new URLSearchParams({ tenant, group })}`}>{t('group_devices')}</a>
      </p>
      <Shown of={config}>
        {({ desired, devices, applied }) => (
          <Sheet title={`${t('desired')}: ${versionText(desired)}`}>
            {desired !== null && <p>{t('group_applied', { applied, n: devices })}</p>}
            {mayChange ? (
              <ConfigEditor
                key={JSON.stringify(desired)}
                target={{ tenant, group }}
                desired={desired}
                lanes={[]}
                onApplied={config.again}
              />
            ) : (
              <Document of={desired} />
            )}
          </Sheet>
        )}
      </Shown>
    </main>
  );
}
