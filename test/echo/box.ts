import { RATE_HZ } from '../voices/recordings.ts';

/**
 * A room with six flat walls by the image method (Allen and Berkley 1979): every reflection is a loudspeaker behind a wall.
 * Unlike a tail of noise, it has single strong reflections, flutter between walls and resonances.
 */
export interface Box {
  /** Size in metres; all places are inside. */
  readonly size: readonly [number, number, number];
  readonly loudspeaker: readonly [number, number, number];
  readonly microphone: readonly [number, number, number];
  /** Share of a sound's power that a wall absorbs, 0 to 1. */
  readonly absorbs: number;
}

const SPEED_M_PER_S = 343;
/** Width of the interpolation on each side of an image's arrival (samples). */
const REACH = 12;
const RUMBLE_HZ = 100;

/** Impulse response of the room, from the direct sound, normalized to this gain. */
export function boxResponse(
  { size, loudspeaker, microphone, absorbs }: Box,
  seconds: number,
  gainDb: number,
) {
  const response = new Float32Array(Math.round(seconds * RATE_HZ));
  const keeps = Math.sqrt(1 - absorbs);
  const perMetre = RATE_HZ / SPEED_M_PER_S;
  const direct = Math.hypot(...size.map((_, axis) => (loudspeaker[axis] ?? 0) - (microphone[axis] ?? 0)));
  const most = size.map((length) => Math.ceil((seconds * SPEED_M_PER_S) / (2 * length)) + 1);
  const alongAxis = size.map((length, axis) => {
    const found: { away: number; hits: number }[] = [];
    for (let turn = -(most[axis] ?? 1); turn <= (most[axis] ?? 1); turn++)
      for (const side of [0, 1]) {
        const place = (1 - 2 * side) * (loudspeaker[axis] ?? 0) + 2 * turn * length;
        found.push({ away: place - (microphone[axis] ?? 0), hits: Math.abs(turn - side) + Math.abs(turn) });
      }
    return found;
  });
  const [xs = [], ys = [], zs = []] = alongAxis;
  for (const x of xs)
    for (const y of ys)
      for (const z of zs) {
        const distance = Math.hypot(x.away, y.away, z.away);
        const at = (distance - direct) * perMetre;
        if (at < response.length) addClick(response, at, keeps ** (x.hits + y.hits + z.hits) / distance);
      }
  withoutRumble(response);
  const power = response.reduce((sum, value) => sum + value * value, 0);
  return response.map((value) => (value * 10 ** (gainDb / 20)) / Math.sqrt(power));
}

/** Removes low frequencies that a kiosk's loudspeaker does not have, where all images add up: a first-order high-pass, twice. */
function withoutRumble(response: Float32Array): void {
  const kept = Math.exp((-2 * Math.PI * RUMBLE_HZ) / RATE_HZ);
  for (let pass = 0; pass < 2; pass++) {
    let [before, out] = [0, 0];
    for (const [at, value] of response.entries()) {
      out = kept * (out + value - before);
      before = value;
      response[at] = out;
    }
  }
}

function addClick(response: Float32Array, at: number, amplitude: number): void {
  const first = Math.max(0, Math.ceil(at - REACH));
  const last = Math.min(response.length - 1, Math.floor(at + REACH));
  for (let index = first; index <= last; index++) {
    const away = index - at;
    const sine = Math.abs(away) < 1e-9 ? 1 : Math.sin(Math.PI * away) / (Math.PI * away);
    const fade = 0.5 + 0.5 * Math.cos((Math.PI * away) / (REACH + 1));
    response[index] = (response[index] ?? 0) + amplitude * sine * fade;
  }
}
