import { expect, it } from 'vitest';
import type { AgentDeps } from '../../../src/device/deps/deps.ts';
import { observeDeps } from '../../../src/device/process/observed-deps.ts';
import type { CaptureSink } from '../../../src/ports/audio.ts';
import type { LaneConfig } from '../../../src/protocol/config.ts';

it('passes on every callback of a microphone', async () => {
  let driver: CaptureSink | null = null;
  const openAudio = () => ({
    openCapture: async (sink: CaptureSink) => {
      driver = sink;
      return { close: async () => {} };
    },
  });
  const { deps } = observeDeps({ openAudio } as unknown as AgentDeps);
  const heard: string[] = [];
  const note = (callback: string) => () => void heard.push(callback);
  const { openCapture } = deps.openAudio({ id: 'main' } as LaneConfig);
  const callbacks = ['frames', 'ended', 'fault', 'gainChanged'] as const;
  await openCapture(
    Object.fromEntries(callbacks.map((name) => [name, note(name)])) as unknown as CaptureSink,
  );
  const sink = driver as CaptureSink | null;
  sink?.frames(new Uint8Array(2), 0);
  sink?.ended();
  sink?.fault({ code: 'lost', message: 'unplugged' });
  sink?.gainChanged?.({ present: true, message: 'the gain was turned' });
  expect(heard).toEqual(callbacks);
});
