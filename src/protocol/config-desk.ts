/** The part of the configuration about two people who talk to each other: `twoWay` of a lane, and `rooms`. */
import * as z from 'zod';
import { nameSchema } from './mqtt/topics.ts';

export const TWO_WAY_MODES = ['off', 'auto', 'button', 'hold'] as const;
export type TwoWayMode = (typeof TWO_WAY_MODES)[number];

export const twoWaySchema = z
  .enum(TWO_WAY_MODES)
  .describe(
    'Both ways between `source` and the one target: the service detects who speaks, a key says who speaks, or the microphone is open while a key is held.',
  );

export const pushToTalkSchema = z
  .boolean()
  .describe(
    'One way only: the microphone is open as long as a key or the button on the screen is held. For both ways, set `twoWay` to `hold` instead.',
  );

const MOST_ROOMS = 8;
const LANES_OF_A_ROOM = 2;

export const roomsSchema = z
  .array(
    z.strictObject({
      id: nameSchema.describe('Name of the room.'),
      lanes: z
        .array(nameSchema)
        .length(LANES_OF_A_ROOM, 'must name two lanes: one for each person')
        .describe('The two lanes whose microphones hear both people.'),
    }),
  )
  .max(MOST_ROOMS)
  .default([])
  .describe("Pairs of lanes that hear each other's loudspeakers and people.");

/** A problem of the configuration, with its path. */
export interface DeskIssue {
  readonly path: (string | number)[];
  readonly message: string;
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;
const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const primary = (language: unknown): unknown =>
  typeof language === 'string' ? language.toLowerCase().split('-')[0] : undefined;

/** Why these languages allow no two-way conversation; null if they do. */
export function twoWayClash(
  mode: TwoWayMode,
  source: string,
  targets: readonly string[],
): { readonly key: 'source' | 'targets'; readonly message: string } | null {
  if (mode === 'off') return null;
  if (targets.length !== 1)
    return {
      key: 'targets',
      message: `must name one language, because "twoWay" is "${mode}": that of the other person`,
    };
  if (mode !== 'auto' || primary(source) !== primary(targets[0])) return null;
  return {
    key: 'targets',
    message: `must not be another form of "${source}": "twoWay": "auto" knows the two people by their languages`,
  };
}

/** Problems of `twoWay` in one lane. The lane may have other problems, too. */
export function twoWayIssues(lane: unknown): DeskIssue[] {
  if (!isObject(lane)) return [];
  const mode = twoWaySchema.safeParse(lane['twoWay']).data ?? 'off';
  const { source, targets } = lane;
  if (mode !== 'off' && lane['pushToTalk'] === true)
    return [
      {
        path: ['pushToTalk'],
        message: `is for one direction, and "twoWay" is "${mode}": set "twoWay" to "hold", or leave "pushToTalk" out`,
      },
    ];
  if (mode !== 'off' && source === 'auto')
    return [
      {
        path: ['source'],
        message: `must be the language of one of the two people, such as "en": with "twoWay" the other one is in "targets"`,
      },
    ];
  if (typeof source !== 'string' || !Array.isArray(targets)) return [];
  const clash = twoWayClash(mode, source, targets);
  return clash === null ? [] : [{ path: [clash.key], message: clash.message }];
}

/** Why a lane in a room needs echo protection; null: it does not. Playback to a file makes no sound. */
export function roomEchoClash(rooms: unknown, lane: unknown): string | null {
  if (!isObject(lane) || lane['echo'] !== 'off') return null;
  const isShared = listOf(rooms).some((room) => isObject(room) && listOf(room['lanes']).includes(lane['id']));
  const { playback } = lane;
  if (!isShared || (isObject(playback) && playback['driver'] === 'file')) return null;
  return 'must be "half-duplex" or "cancel" in a room: without it the lane translates the translations of the other one';
}

/** Contradictions between `rooms` and `lanes`, which may have other problems, too. */
export function roomIssues(rooms: unknown, lanes: unknown): DeskIssue[] {
  const echoes = listOf(lanes).flatMap((lane, index): DeskIssue[] => {
    const message = roomEchoClash(rooms, lane);
    return message === null ? [] : [{ path: ['lanes', index, 'echo'], message }];
  });
  return [...echoes, ...laneIssues(rooms, lanes)];
}

function laneIssues(rooms: unknown, lanes: unknown): DeskIssue[] {
  const known = new Map(listOf(lanes).flatMap((lane) => (isObject(lane) ? [[lane['id'], lane]] : [])));
  const ids = new Map<unknown, number>();
  const taken = new Map<unknown, string>();
  return listOf(rooms).flatMap((room, index) => {
    if (!isObject(room)) return [];
    const issues: DeskIssue[] = [];
    const first = ids.get(room['id']);
    if (first !== undefined)
      issues.push({
        path: ['rooms', index, 'id'],
        message: `must be unique: rooms[${first}] has the same id`,
      });
    ids.set(room['id'], first ?? index);
    const loudspeakers = new Map<string, unknown>();
    for (const [place, id] of listOf(room['lanes']).entries()) {
      const path = ['rooms', index, 'lanes', place];
      const lane = known.get(id);
      if (lane === undefined) {
        const names = [...known.keys()].join(', ');
        issues.push({ path, message: `there is no lane "${String(id)}"; there are ${names}` });
        continue;
      }
      const other = taken.get(id);
      if (other !== undefined)
        issues.push({
          path,
          message: `a lane is in one room at most: "${String(id)}" is in ${other} already`,
        });
      taken.set(id, other ?? `rooms[${index}]`);
      const loudspeaker = loudspeakerOf(lane);
      const same = loudspeaker === null ? undefined : loudspeakers.get(loudspeaker);
      if (same !== undefined && same !== id)
        issues.push({
          path,
          message: `"${String(id)}" plays on the loudspeaker of "${String(same)}": the lanes of a room need one each`,
        });
      if (loudspeaker !== null) loudspeakers.set(loudspeaker, same ?? id);
    }
    return issues;
  });
}

/** A key that identifies a loudspeaker; null: unknown. */
function loudspeakerOf(lane: unknown): string | null {
  const playback = isObject(lane) ? lane['playback'] : null;
  if (!isObject(playback)) return null;
  const { driver, device, path, command } = playback;
  return JSON.stringify([driver, device, path, command]);
}
