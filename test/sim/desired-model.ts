/**
 * What has to be in effect, by the rule alone: the device's own configuration, then the documents of its groups in order, then
 * its own; each key for itself. Shares no code with the agent.
 */

export const LANE_KEYS = ['source', 'targets', 'voice', 'echo', 'start', 'standbyAfter'] as const;
export type LaneKey = (typeof LANE_KEYS)[number];

export type LaneValues = Readonly<Partial<Record<LaneKey, unknown>>>;

/** What a document says, as whoever drew it knows. */
export interface DocumentContent {
  readonly version: number;
  /** By place in its list; `lane` null: it names none, and means the one in its place. */
  readonly lanes: readonly {
    readonly at: number;
    readonly lane: string | null;
    readonly values: LaneValues;
  }[];
  readonly logLevel: string | null;
  /** Keys that must be refused, whatever else there is. */
  readonly wrong: readonly string[];
}

export interface Effective {
  readonly lanes: readonly ({ readonly id: string } & Readonly<Record<LaneKey, unknown>>)[];
  readonly log: { readonly level: string };
}

/** The documents in force, by whose they are, those that count least first. */
export type Documents = readonly { readonly from: string; readonly content: DocumentContent }[];

const isClash = (source: unknown, targets: unknown): boolean =>
  Array.isArray(targets) && targets.includes(source);

/** @returns `refused`: `from key` of each key that is not taken */
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
      // Of two entries for one lane the first counts.
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
