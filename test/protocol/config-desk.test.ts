import { describe, expect, it } from 'vitest';
import { configSchema } from '../../src/protocol/config.ts';

type Values = Record<string, unknown>;

const lane = (id: string, more: Values = {}): Values => ({
  id,
  capture: { device: `plughw:CARD=${id}Mic` },
  playback: { device: `plughw:CARD=${id}Speaker` },
  source: 'en',
  targets: ['es'],
  ...more,
});

/** The problems of a configuration, each with its place. */
function problems(lanes: readonly Values[], rooms: unknown = []): string[] {
  const parsed = configSchema.safeParse({
    device: { id: 'kiosk-01', tenant: 'museum' },
    mqtt: { url: 'mqtt://127.0.0.1:1' },
    lanes,
    rooms,
  });
  return (parsed.error?.issues ?? []).map(({ path, message }) => `${path.join('.')} ${message}`);
}

describe('twoWay', () => {
  it.each(['auto', 'button', 'hold', 'off'])('is accepted with one target when it is %s', (twoWay) => {
    expect(problems([lane('a', { twoWay })])).toEqual([]);
  });

  it.each([
    ['two targets', { twoWay: 'button', targets: ['es', 'fr'] }, /^lanes\.0\.targets must name one language/],
    [
      'push-to-talk, too',
      { twoWay: 'auto', pushToTalk: true },
      /^lanes\.0\.pushToTalk is for one direction, and "twoWay" is "auto"/,
    ],
    ['an unknown form', { twoWay: 'both' }, /^lanes\.0\.twoWay /],
    ['source auto', { twoWay: 'auto', source: 'auto' }, /lanes\.0\.source must be the language of one of/],
    ['two forms of one language', { twoWay: 'auto', targets: ['en-gb'] }, /^lanes\.0\.targets must not be/],
  ])('is refused with %s', (_what, more, expected) => {
    expect(problems([lane('a', more)]).join('\n')).toMatch(expected);
  });

  it('accepts two forms of one language when a key says who speaks', () => {
    expect(problems([lane('a', { twoWay: 'button', targets: ['en-gb'] })])).toEqual([]);
  });
});

describe('rooms', () => {
  const room = (lanes: readonly unknown[], id = 'desk'): Values => ({ id, lanes });

  it('are accepted when each lane has its own loudspeaker', () => {
    expect(problems([lane('a'), lane('b')], [room(['a', 'b'])])).toEqual([]);
  });

  it.each([
    ['an unknown lane', [room(['a', 'x'])], /^rooms\.0\.lanes\.1 there is no lane "x"; there are a, b, c$/],
    ['one lane', [room(['a'])], /^rooms\.0\.lanes must name two lanes/],
    ['three lanes', [room(['a', 'b', 'c'])], /^rooms\.0\.lanes must name two lanes/],
    ['a lane twice', [room(['a', 'a'])], /^rooms\.0\.lanes\.1 a lane is in one room at most/],
    [
      'a lane in two rooms',
      [room(['a', 'b']), room(['b', 'c'], 'other')],
      /^rooms\.1\.lanes\.0 a lane is in one room at most: "b" is in rooms\[0\] already$/,
    ],
    [
      'an id twice',
      [room(['a', 'b']), room(['c', 'x'])],
      /rooms\.1\.id must be unique: rooms\[0\] has the same id/,
    ],
    ['something else', [7], /^rooms\.0 /],
    ['lanes that are not texts', [room([7, null])], /^rooms\.0\.lanes\.0 /],
  ])('are refused with %s', (_what, rooms, expected) => {
    expect(problems([lane('a'), lane('b'), lane('c')], rooms).join('\n')).toMatch(expected);
  });

  it('are refused when a lane has no echo protection, except with a file', () => {
    const off = { echo: 'off' };
    expect(problems([lane('a'), lane('b', off), lane('c', off)], [room(['a', 'b'])])).toEqual([
      'lanes.1.echo must be "half-duplex" or "cancel" in a room: without it the lane translates the translations of the other one',
    ]);
    const file = { echo: 'off', playback: { driver: 'file', path: 'b.wav' } };
    expect(problems([lane('a'), lane('b', file)], [room(['a', 'b'])])).toEqual([]);
  });

  it('are refused when their lanes share a loudspeaker, also one that ALSA shares', () => {
    const shared = { playback: { device: 'dmix:CARD=PCH' } };
    expect(problems([lane('a', shared), lane('b', shared)], [room(['a', 'b'])])).toEqual([
      'rooms.0.lanes.1 "b" plays on the loudspeaker of "a": the lanes of a room need one each',
    ]);
  });
});
