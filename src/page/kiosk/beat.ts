import { tellBeat } from './link.ts';
import { isConnected, screen } from './store.ts';

const BEAT_EACH_MS = 5000;
/** Interval of reloads (ms), because a browser's memory grows over weeks. */
const RELOAD_AFTER_MS = 24 * 3_600_000;

/** Tells the agent every 5 s that the page paints, and reloads the page once a day. */
export function beginBeats(): void {
  beat();
  setInterval(() => {
    beat();
    const isQuiet = isConnected.value && screen.value?.status.kind === 'standby';
    if (isQuiet && performance.now() > RELOAD_AFTER_MS) location.reload();
  }, BEAT_EACH_MS);
}

/** An animation frame comes only when the browser paints; a timer would also run behind a frozen picture. */
function beat(): void {
  requestAnimationFrame(() => void tellBeat());
}
