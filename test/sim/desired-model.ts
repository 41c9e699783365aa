/**
 * Model of the effective configuration: the device's own file, then the documents of its groups in order, then the device's
 * document. A later value replaces an earlier one, key by key. A refused key keeps the value that the previous document of the
 * same source had in force. Shares no code with the agent.
 */

export const LANE_KEYS = ['source', 'targets', 'voice', 'echo', 'start', 'standbyAfter'] as const;
export type LaneKey = (typeof LANE_KEYS)[number];

export type LaneValues = Readonly<Partial<Record<LaneKey, unknown>>>;

/** Content of a document, as drawn. */
export interface DocumentContent {
  readonly version: number;
  /** Entries with their index; `lane` null: the entry has no id and means the lane at that index. */
  readonly lanes: readonly {
    readonly at: number;
    readonly lane: string | null;
    readonly values: LaneValues;
  }[];
  readonly logLevel: string | null;
  /** Keys that must be refused in any case. */
  readonly wrong: readonly string[];
}

export interface Effective {
  readonly lanes: readonly ({ readonly id: string } & Readonly<Record<LaneKey, unknown>>)[];
  readonly log: { readonly level: string };
}

/** The documents in force and where each comes from, lowest priority first. */
export type Documents = readonly {
  readonly from: string;
  readonly content: DocumentContent;
  readonly kept?: Kept | undefined;
}[];

/** What a document has in force. */
export interface Kept {
  readonly lanes: ReadonlyMap<string, LaneValues>;
  readonly level: string | null;
}

const isClash = (source: unknown, targets: unknown): boolean =>
  Array.isArray(targets) && targets.includes(source);

/** @returns `refused`: `from key` of each key that is refused */
export function inEffect(
  own: Effective,
  documents: Documents,
): {
  readonly effective: Effective;
  readonly refused: ReadonlySet<string>;
  readonly inForce: ReadonlyMap<string, Kept>;
} {
  const lanes = own.lanes.map((lane) => ({ ...lane }));
  const refused = new Set<string>();
  let { level } = own.log;
  const inForce = new Map<string, Kept>();
  for (const { from, content, kept } of documents) {
    const named = new Set<string>();
    const good = new Map<string, LaneValues>();
    const ownLevel = content.logLevel ?? (content.wrong.includes('log.level') ? (kept?.level ?? null) : null);
    level = ownLevel ?? level;
    inForce.set(from, { lanes: good, level: ownLevel });
    for (const { at, lane, values } of content.lanes) {
      const found = lane === null ? lanes[at] : lanes.find(({ id }) => id === lane);
      // The first of two entries for one lane counts.
      if (found === undefined || named.has(found.id)) {
        refused.add(`${from} lanes[${at}]`);
        continue;
      }
      named.add(found.id);
      const was = kept?.lanes.get(found.id) ?? {};
      const wrong = LANE_KEYS.filter((key) => key in was && content.wrong.includes(`lanes[${at}].${key}`));
      const { source, targets, ...others } = {
        ...Object.fromEntries(wrong.map((key) => [key, was[key]])),
        ...values,
      };
      const pairs: LaneValues[] = [{ source, targets }, { source: was.source, targets: was.targets }, {}];
      const full = (pair: LaneValues) => ({
        source: pair.source ?? found.source,
        targets: pair.targets ?? found.targets,
      });
      const pair = pairs.find((one) => !isClash(full(one).source, full(one).targets)) ?? {};
      if (pair !== pairs[0])
        refused.add(`${from} lanes[${at}].${targets === undefined ? 'source' : 'targets'}`);
      good.set(found.id, { ...others, ...pair });
      Object.assign(found, others, full(pair));
    }
    for (const key of content.wrong) {
      const [entry = ''] = key.split('.');
      if (!refused.has(`${from} ${entry}`)) refused.add(`${from} ${key}`);
    }
  }
  return { effective: { lanes, log: { level } }, refused, inForce };
}
