import { parseJson } from '../../protocol/common/json.ts';
import { type ScreenBeat, screenBeatSchema } from '../../protocol/screen.ts';

const ANSWER_WITHIN_MS = 4000;

/** Asks the agent when the page at `url` last painted; null: the agent does not answer. */
export async function askBeat(url: string): Promise<ScreenBeat | null> {
  try {
    const signal = AbortSignal.timeout(ANSWER_WITHIN_MS);
    const answer = await fetch(`${url}/beat`, { signal, redirect: 'error' });
    const parsed = screenBeatSchema.safeParse(parseJson(await answer.text()));
    return answer.ok && parsed.success ? parsed.data : null;
  } catch {
    return null;
  }
}
