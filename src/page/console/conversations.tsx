import type { ConversationLine, Conversations } from '../../protocol/console-owner.ts';
import { Figure } from './cost.tsx';
import { Shown, useFetched } from './parts/fetched.tsx';
import { Table } from './parts/table.tsx';
import { cleaned, DeviceLink, Name } from './parts/words.tsx';
import { queryValue, setQuery } from './route.ts';
import { language, locale, numberText, t } from './text.ts';

const KEYS = ['day', 'device', 'group', 'language'] as const;
const DAY_MS = 86_400_000;
const PERIODS = { week: 7, month: 30 } as const;

/** Numbers of conversations, never words. */
export function ConversationsPage() {
  const period = queryValue('period') === 'week' ? 'week' : 'month';
  const by = KEYS.find((key) => key === queryValue('by')) ?? 'day';
  const now = Date.now();
  const day = (ago: number): string => new Date(now - ago * DAY_MS).toISOString().slice(0, 10);
  const query = new URLSearchParams({ from: day(PERIODS[period] - 1), to: day(0), by });
  const conversations = useFetched<Conversations>(`/api/conversations?${query}`);
  return (
    <main id="main" class="column" tabIndex={-1}>
      <h1>{t('conversations')}</h1>
      <p class="hint">{t('conversations_note')}</p>
      <div class="tools">
        <select
          aria-label={t('period')}
          value={period}
          onChange={({ currentTarget }) => setQuery({ period: currentTarget.value })}
        >
          <option value="month">{t('period_month')}</option>
          <option value="week">{t('period_week')}</option>
        </select>
        <select
          aria-label={t('by')}
          value={by}
          onChange={({ currentTarget }) => setQuery({ by: currentTarget.value })}
        >
          {KEYS.map((key) => (
            <option key={key} value={key}>
              {t(`by_${key}`)}
            </option>
          ))}
        </select>
      </div>
      <Shown of={conversations}>{(shown) => <Lines of={shown} />}</Shown>
    </main>
  );
}

function Lines({ of: { lines, total, by } }: { readonly of: Conversations }) {
  const most = Math.max(1, ...lines.map((line) => line.conversations));
  return (
    <>
      <div class="sheet row figures">
        <Figure name={t('conversations')} value={numberText(total.conversations)} />
        <Figure name={t('duration')} value={t('minutes', { n: Math.round(total.minutes) })} />
        <Figure name={t('sentences')} value={numberText(total.sentences)} />
        <Figure name={t('billed')} value={t('minutes', { n: Math.round(total.billedMinutes) })} />
        <Figure name={t('delay')} value={delayText(total.delayMs)} />
      </div>
      {lines.length === 0 ? (
        <p class="sheet empty">{t('conversations_none')}</p>
      ) : (
        <Table
          label={t('conversations')}
          heads={[
            t(`by_${by}`),
            { text: t('conversations'), kind: 'number' },
            { text: t('share'), kind: 'optional' },
            { text: t('duration_min'), kind: 'number' },
            { text: t('sentences'), kind: 'number' },
            { text: t('billed_min'), kind: 'number' },
            { text: t('delay'), kind: 'number' },
          ]}
        >
          {lines.map((line) => (
            <tr key={line.name}>
              <td>
                <LineName by={by} line={line} />
              </td>
              <td class="number">{numberText(line.conversations)}</td>
              <td class="optional bar">
                <meter min={0} max={most} value={line.conversations} aria-hidden="true" />
              </td>
              <td class="number">{numberText(line.minutes, 1)}</td>
              <td class="number">{numberText(line.sentences)}</td>
              <td class="number">{numberText(line.billedMinutes, 1)}</td>
              <td class="number">{delayText(line.delayMs)}</td>
            </tr>
          ))}
        </Table>
      )}
    </>
  );
}

const delayText = (ms: number | null): string =>
  ms === null ? '–' : t('seconds_short', { n: numberText(ms / 1000, 1) });

function LineName({ by, line }: { readonly by: Conversations['by']; readonly line: ConversationLine }) {
  if (by === 'device') return <DeviceLink device={line.name} />;
  if (by === 'language') return <bdi>{languageName(line.name)}</bdi>;
  if (by === 'day') {
    const format = new Intl.DateTimeFormat(locale(), { dateStyle: 'medium', timeZone: 'UTC' });
    const date = new Date(line.name);
    return <>{Number.isNaN(date.getTime()) ? cleaned(line.name) : format.format(date)}</>;
  }
  return <Name text={line.name} />;
}

function languageName(tag: string): string {
  try {
    return new Intl.DisplayNames(language.value, { type: 'language' }).of(tag) ?? cleaned(tag);
  } catch {
    return cleaned(tag);
  }
}
