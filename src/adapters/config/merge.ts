import { isObject } from '../../protocol/common/json.ts';
import { DEFAULT_DRIVER } from '../../protocol/config-sound.ts';
import type { Path } from './jsonc.ts';
import { formatPath, type Layer, type Problem, SourceMap } from './layer.ts';

/** All layers as one unchecked configuration, with the source of each part. */
export interface Merged {
  readonly value: unknown;
  readonly sources: SourceMap;
  readonly problems: readonly Problem[];
}

/** The id of a lane without one: the schema's default. */
export const UNNAMED_LANE = 'main';

/** If a layer has more lanes than this, none of them is read: a real layer never has so many. */
const MOST_LANES = 64;

/** Objects merge by key, lanes by id (or by index for a lane without one). Any other value is replaced by the later layer. */
export function mergeLayers(layers: readonly Layer[]): Merged {
  const sources = new SourceMap();
  const problems: Problem[] = [];
  let value: unknown;
  for (const layer of layers) value = new Merge(layer, sources, problems).value(value, layer.value, [], []);
  return { value, sources, problems };
}

/** Merges one layer into the earlier ones. Paths may differ between the two: a lane can have another index. */
class Merge {
  private readonly layer: Layer;
  private readonly sources: SourceMap;
  private readonly problems: Problem[];

  constructor(layer: Layer, sources: SourceMap, problems: Problem[]) {
    this.layer = layer;
    this.sources = sources;
    this.problems = problems;
  }

  value(below: unknown, above: unknown, path: Path, layerPath: Path): unknown {
    if (path.length === 1 && path[0] === 'lanes' && Array.isArray(above)) {
      return this.lanes(Array.isArray(below) ? below : [], above, path, layerPath);
    }
    const isMerge = isObject(above) && isObject(below) && !isOtherDriver(below, above);
    if (!isMerge) {
      this.sources.forget(path);
      this.sources.set(path, this.layer.locate(layerPath));
    }
    if (!isObject(above)) return above;
    const merged = new Map(isMerge ? Object.entries(below) : []);
    for (const [key, part] of Object.entries(above)) {
      merged.set(key, this.value(merged.get(key), part, [...path, key], [...layerPath, key]));
    }
    return Object.fromEntries(merged);
  }

  private lanes(
    below: readonly unknown[],
    above: readonly unknown[],
    path: Path,
    layerPath: Path,
  ): unknown[] {
    if (above.length > MOST_LANES) {
      const message = `holds ${above.length} lanes; there may be at most 16`;
      this.problems.push({ source: this.layer.locate(layerPath), path: formatPath(path), message });
      return [...below];
    }
    const lanes = [...below];
    const known = new Map<unknown, number>();
    for (const [index, lane] of below.entries()) {
      if (!known.has(laneId(lane))) known.set(laneId(lane), index);
    }
    if (below.length === 0) this.sources.set(path, this.layer.locate(layerPath));
    for (const [from, lane] of above.entries()) {
      if (lane === undefined) continue;
      const to = this.laneIndex(lanes, known, below.length, lane, from);
      if (to > lanes.length) {
        const message = `there is no lane ${lanes.length} before it: lanes are counted from 0`;
        this.problems.push({
          source: this.layer.locate([...layerPath, from]),
          path: formatPath([...path, from]),
          message,
        });
        continue;
      }
      lanes[to] = this.value(lanes[to], lane, [...path, to], [...layerPath, from]);
    }
    return lanes;
  }

  /** The index for a lane of this layer; a lane without an id never merges with another lane of its own layer. */
  private laneIndex(
    lanes: readonly unknown[],
    known: ReadonlyMap<unknown, number>,
    countBelow: number,
    lane: unknown,
    from: number,
  ): number {
    if (this.layer.lanesBy === 'index') return from;
    const id = isObject(lane) ? lane['id'] : undefined;
    if (id === undefined) return from < countBelow ? from : lanes.length;
    return known.get(id) ?? lanes.length;
  }
}

function laneId(lane: unknown): unknown {
  return isObject(lane) ? (lane['id'] ?? UNNAMED_LANE) : undefined;
}

/** Keys depend on the driver, so the old driver's keys do not apply to a new one. */
function isOtherDriver(below: Record<string, unknown>, above: Record<string, unknown>): boolean {
  return above['driver'] !== undefined && above['driver'] !== (below['driver'] ?? DEFAULT_DRIVER);
}
