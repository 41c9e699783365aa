import { isObject } from '../../protocol/common/json.ts';
import type { Config } from '../../protocol/config.ts';
import { formatPath, type Source, type SourceMap } from './layer.ts';

/** One effective value and its source. */
export interface Provenance {
  /** `lanes[0].capture.device`. */
  readonly path: string;
  readonly value: unknown;
  readonly source: Source;
}

const DEFAULT: Source = { kind: 'default', name: 'default' };

/** Every value of a configuration in the schema's order; lists of plain values count as one value. */
export function traceValues(config: Config, sources: SourceMap): Provenance[] {
  const keySources: Provenance[] = [];
  const visit = (value: unknown, path: (string | number)[]): void => {
    if (isObject(value)) {
      for (const [key, part] of Object.entries(value)) visit(part, [...path, key]);
    } else if (Array.isArray(value) && value.some(isObject)) {
      for (const [index, part] of value.entries()) visit(part, [...path, index]);
    } else {
      keySources.push({ path: formatPath(path), value, source: sources.get(path) ?? DEFAULT });
    }
  };
  visit(config, []);
  return keySources;
}
