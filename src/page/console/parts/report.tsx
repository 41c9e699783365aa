import type { ComponentChildren } from 'preact';
import { t } from '../texts/text.ts';
import { Table } from './table.tsx';

/** One large number with its name. */
function Figure({ name, value }: { readonly name: string; readonly value: string }) {
  return (
    <p class="figure">
      <b>{value}</b> <span class="quiet">{name}</span>
    </p>
  );
}

/** A line of a report: its name, the number that its bar shows, and cells before and after the bar. */
interface ReportLine {
  readonly key: string;
  readonly name: ComponentChildren;
  readonly share: number;
  readonly first: string;
  readonly others: readonly string[];
}

/** Totals, above a table with bars that compare its lines. */
export function Report({
  label,
  figures,
  heads: [name, first, ...others],
  lines,
  none,
}: {
  readonly label: string;
  readonly figures: readonly (readonly [name: string, value: string])[];
  readonly heads: readonly [name: string, first: string, ...others: string[]];
  readonly lines: readonly ReportLine[];
  /** Text in place of an empty table. */
  readonly none: string;
}) {
  const most = Math.max(1, ...lines.map(({ share }) => share));
  const number = (text: string) => ({ text, kind: 'number' }) as const;
  return (
    <>
      <div class="sheet row figures">
        {figures.map(([title, value]) => (
          <Figure key={title} name={title} value={value} />
        ))}
      </div>
      {lines.length === 0 ? (
        <p class="sheet empty">{none}</p>
      ) : (
        <Table
          label={label}
          heads={[name, number(first), { text: t('share'), kind: 'optional' }, ...others.map(number)]}
        >
          {lines.map((line) => (
            <tr key={line.key}>
              <td>{line.name}</td>
              <td class="number">{line.first}</td>
              <td class="optional bar">
                <meter min={0} max={most} value={line.share} aria-hidden="true" />
              </td>
              {line.others.map((text, index) => (
                <td key={others[index]} class="number">
                  {text}
                </td>
              ))}
            </tr>
          ))}
        </Table>
      )}
    </>
  );
}
