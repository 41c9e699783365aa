import type { ConversationLine, Conversations } from '../../protocol/console-owner.ts';
import { Choice } from './parts/choice.tsx';
import { Shown, useFetched } from './parts/fetched.tsx';
import { Report } from './parts/report.tsx';
import { queryValue, setQuery } from './parts/route.ts';
import { DeviceLink, Name } from './parts/words.tsx';
import { cleaned } from './texts/cleaned.ts';
import { language, locale, numberText, t } from './texts/text.ts';

const KEYS = ['day', 'device', 'group', 'language'] as const;
const DAY_MS = 86_400_000;
const DAYS = { month: 30, week: 7 } as const;
const PERIODS = ['month', 'week'] as const;

/** Statistics of conversations, never their words. */
export function ConversationsPage() {
  const period = queryValue('period') === 'week' ? 'week' : 'month';
  const by = KEYS.find((key) => key === queryValue('by')) ?? 'day';
  const now = Date.now();
  const day = (ago: number): string => new Date(now - ago * DAY_MS).toISOString().slice(0, 10);
  const query = new URLSearchParams({ from: day(DAYS[period] - 1), to: day(0), by });
  const conversations = useFetched<Conversations>(`/api/conversations?${query}`);
  return (
    <main id="main" class="column" tabIndex={-1}>
      <h1>{t('conversations')}</h1>
      <p class="hint">{t('conversations_note')}</p>
      <div class="tools">
        <Choice
          label={t('period')}
          options={PERIODS}
          value={period}
          textOf={(key) => t(`period_${key}`)}
          onChange={(next) => setQuery({ period: next })}
        />
        <Choice
          label={t('by')}
          options={KEYS}
          value={by}
          textOf={(key) => t(`by_${key}`)}
          onChange={(next) => setQuery({ by: next })}
        />
      </div>
      <Shown of={conversations}>{(shown) => <Lines of={shown} />}</Shown>
    </main>
  );
}

function Lines({ of: { lines, total, by } }: { readonly of: Conversations }) {
  return (
    <Report
      label={t('conversations')}
      none={t('conversations_none')}
      figures={[
        [t('conversations'), numberText(total.conversations)],
        [t('duration'), t('minutes', { n: Math.round(total.minutes) })],
        [t('sentences'), numberText(total.sentences)],
        [t('billed'), t('minutes', { n: Math.round(total.billedMinutes) })],
        [t('delay'), delayText(total.delayMs)],
      ]}
      heads={[
        t(`by_${by}`),
        t('conversations'),
        t('duration_min'),
        t('sentences'),
        t('billed_min'),
        t('delay'),
      ]}
      lines={lines.map((line) => ({
        key: line.name,
        name: <LineName by={by} line={line} />,
        share: line.conversations,
        first: numberText(line.conversations),
        others: [
          numberText(line.minutes, 1),
          numberText(line.sentences),
          numberText(line.billedMinutes, 1),
          delayText(line.delayMs),
        ],
      }))}
    />
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
