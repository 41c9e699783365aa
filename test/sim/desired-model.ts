/**
 * Model of the effective configuration: the device's own file, then the documents of its groups in order, then the device's
 * document. A later value replaces an earlier one, key by key. Shares no code with the agent.
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
export type Documents = readonly { readonly from: string; readonly content: DocumentContent }[];

const isClash = (source: unknown, targets: unknown): boolean =>
  Array.isArray(targets) && targets.includes(source);

/** @returns `refused`: `from key` of each key that is refused */
export function inEffect(
  own: Effective,
  documents: Documents,
): { readonly effective: Effective; readonly refused: ReadonlySet<string> } {
  const lanes = own.lanes.map((lane) => ({ ...lane }));
  const refused = new Set<string>();
  let { level } = own.log;
  for (const { from, content } of documents) {
    const named = new Set<string>();
    if (content.logLevel !== null) level = content.logLevel;
    for (const { at, lane, values } of content.lanes) {
      const found = lane === null ? lanes[at] : lanes.find(({ id }) => id === lane);
      // The first of two entries for one lane counts.
      if (found === undefined || named.has(found.id)) {
        refused.add(`${from} lanes[${at}]`);
        continue;
      }
      named.add(found.id);
      const { source, targets, ...others } = values;
      Object.assign(found, others);
      const wanted = { source: source ?? found.source, targets: targets ?? found.targets };
      if (!isClash(wanted.source, wanted.targets)) Object.assign(found, wanted);
      else refused.add(`${from} lanes[${at}].${targets === undefined ? 'source' : 'targets'}`);
    }
    for (const key of content.wrong) {
      const [entry = ''] = key.split('.');
      if (!refused.has(`${from} ${entry}`)) refused.add(`${from} ${key}`);
    }
  }
  return { effective: { lanes, log: { level } }, refused };
}
