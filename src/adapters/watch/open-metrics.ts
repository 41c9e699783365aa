/** Metrics as text in OpenMetrics 1.0 format, which Prometheus reads. */

export const OPEN_METRICS_TYPE = 'application/openmetrics-text; version=1.0.0; charset=utf-8';

export type Labels = Readonly<Record<string, string>>;

export interface Sample {
  readonly labels?: Labels;
  readonly value: number;
  /** For the parts of a histogram. */
  readonly suffix?: '_bucket' | '_sum' | '_count';
}

/** All samples of one name. */
export interface Family {
  /** Without `_total` and `_info`, which the type adds. It ends with the unit. */
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram' | 'info';
  readonly unit?: 'seconds' | 'bytes' | 'celsius';
  readonly help: string;
  readonly samples: readonly Sample[];
}

const SUFFIX = { counter: '_total', gauge: '', histogram: '', info: '_info' } as const;

/** Families without samples are left out. */
export function openMetrics(families: readonly Family[]): string {
  const blocks = families.filter(({ samples }) => samples.length > 0).map(blockOf);
  return `${blocks.join('')}# EOF\n`;
}

function blockOf({ name, type, unit, help, samples }: Family): string {
  const head = [
    `# TYPE ${name} ${type}\n`,
    ...(unit === undefined ? [] : [`# UNIT ${name} ${unit}\n`]),
    `# HELP ${name} ${escaped(help)}\n`,
  ];
  const lines = samples.map(
    ({ labels = {}, value, suffix = SUFFIX[type] }) =>
      `${name}${suffix}${labelsOf(labels)} ${numberOf(value)}\n`,
  );
  return [...head, ...lines].join('');
}

function labelsOf(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

/** A lone surrogate cannot be written in UTF-8. */
function escaped(text: string): string {
  const whole = text.replace(
    /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g,
    '\ufffd',
  );
  return whole.replace(/\\/g, '\\\\').replace(/"/g, '\\"').replace(/\n/g, '\\n');
}

function numberOf(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return '+Inf';
  if (value === Number.NEGATIVE_INFINITY) return '-Inf';
  return String(value);
}
