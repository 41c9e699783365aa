/** Mistakes of people who set up a desk: what they write, and what they must read. */

interface Mistake {
  readonly name: string;
  readonly lanes?: readonly object[];
  readonly more?: object;
  readonly says: RegExp;
}

const SPEAKER = { playback: { device: 'plughw:CARD=Speaker' } };
const key = (more: object): object => ({
  keys: [{ device: '/dev/input/by-id/pad', key: 'KEY_F1', do: { command: 'mute' }, ...more }],
});
const ROOM = { rooms: [{ id: 'counter', lanes: ['a', 'b'] }] };

export const DESK_MISTAKES: readonly Mistake[] = [
  {
    name: 'a room whose lanes share a loudspeaker',
    lanes: [
      { id: 'a', ...SPEAKER },
      { id: 'b', ...SPEAKER },
    ],
    more: ROOM,
    says: /rooms\[0\]\.lanes\[1\]: .*"b" plays on the loudspeaker of "a": the lanes of a room need one each/,
  },
  {
    name: 'a room without echo protection',
    lanes: [
      { id: 'a', ...SPEAKER },
      { id: 'b', playback: { device: 'plughw:CARD=Other' }, echo: 'off' },
    ],
    more: ROOM,
    says: /lanes\[1\]\.echo: .*must be "half-duplex" or "cancel" in a room/,
  },
  {
    name: 'a key that does not exist',
    more: key({ key: 'KEY_F99' }),
    says: /keys\[0\]\.key: .*must be a key name of the kernel such as "KEY_F1"/,
  },
  {
    name: 'a key with a command that must be signed',
    more: key({ do: { command: 'reboot' } }),
    says: /keys\[0\]\.do\.command: .*must be another command: the owner signs this one/,
  },
  {
    name: 'a key for a language that is not offered',
    lanes: [{ offer: ['es', 'fr'] }],
    more: key({ do: { command: 'languages', args: { targets: ['de'] } } }),
    says: /keys\[0\]\.do\.args\.targets: .*must not name "de": lane "main" does not offer it/,
  },
  {
    name: 'an offered language that the service does not speak',
    lanes: [{ offer: ['es', 'tlh'] }],
    says: /lanes\[0\]\.offer\[1\]: .*must be a language that the service speaks: /,
  },
  {
    name: 'twoWay with two targets',
    lanes: [{ twoWay: 'auto', targets: ['es', 'fr'] }],
    says: /lanes\[0\]\.targets: .*must name one language, because "twoWay" is "auto"/,
  },
];

/** The configuration with the mistake. @param lane what each lane has besides */
export const withMistake = ({ lanes = [{}], more = {} }: Mistake, lane: object): object => ({
  lanes: lanes.map((one) => ({ source: 'en', targets: ['es'], ...lane, ...one })),
  ...more,
});
