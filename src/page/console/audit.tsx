import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { AuditLine, AuditPage } from '../../protocol/console-owner.ts';
import { get, whyFailed } from './client/api.ts';
import { Fault } from './parts/fetched.tsx';
import { queryValue, setQuery } from './parts/route.ts';
import { Table } from './parts/table.tsx';
import { Time, Words } from './parts/words.tsx';
import { cleaned } from './texts/cleaned.ts';
import { type TextKey, t } from './texts/text.ts';

const FILTERS: readonly {
  readonly name: string;
  readonly label: TextKey;
  readonly isDay: boolean;
}[] = [
  { name: 'who', label: 'who', isDay: false },
  { name: 'what', label: 'action', isDay: false },
  { name: 'device', label: 'device', isDay: false },
  { name: 'from', label: 'first_day', isDay: true },
  { name: 'to', label: 'last_day', isDay: true },
];

/** The audit log: who did what, and the result. */
export function Audit() {
  const lines = useSignal<readonly AuditLine[] | null>(null);
  const before = useSignal<string | null>(null);
  const fault = useSignal<string | null>(null);
  const filters = FILTERS.map(({ name }) => [name, queryValue(name)] as const).filter(
    ([, value]) => value !== '',
  );
  const query = new URLSearchParams(filters.map(([name, value]) => [name, value])).toString();
  const fetchPage = async (more: string | null, isCurrent: () => boolean): Promise<void> => {
    try {
      const all = new URLSearchParams(query);
      if (more !== null) all.set('before', more);
      const page = await get<AuditPage>(`/api/audit?${all}`);
      if (!isCurrent()) return;
      lines.value = more === null ? page.lines : [...(lines.value ?? []), ...page.lines];
      before.value = page.before;
      fault.value = null;
    } catch (error) {
      if (isCurrent()) fault.value = whyFailed(error);
    }
  };
  useEffect(() => {
    let isCurrent = true;
    void fetchPage(null, () => isCurrent);
    return () => {
      isCurrent = false;
    };
  }, [query]);
  return (
    <main id="main" class="column" tabIndex={-1}>
      <h1>{t('audit')}</h1>
      <search class="tools">
        {FILTERS.map(({ name, label, isDay }) => (
          <div key={name} class="field">
            <label for={`audit-${name}`}>{t(label)}</label>
            <input
              id={`audit-${name}`}
              {...(isDay ? { type: 'date' as const } : { type: 'search' as const })}
              defaultValue={queryValue(name)}
              onChange={({ currentTarget }) => setQuery({ [name]: currentTarget.value.trim() })}
            />
          </div>
        ))}
      </search>
      <Fault text={fault.value} />
      {lines.value?.length === 0 && <p class="sheet empty">{t('audit_none')}</p>}
      {lines.value !== null && lines.value.length > 0 && <Lines lines={lines.value} />}
      {before.value !== null && (
        <div class="row">
          <button type="button" onClick={() => void fetchPage(before.value, () => true)}>
            {t('older')}
          </button>
        </div>
      )}
    </main>
  );
}

/** Colour of a result. A published configuration has none: it takes effect only when devices accept it. */
function toneOf(what: string, isOk: boolean): string {
  if (!isOk) return 'bad';
  return what.startsWith('config.') ? '' : 'good';
}

function Lines({ lines }: { readonly lines: readonly AuditLine[] }) {
  return (
    <Table
      hasCards
      label={t('audit')}
      heads={[t('time'), t('who'), t('action'), t('target'), t('result'), t('from_where')]}
    >
      {lines.map((line) => (
        <tr key={line.id}>
          <td>
            <Time at={line.at} />
          </td>
          <td>
            <Words text={line.who} />
          </td>
          <td>
            <code>{cleaned(line.what)}</code>
            {Object.keys(line.args).length > 0 && (
              <p class="hint">
                <bdi>{cleaned(JSON.stringify(line.args))}</bdi>
              </p>
            )}
          </td>
          <td>{line.on !== null && <Words text={line.on} />}</td>
          <td>
            {line.result === null ? (
              <span class="warn">{t('result_pending')}</span>
            ) : (
              <span class={toneOf(line.what, line.result.ok)}>
                <Words text={line.result.text} />
              </span>
            )}
          </td>
          <td>
            <Words text={line.from} />
          </td>
        </tr>
      ))}
    </Table>
  );
}
