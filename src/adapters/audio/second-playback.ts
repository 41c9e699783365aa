import type { OpenPlayback, Playback } from '../../ports/audio.ts';

/**
 * Plays the same sound at the same time on a second device, such as a hearing loop. Times, volume control and figures are those of the
 * first one; the second one neither delays nor stops it.
 */
export function withSecondPlayback(openFirst: OpenPlayback, openSecond: OpenPlayback): OpenPlayback {
  return async (sink) => {
    let second: Playback | null = null;
    let runsOn = false;
    let isClosed = false;
    const opening = openSecond({
      fault: (fault) => sink.also?.(fault),
      back: () => sink.also?.(null),
      missed() {},
      measured() {},
    }).then(
      async (playback) => {
        if (isClosed) return await playback.close();
        second = playback;
        if (runsOn) playback.runOn?.(true);
      },
      () => sink.also?.({ code: 'failed', message: 'the second playback device does not open' }),
    );
    let first: Playback;
    try {
      first = await openFirst(sink);
    } catch (error) {
      isClosed = true;
      await (second as Playback | null)?.close();
      throw error;
    }
    return {
      ...first,
      get place() {
        return first.place;
      },
      get mixer() {
        return first.mixer;
      },
      write(pcm) {
        const written = first.write(pcm);
        second?.write(pcm);
        return written;
      },
      flush() {
        second?.flush();
        return first.flush();
      },
      runOn(on) {
        runsOn = on;
        first.runOn?.(on);
        second?.runOn?.(on);
      },
      async close() {
        isClosed = true;
        await Promise.allSettled([first.close(), second?.close(), opening]);
      },
    };
  };
}
