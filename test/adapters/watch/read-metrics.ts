/** A strict reader of OpenMetrics 1.0: it throws at everything that the format does not allow. */

export interface ReadSample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface ReadFamily {
  readonly name: string;
  readonly type: string;
  readonly samples: readonly ReadSample[];
}

const SUFFIXES: Readonly<Record<string, readonly string[]>> = {
  counter: ['_total'],
  gauge: [''],
  info: ['_info'],
  histogram: ['_bucket', '_count', '_sum'],
};
const ESCAPED = '(?:[^\\\\"\\n]|\\\\[\\\\"n])*';
const META = new RegExp(`^# (TYPE|UNIT|HELP) ([a-zA-Z_:][\\w:]*) (${ESCAPED})$`, 'u');
const LABEL = new RegExp(`([a-zA-Z_]\\w*)="(${ESCAPED})"(,|$)`, 'uy');
const SAMPLE = new RegExp(
  `^([a-zA-Z_:][\\w:]*)(?:\\{((?:[a-zA-Z_]\\w*="${ESCAPED}",?)+)\\})? ([+-]?(?:Inf|[\\d.]+(?:e[+-]?\\d+)?)|NaN)$`,
  'u',
);

export function readMetrics(text: string): ReadFamily[] {
  if (!text.endsWith('\n# EOF\n') && text !== '# EOF\n') throw new Error('it does not end with # EOF');
  const lines = text.slice(0, -'# EOF\n'.length).split('\n').slice(0, -1);
  const families: { name: string; type: string; unit: string; samples: ReadSample[] }[] = [];
  const seen = new Set<string>();
  for (const line of lines) {
    const fail = (why: string): never => {
      throw new Error(`${why}: ${line}`);
    };
    const [, kind, name = '', value = ''] = META.exec(line) ?? [];
    if (kind === 'TYPE') {
      if (families.some((one) => one.name === name)) fail('a family appears twice');
      if (SUFFIXES[value] === undefined) fail('unknown type');
      families.push({ name, type: value, unit: '', samples: [] });
      continue;
    }
    const family = families.at(-1) ?? fail('before any family');
    if (kind !== undefined) {
      if (name !== family.name || family.samples.length > 0) fail('in the wrong place');
      if (kind === 'UNIT' && !name.endsWith(`_${value}`)) fail('the name does not end with the unit');
      continue;
    }
    const [, full = fail('no sample'), labelText = '', number = ''] = SAMPLE.exec(line) ?? [];
    const suffix = full.slice(family.name.length);
    if (!full.startsWith(family.name) || !SUFFIXES[family.type]?.includes(suffix)) fail('of another family');
    const labels = readLabels(labelText, fail);
    const key = `${full} ${JSON.stringify(Object.entries(labels).sort())}`;
    if (seen.has(key)) fail('appears twice');
    seen.add(key);
    family.samples.push({ name: full, labels, value: Number(number.replace('Inf', 'Infinity')) });
  }
  for (const { name, samples } of families)
    if (samples.length === 0) throw new Error(`${name} has no sample`);
  return families;
}

function readLabels(text: string, fail: (why: string) => never): Record<string, string> {
  const labels: Record<string, string> = {};
  LABEL.lastIndex = 0;
  while (LABEL.lastIndex < text.length) {
    const [, name = fail('a bad label'), value = ''] = LABEL.exec(text) ?? [];
    if (Object.hasOwn(labels, name)) fail('a label appears twice');
    labels[name] = value.replace(/\\(.)/g, (_, one: string) => (one === 'n' ? '\n' : one));
  }
  return labels;
}

/** The value of the only sample with this name and these labels, among others; null if there is none. */
export function valueAt(
  families: readonly ReadFamily[],
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number | null {
  const found = families
    .flatMap(({ samples }) => samples)
    .filter((one) => one.name === name)
    .filter((one) => Object.entries(labels).every(([label, value]) => one.labels[label] === value));
  if (found.length > 1) throw new Error(`${name} has ${found.length} samples with these labels`);
  return found[0]?.value ?? null;
}
